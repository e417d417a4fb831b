//! What a picture is made of, in pixels of the page, whatever it is drawn with.

use std::sync::OnceLock;

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};

/// A colour: red, green, blue.
pub type Colour = (u8, u8, u8);

/// The page.
pub const WHITE: Colour = (0xff, 0xff, 0xff);
/// Text.
pub const INK: Colour = (0x1f, 0x23, 0x28);
/// Text that explains.
pub const MUTED: Colour = (0x57, 0x60, 0x6a);
/// What the delay alone would allow.
pub const FAINT: Colour = (0x9a, 0xa4, 0xae);
/// Lines of the grid.
pub const GRID: Colour = (0xe4, 0xe8, 0xec);

/// The colours of Okabe and Ito that hold on white, which people who see fewer colours can tell apart.
const PALETTE: [Colour; 7] = [
    (0x00, 0x72, 0xb2),
    (0xd5, 0x5e, 0x00),
    (0x00, 0x9e, 0x73),
    (0xb8, 0x5c, 0x93),
    (0x8a, 0x6d, 0x00),
    (0x2f, 0x9b, 0xd8),
    (0x4d, 0x4d, 0x4d),
];

/// The colour with this position; they begin anew after seven.
pub fn colour(position: usize) -> Colour {
    PALETTE[position % PALETTE.len()]
}

/// Dashes and gaps in pixels of the line with this position; the first has no gaps.
pub fn dashes(position: usize) -> &'static [f64] {
    const PATTERNS: [&[f64]; 6] = [&[], &[7.0, 4.5], &[2.5, 3.0], &[11.0, 3.5, 2.5, 3.5], &[5.0, 2.0], &[16.0, 5.0]];
    PATTERNS[position % PATTERNS.len()]
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A point in pixels from the upper left corner.
pub type Point = (f64, f64);

/// A part of a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A straight line.
    Line { from: Point, to: Point, colour: Colour, width: f64 },
    /// A filled polygon.
    Polygon { corners: Vec<Point>, colour: Colour },
    /// A filled circle.
    Disc { centre: Point, radius: f64, colour: Colour },
    /// A line of text that stands on its point.
    Text { at: Point, text: String, size: f64, colour: Colour, anchor: Anchor },
}

/// A picture: shapes in the order in which they are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The shapes.
    pub shapes: Vec<Shape>,
}

impl Shape {
    /// Text on the base line `at`; characters that XML forbids become spaces.
    pub fn text(at: Point, text: &str, size: f64, colour: Colour, anchor: Anchor) -> Self {
        let is_forbidden = |part: char| part.is_control() || matches!(part, '\u{fffe}' | '\u{ffff}');
        let text = text.chars().map(|part| if is_forbidden(part) { ' ' } else { part }).collect();
        Self::Text { at, text, size, colour, anchor }
    }
}

/// A line through `points` in a pattern of dashes and gaps that runs on around corners.
pub fn path(points: &[Point], colour: Colour, width: f64, dashes: &[f64]) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let (mut part, mut left) = (0, dashes.first().copied().unwrap_or(f64::INFINITY));
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let length = (x1 - x0).hypot(y1 - y0);
        let at = |done: f64| (x0 + (x1 - x0) * done / length, y0 + (y1 - y0) * done / length);
        let mut done = 0.0;
        while done < length {
            let step = left.min(length - done);
            if part % 2 == 0 {
                shapes.push(Shape::Line { from: at(done), to: at(done + step), colour, width });
            }
            done += step;
            left -= step;
            if left <= 0.0 {
                part = (part + 1) % dashes.len().max(1);
                left = dashes.get(part).copied().unwrap_or(f64::INFINITY);
            }
        }
    }
    shapes
}

/// The mark of the line with this position, `scale` times as large as usual: a disc for the first, a ring for the
/// second, then other hollow shapes.
pub fn mark(position: usize, (x, y): Point, colour: Colour, scale: f64) -> Vec<Shape> {
    let polygon = |corners: &[Point], r: f64, colour| Shape::Polygon {
        corners: corners.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)).collect(),
        colour,
    };
    let hollow =
        |corners: &[Point]| vec![polygon(corners, 6.2 * scale, colour), polygon(corners, 6.2 * scale - 2.6, WHITE)];
    match position % 5 {
        0 => vec![Shape::Disc { centre: (x, y), radius: 4.0 * scale, colour }],
        1 => vec![
            Shape::Disc { centre: (x, y), radius: 6.7 * scale, colour },
            Shape::Disc { centre: (x, y), radius: 6.7 * scale - 1.75, colour: WHITE },
        ],
        2 => hollow(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        3 => hollow(&[(0.0, -1.3), (1.2, 0.8), (-1.2, 0.8)]),
        _ => hollow(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
    }
}

/// A cross that shows on any mark.
pub fn cross((x, y): Point) -> Vec<Shape> {
    const ARM: f64 = 6.0;
    let strokes = |reach: f64, colour, width| {
        [-1.0, 1.0].map(|way| Shape::Line {
            from: (x - reach, y - way * reach),
            to: (x + reach, y + way * reach),
            colour,
            width,
        })
    };
    [strokes(ARM + 1.0, WHITE, 4.5), strokes(ARM, INK, 2.0)].concat()
}

/// Name by which the font is found; programs that show an SVG take the first of these that they have.
pub const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

/// Makes the bundled font known, once for the process: the Latin part of `DejaVu Sans`, without hints.
///
/// The library takes the left edge of a glyph's outline for its origin, which spaces letters unevenly. Hence every glyph
/// of the file has an outline without area at its origin.
pub fn register() {
    static DONE: OnceLock<bool> = OnceLock::new();
    DONE.get_or_init(|| {
        let bytes = include_bytes!("../../assets/DejaVuSans.ttf");
        register_font(FONT, FontStyle::Normal, bytes).is_ok()
    });
}

/// Width of a text in pixels.
pub fn width_of(text: &str, size: f64) -> f64 {
    // Measured large, since the library gives whole pixels.
    const ZOOM: f64 = 16.0;
    register();
    let font = FontDesc::new(FontFamily::Name(FONT), size * PNG_SIZE_PER_EM * ZOOM, FontStyle::Normal);
    font.box_size(text).map_or(0.0, |(width, _)| f64::from(width) / ZOOM)
}

/// What the library calls the size of a font in a bitmap is the height of its lines, here in ems of this font.
pub const PNG_SIZE_PER_EM: f64 = 2384.0 / 2048.0;

/// Cuts a text with an ellipsis if it is wider than `room` pixels.
pub fn shorten(text: &str, size: f64, room: f64) -> String {
    let mut kept = text.to_owned();
    let mut out = kept.clone();
    while width_of(&out, size) > room && kept.pop().is_some() {
        out = format!("{kept}…");
    }
    out
}

/// Breaks a text into lines no wider than `room` pixels.
pub fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = shorten(word, size, room);
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}
