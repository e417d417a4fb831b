//! A chart drawn: frame, lines, marks and ideals, and beside them what they mean.

use std::error::Error;
use std::f64::consts::TAU;
use std::sync::OnceLock;
use std::vec;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::{Chart, Ideal, row_count};

/// What the library that draws may say.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Width of every picture, the legend included. All sizes are in pixels, two for one of the page.
const WIDTH: u32 = 2000;
/// Height of a picture whose legend is no higher than its plot.
const HEIGHT: u32 = 1200;
/// Width of the legend.
const LEGEND: u32 = 540;
/// Free space around everything, and the heading.
const MARGIN: u32 = 48;
const HEADING: u32 = 110;
/// A line of the legend.
const LINE: usize = 40;
/// The sample of a line in the legend.
const SAMPLE: i32 = 88;

/// Sizes of text.
const LARGE: i32 = 44;
const USUAL: i32 = 30;
const SMALL: i32 = 28;

/// Text.
const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);
/// Text that explains.
const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6a);
/// What the delay alone would allow.
const FAINT: RGBColor = RGBColor(0x9a, 0xa4, 0xae);
/// Lines of the grid.
const GRID: RGBColor = RGBColor(0xe4, 0xe8, 0xec);

/// The colours of Okabe and Ito that hold on white, which people who see fewer colours can tell apart.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xb8, 0x5c, 0x93),
    RGBColor(0x8a, 0x6d, 0x00),
    RGBColor(0x2f, 0x9b, 0xd8),
    RGBColor(0x4d, 0x4d, 0x4d),
];

/// Dashes and gaps of the servers' lines, which begin anew after the last; the first has no gaps.
const DASHES: [(i32, i32); 5] = [(i32::MAX, 0), (14, 9), (5, 6), (32, 10), (10, 4)];
/// Corners of the servers' marks, how much larger than the first they are, and whether hollow: a disc, a ring around it, then others.
const MARKS: [(u8, f64, bool); 4] = [(24, 0.0, false), (24, 5.0, true), (3, 7.0, true), (4, 6.0, true)];

/// How a line is drawn: its server gives dashes and mark, its size of batches the colour and how bold it is.
#[derive(Clone, Copy)]
struct Pen {
    server: usize,
    style: ShapeStyle,
    radius: f64,
}

impl Pen {
    /// The larger the batches, the bolder: small batches do not cover all of larger ones on the same spot.
    fn new(server: usize, size: usize) -> Self {
        let (width, radius) = [(4, 7.0), (5, 9.0), (6, 11.0)][size.min(2)];
        Pen { server, style: PALETTE[size % PALETTE.len()].stroke_width(width), radius }
    }

    /// What is drawn around a point: a shape, and what makes it hollow.
    fn mark(&self) -> [Polygon<(i32, i32)>; 2] {
        let (corners, larger, hollow) = MARKS[self.server % MARKS.len()];
        let polygon = |radius: f64, style: ShapeStyle| {
            let corner = |number: u8| {
                let (x, y) = (f64::from(number) / f64::from(corners) * TAU).sin_cos();
                #[expect(clippy::cast_possible_truncation, reason = "a few pixels")]
                let pixels = |part: f64| (part * radius).round() as i32;
                (pixels(x), -pixels(y))
            };
            Polygon::new((0..corners).map(corner).collect::<Vec<_>>(), style)
        };
        let radius = self.radius + larger;
        let inner = if hollow { WHITE.filled() } else { self.style.filled() };
        [polygon(radius, self.style.filled()), polygon(radius - 4.0, inner)]
    }

    fn line<C: Clone>(&self, points: Vec<C>) -> DashedPathElement<vec::IntoIter<C>, i32> {
        let (dash, gap) = DASHES[self.server % DASHES.len()];
        DashedPathElement::new(points, dash, gap, self.style)
    }
}

/// What stands before a line of the legend.
#[derive(Clone, Copy)]
enum Sample {
    Nothing,
    Series(Pen),
    Ideal,
    Cross,
}

