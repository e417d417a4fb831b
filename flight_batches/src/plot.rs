//! Plots of the results: throughput and latency against concurrent requests, a pair of pictures per delay.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use indicatif::HumanFloatCount;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::results::{Row, create_new};

/// Width of every picture, the legend included, and the least height; in pixels, as all sizes.
const WIDTH: u32 = 1400;
const HEIGHT: u32 = 840;
/// Of the legend: width, what is above its first line, height of a line, and what stands before that.
const LEGEND: u32 = 420;
const HEADING: i32 = 110;
const LINE: i32 = 36;
const SAMPLE: i32 = 72;
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
/// Of the servers: a disc, and rings around it, so that all are seen on the same spot. They begin anew, too.
const MARK_RADII: [i32; 4] = [8, 12, 16, 20];

/// The Latin part of `DejaVu Sans`; what shows an SVG takes the first that it has. The library takes the left edge of a glyph's outline for its
/// origin, which spaces letters unevenly: hence every glyph of the file has an outline without area at its origin.
const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

/// What is plotted against the concurrent requests.
struct Quantity {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    /// The value of a row, if it can be drawn: what no measurement gives would make axes endless.
    value: fn(&Row) -> Option<f64>,
    /// A rate begins at zero and has an ideal; a time is logarithmic.
    is_rate: bool,
}

const QUANTITIES: [Quantity; 2] = [
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

/// Draws throughput and latency of every delay as PNG and SVG into the folder `out`; returns the files.
///
/// # Errors
/// If the folder cannot be made or a file cannot be written; files from before remain as they were or are whole.
pub fn draw(rows: &[Row], out: &Path) -> anyhow::Result<Vec<PathBuf>> {
    fs::create_dir_all(out).with_context(|| format!("cannot create the folder {}", out.display()))?;
    let font = register_font(FONT, FontStyle::Normal, include_bytes!("../assets/DejaVuSans.ttf"));
    font.ok().context("the font of the plots cannot be read")?;
    let mut by_delay: BTreeMap<Duration, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        // Of binary fractions that differ in the last bit the nanoseconds are the same.
        let delay = Duration::try_from_secs_f64(row.batch_generation_delay).unwrap_or_default();
        by_delay.entry(delay).or_default().push(row);
    }
    let mut files = Vec::new();
    for (delay, rows) in by_delay {
        let milliseconds = delay.as_nanos() as f64 / 1e6;
        let delay = if delay.is_zero() { "no delay".to_owned() } else { format!("{milliseconds} ms per batch") };
        for quantity in &QUANTITIES {
            let chart = Chart::new(quantity, &delay, &rows);
            let file = |format| out.join(format!("{}_{milliseconds}ms.{format}", quantity.name));
            let size = chart.size();
            files.push(replace(file("png"), |file| chart.paint(&BitMapBackend::new(file, size).into_drawing_area()))?);
            files.push(replace(file("svg"), |file| chart.paint(&SVGBackend::new(file, size).into_drawing_area()))?);
        }
    }
    Ok(files)
}

/// Lets `write` make a file beside `path` and moves it there; what cannot be finished is removed.
fn replace(path: PathBuf, write: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The end of the name stays: from it the library takes the format.
    let (temporary, file) = create_new(|number| path.with_file_name(format!(".{number}.{name}")));
    // That nothing can be written here is said early, and in the system's words.
    let written = file.map_err(Into::into).and_then(|_| write(&temporary));
    let done = written.and_then(|()| Ok(fs::rename(&temporary, &path)?));
    if done.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    done.with_context(|| format!("cannot write {}", path.display())).map(|()| path)
}

/// Requests in flight and quantity, in rising order of requests.
type Line = Vec<(f64, f64)>;

/// How a line is drawn: by the position of its size of batches, the largest first, and by that of its server.
#[derive(Clone, Copy)]
struct Pen {
    colour: RGBColor,
    size: usize,
    /// The ideal has none, and no marks.
    server: Option<usize>,
}

impl Pen {
    fn stroke<C: Clone>(self, line: Vec<C>) -> DashedPathElement<std::vec::IntoIter<C>, i32> {
        let (dash, gap, width) = STROKES[self.size % STROKES.len()];
        DashedPathElement::new(line, dash, gap, self.colour.stroke_width(width))
    }

    fn mark<C>(self, at: C) -> Option<Circle<C, i32>> {
        let mark = self.server? % MARK_RADII.len();
        let style = if mark == 0 { self.colour.filled() } else { self.colour.stroke_width(3) };
        Some(Circle::new(at, MARK_RADII[mark], style))
    }
}

