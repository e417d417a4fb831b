//! A card to draw on, only as large as its content: light on a light page and dark on a dark one.

use crate::fmt;

/// Width of every chart in pixels: text stays readable where a page gives it 600.
pub const WIDTH: f64 = 780.0;
pub const PADDING: f64 = 20.0;
/// Width of a line of text over the whole card.
pub const ROOM: f64 = WIDTH - 2.0 * PADDING;
// 12 px and more stays readable when the page scales the picture down a little.
/// Ordinary text.
pub const TEXT: f64 = 13.0;
/// Ticks and notes.
pub const SMALL: f64 = 12.0;
const HEADING: f64 = 16.0;

/// A color on a light page, and on a dark one. Those of lines follow Okabe and Ito.
pub type Color = (&'static str, &'static str);

pub const INK: Color = ("#1f2328", "#e6edf3");
pub const MUTED: Color = ("#57606a", "#9198a1");
/// Lines of axes and grids.
pub const GRID: Color = ("#d8dee4", "#30363d");
/// What is as claimed.
pub const YES: Color = ("#0072b2", "#58a6ff");
/// What is not.
pub const NO: Color = ("#c04000", "#f0883e");
/// A published range.
pub const CLAIMED: Color = ("#e6dcf5", "#2d2440");
/// What stands for a published figure.
pub const PUBLISHED: Color = ("#8250df", "#b083f0");
const CARD: Color = ("#ffffff", "#0d1117");
const ORANGE: Color = ("#d55e00", "#f0883e");
const GREEN: Color = ("#008a64", "#3fb950");
const PURPLE: Color = ("#9a4f80", "#e08fc0");
const GREY: Color = ("#6e7781", "#8b949e");
const GOLD: Color = ("#8f6a00", "#d4a72c");
const CRIMSON: Color = ("#b3003c", "#ff7b8f");
const ALL: [Color; 14] =
    [CARD, INK, MUTED, GRID, PUBLISHED, YES, NO, CLAIMED, ORANGE, GREEN, PURPLE, GREY, GOLD, CRIMSON];

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    pub size: f64,
    pub fill: Color,
    /// What of it stands at its point: "start", "middle" or "end".
    pub anchor: &'static str,
    /// Further attributes: of those that a text has, they stand behind the size.
    pub more: &'static str,
}

pub const BOLD: &str = r#" font-weight="600""#;
/// An edge in the color of the card, which keeps a text apart from the lines that it stands among.
pub const EDGE: &str = r##" paint-order="stroke" stroke="#ffffff" stroke-width="4""##;

impl Style {
    pub const PLAIN: Self = Self { size: TEXT, fill: INK, anchor: "start", more: "" };
    pub const QUIET: Self = Self { fill: MUTED, ..Self::PLAIN };
    pub const NOTE: Self = Self { size: SMALL, ..Self::QUIET };
}

/// A shape for a point, so that color is never the only difference: its corners, in multiples of its size; of a disc none.
pub type Mark = &'static [(f64, f64)];

pub const DISC: Mark = &[];
pub const SQUARE: Mark = &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
const TRIANGLE: Mark = &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)];
const WEDGE: Mark = &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)];
const DIAMOND: Mark = &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)];

/// The color of the line with this position: in a map arms of one kind stand side by side.
pub fn color(position: usize) -> Color {
    [GREY, PURPLE, YES, ORANGE, GREEN, GOLD, CRIMSON, INK][position % 8]
}

/// The shape of the arm with this position.
pub fn mark(position: usize) -> Mark {
    [DISC, SQUARE, TRIANGLE, DIAMOND, WEDGE][position % 5]
}

/// The pattern of the line with this position; the first has no gaps.
pub fn dash(position: usize) -> &'static str {
    ["", "8 4", "2 3", "10 3 2 3", "5 2", "14 4"][position % 6]
}

#[derive(Debug, Default)]
pub struct Canvas {
    content: String,
}

impl Canvas {
    fn add(&mut self, element: &str) {
        self.content.extend([element, "\n"]);
    }