/// Width and height of a chart's picture.
pub fn size(chart: &Chart) -> (u32, u32) {
    let legend = u32::try_from(entries(chart).len() * LINE).unwrap_or(u32::MAX);
    (WIDTH, HEIGHT.max(legend.saturating_add(HEADING + 2 * MARGIN)))
}

/// Draws the chart on a page of its size.
///
/// # Errors
/// If the library cannot.
pub fn paint<B>(page: &DrawingArea<B, Shift>, chart: &Chart) -> Result<(), Failure>
where
    B: DrawingBackend,
    B::ErrorType: 'static,
{
    register();
    page.fill(&WHITE)?;
    let (left, right) = page.split_horizontally(WIDTH - LEGEND);
    plot(&left, chart)?;
    legend(&right, chart)?;
    Ok(page.present()?)
}

/// The plot without its legend.
fn plot<B>(area: &DrawingArea<B, Shift>, chart: &Chart) -> Result<(), Failure>
where
    B: DrawingBackend,
    B::ErrorType: 'static,
{
    let mut context = ChartBuilder::on(area)
        .margin(MARGIN)
        .caption(&chart.title, text(LARGE, INK))
        .x_label_area_size(90)
        .y_label_area_size(160)
        .build_cartesian_2d(chart.x.clone(), chart.y.clone())?;
    context
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(2))
        .axis_style(MUTED.stroke_width(2))
        .label_style(text(SMALL, MUTED))
        .axis_desc_style(text(USUAL, MUTED))
        .x_label_formatter(&|value| chart.x.label(*value))
        .y_label_formatter(&|value| chart.y.label(*value))
        .x_desc("concurrent requests (logarithmic)")
        .y_desc(chart.quantity.axis)
        .draw()?;
    let drawn: Vec<(&Ideal, (f64, f64))> =
        chart.ideals.iter().filter_map(|ideal| Some((ideal, *ideal.line.last()?))).collect();
    context.draw_series(drawn.iter().map(|(ideal, _)| PathElement::new(ideal.line.clone(), FAINT.stroke_width(2))))?;
    context.draw_series((0..).zip(&drawn).map(|(number, (ideal, end))| {
        // Beside the end of its line, on the side where there is room, and below names that would be in its way.
        let part = |x: f64| chart.x.part(x);
        let others = (0..number).zip(&drawn).map(|(_, (_, other))| (part(other.0) - part(end.0)).abs());
        let row: i32 = others.map(|distance| i32::from(distance < 0.25)).sum();
        let (side, across) = if part(end.0) < 0.8 { (HPos::Left, 14) } else { (HPos::Right, -14) };
        let style = text(SMALL, MUTED).pos(Pos::new(side, VPos::Top));
        EmptyElement::at(*end) + Text::new(printable(&format!("ideal, {}", ideal.whose)), (across, 6 + 36 * row), style)
    }))?;
    // Backwards: what is drawn last, the first server with its small batches, does not cover all of the others.
    let pens = || chart.series.iter().rev().map(|series| (Pen::new(series.server, series.size), &series.line));
    for (pen, line) in pens().filter(|(_, line)| line.len() > 1) {
        context.draw_series([pen.line(line.clone())])?;
    }
    for (pen, line) in pens() {
        context.draw_series(line.iter().map(|&at| {
            let [shape, inner] = pen.mark();
            EmptyElement::at(at) + shape + inner
        }))?;
    }
    context.draw_series(chart.failed.iter().map(|&at| {
        let [halo, cross] = cross((0, 0));
        EmptyElement::at(at) + halo + cross
    }))?;
    if chart.series.is_empty() {
        let (width, height) = area.dim_in_pixel();
        let middle = (i32::try_from(width / 2)?, i32::try_from(height / 2)?);
        let style = text(USUAL, MUTED).pos(Pos::new(HPos::Center, VPos::Center));
        area.draw(&Text::new("no cell has a value to draw", middle, style))?;
    }
    Ok(())
}

/// A cross that shows on any mark: its halo, and the cross.
fn cross(at: (i32, i32)) -> [Cross<(i32, i32), i32>; 2] {
    [Cross::new(at, 14, WHITE.stroke_width(9)), Cross::new(at, 12, INK.stroke_width(4))]
}

