//! Slopes: how a value grows with another metric over the scenarios of a claim.

use super::Round;
use super::pairs::Pairs;
use super::round::{ALL, ratio_estimate, read};
use crate::claims::{Aim, Part, Quantity, rules};
use crate::folder::dataset::Sample;
use crate::judge::judged::{Range, Row, Scale, Verdict};
use crate::stats::{CONFIDENCE, duet, estimate, median, slope};

/// One scenario as a point of the fit: its x, and the logarithm of y by block, which is not a number where a run failed.
struct Point {
    x: f64,
    logs: Pairs,
}

/// A row per arm, or one of a ratio.
pub(super) fn rows(round: &Round, part: &Part, x: &str, aim: Aim) -> Vec<Row> {
    let cases = part.quantity.arms();
    let of_a_row = if part.quantity.is_ratio() { cases.len() } else { 1 };
    cases.chunks(of_a_row).map(|cases| row(round, part, (x, aim), cases)).collect()
}

/// The slope of a ratio over its scenarios, block by block; nothing of another quantity.
pub(super) fn gather(round: &Round, quantity: &Quantity, x: &str) -> Pairs {
    if !quantity.is_ratio() {
        return Pairs::default();
    }
    slopes(&points(round, quantity, x, &quantity.arms()), round.scenarios(quantity).len())
}

fn row(round: &Round, part: &Part, (x, aim): (&str, Aim), cases: &[String]) -> Row {
    let quantity = &part.quantity;
    let scenarios = round.scenarios(quantity);
    let points = points(round, quantity, x, cases);
    let slopes = slopes(&points, scenarios.len());
    let estimate = estimate(&slopes.values(), CONFIDENCE);
    let least = points.iter().min_by(|a, b| a.x.total_cmp(&b.x));
    let most = points.iter().rev().max_by(|a, b| a.x.total_cmp(&b.x));
    let (from, to) = (least.map_or(f64::INFINITY, |end| end.x), most.map_or(f64::NEG_INFINITY, |end| end.x));
    let margin = slope::margin_over((from, to), part.margin);
    // In the blocks that the slope is of.
    let level = |end: Option<&Point>| {
        let logs = Pairs::joined(&[&end?.logs, &slopes], |both| Some(both[0]));
        Some(ratio_estimate(&logs, CONFIDENCE)?.point)
    };
    let levels = || quantity.is_ratio().then_some(([level(least)?, level(most)?], part.unit));
    let is_direction = matches!(aim, Aim::Direction(_));
    let range = is_direction.then(|| Range { metric: x.to_owned(), from, to, levels: levels() });
    Row {
        // The one case of a duet has the names of both arms.
        scale: Scale::Slope { of: cases.join("~").replace('~', " ÷ "), range },
        verdict: estimate.as_ref().map_or(Verdict::Unclear, |estimate| match aim {
            Aim::Band(band) => rules::value(estimate, band),
            Aim::Direction(direction) => rules::slope(estimate, margin, direction),
        }),
        estimate,
        margin: is_direction.then_some(part.margin),
        failed: points.iter().map(|point| point.logs.failed).sum(),
        aside: round.aside(&slopes, |slope| slope),
        scenario: ALL.to_owned(),
        ..round.row_of(quantity, scenarios.last().map_or("", String::as_str), &Pairs::default())
    }
}

/// The scenarios in which something recorded x, as points of a test case, or of the ratio of two; a duet is one, whose samples are ratios already.
fn points(round: &Round, quantity: &Quantity, x: &str, cases: &[String]) -> Vec<Point> {
    let log = |sample: &Sample| {
        let of_duet = || Some(duet::log_ratio(&sample.pairs).map_or(f64::NAN, f64::exp));
        let value = if quantity.is_duet() { of_duet() } else { read(sample, &quantity.metric) };
        value.map(f64::ln)
    };
    let point = |scenario: &String| {
        let samples = |case: &String| round.samples(quantity, scenario, case);
        let xs = cases.iter().flat_map(|case| round.recorded(quantity, scenario, case, x));
        let logs = match cases {
            [above, below] => {
                round.by_block(&samples(above), &samples(below), |above, below| Some(log(above)? - log(below)?))
            }
            _ => round.one_sided(samples(&cases[0]), log),
        };
        Some(Point { x: median(xs.collect())?, logs })
    };
    round.scenarios(quantity).iter().filter_map(point).collect()
}

/// The slope of every block that ran in all of so many scenarios: over fewer it would be of another range. A failed run leaves it open.
fn slopes(points: &[Point], scenarios: usize) -> Pairs {
    if points.len() < scenarios {
        return Pairs::default();
    }
    let of_block = |logs: &[f64]| {
        let ys: Vec<(f64, f64)> = points.iter().zip(logs).map(|(point, log)| (point.x, log.exp())).collect();
        if logs.iter().any(|log| log.is_nan()) { Some(f64::NAN) } else { slope::of_logs(&ys) }
    };
    Pairs::joined(&points.iter().map(|point| &point.logs).collect::<Vec<_>>(), of_block)
}
