//! A map: what each arm costs over the range of x on one host, what the rule says, and where one passes another.

use super::canvas::{Color, DISC, EDGE, PUBLISHED, SMALL, Style, color, mark, width_of};
use super::plot::{Plot, Shown};
use crate::claims::Of;
use crate::claims::map::{Crossing, Setting};
use crate::fmt::{plain, unit_of};
use crate::judge::maps::{JudgedMap, Point};

/// The pattern of what the rule says, and the height of a line of small text.
const RULE: &str = "5 4";
const LINE: f64 = 15.0;
/// Of a curve, from point to point.
const STEPS: i32 = 12;

pub fn draw(judged: &JudgedMap, host: &str) -> String {
    let JudgedMap { map, hosts } = judged;
    let (on, most) = (&hosts[0], map.y.most.unwrap_or(f64::INFINITY));
    let lines = 0..map.lines.len();
    let points = |y: &dyn Fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
        let known = on.points.iter().filter_map(|point| Some((point.x, y(point)?)));
        known.filter(|(_, y)| y.is_finite() && *y > 0.0).collect()
    };
    let found: Vec<_> = lines.clone().map(|line| points(&|point| Some(point.ys[line]?.point))).collect();
    let mut measured = found.clone();
    let crossings = map.crossings.iter().zip(&on.crossings).filter_map(|(crossing, crossed)| {
        let x = crossed.measured.map(|x| x.point).filter(|x| x.is_finite())?;
        Some((crossing, x))
    });
    let crossings: Vec<_> = crossings.collect();
    // A crossing is found on the monotone sequence: lines are led through those of the base.
    for &(crossing, x) in &crossings {
        if map.base == Some(crossing.over) {
            bend(&mut measured[crossing.arm], (x, crossing.at));
        }
    }
    let led = |points: &[(f64, f64)]| {
        let curve = if map.base.is_some() { fading(points) } else { points.to_vec() };
        below(most, &curve)
    };
    let measured: Vec<_> = measured.iter().map(|points| led(points)).collect();
    let by_rule: Vec<_> = lines.clone().map(|line| led(&points(&|point| point.predicted[line]))).collect();
    let drawn = || measured.iter().chain(&by_rule).flatten();
    let published = map.published.iter().filter(|setting| setting.x > 0.0);
    let unit = if let Of::Value { unit, .. } = &map.lines[0].quantity.of { unit } else { "" };
    let xs = drawn().map(|point| point.0).chain(published.clone().map(|setting| setting.x)).collect();
    let x = Shown { words: map.x.label.clone(), unit: unit_of(&map.place.metric), values: xs };
    let y = Shown { words: map.y.label.clone(), unit, values: drawn().map(|point| point.1).collect() };
    let is_ruled = by_rule.iter().any(|line| !line.is_empty());
    let rule = if is_ruled { " Dashed: predicted from the price of a handoff." } else { "" };
    let dotted = if map.published.is_empty() { "" } else { " Dotted: the published settings." };
    let mut passed = map.crossings.iter().map(|crossing| (plain(crossing.at), crossing.over));
    // What all lines pass, if it is one thing.
    let one = passed.next().filter(|one| passed.all(|other| other == *one));
    let ring = match &one {
        Some((at, over)) if Some(*over) == map.base => format!(" Rings: where a line passes {at}."),
        Some((at, over)) => format!(" Rings: where a line passes {at} times “{}”.", map.lines[*over].name),
        None if map.crossings.is_empty() => String::new(),
        None => " Rings: where a line passes the ratio beside it.".to_owned(),
    };
    let note = format!("Medians on host {host}.{rule}{ring}{dotted} Both axes are logarithmic.");
    let above = if map.published.is_empty() { 0.0 } else { LINE };
    let names = map.lines.iter().map(|line| line.name.clone()).collect();
    let mut plot = Plot::new(&map.text.replace('`', ""), note, (names, 26.0, above), &x, &y);
    let mut labels = Labels::default();
    for Setting { x, label } in published {
        let (x, (top, bottom)) = (plot.at((*x, 1.0)).0, plot.rows);
        let below = labels.put(&mut plot, (x, top - 6.0), LINE, label, PUBLISHED) + 6.0;
        plot.canvas.path(&[(x, below), (x, bottom)], PUBLISHED, "2 4");
        plot.canvas.published((x, bottom));
    }
    for position in lines {
        plot.path(position, &by_rule[position], RULE);
        plot.line(position, &measured[position]);
        for point in found[position].iter().filter(|(_, y)| *y <= most) {
            plot.canvas.estimate(plot.at(*point), mark(position), color(position));
        }
    }
    let ring = |&(crossing, x): &(&Crossing, f64)| {
        let y = between(&measured[crossing.arm], x)?;
        let ratio = if one.is_some() { String::new() } else { format!(" (×{})", plain(crossing.at)) };
        Some((plot.at((x, y)), color(crossing.arm), judged.rounded(x) + &ratio))
    };
    let rings: Vec<_> = crossings.iter().filter_map(ring).collect();
    // A label covers no ring.
    labels.0.extend(rings.iter().map(|((x, y), ..)| (x - 6.0, x + 6.0, y + 4.0)));
    for ((x, y), color, label) in &rings {
        labels.put(&mut plot, (*x, y - 11.0), -LINE, label, *color);
    }
    for (at, color, _) in rings {
        plot.canvas.hollow(at, DISC, color);
    }
    plot.finish()
}

