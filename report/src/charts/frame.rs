//! What charts of samples have in common: their series, the frame around a plot, its grids and the names beside its lines.

use super::canvas::{
    Anchor, Canvas, GRID, MUTED, PADDING, SMALL, Style, TEXT, WIDTH, colour, heading, mark, shorten, width_of,
};
use super::scale::Axis;
use crate::{fmt, stats};

/// Vertical distance that keeps two labels apart.
const LABEL: f64 = 17.0;

/// The samples of one arm as points `(x, y)`, with the runs that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub arm: String,
    /// The samples of each scenario in turn; x is 0 where a chart has none.
    pub groups: Vec<Vec<(f64, f64)>>,
    /// Failed runs, which have no point.
    pub failed: usize,
}

impl Series {
    /// All samples, scenario after scenario.
    pub fn points(&self) -> impl Iterator<Item = &(f64, f64)> + Clone {
        self.groups.iter().flatten()
    }
}

/// Where a plot stands on its card.
pub struct Frame {
    /// Pixels of its upper and lower edge.
    pub rows: (f64, f64),
    /// Pixels of its left and right edge.
    pub columns: (f64, f64),
}

impl Frame {
    /// Draws the upright grid lines at the ticks of `axis`, their labels, and the title of the axis below them.
    pub fn x_grid(&self, canvas: &mut Canvas, axis: &Axis, ticks: &[(f64, String)], title: &str) {
        let ((top, bottom), (left, right)) = (self.rows, self.columns);
        for (tick, label) in ticks {
            let x = axis.at(*tick);
            canvas.line((x, top), (x, bottom), GRID, 1.0);
            canvas.text(x, bottom + 18.0, label, Style::NOTE.anchored(Anchor::Middle));
        }
        let style = Style::QUIET.anchored(Anchor::Middle);
        canvas.text(f64::midpoint(left, right), bottom + 40.0, title, style);
    }

    /// Draws the upright grid lines of a metric.
    pub fn metric_grid(&self, canvas: &mut Canvas, axis: &Axis, metric: &str) {
        let (ticks, symbol) = axis.labelled(7, fmt::unit_of(metric));
        self.x_grid(canvas, axis, &ticks, &axis_title(metric, &symbol));
    }
}

/// The end of a line, which gets a label.
pub struct End<'a> {
    pub name: &'a str,
    /// Position of the arm, which gives colour and mark.
    pub position: usize,
    pub at: (f64, f64),
}

/// What stands around the lines of a chart.
pub struct Plot<'a> {
    pub title: &'a str,
    pub notes: Vec<String>,
    /// What is said to readers who cannot see it.
    pub description: String,
    /// Height of the frame in pixels.
    pub height: f64,
    pub names: Vec<&'a str>,
    /// Room between the frame and the names.
    pub gap: f64,
    /// The metric of the upright axis, and what its title says behind the unit.
    pub y: (&'a str, &'a str),
}

impl Plot<'_> {
    /// Draws the chart: `y_axis` gives the upright axis from its first to its last pixel, `x_grid` draws the grid of the other axis,
    /// and `lines` the lines on both, of which it gives back the ends.
    pub fn draw<'a>(
        &self,
        y_axis: impl FnOnce(f64, f64) -> Axis,
        x_grid: impl FnOnce(&mut Canvas, &Frame) -> Axis,
        lines: impl FnOnce(&mut Canvas, &Axis, &Axis) -> Vec<End<'a>>,
    ) -> String {
        let mut canvas = Canvas::new();
        let top = heading(&mut canvas, self.title, &self.notes) + 26.0;
        let bottom = top + self.height;
        let y_axis = y_axis(bottom, top);
        let (ticks, symbol) = y_axis.labelled(7, fmt::unit_of(self.y.0));
        let room = widest(self.names.iter().copied(), TEXT).min(WIDTH * 0.36);
        let left = PADDING + widest(ticks.iter().map(|(_, label)| label.as_str()), SMALL) + 12.0;
        let right = WIDTH - PADDING - room - self.gap;
        for (tick, label) in &ticks {
            let y = y_axis.at(*tick);
            canvas.line((left, y), (right, y), GRID, 1.0);
            canvas.text(left - 8.0, y + 4.0, label, Style::NOTE.anchored(Anchor::End));
        }
        let x_axis = x_grid(&mut canvas, &Frame { rows: (top, bottom), columns: (left, right) });
        canvas.line((left, bottom), (right, bottom), MUTED, 1.0);
        canvas.line((left, top), (left, bottom), MUTED, 1.0);
        let title = axis_title(self.y.0, &symbol) + self.y.1;
        canvas.text(PADDING, top - 10.0, &title, Style::QUIET);
        let ends = lines(&mut canvas, &x_axis, &y_axis);
        direct_labels(&mut canvas, ends, (right, room), (top, bottom));
        canvas.finish(bottom + 40.0 + PADDING, self.title, &self.description)
    }
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
    let mut limit = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - LABEL;
    }
    for (End { name, position, at: (x, y) }, place) in ends.iter().zip(&places) {
        let place = place.max(top - LABEL);
        canvas.line((x + 6.0, *y), (right + 10.0, place), GRID, 1.0);
        canvas.estimate((right + 12.0, place), mark(*position), colour(name));
        canvas.text(right + 22.0, place + 4.5, &shorten(name, TEXT, room + 1.0), Style::PLAIN);
    }
}

/// Width of the widest text in pixels.
pub fn widest<'a>(texts: impl Iterator<Item = &'a str>, size: f64) -> f64 {
    texts.map(|text| width_of(text, size)).fold(0.0, f64::max)
}

/// The median of the finite values, or `None` without any.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::median(values.filter(|value| value.is_finite()).collect())
}

/// The largest finite value, or 0.
pub fn finite_max(values: impl Iterator<Item = f64>) -> f64 {
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// "n = 12 runs per arm", or the range where arms differ.
pub fn counted(series: &[Series]) -> String {
    let counts = || series.iter().flat_map(|arm| arm.groups.iter().map(Vec::len)).filter(|count| *count > 0);
    match (counts().min(), counts().max()) {
        (Some(1), Some(1)) => "One run per case.".to_owned(),
        (Some(least), Some(most)) if least == most => format!("n = {most} runs per case."),
        (Some(least), Some(most)) => format!("n = {least} to {most} runs per case."),
        _ => "No runs.".to_owned(),
    }
}

/// The title of an axis with its unit: "work time (ms)".
fn axis_title(metric: &str, symbol: &str) -> String {
    let words = fmt::metric_in_words(metric);
    match symbol {
        // The words say "per second" and "percent" already.
        "" | "/s" | "%" => words,
        symbol => format!("{words} ({symbol})"),
    }
}
