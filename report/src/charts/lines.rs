//! A metric against x over scenarios: a line through the medians per arm, every sample a point.

use super::canvas::{
    Anchor, Canvas, GRID, MUTED, PADDING, SMALL, Style, TEXT, WIDTH, color, dash, heading, mark, shorten,
};
use super::frame::{Series, axis_title, counted, metric_grid, widest};
use super::scale::Axis;
use crate::fmt;
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
    at: (f64, f64),
}

/// Draws the chart of the medians of every group of a series.
pub fn draw(title: &str, chart: &Chart, series: &[Series]) -> String {
    let (log, metric, x_metric) = (chart.log, chart.metric.as_str(), chart.x.as_deref().unwrap_or_default());
    let scales = if log { "Both axes are logarithmic." } else { "Both axes start at zero." };
    let text = format!("{} Every point is one run; lines join the medians. {scales}", counted(series));
    let drawable = |point: &&(f64, f64)| !log || (point.0 > 0.0 && point.1 > 0.0);
    let points = || series.iter().flat_map(Series::points).filter(drawable);

    let mut canvas = Canvas::default();
    let top = heading(&mut canvas, title, [text]) + 26.0;
    let bottom = top + HEIGHT;
    let y_axis = span(log, points().map(|point| point.1), bottom, top);
    let (ticks, symbol) = y_axis.labelled(fmt::unit_of(metric));
    let room = widest(chart.arms.iter(), TEXT).min(WIDTH * 0.36);
    let left = PADDING + widest(ticks.iter().map(|(_, label)| label), SMALL) + 12.0;
    let right = WIDTH - PADDING - room - 26.0;
    for (tick, label) in &ticks {
        let y = y_axis.at(*tick);
        canvas.line((left, y), (right, y), GRID, 1.0);
        canvas.text(left - 8.0, y + 4.0, label, Style::NOTE.anchored(Anchor::End));
    }
    let x_axis = span(log, points().map(|point| point.0), left, right);
    metric_grid(&mut canvas, &x_axis, x_metric, (top, bottom));
    canvas.line((left, bottom), (right, bottom), MUTED, 1.0);
    canvas.line((left, top), (left, bottom), MUTED, 1.0);
    canvas.text(PADDING, top - 10.0, &axis_title(metric, &symbol), Style::QUIET);

    let at = |(x, y): &(f64, f64)| (x_axis.at(*x), y_axis.at(*y));
    let mut ends = Vec::new();
    for (position, Series { arm, groups, .. }) in series.iter().enumerate() {
        for point in groups.iter().flatten().filter(drawable) {
            canvas.sample(at(point), mark(position), color(arm));
        }
        let line: Vec<(f64, f64)> = medians(groups).iter().filter(drawable).map(at).collect();
        canvas.path(&line, color(arm), dash(position));
        ends.extend(line.last().map(|at| End { arm, position, at: *at }));
    }
    direct_labels(&mut canvas, ends, (right, room), (top, bottom));
    let (y_words, x_words) = (fmt::metric_in_words(metric), fmt::metric_in_words(x_metric));
    let description = format!("{y_words} against {x_words} for {}", chart.arms.join(", "));
    canvas.finish(bottom + 40.0 + PADDING, title, &description)
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
    for (End { arm, position, at: (x, y) }, place) in ends.iter().zip(&places) {
        let place = place.max(top - LABEL);
        canvas.line((x + 6.0, *y), (right + 10.0, place), GRID, 1.0);
        canvas.estimate((right + 12.0, place), mark(*position), color(arm));
        canvas.text(right + 22.0, place + 4.5, &shorten(arm, TEXT, room + 1.0), Style::PLAIN);
    }
}

fn span(log: bool, values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
    let most = values.clone().fold(0.0, f64::max);
    if log { Axis::log(values.fold(f64::INFINITY, f64::min), most, from, to) } else { Axis::from_zero(most, from, to) }
}

/// The median point of each scenario, in rising order of x.
fn medians(groups: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let middle = |(xs, ys): (Vec<f64>, Vec<f64>)| Some((median(xs)?, median(ys)?));
    let mut out: Vec<(f64, f64)> = groups.iter().filter_map(|group| middle(group.iter().copied().unzip())).collect();
    out.sort_by(|a, b| a.0.total_cmp(&b.0));
    out
}