/// The part of a line through `points` that is not above `most`.
fn below(most: f64, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut line = Vec::from_iter(points.first().copied().filter(|(_, y)| *y <= most));
    for pair in points.windows(2) {
        if (pair[0].1 > most) != (pair[1].1 > most) {
            line.push((on_line([(pair[0].1, pair[0].0), (pair[1].1, pair[1].0)], most), most));
        }
        line.extend((pair[1].1 <= most).then_some(pair[1]));
    }
    line
}

/// Leads a line through a point between two others; one that lies nearly under or over either of them would make it a cliff.
pub fn bend(points: &mut Vec<(f64, f64)>, (x, y): (f64, f64)) {
    let next = points.partition_point(|point| point.0 < x);
    if let (Some(before), Some(behind)) = (next.checked_sub(1).map(|at| points[at]), points.get(next)) {
        let share = (x / before.0).ln() / (behind.0 / before.0).ln();
        if (0.05..=0.95).contains(&share) {
            points.insert(next, (x, y));
        }
    }
}

/// The line between points of a ratio that falls toward 1, as what a handoff adds falls: straight between the logarithms of what lies above 1.
pub fn fading(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut line = Vec::from_iter(points.first().copied());
    for pair in points.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|(x, y)| (x, y - 1.0));
        if from.1 > to.1 && to.1 > 0.0 {
            let x = |step| from.0 * (to.0 / from.0).powf(f64::from(step) / f64::from(STEPS));
            line.extend((1..STEPS).map(x).map(|x| (x, 1.0 + on_line([from, to], x))));
        }
        line.push(pair[1]);
    }
    line
}

/// Where a line through `points` is at `x`, both axes being logarithmic.
fn between(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let pair = points.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&x))?;
    Some(on_line([pair[0], pair[1]], x))
}

fn on_line([from, to]: [(f64, f64); 2], x: f64) -> f64 {
    let share = (x / from.0).ln() / (to.0 / from.0).ln();
    from.1 * (to.1 / from.1).powf(share)
}

/// Labels, each a step further than those it would cover: where each begins, ends and stands.
#[derive(Default)]
struct Labels(Vec<(f64, f64, f64)>);

impl Labels {
    /// Where the label stands.
    fn put(&mut self, plot: &mut Plot, (x, mut y): (f64, f64), step: f64, label: &str, fill: Color) -> f64 {
        let half = width_of(label, SMALL) / 2.0;
        let x = x.min(plot.columns.1 - half).max(plot.columns.0 + half);
        let covers = |(from, to, at): &&_, y: f64| x + half > *from && x - half < *to && (y - at).abs() < LINE;
        while let Some((.., other)) = self.0.iter().find(|label| covers(label, y)) {
            y = other + step;
        }
        self.0.push((x - half, x + half, y));
        plot.canvas.text(x, y, label, Style { fill, anchor: "middle", more: EDGE, ..Style::NOTE });
        y
    }
}