    pub fn text(&mut self, x: f64, y: f64, text: &str, Style { size, fill: (fill, _), anchor, more }: Style) {
        let [x, y, size] = [x, y, size].map(px);
        let look = format!(r#"fill="{fill}" font-size="{size}"{more} text-anchor="{anchor}" x="{x}" y="{y}""#);
        self.add(&format!("<text {look}>\n{}\n</text>", escaped(text)));
    }

    /// Lines of text, one below the other in this `step`; the y of the next.
    pub fn lines(&mut self, (x, mut y): (f64, f64), lines: &[String], step: f64, style: Style) -> f64 {
        for line in lines {
            self.text(x, y, line, style);
            y += step;
        }
        y
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), (stroke, _): Color, width: f64) {
        let [x1, y1, x2, y2, width] = [from.0, from.1, to.0, to.1, width].map(px);
        let ends = format!(r#"x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}""#);
        self.add(&format!(r#"<line stroke="{stroke}" stroke-width="{width}" {ends}/>"#));
    }

    /// A line through several points in the pattern `dash`, which is empty for one without gaps.
    pub fn path(&mut self, points: &[(f64, f64)], (stroke, _): Color, dash: &str) {
        if points.len() > 1 {
            let dash = if dash.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dash}""#) };
            let look = format!(r#"fill="none" stroke="{stroke}"{dash} stroke-linejoin="round" stroke-width="2""#);
            self.add(&format!(r#"<path d="{}" {look}/>"#, path(points)));
        }
    }

    pub fn band(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64), (fill, _): Color) {
        let [x, y, width, height] = [left, top, right - left, bottom - top].map(px);
        self.add(&format!(r#"<rect fill="{fill}" height="{height}" width="{width}" x="{x}" y="{y}"/>"#));
    }

    /// An estimate: a mark whose edge in the color of the card tells it apart from others that it overlaps.
    pub fn estimate(&mut self, at: (f64, f64), mark: Mark, fill: Color) {
        self.shape(at, 5.5, mark, "estimate", [fill, CARD]);
    }

    pub fn hollow(&mut self, at: (f64, f64), mark: Mark, color: Color) {
        self.shape(at, 5.0, mark, "estimate", [CARD, color]);
    }

    /// An outlined diamond: the published figure.
    pub fn published(&mut self, at: (f64, f64)) {
        self.shape(at, 6.0 / 1.3, DIAMOND, "published", [CARD, PUBLISHED]);
    }

    fn shape(&mut self, (x, y): (f64, f64), r: f64, mark: Mark, class: &str, [fill, edge]: [Color; 2]) {
        let outline = if fill == CARD { r#" stroke-width="2""# } else { "" };
        let (fill, edge) = (format!(r#"fill="{}""#, fill.0), format!(r#" stroke="{}"{outline}"#, edge.0));
        if mark.is_empty() {
            let [x, y, r] = [x, y, r].map(px);
            return self.add(&format!(r#"<circle class="{class}" cx="{x}" cy="{y}" {fill} r="{r}"{edge}/>"#));
        }
        let corners: Vec<(f64, f64)> = mark.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)).collect();
        self.add(&format!(r#"<path class="{class}" d="{} Z" {fill}{edge}/>"#, path(&corners)));
    }

    /// The finished picture, `height` pixels high, with a title and a description for readers who cannot see it.
    pub fn finish(self, height: f64, title: &str, description: &str) -> String {
        let [inner_width, inner_height, width, height] = [WIDTH - 1.0, height - 1.0, WIDTH, height].map(px);
        let font = "-apple-system, &apos;Segoe UI&apos;, &apos;Noto Sans&apos;, Helvetica, Arial, sans-serif";
        let size = format!(r#"height="{height}" role="img" viewBox="0 0 {width} {height}" width="{width}""#);
        let card = format!(r#"fill="{}" height="{inner_height}" rx="8" stroke="{}""#, CARD.0, GRID.0);
        // Every shape has its color as an attribute, for whoever knows no style sheets.
        let dark = |(light, dark)| format!(r#"[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}"#);
        [
            &format!(r#"<svg font-family="{font}" {size} xmlns="http://www.w3.org/2000/svg">"#),
            &format!("<title>{}</title>\n<desc>{}</desc>", escaped(title), escaped(description)),
            &format!("<style>\n@media(prefers-color-scheme:dark){{{}}}\n</style>", ALL.map(dark).concat()),
            &format!(r#"<rect {card} width="{inner_width}" x="0.5" y="0.5"/>"#),
            &format!("<g>\n{}</g>\n</svg>\n", self.content),
        ]
        .map(String::as_str)
        .join("\n")
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let steps: Vec<String> = points.iter().map(|(x, y)| format!("{} {}", px(*x), px(*y))).collect();
    format!("M{}", steps.join(" L"))
}

/// Pixels with at most two decimals, so that the file stays small and the same everywhere.
fn px(x: f64) -> String {
    let text = format!("{:.2}", if x.is_finite() { x } else { 0.0 });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn escaped(text: &str) -> String {
    let readable = text.replace(|part: char| part.is_control() || matches!(part, '\u{fffe}' | '\u{ffff}'), " ");
    readable.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Upper estimate of a text's width in pixels: no font is at hand, so wide sans-serif letters are assumed.
pub fn width_of(text: &str, size: f64) -> f64 {
    let share = |part: char| match part {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '\u{a0}' | '[' | ']' | '(' | ')' => 0.38,
        'm' | 'w' | 'M' | 'W' | '÷' | '×' | '−' | '→' | '←' => 0.92,
        'A'..='Z' => 0.70,
        part if part.is_ascii() => 0.60,
        // Ideographs and the like are as wide as high.
        part if part > '\u{2e80}' => 1.05,
        _ => 0.70,
    };
    text.chars().map(share).sum::<f64>() * size
}

/// Breaks text into lines no wider than `width` pixels, but not at a no-break space; a single word that is wider is cut with an ellipsis.
pub fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let is_break = |letter: char| letter.is_whitespace() && letter != '\u{a0}';
    let words = text.split(is_break).filter(|word| !word.is_empty()).map(|word| shorten(word, size, width));
    fmt::lines(words, " ", |line| width_of(line, size) <= width)
}

pub fn shorten(text: &str, size: f64, width: f64) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let fits = |end: &usize| width_of(&text[..*end], size) + size <= width;
    let end = text.char_indices().map(|(end, _)| end).take_while(fits).last().unwrap_or(0);
    format!("{}…", &text[..end])
}

/// The heading and the notes under it at the top of a card; gives back the y at which the content may begin.
pub fn heading(canvas: &mut Canvas, title: &str, notes: impl IntoIterator<Item = String>) -> f64 {
    let style = Style { size: HEADING, more: BOLD, ..Style::PLAIN };
    let y = canvas.lines((PADDING, PADDING + HEADING), &wrap(title, HEADING, ROOM), 21.0, style);
    let notes: Vec<String> = notes.into_iter().flat_map(|note| wrap(&note, TEXT, ROOM)).collect();
    canvas.lines((PADDING, y), &notes, 18.0, Style::QUIET)
}
