//! A metric against x over scenarios: a line through the medians per arm, every sample a point.

use super::canvas::{
    Anchor, Canvas, GRID, MUTED, PADDING, SMALL, Style, TEXT, WIDTH, colour, heading, mark, shorten, width_of,
};
use super::scale::Axis;
use super::{Series, axis_title, counted, finite_max, median, x_grid};
use crate::fmt;

const HEIGHT: f64 = 360.0;
/// Vertical distance that keeps two labels apart.
const LABEL: f64 = 17.0;

/// Draws the chart. Every series holds the points of one arm over all scenarios, grouped in `groups` for the medians.
pub fn draw(title: &str, (x_metric, metric): (&str, &str), log: bool, series: &[Series], note: Option<&str>) -> String {
    let mut canvas = Canvas::new();
    let axes = if log { "Both axes are logarithmic." } else { "Both axes start at zero." };
    let text = format!("{} Every point is one run; lines join the medians. {axes}", counted(series));
    let notes: Vec<String> = std::iter::once(text).chain(note.map(str::to_owned)).collect();
    let top = heading(&mut canvas, title, &notes) + 26.0;
    let bottom = top + HEIGHT;

    let longest = series.iter().map(|arm| width_of(&arm.arm, TEXT)).fold(0.0, f64::max).min(WIDTH * 0.3);
    let drawable = |point: &&(f64, f64)| !log || (point.0 > 0.0 && point.1 > 0.0);
    let points = || series.iter().flat_map(|arm| arm.points.iter().filter(drawable));
    let y_axis = span(log, points().map(|point| point.1), bottom, top);
    let (y_ticks, y_symbol) = y_axis.labelled(7, fmt::unit_of(metric));
    let left = PADDING + y_ticks.iter().map(|(_, label)| width_of(label, SMALL)).fold(0.0, f64::max) + 12.0;
    let right = WIDTH - PADDING - longest - 26.0;
    let x_axis = span(log, points().map(|point| point.0), left, right);

    for (tick, label) in &y_ticks {
        let y = y_axis.at(*tick);
        canvas.line((left, y), (right, y), GRID, 1.0);
        canvas.text(left - 8.0, y + 4.0, label, Style::NOTE.anchored(Anchor::End));
    }
    x_grid(&mut canvas, &x_axis, (top, bottom), (left, right), x_metric);
    canvas.line((left, bottom), (right, bottom), MUTED, 1.0);
    canvas.line((left, top), (left, bottom), MUTED, 1.0);
    canvas.text(PADDING, top - 10.0, &axis_title(metric, &y_symbol), Style::PLAIN.filled(MUTED));
    let ends = draw_series(&mut canvas, series, drawable, (&x_axis, &y_axis));
    direct_labels(&mut canvas, ends, (right, longest), (top, bottom));
    let described = series.iter().map(|arm| arm.arm.as_str()).collect::<Vec<_>>().join(", ");
    canvas.finish(
        bottom + 40.0 + PADDING,
        title,
        &format!("{} against {} for {described}", fmt::metric_in_words(metric), fmt::metric_in_words(x_metric)),
    )
}

/// Draws points and lines of every arm; gives back where each line ends.
fn draw_series<'a>(
    canvas: &mut Canvas,
    series: &'a [Series],
    drawable: impl Fn(&&(f64, f64)) -> bool + Copy,
    (x_axis, y_axis): (&Axis, &Axis),
) -> Vec<End<'a>> {
    let mut ends = Vec::new();
    for (position, arm) in series.iter().enumerate() {
        for (x, y) in arm.points.iter().filter(drawable) {
            canvas.sample((x_axis.at(*x), y_axis.at(*y)), mark(position), colour(position));
        }
        let line: Vec<(f64, f64)> =
            medians(arm).iter().filter(drawable).map(|(x, y)| (x_axis.at(*x), y_axis.at(*y))).collect();
        canvas.polyline(&line, colour(position), 2.0);
        if let Some(end) = line.last() {
            ends.push(End { name: &arm.arm, position, at: *end });
        }
    }
    ends
}

fn span(log: bool, values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
    if log {
        let least = values.clone().filter(|value| value.is_finite()).fold(f64::INFINITY, f64::min);
        Axis::log(least, finite_max(values), from, to)
    } else {
        Axis::from_zero(finite_max(values), from, to)
    }
}

/// The median point of each scenario, in rising order of x.
fn medians(arm: &Series) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = arm
        .groups()
        .filter_map(|group| {
            Some((median(group.iter().map(|point| point.0))?, median(group.iter().map(|point| point.1))?))
        })
        .collect();
    out.sort_by(|a, b| a.0.total_cmp(&b.0));
    out
}

/// The end of a line, which gets a label.
pub(super) struct End<'a> {
    /// What the line shows.
    pub name: &'a str,
    /// Position of the arm, which gives colour and mark.
    pub position: usize,
    /// The point at which it ends.
    pub at: (f64, f64),
}

/// Writes each name beside the end of its line, moved apart where lines end close together.
pub(super) fn direct_labels(
    canvas: &mut Canvas,
    mut ends: Vec<End>,
    (right, room): (f64, f64),
    (top, bottom): (f64, f64),
) {
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
        canvas.estimate((right + 12.0, place), mark(*position), colour(*position));
        canvas.text(right + 22.0, place + 4.5, &shorten(name, TEXT, room + 1.0), Style::PLAIN);
    }
}
