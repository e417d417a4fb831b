//! A chart of the rows of one delay, drawn by plotters: its mesh, its lines and its legend.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;

use indicatif::HumanFloatCount;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::register_font;

use super::Failure;
use crate::results::Row;

/// Width of every picture, the legend included. All sizes are in pixels, two for one of the page.
const WIDTH: u32 = 1400;
/// Height of a picture whose legend is no higher than its plot.
const HEIGHT: u32 = 840;
/// Width of the legend.
const LEGEND: u32 = 420;
/// What is above the legend.
const HEADING: u32 = 90;
/// A line of the legend, and what stands before it.
const LINE: u32 = 36;
const SAMPLE: i32 = 72;
/// Sizes of text.
const LARGE: i32 = 36;
const USUAL: i32 = 26;

const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);
const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6a);
const FAINT: RGBColor = RGBColor(0x9a, 0xa4, 0xae);
const GRID: RGBColor = RGBColor(0xe4, 0xe8, 0xec);
/// As in every chart of these studies.
const ASYNC: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const SYNC: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
const OTHERS: [RGBColor; 4] =
    [RGBColor(0x9a, 0x4f, 0x80), RGBColor(0x00, 0x8a, 0x64), RGBColor(0x8a, 0x6d, 0x00), RGBColor(0x4d, 0x4d, 0x4d)];

/// Of the lines of a size of batches, the largest first: dash, gap, width. They begin anew after the last.
const STROKES: [(i32, i32, u32); 3] = [(i32::MAX, 0, 5), (16, 8, 4), (5, 7, 3)];

/// What is plotted against the concurrent requests.
pub struct Quantity {
    /// As in the name of a file.
    pub name: &'static str,
    title: &'static str,
    axis: &'static str,
    /// The value of a row, if it can be drawn: what no measurement gives would make axes endless.
    value: fn(&Row) -> Option<f64>,
    /// A rate begins at zero and has an ideal; a time is logarithmic.
    is_rate: bool,
}

/// Both quantities.
pub const QUANTITIES: [Quantity; 2] = [
    Quantity {
        name: "throughput",
        title: "Throughput",
        axis: "MB/s of all streams together",
        value: |row| Some(row.throughput_mb_per_s).filter(|rate| (0.0..1e12).contains(rate)),
        is_rate: true,
    },
    Quantity {
        name: "latency",
        title: "Average latency",
        axis: "average time of a request (logarithmic)",
        value: |row| row.average_latency.filter(|seconds| (1e-9..1e9).contains(seconds)),
        is_rate: false,
    },
];

/// Requests in flight and quantity, in rising order of requests.
type Line = Vec<(f64, f64)>;

/// How a line is drawn.
#[derive(Clone, Copy)]
struct Pen {
    colour: RGBColor,
    /// Position among the sizes of batches, the largest first.
    size: usize,
    /// Position among the servers, which has marks of its own.
    server: Option<usize>,
}

impl Pen {
    fn stroke<C: Clone>(self, line: Vec<C>) -> DashedPathElement<std::vec::IntoIter<C>, i32> {
        let (dash, gap, width) = STROKES[self.size % STROKES.len()];
        DashedPathElement::new(line, dash, gap, self.colour.stroke_width(width))
    }

    /// A disc, and rings around it for further servers, so that all are seen on the same spot.
    fn mark<C>(self, at: C) -> Circle<C, i32> {
        match self.server.map(|server| server % 4) {
            None => Circle::new(at, 0, TRANSPARENT),
            Some(0) => Circle::new(at, 8, self.colour.filled()),
            Some(1) => Circle::new(at, 12, self.colour.stroke_width(3)),
            Some(2) => Circle::new(at, 16, self.colour.stroke_width(3)),
            Some(_) => Circle::new(at, 20, self.colour.stroke_width(3)),
        }
    }
}

/// A plot before it has pixels.
pub struct Chart<'a> {
    quantity: &'a Quantity,
    /// The heading.
    pub title: String,
    series: Vec<(Pen, Line)>,
    /// The cells of the lines in which requests failed.
    failed: Line,
    /// Concurrent requests that occur.
    requests: Vec<f64>,
    values: Range<f64>,
    legend: Vec<(String, Option<Pen>)>,
}