struct Chart<'a> {
    quantity: &'a Quantity,
    title: String,
    /// What the legend says, and the line that it explains.
    legend: Vec<(String, Option<(Pen, Line)>)>,
    /// The cells of the lines in which requests failed.
    failed: Line,
    requests: Vec<f64>,
    values: Range<f64>,
}

impl<'a> Chart<'a> {
    /// The plot of a quantity in the rows of one delay, which is described by `delay`.
    fn new(quantity: &'a Quantity, delay: &str, rows: &[&Row]) -> Self {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.concurrent_requests > 0).collect();
        let sizes: BTreeSet<usize> = rows.iter().map(|row| row.records_per_batch).collect();
        let requests: BTreeSet<usize> = rows.iter().map(|row| row.concurrent_requests).collect();
        let mut servers: Vec<&str> = Vec::new();
        for row in &rows {
            if !servers.contains(&row.server.as_str()) {
                servers.push(&row.server);
            }
        }
        let value = quantity.value;
        let drawn = || rows.iter().filter_map(|row| value(row));
        let values = if quantity.is_rate { 0.0..drawn().fold(0.9, f64::max) * 1.06 } else { around(drawn()) };
        let mut legend = Vec::new();
        for (server, name) in servers.into_iter().enumerate() {
            legend.push((shorten(name), None));
            for (size, records) in sizes.iter().rev().enumerate() {
                let here = |row: &Row| row.server == name && row.records_per_batch == *records;
                let pen = Pen { colour: colour(name, server), size, server: Some(server) };
                let line = line(&rows, |row| value(row).filter(|_| here(row)));
                legend.push((format!("{} rows per batch", count(*records as f64)), Some((pen, line))));
            }
        }
        for (size, records) in sizes.iter().rev().enumerate().filter(|_| quantity.is_rate) {
            let ideal = |row: &Row| row.ideal_mb_per_s.filter(|_| row.records_per_batch == *records);
            let mut line = below(&line(&rows, ideal), values.end);
            // The same of every server.
            line.dedup();
            if line.len() > 1 {
                let pen = Pen { colour: FAINT, size, server: None };
                legend.push((format!("ideal, {} rows", count(*records as f64)), Some((pen, line))));
            }
        }
        let failed = line(&rows, |row| value(row).filter(|_| row.failures > 0));
        let left_out = rows.len() - drawn().count();
        for (cells, what) in [(failed.len(), "× failures in"), (left_out, "without a value:")] {
            if cells > 0 {
                legend.push((format!("{what} {cells} cell{}", if cells == 1 { "" } else { "s" }), None));
            }
        }
        let requests = requests.into_iter().map(|requests| requests as f64).collect();
        Chart { quantity, title: format!("{}, {delay}", quantity.title), legend, failed, requests, values }
    }

    fn size(&self) -> (u32, u32) {
        let legend = self.legend.len().saturating_mul(LINE as usize).saturating_add(2 * HEADING as usize);
        (WIDTH, HEIGHT.max(u32::try_from(legend).unwrap_or(u32::MAX)))
    }

    fn paint<B: DrawingBackend<ErrorType: 'static>>(&self, page: &DrawingArea<B, Shift>) -> anyhow::Result<()> {
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
        let style = text(USUAL, INK).pos(Pos::new(HPos::Left, VPos::Center));
        for (y, (name, series)) in (HEADING..).step_by(LINE as usize).zip(&self.legend) {
            right.draw(&Text::new(name.as_str(), (SAMPLE + 10, y), &style))?;
            let Some((pen, _)) = series else { continue };
            right.draw(&pen.stroke(vec![(0, y), (SAMPLE, y)]))?;
            pen.mark((SAMPLE / 2, y)).map_or(Ok(()), |mark| right.draw(&mark))?;
        }
        Ok(page.present()?)
    }

    fn plot<B: DrawingBackend<ErrorType: 'static>>(
        &self,
        area: &DrawingArea<B, Shift>,
        y: impl AsRangedCoord<Value = f64, CoordDescType: ValueFormatter<f64>>,
        tick: &dyn Fn(&f64) -> String,
    ) -> anyhow::Result<()> {
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
        for (pen, line) in self.legend.iter().rev().filter_map(|(_, series)| series.as_ref()) {
            context.draw_series((line.len() > 1).then(|| pen.stroke(line.clone())))?;
            context.draw_series(line.iter().filter_map(|&at| pen.mark(at)))?;
        }
        context.draw_series(self.failed.iter().map(|&at| Cross::new(at, 12, INK.stroke_width(4))))?;
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

fn count(value: f64) -> String {
    HumanFloatCount(value).to_string()
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
