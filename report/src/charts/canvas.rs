//! A card to draw on, only as large as its content: light on a light page and dark on a dark one.

use svg::node::element::{Description, Element, Group, Text, Title};
use svg::{Document, Node};

use crate::fmt;

/// Width of every chart in pixels: text stays readable where a page gives it 600.
pub const WIDTH: f64 = 780.0;
/// Free space around the content of a card.
pub const PADDING: f64 = 20.0;
/// Ordinary text; 12 px and more stays readable when the page scales the picture down a little.
pub const TEXT: f64 = 13.0;
/// Ticks and notes.
pub const SMALL: f64 = 12.0;
/// The heading of a chart.
const HEADING: f64 = 16.0;

/// A color on a light page, and on a dark one. Of the arms they are those of Okabe and Ito.
pub type Color = (&'static str, &'static str);

/// Ink for text.
pub const INK: Color = ("#1f2328", "#e6edf3");
/// Ink for what explains.
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
const ASYNC: Color = YES;
const SYNC: Color = ("#d55e00", "#f0883e");
const BEST: Color = ("#008a64", "#3fb950");
const OTHER: Color = ("#9a4f80", "#e08fc0");
const CONTROL: Color = ("#6e7781", "#8b949e");
const GOLD: Color = ("#8f6a00", "#d4a72c");
const TEAL: Color = ("#117a8b", "#56c8d8");
const ALL: [Color; 14] = [CARD, INK, MUTED, GRID, PUBLISHED, YES, NO, CLAIMED, SYNC, BEST, OTHER, CONTROL, GOLD, TEAL];

/// Colors of the lines of a map, by their order: arms of one kind stand side by side there.
pub const LINES: [Color; 8] = [CONTROL, OTHER, ASYNC, SYNC, BEST, GOLD, TEAL, INK];

/// The style sheet of a dark page. Every shape has its color as an attribute, for whoever knows no style sheets.
fn dark() -> String {
    let rule =
        |(light, dark): &Color| format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}");
    format!("@media(prefers-color-scheme:dark){{{}}}", ALL.iter().map(rule).collect::<String>())
}

/// Which arms have a color, by how their names begin: async blue, sync orange, the best green. All others are controls, which are grey, and
/// so are the first ones here, which begin like async or sync.
const ARMS: [(Color, &[&str]); 5] = [
    (CONTROL, &["sync_pipelined", "sync_unshared", "async_multi_thread", "async_batched"]),
    (BEST, &["best", "wal", "rayon", "shared", "vector"]),
    (ASYNC, &["spawn_tasks", "async", "tokio", "stock"]),
    (SYNC, &["spawn_threads", "sync", "direct", "thread", "sys_thread", "static_split"]),
    (OTHER, &["spawn_blocking", "pool", "pyarrow"]),
];

/// The color of an arm, the same in every chart.
pub fn color(arm: &str) -> Color {
    let begins = |begin: &&str| arm.starts_with(begin);
    ARMS.into_iter().find(|(_, names)| names.iter().any(begins)).map_or(CONTROL, |(color, _)| color)
}

/// Where a text stands relative to its point, but for one that starts there.
pub const MIDDLE: &str = "middle";
pub const END: &str = "end";

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    pub size: f64,
    pub fill: Color,
    pub anchor: &'static str,
    /// Further attributes.
    pub more: &'static [(&'static str, &'static str)],
}

/// Heavier letters.
pub const BOLD: &[(&str, &str)] = &[("font-weight", "600")];
/// An edge in the color of the card, which keeps a text apart from the lines that it stands among.
pub const EDGE: &[(&str, &str)] = &[("stroke", CARD.0), ("stroke-width", "4"), ("paint-order", "stroke")];

impl Style {
    /// Ordinary text from its point on.
    pub const PLAIN: Self = Self { size: TEXT, fill: INK, anchor: "start", more: &[] };
    /// The same in grey.
    pub const QUIET: Self = Self { fill: MUTED, ..Self::PLAIN };
    /// Small grey text from its point on.
    pub const NOTE: Self = Self { size: SMALL, ..Self::QUIET };
}

/// A shape for a point, so that color is never the only difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Disc,
    Square,
    Triangle,
    Diamond,
    /// A ring, for what is unclear.
    Ring,
}

/// The shape of the arm with this position.
pub fn mark(position: usize) -> Mark {
    [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond][position % 4]
}

/// The pattern of the line with this position; the first has no gaps.
pub fn dash(position: usize) -> &'static str {
    ["", "8 4", "2 3", "10 3 2 3", "5 2", "14 4"][position % 6]
}

/// A drawing under way.
#[derive(Debug, Default)]
pub struct Canvas {
    content: Group,
}

impl Canvas {
    /// Text at a baseline point.
    pub fn text(&mut self, x: f64, y: f64, text: &str, style: Style) {
        let look = [&[("fill", style.fill.0), ("text-anchor", style.anchor)], style.more].concat();
        self.add(Text::new(readable(text)), &[("x", x), ("y", y), ("font-size", style.size)], &look);
    }