impl<'a> Chart<'a> {
    /// The plot of a quantity in the rows of one delay, which is described by `delay`.
    pub fn new(quantity: &'a Quantity, delay: &str, rows: &[&Row]) -> Self {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.concurrent_requests > 0).collect();
        let sizes: BTreeSet<usize> = rows.iter().map(|row| row.records_per_batch).collect();
        let requests: BTreeSet<usize> = rows.iter().map(|row| row.concurrent_requests).collect();
        let mut servers: Vec<&str> = Vec::new();
        for row in &rows {
            if !servers.contains(&row.server.as_str()) {
                servers.push(&row.server);
            }
        }
        let value = |row: &Row| (quantity.value)(row);
        let (mut series, mut legend) = (Vec::new(), Vec::new());
        for (server, name) in servers.into_iter().enumerate() {
            legend.push((name.to_owned(), None));
            for (size, records) in sizes.iter().rev().enumerate() {
                let here = |row: &Row| row.server == name && row.records_per_batch == *records;
                let line = line(&rows, |row| value(row).filter(|_| here(row)));
                let pen = Pen { colour: colour(name, server), size, server: Some(server) };
                legend.push((format!("{} rows per batch", count(*records as f64)), Some(pen)));
                series.push((pen, line));
            }
        }
        let drawn = || series.iter().flat_map(|(_, line)| line).map(|(_, value)| *value);
        let values = if quantity.is_rate { 0.0..drawn().fold(0.9, f64::max) * 1.06 } else { around(drawn()) };
        let left_out = rows.len() - drawn().count();
        for (size, records) in sizes.iter().rev().enumerate().filter(|_| quantity.is_rate) {
            let ideal = |row: &Row| row.ideal_mb_per_s.filter(|_| row.records_per_batch == *records);
            let mut line = below(&line(&rows, ideal), values.end);
            // The same of every server.
            line.dedup();
            if line.len() > 1 {
                let pen = Pen { colour: FAINT, size, server: None };
                legend.push((format!("ideal, {} rows", count(*records as f64)), Some(pen)));
                series.push((pen, line));
            }
        }
        let failed = line(&rows, |row| value(row).filter(|_| row.failures > 0));
        let notes = [(failed.len(), "× failures in"), (left_out, "without a value:")];
        let notes = notes.into_iter().filter(|(cells, _)| *cells > 0);
        legend.extend(
            notes.map(|(cells, what)| (format!("{what} {cells} cell{}", if cells == 1 { "" } else { "s" }), None)),
        );
        let requests = requests.into_iter().map(|requests| requests as f64).collect();
        Chart { quantity, title: format!("{}, {delay}", quantity.title), series, failed, requests, values, legend }
    }

    /// Width and height of its picture.
    pub fn size(&self) -> (u32, u32) {
        let lines = u32::try_from(self.legend.len()).unwrap_or(u32::MAX / LINE);
        (WIDTH, HEIGHT.max((lines * LINE).saturating_add(2 * HEADING)))
    }

    /// Draws it on a page of its size.
    ///
    /// # Errors
    /// If the library cannot.
    pub fn paint<B: DrawingBackend<ErrorType: 'static>>(&self, page: &DrawingArea<B, Shift>) -> Result<(), Failure> {
        register();
        page.fill(&WHITE)?;
        let (left, right) = page.split_horizontally(WIDTH - LEGEND);
        let values = self.values.clone();
        if self.quantity.is_rate {
            self.plot(&left, values, &|rate| count(*rate))?;
        } else {
            let ticks = round_times(&values);
            let time = |seconds: &f64| format!("{:?}", Duration::from_secs_f64(*seconds));
            self.plot(&left, values.log_scale().with_key_points(ticks), &time)?;
        }
        self.explain(&right)?;
        Ok(page.present()?)
    }

    fn plot<B: DrawingBackend<ErrorType: 'static>, Y>(
        &self,
        area: &DrawingArea<B, Shift>,
        y: Y,
        tick: &dyn Fn(&f64) -> String,
    ) -> Result<(), Failure>
    where
        Y: AsRangedCoord<Value = f64, CoordDescType: ValueFormatter<f64>>,
    {
        let x = around(self.requests.iter().copied());
        let mut context = ChartBuilder::on(area)
            .margin(30)
            .caption(&self.title, text(LARGE, INK))
            .x_label_area_size(80)
            .y_label_area_size(130)
            .build_cartesian_2d(x.log_scale().with_key_points(apart(&self.requests)), y)?;
        context
            .configure_mesh()
            .bold_line_style(GRID.stroke_width(2))
            .light_line_style(TRANSPARENT)
            .axis_style(MUTED.stroke_width(2))
            .label_style(text(USUAL, MUTED))
            .x_label_formatter(&|requests| count(*requests))
            .y_label_formatter(tick)
            .x_desc("concurrent requests (logarithmic)")
            .y_desc(self.quantity.axis)
            .draw()?;
        // Backwards: what is drawn last, the first server, does not cover all of the others.
        for (pen, line) in self.series.iter().rev() {
            context.draw_series((line.len() > 1).then(|| pen.stroke(line.clone())))?;
            context.draw_series(line.iter().filter(|_| pen.server.is_some()).map(|&at| pen.mark(at)))?;
        }
        context.draw_series(self.failed.iter().map(|&at| Cross::new(at, 12, INK.stroke_width(4))))?;
        Ok(())
    }

    /// What the lines mean: a plot of nothing but the names of its series.
    fn explain<B: DrawingBackend<ErrorType: 'static>>(&self, area: &DrawingArea<B, Shift>) -> Result<(), Failure> {
        let mut context = ChartBuilder::on(area).margin_top(HEADING).build_cartesian_2d(0..1, 0..1)?;
        for (name, pen) in &self.legend {
            let series = context.draw_series(None::<EmptyElement<(i32, i32), B>>)?.label(shorten(name));
            if let Some(pen) = *pen {
                let line = move || pen.stroke(vec![(0, 0), (SAMPLE, 0)]);
                series.legend(move |at| EmptyElement::at(at) + line() + pen.mark((SAMPLE / 2, 0)));
            }
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
}