/// The lines of the legend.
fn entries(chart: &Chart) -> Vec<(String, Sample)> {
    let note = |text: &str| (text.to_owned(), Sample::Nothing);
    let mut entries = Vec::new();
    for of_server in chart.series.chunk_by(|a, b| a.server == b.server) {
        entries.push(note(chart.servers[of_server[0].server]));
        entries.extend(of_server.iter().map(|series| {
            let name = format!("{} per batch", row_count(chart.sizes[series.size]));
            (name, Sample::Series(Pen::new(series.server, series.size)))
        }));
        entries.push(note(" "));
    }
    let (above, drawn): (Vec<&Ideal>, Vec<_>) = chart.ideals.iter().partition(|ideal| ideal.line.is_empty());
    if !drawn.is_empty() {
        entries.push(("ideal: the delay alone".to_owned(), Sample::Ideal));
        entries.extend(above.iter().map(|ideal| note(&format!("above this plot: {}", ideal.whose))));
        entries.push(note(" "));
    } else if !above.is_empty() {
        entries.extend([note("The ideal is above this plot."), note(" ")]);
    }
    let cells = |count: usize| format!("{count} cell{}", if count == 1 { "" } else { "s" });
    if !chart.failed.is_empty() {
        entries.extend([(format!("failures in {}", cells(chart.failed.len())), Sample::Cross), note(" ")]);
    }
    if chart.left_out > 0 {
        let verb = if chart.left_out == 1 { "has" } else { "have" };
        entries.push(note(&format!("{} {verb} no value", cells(chart.left_out))));
    }
    entries
}

/// What the lines mean: a plot of nothing but the names of its series.
fn legend<B>(area: &DrawingArea<B, Shift>, chart: &Chart) -> Result<(), Failure>
where
    B: DrawingBackend,
    B::ErrorType: 'static,
{
    let mut context = ChartBuilder::on(area).margin_top(HEADING).build_cartesian_2d(0..1, 0..1)?;
    for (text, sample) in entries(chart) {
        let series = context.draw_series(std::iter::empty::<EmptyElement<(i32, i32), B>>())?.label(shorten(&text));
        match sample {
            Sample::Nothing => series.legend(EmptyElement::at),
            Sample::Series(pen) => series.legend(move |(x, y)| {
                let [shape, inner] = pen.mark();
                let line = pen.line(vec![(-SAMPLE / 2, 0), (SAMPLE / 2, 0)]);
                EmptyElement::at((x + SAMPLE / 2, y)) + line + shape + inner
            }),
            Sample::Ideal => series.legend(|(x, y)| PathElement::new([(x, y), (x + SAMPLE, y)], FAINT.stroke_width(2))),
            Sample::Cross => series.legend(|at| {
                let [halo, cross] = cross((SAMPLE / 2, 0));
                EmptyElement::at(at) + halo + cross
            }),
        };
    }
    context
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .legend_area_size(SAMPLE + 10)
        .margin(0)
        .label_font(text(USUAL, INK))
        .draw()?;
    Ok(())
}

/// Name by which the font is found; programs that show an SVG take the first of these that they have.
const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

/// Makes the bundled font known, once for the process: the Latin part of `DejaVu Sans`, without hints.
///
/// The library takes the left edge of a glyph's outline for its origin, which spaces letters unevenly. Hence every glyph
/// of the file has an outline without area at its origin.
fn register() {
    static DONE: OnceLock<bool> = OnceLock::new();
    DONE.get_or_init(|| {
        let bytes = include_bytes!("../../assets/DejaVuSans.ttf");
        register_font(FONT, FontStyle::Normal, bytes).is_ok()
    });
}

fn text(size: i32, colour: RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(&colour)
}

/// A text in which characters that XML forbids are spaces.
fn printable(text: &str) -> String {
    let is_forbidden = |part: char| part.is_control() || matches!(part, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|part| if is_forbidden(part) { ' ' } else { part }).collect()
}

/// As much of a text as a line of the legend has room for.
fn shorten(text: &str) -> String {
    const MOST: usize = 29;
    let mut out = printable(text);
    if let Some((end, _)) = out.char_indices().nth(MOST) {
        out.truncate(end);
        out.push('…');
    }
    out
}
