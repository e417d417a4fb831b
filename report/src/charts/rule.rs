//! The rule: overhead against the work between two handoffs, a line per price, the measured effects as marks.

use super::canvas::{color, dash, mark};
use super::plot::{LABEL, Plot, Shown};
use crate::fmt;
use crate::judge::prediction::Predicted;
use crate::page::view::{Line, StudyView, predicted, price_host};

/// From the least to the most work between two handoffs, in seconds, and overhead, in percent of it.
const WORK: [f64; 2] = [1e-7, 1e-1];
const OVERHEAD: [f64; 2] = [1e-1, 1e4];
/// Of a line, over the whole axis.
const STEPS: i32 = 120;

/// Draws the chart; nothing without a prediction of work that handoffs add to.
pub fn draw(studies: &[StudyView]) -> Option<String> {
    let mut effects = predicted(studies);
    effects.retain(|(observed, _)| observed.rule.law.beside.is_none());
    let of = |(observed, _): &Line| (observed.rule.law.price.clone(), observed.rule.law.side);
    let is_same = |a: &Line, b: &Line| of(a) == of(b);
    let here = price_host(studies);
    let mut prices: Vec<Line> = Vec::new();
    for effect in effects.iter().filter(|(observed, _)| observed.at.host == here).chain(&effects) {
        if !prices.iter().any(|other| is_same(other, effect)) {
            prices.push(*effect);
        }
    }
    let host = studies.first()?.host_name(prices.first()?.0.at.host);
    let outside = match effects.iter().filter(|effect| at(effect).is_none()).count() {
        0 => String::new(),
        1 => " One lies outside of the chart.".to_owned(),
        outside => format!(" {outside} lie outside of the chart."),
    };
    let note = format!(
        "Lines: price ÷ work between two handoffs, by the prices of host {host}. Marks: measured effects on all hosts, hollow where idle cores poll.{outside} Both axes are logarithmic."
    );
    let name = |(observed, Predicted { tariff, .. }): &Line| {
        let (short, way) = (&tariff.short, observed.rule.law.side.into_str());
        format!("{short}, {way}: {}", fmt::rough(tariff.least_and_most(), "s"))
    };
    let names: Vec<String> = prices.iter().map(name).collect();
    let shown = |words: &str, unit, ends: [f64; 2]| Shown { words: words.into(), unit, values: ends.into() };
    let (x, y) = (shown("work between two handoffs", "s", WORK), shown("overhead", "percent", OVERHEAD));
    let title = "What handoffs add to work, by the rule and as measured";
    let mut plot = Plot::new(title, note, (names, 50.0, 0.0), &x, &y);
    for (position, price) in prices.iter().enumerate() {
        let (color, dash) = (color(position), dash(position));
        let overhead = |work: f64| (work, price.1.tariff.after(work) / work * 100.0);
        let share = |step: i32| f64::from(step) / f64::from(STEPS);
        let works = (0..=STEPS).map(|step| WORK[0] * (WORK[1] / WORK[0]).powf(share(step)));
        let is_shown = |(_, overhead): &(f64, f64)| (OVERHEAD[0]..=OVERHEAD[1]).contains(overhead);
        plot.path(position, &works.map(overhead).filter(is_shown).collect::<Vec<_>>(), dash);
        for effect in effects.iter().filter(|effect| is_same(effect, price)) {
            let Some(at) = at(effect).map(|at| plot.at(at)) else { continue };
            if effect.0.at.polls {
                plot.canvas.hollow(at, mark(position), color);
            } else {
                plot.canvas.estimate(at, mark(position), color);
            }
        }
        let (right, y) = (plot.columns.1, plot.rows.0 + 4.0 + position as f64 * LABEL);
        plot.canvas.path(&[(right + 10.0, y), (right + 38.0, y)], color, dash);
        plot.canvas.estimate((right + 24.0, y), mark(position), color);
        plot.name(46.0, y, position);
    }
    Some(plot.finish())
}

fn at((observed, _): &Line) -> Option<(f64, f64)> {
    let (work, overhead) = (observed.between_s, (observed.effect.point - 1.0) * 100.0);
    let is_in = |x: f64, [lo, hi]: [f64; 2]| (lo..=hi).contains(&x);
    (is_in(work, WORK) && is_in(overhead, OVERHEAD)).then_some((work, overhead))
}
