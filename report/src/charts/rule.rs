//! The rule: overhead against the work between two handoffs, a line per price, the measured effects as dots.

use super::canvas::{
    Anchor, Canvas, GRID, MUTED, PADDING, SMALL, Style, TEXT, WIDTH, color, dash, heading, mark, shorten,
};
use super::frame::widest;
use super::scale::Axis;
use crate::claims::handoffs::{Rule, Shape};
use crate::fmt;
use crate::page::view::{Predicted, StudyView, predicted, price_host};

const HEIGHT: f64 = 360.0;
/// Vertical distance of two names beside the frame.
const LABEL: f64 = 17.0;
/// From the least to the most work between two handoffs, in seconds, and overhead, as a share of it.
const WORK: (f64, f64) = (1e-7, 1e-1);
const OVERHEAD: (f64, f64) = (1e-3, 1e2);
/// Arms that have the colors of the lines.
const COLORS: [&str; 5] = ["async", "sync", "best", "pool", ""];

/// Draws the chart; nothing without a prediction of work that handoffs add to.
pub fn draw(studies: &[StudyView]) -> Option<String> {
    let (all, _) = predicted(studies);
    let dots: Vec<&Predicted> = all.iter().filter(|dot| dot.observed.rule.shape == Shape::Added).collect();
    let mut prices: Vec<(&Predicted, String)> = Vec::new();
    let is_same = |a: &Rule, b: &Rule| (&a.price, a.side) == (&b.price, b.side);
    let here = price_host(studies);
    for dot in dots.iter().copied().filter(|dot| dot.observed.host == here).chain(dots.iter().copied()) {
        if !prices.iter().any(|(other, _)| is_same(&other.observed.rule, &dot.observed.rule)) {
            let (id, way) = (&dot.observed.rule.price.id, dot.observed.rule.side);
            prices.push((dot, format!("{id}, {}: {}", way.into_str(), fmt::value(dot.price_s, "s"))));
        }
    }
    let host = studies.first()?.origin.name(prices.first()?.0.observed.host);
    let outside = dots.iter().filter(|dot| at(dot).is_none()).count();
    let outside = if outside == 0 { String::new() } else { format!(" {outside} lie outside of the chart.") };
    let note = format!(
        "A line per price on {host}: overhead = price / work between two handoffs. A dot per effect and host, as measured.{outside} Both axes are logarithmic."
    );

    let mut canvas = Canvas::default();
    let title = "What handoffs add to work, by the rule and as measured";
    let top = heading(&mut canvas, title, [note]) + 26.0;
    let bottom = top + HEIGHT.max(prices.len() as f64 * LABEL);
    let room = widest(prices.iter().map(|(_, name)| name), TEXT).min(WIDTH * 0.36);
    let (left, right) = (PADDING + widest(["10,000 %"].iter(), SMALL) + 12.0, WIDTH - PADDING - room - 50.0);
    let (x_axis, y_axis) = (Axis::log(WORK.0, WORK.1, left, right), Axis::log(OVERHEAD.0, OVERHEAD.1, bottom, top));
    for power in -3..=2 {
        let (share, y) = (10_f64.powi(power), y_axis.at(10_f64.powi(power)));
        canvas.line((left, y), (right, y), GRID, 1.0);
        let label = format!("{} %", fmt::plain(share * 100.0));
        canvas.text(left - 8.0, y + 4.0, &label, Style::NOTE.anchored(Anchor::End));
    }
    for power in -7..=-1 {
        let (work, x) = (10_f64.powi(power), x_axis.at(10_f64.powi(power)));
        canvas.line((x, top), (x, bottom), GRID, 1.0);
        canvas.text(x, bottom + 18.0, &fmt::round_value(work, "s"), Style::NOTE.anchored(Anchor::Middle));
    }
    canvas.line((left, bottom), (right, bottom), MUTED, 1.0);
    canvas.line((left, top), (left, bottom), MUTED, 1.0);
    canvas.text(PADDING, top - 10.0, "overhead", Style::QUIET);
    let middle = Style::QUIET.anchored(Anchor::Middle);
    canvas.text(f64::midpoint(left, right), bottom + 40.0, "work between two handoffs", middle);
    for (position, (price, name)) in prices.iter().enumerate() {
        let color = color(COLORS[position % COLORS.len()]);
        let on_line = |work: f64| (x_axis.at(work), y_axis.at(price.price_s / work));
        let (from, to) = (WORK.0.max(price.price_s / OVERHEAD.1), WORK.1.min(price.price_s / OVERHEAD.0));
        if from < to {
            canvas.path(&[on_line(from), on_line(to)], color, dash(position));
        }
        for dot in dots.iter().filter(|dot| is_same(&dot.observed.rule, &price.observed.rule)) {
            if let Some((work, overhead)) = at(dot) {
                canvas.estimate((x_axis.at(work), y_axis.at(overhead)), mark(position), color);
            }
        }
        let y = top + 4.0 + position as f64 * LABEL;
        canvas.path(&[(right + 10.0, y), (right + 38.0, y)], color, dash(position));
        canvas.estimate((right + 24.0, y), mark(position), color);
        canvas.text(right + 46.0, y + 4.5, &shorten(name, TEXT, room + 1.0), Style::PLAIN);
    }
    let names: Vec<&str> = prices.iter().map(|(_, name)| name.as_str()).collect();
    let description = format!("overhead against work between two handoffs, for {}", names.join("; "));
    Some(canvas.finish(bottom + 40.0 + PADDING, title, &description))
}

/// The work between two handoffs and the measured overhead, if they lie in the chart.
fn at(dot: &Predicted) -> Option<(f64, f64)> {
    let (work, overhead) = (dot.observed.between_s(), dot.observed.effect.point - 1.0);
    let is_in = |x: f64, (lo, hi): (f64, f64)| (lo..=hi).contains(&x);
    (is_in(work, WORK) && is_in(overhead, OVERHEAD)).then_some((work, overhead))
}