    /// A straight line, `width` pixels wide.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Color, width: f64) {
        let ends = [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1), ("stroke-width", width)];
        self.add(Element::new("line"), &ends, &[("stroke", stroke.0)]);
    }

    /// A line through several points in the pattern `dash`, which is empty for one without gaps.
    pub fn path(&mut self, points: &[(f64, f64)], stroke: Color, dash: &str) {
        if points.len() > 1 {
            let dash: &[_] = if dash.is_empty() { &[] } else { &[("stroke-dasharray", dash)] };
            let path = path(points);
            let look = [("d", path.as_str()), ("fill", "none"), ("stroke", stroke.0), ("stroke-linejoin", "round")];
            self.add(Element::new("path"), &[("stroke-width", 2.0)], &[&look, dash].concat());
        }
    }

    /// A filled rectangle from its upper left corner to its lower right one.
    pub fn band(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64), fill: Color) {
        let place = [("x", left), ("y", top), ("width", right - left), ("height", bottom - top)];
        self.add(Element::new("rect"), &place, &[("fill", fill.0)]);
    }

    /// A sample: a small half-transparent mark, so that points on one spot show as darker.
    pub fn sample(&mut self, at: (f64, f64), mark: Mark, fill: Color) {
        self.shape(at, 3.6, mark, &[("fill", fill.0), ("fill-opacity", "0.55"), ("class", "sample")]);
    }

    /// An estimate or a median: a larger, opaque mark, whose edge in the color of the card tells it apart from others that it overlaps.
    pub fn estimate(&mut self, at: (f64, f64), mark: Mark, fill: Color) {
        match mark {
            Mark::Ring => self.shape(at, 5.0, mark, &outlined(fill, "estimate")),
            mark => {
                let look = [("fill", fill.0), ("fill-opacity", "1"), ("class", "estimate"), ("stroke", CARD.0)];
                self.shape(at, 5.5, mark, &look);
            }
        }
    }

    /// An outlined diamond: the published figure.
    pub fn published(&mut self, at: (f64, f64)) {
        self.shape(at, 6.0 / 1.3, Mark::Diamond, &outlined(PUBLISHED, "published"));
    }

    fn shape(&mut self, (x, y): (f64, f64), r: f64, mark: Mark, look: &[(&str, &str)]) {
        // Corners around the point, in multiples of r.
        let corners: &[(f64, f64)] = match mark {
            Mark::Disc | Mark::Ring => {
                return self.add(Element::new("circle"), &[("cx", x), ("cy", y), ("r", r)], look);
            }
            Mark::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Mark::Triangle => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            Mark::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        };
        let corners: Vec<(f64, f64)> = corners.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)).collect();
        self.add(Element::new("path"), &[], &[&[("d", (path(&corners) + " Z").as_str())], look].concat());
    }

    fn add(&mut self, node: impl Node, pixels: &[(&str, f64)], others: &[(&str, &str)]) {
        self.content.append(with(node, pixels, others));
    }

    /// The finished picture, `height` pixels high, with a title and a description for readers who cannot see it.
    pub fn finish(self, height: f64, title: &str, description: &str) -> String {
        let size = [("x", 0.5), ("y", 0.5), ("width", WIDTH - 1.0), ("height", height - 1.0), ("rx", 8.0)];
        let card = with(Element::new("rect"), &size, &[("fill", CARD.0), ("stroke", GRID.0)]);
        let view = format!("0 0 {} {}", px(WIDTH), px(height));
        let font = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";
        let look = [
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("viewBox", view.as_str()),
            ("role", "img"),
            ("font-family", font),
        ];
        let document = with(Document::new(), &[("width", WIDTH), ("height", height)], &look)
            .add(Title::new(readable(title)))
            .add(Description::new().add(svg::node::Text::new(readable(description))))
            .add(svg::node::element::Style::new(dark()))
            .add(card)
            .add(self.content);
        format!("{document}\n")
    }
}

/// The look of a shape that is only a line around its place.
fn outlined(stroke: Color, class: &str) -> [(&str, &str); 4] {
    [("fill", CARD.0), ("stroke", stroke.0), ("stroke-width", "2"), ("class", class)]
}

/// The node with its numbers in pixels and its other attributes.
fn with<N: Node>(mut node: N, pixels: &[(&str, f64)], others: &[(&str, &str)]) -> N {
    for (name, x) in pixels {
        node.assign(*name, px(*x));
    }
    for (name, text) in others {
        node.assign(*name, *text);
    }
    node
}

/// The commands that draw a line through points.
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

/// Text without the control characters that XML forbids.
fn readable(text: &str) -> String {
    text.replace(|part: char| part.is_control() || matches!(part, '\u{fffe}' | '\u{ffff}'), " ")
}

/// Upper estimate of a text's width in pixels: no font is at hand, so wide sans-serif letters are assumed.
pub fn width_of(text: &str, size: f64) -> f64 {
    let share = |part: char| match part {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '[' | ']' | '(' | ')' => 0.38,
        'm' | 'w' | 'M' | 'W' | '÷' | '×' | '−' | '→' | '←' => 0.92,
        'A'..='Z' => 0.70,
        part if part.is_ascii() => 0.60,
        // Ideographs and the like are as wide as high.
        part if part > '\u{2e80}' => 1.05,
        _ => 0.70,
    };
    text.chars().map(share).sum::<f64>() * size
}

/// Breaks text into lines no wider than `width` pixels; a single word that is wider is cut with an ellipsis.
pub fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let words = text.split_whitespace().map(|word| shorten(word, size, width));
    fmt::lines(words, " ", |line| width_of(line, size) <= width)
}

/// Cuts a text with an ellipsis if it is wider than `width` pixels.
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
    let room = WIDTH - 2.0 * PADDING;
    let mut y = PADDING + HEADING;
    for line in wrap(title, HEADING, room) {
        canvas.text(PADDING, y, &line, Style { size: HEADING, more: BOLD, ..Style::PLAIN });
        y += 21.0;
    }
    for line in notes.into_iter().flat_map(|note| wrap(&note, TEXT, room)) {
        canvas.text(PADDING, y, &line, Style::QUIET);
        y += 18.0;
    }
    y
}
