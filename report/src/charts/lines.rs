//! A metric against x over scenarios: a line through the medians per arm, every sample a point.

use super::canvas::{Canvas, colour, dash, mark};
use super::frame::{End, Frame, Plot, Series, counted, finite_max, median};
use super::scale::Axis;
use crate::fmt;

/// Draws the chart of the medians of every group of a series.
pub fn draw(title: &str, (x_metric, metric): (&str, &str), log: bool, series: &[Series], note: Option<&str>) -> String {
    let scales = if log { "Both axes are logarithmic." } else { "Both axes start at zero." };
    let text = format!("{} Every point is one run; lines join the medians. {scales}", counted(series));
    let names: Vec<&str> = series.iter().map(|arm| arm.arm.as_str()).collect();
    let (y_words, x_words) = (fmt::metric_in_words(metric), fmt::metric_in_words(x_metric));
    let plot = Plot {
        title,
        notes: std::iter::once(text).chain(note.map(str::to_owned)).collect(),
        description: format!("{y_words} against {x_words} for {}", names.join(", ")),
        height: 360.0,
        names,
        gap: 26.0,
        y: (metric, ""),
    };
    let drawable = |point: &&(f64, f64)| !log || (point.0 > 0.0 && point.1 > 0.0);
    let points = || series.iter().flat_map(Series::points).filter(drawable);
    let x_grid = |canvas: &mut Canvas, frame: &Frame| {
        let (left, right) = frame.columns;
        let axis = span(log, points().map(|point| point.0), left, right);
        frame.metric_grid(canvas, &axis, x_metric);
        axis
    };
    plot.draw(
        |bottom, top| span(log, points().map(|point| point.1), bottom, top),
        x_grid,
        |canvas, x_axis, y_axis| {
            let at = |(x, y): &(f64, f64)| (x_axis.at(*x), y_axis.at(*y));
            let mut ends = Vec::new();
            for (position, arm) in series.iter().enumerate() {
                for point in arm.points().filter(drawable) {
                    canvas.sample(at(point), mark(position), colour(&arm.arm));
                }
                let line: Vec<(f64, f64)> = medians(arm).iter().filter(drawable).map(at).collect();
                canvas.dashed(&line, colour(&arm.arm), 2.0, dash(position));
                ends.extend(line.last().map(|end| End { name: &arm.arm, position, at: *end }));
            }
            ends
        },
    )
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
    let middle = |group: &Vec<(f64, f64)>| {
        Some((median(group.iter().map(|point| point.0))?, median(group.iter().map(|point| point.1))?))
    };
    let mut out: Vec<(f64, f64)> = arm.groups.iter().filter_map(middle).collect();
    out.sort_by(|a, b| a.0.total_cmp(&b.0));
    out
}
