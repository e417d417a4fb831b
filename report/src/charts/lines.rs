//! A metric against x over scenarios: a line through the medians per arm, every sample a point.

use super::canvas::{
    Anchor, Canvas, GRID, MUTED, PADDING, SMALL, Style, TEXT, WIDTH, color, dash, heading, mark, shorten,
};
use super::frame::{Series, Shown, counted, upright_grid, widest};
use super::scale::Axis;
use crate::page::Chart;
use crate::stats::median;

/// Height of the frame in pixels.
const HEIGHT: f64 = 360.0;
/// Vertical distance that keeps two labels apart.
const LABEL: f64 = 17.0;

/// The end of the line of an arm, which gets a label.
struct End<'a> {
    arm: &'a str,
    position: usize,
    color: &'static str,
    at: (f64, f64),
}

/// Lines over a frame with both axes, under way.
pub struct Plot<'a> {
    pub canvas: Canvas,
    x: Axis,
    y: Axis,
    /// Its left and right pixels, and the top and bottom ones.
    pub columns: (f64, f64),
    pub rows: (f64, f64),
    room: f64,
    ends: Vec<End<'a>>,
    description: String,
}

/// What an axis of a plot shows, and whether it is logarithmic.
pub struct Values<'a> {
    pub of: Shown<'a>,
    pub log: bool,
    pub all: Vec<f64>,
}

impl<'a> Plot<'a> {
    /// The heading and the frame of a plot of `arms`.
    pub fn new(title: &str, note: String, arms: &[&str], x: &Values, y: &Values) -> Self {
        let mut canvas = Canvas::default();
        let top = heading(&mut canvas, title, [note]) + 26.0;
        let bottom = top + HEIGHT;
        let y_axis = span(y, bottom, top);
        let (ticks, symbol) = y_axis.labelled(y.of.unit);
        let room = widest(arms.iter(), TEXT).min(WIDTH * 0.36);
        let left = PADDING + widest(ticks.iter().map(|(_, label)| label), SMALL) + 12.0;
        let right = WIDTH - PADDING - room - 26.0;
        for (tick, label) in &ticks {
            let y = y_axis.at(*tick);
            canvas.line((left, y), (right, y), GRID, 1.0);
            canvas.text(left - 8.0, y + 4.0, label, Style::NOTE.anchored(Anchor::End));
        }
        let x_axis = span(x, left, right);
        upright_grid(&mut canvas, &x_axis, &x.of, (top, bottom));
        canvas.line((left, bottom), (right, bottom), MUTED, 1.0);
        canvas.line((left, top), (left, bottom), MUTED, 1.0);
        canvas.text(PADDING, top - 10.0, &y.of.title(&symbol), Style::QUIET);
        let description = format!("{} against {} for {}", y.of.words, x.of.words, arms.join(", "));
        let (columns, rows) = ((left, right), (top, bottom));
        Plot { canvas, x: x_axis, y: y_axis, columns, rows, room, ends: Vec::new(), description }
    }

    /// Where a point stands in pixels.
    pub fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// The line of an arm, whose name stands beside its end.
    pub fn line(&mut self, arm: &'a str, position: usize, (color, dash): (&'static str, &str), points: &[(f64, f64)]) {
        let line: Vec<(f64, f64)> = points.iter().map(|point| self.at(*point)).collect();
        self.canvas.path(&line, color, dash);
        self.ends.extend(line.last().map(|at| End { arm, position, color, at: *at }));
    }

    /// The finished picture.
    pub fn finish(mut self, title: &str) -> String {
        direct_labels(&mut self.canvas, self.ends, (self.columns.1, self.room), self.rows);
        self.canvas.finish(self.rows.1 + 40.0 + PADDING, title, &self.description)
    }
}

/// Draws the chart of the medians of every group of a series.
pub fn draw(title: &str, chart: &Chart, series: &[Series]) -> String {
    let log = chart.log;
    let scales = if log { "Both axes are logarithmic." } else { "Both axes start at zero." };
    let text = format!("{} Every point is one run; lines join the medians. {scales}", counted(series));
    let drawable = |point: &&(f64, f64)| !log || (point.0 > 0.0 && point.1 > 0.0);
    let points = || series.iter().flat_map(Series::points).filter(drawable);
    let x = chart.x.as_deref().unwrap_or_default();
    let x = Values { of: Shown::metric(x), log, all: points().map(|point| point.0).collect() };
    let y = Values { of: Shown::metric(&chart.metric), log, all: points().map(|point| point.1).collect() };
    let arms: Vec<&str> = chart.arms.iter().map(String::as_str).collect();
    let mut plot = Plot::new(title, text, &arms, &x, &y);
    for (position, Series { arm, groups, .. }) in series.iter().enumerate() {
        for point in groups.iter().flatten().filter(drawable) {
            plot.canvas.sample(plot.at(*point), mark(position), color(arm));
        }
        let line: Vec<(f64, f64)> = medians(groups).into_iter().filter(|point| drawable(&point)).collect();
        plot.line(arm, position, (color(arm), dash(position)), &line);
    }
    plot.finish(title)
}

/// Writes each name beside the end of its line, moved apart where lines end close together.
fn direct_labels(canvas: &mut Canvas, mut ends: Vec<End>, (right, room): (f64, f64), (top, bottom): (f64, f64)) {
    // By position where lines end on one spot: the order of drawing.
    ends.sort_by(|a, b| a.at.1.total_cmp(&b.at.1).then(a.position.cmp(&b.position)));
    let mut places: Vec<f64> = Vec::with_capacity(ends.len());
    for End { at: (_, y), .. } in &ends {
        let free = places.last().map_or(*y, |above: &f64| y.max(above + LABEL));
        places.push(free);
    }
    // Labels pushed below the frame move up again, the lowest first.
    let mut limit = bottom - LABEL / 2.0;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - LABEL;
    }
    for (End { arm, position, color, at: (x, y) }, place) in ends.iter().zip(&places) {
        let place = place.max(top - LABEL);
        canvas.line((x + 6.0, *y), (right + 10.0, place), GRID, 1.0);
        canvas.estimate((right + 12.0, place), mark(*position), color);
        canvas.text(right + 22.0, place + 4.5, &shorten(arm, TEXT, room + 1.0), Style::PLAIN);
    }
}

fn span(Values { log, all, .. }: &Values, from: f64, to: f64) -> Axis {
    let most = all.iter().copied().fold(0.0, f64::max);
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    if *log { Axis::log(least, most, from, to) } else { Axis::from_zero(most, from, to) }
}

/// The median point of each scenario, in rising order of x.
fn medians(groups: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let middle = |(xs, ys): (Vec<f64>, Vec<f64>)| Some((median(xs)?, median(ys)?));
    let mut out: Vec<(f64, f64)> = groups.iter().filter_map(|group| middle(group.iter().copied().unzip())).collect();
    out.sort_by(|a, b| a.0.total_cmp(&b.0));
    out
}