/// What `value` gives for the rows, in rising order of requests.
fn line(rows: &[&Row], value: impl Fn(&Row) -> Option<f64>) -> Line {
    let mut line: Line = rows.iter().filter_map(|row| Some((row.concurrent_requests as f64, value(row)?))).collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    line
}

/// The part of a line up to where it rises above `most` for the first time. Its x are logarithmic.
fn below(line: &[(f64, f64)], most: f64) -> Line {
    let inside = line.iter().take_while(|(_, y)| *y <= most).count();
    let mut kept = line[..inside].to_vec();
    if let (Some(&(x0, y0)), Some(&(x1, y1))) = (kept.last(), line.get(inside)) {
        kept.push((x0 * (x1 / x0).powf((most - y0) / (y1 - y0)), most));
    }
    kept
}

/// The range of positive values with a margin at both ends, or something around 1 without any.
fn around(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(lo, hi), value| (lo.min(value), hi.max(value)));
    let (least, most) = if least <= most { (least, most) } else { (0.5, 2.0) };
    let margin = (most / least).powf(0.06).max(1.15);
    least / margin..most * margin
}

/// From the greatest down, as many as there is room for on a logarithmic axis.
fn apart(counts: &[f64]) -> Vec<f64> {
    let room = counts.first().zip(counts.last()).map_or(1.0, |(least, most)| (most / least).powf(0.1));
    let mut ticks: Vec<f64> = Vec::new();
    for &count in counts.iter().rev() {
        if ticks.last().is_none_or(|above| count * room <= *above) {
            ticks.push(count);
        }
    }
    ticks
}

/// Powers of ten, and twice and five times them if there is room.
fn round_times(range: &Range<f64>) -> Vec<f64> {
    let mantissas: &[u8] = if range.end / range.start > 1e4 { &[1] } else { &[1, 2, 5] };
    // Read as decimal numbers, so that they have no error.
    let round = |power: i32| mantissas.iter().filter_map(move |mantissa| format!("{mantissa}e{power}").parse().ok());
    (-9..10).flat_map(round).filter(|time| range.contains(time)).collect()
}

fn colour(server: &str, position: usize) -> RGBColor {
    match server {
        "async" => ASYNC,
        "sync" => SYNC,
        _ => OTHERS[position % OTHERS.len()],
    }
}

/// With a comma between thousands.
fn count(value: f64) -> String {
    HumanFloatCount(value).to_string()
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

/// As much of a text as a line of the legend has room for; characters that XML forbids are spaces.
fn shorten(text: &str) -> String {
    const MOST: usize = 25;
    let is_forbidden = |part: char| part.is_control() || matches!(part, '\u{fffe}' | '\u{ffff}');
    let mut parts = text.chars().map(|part| if is_forbidden(part) { ' ' } else { part });
    let mut out: String = parts.by_ref().take(MOST).collect();
    out.extend(parts.next().map(|_| '…'));
    out
}
