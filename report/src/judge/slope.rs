//! Slopes: how a value grows with another metric over the scenarios of a claim.

use std::collections::{BTreeMap, BTreeSet};

use super::quantity::{Reading, p_value, read, samples, sides, value_estimate};
use super::{ALL, Evidence};
use crate::claims::{Aim, Claim, Of, Quantity};
use crate::judged::{Row, Scale, Verdict};
use crate::stats::median;
use crate::stats::{Pair, slope};
use crate::verdict;

/// What a slope is of: an arm, or the ratio of two.
struct Subject<'a> {
    name: String,
    /// Arms with their sign in the logarithm.
    terms: Vec<(&'a str, f64)>,
}

/// One scenario as a point of the fit: its x, and the readings of every term by block.
struct Point {
    x: f64,
    terms: Vec<(BTreeMap<u64, Reading>, f64)>,
}

/// A row per arm, or one of a ratio, and the metric that is missing, if one is.
pub(super) fn rows(
    evidence: Evidence<'_>,
    claim: &Claim,
    quantity: &Quantity,
    x: &str,
    aim: Aim,
) -> (Vec<Row>, Option<String>) {
    let subjects = match &quantity.of {
        Of::Each(arms) => arms.iter().map(|arm| Subject { name: arm.clone(), terms: vec![(arm, 1.0)] }).collect(),
        Of::Value { arm, .. } => vec![Subject { name: arm.clone(), terms: vec![(arm, 1.0)] }],
        Of::Ratio { numerator, denominator } => {
            let name = format!("{numerator} / {denominator}");
            vec![Subject { name, terms: vec![(numerator, 1.0), (denominator, -1.0)] }]
        }
    };
    let mut missing = None;
    let rows = subjects.into_iter().map(|subject| {
        let (row, absent) = row(evidence, claim, quantity, x, aim, subject);
        missing = missing.take().or(absent);
        row
    });
    (rows.collect(), missing)
}

fn row(
    evidence: Evidence<'_>,
    claim: &Claim,
    quantity: &Quantity,
    x: &str,
    aim: Aim,
    subject: Subject<'_>,
) -> (Row, Option<String>) {
    let scenarios = quantity.scenarios(evidence.profile);
    let points: Vec<Point> =
        scenarios.iter().filter_map(|scenario| point(evidence, quantity, x, scenario, &subject)).collect();
    let readings = || points.iter().flat_map(|point| &point.terms).flat_map(|(readings, _)| readings.values());
    let complete = points.len() == scenarios.len();
    let slopes = if complete { slopes(&points) } else { Vec::new() };
    let missing = match slopes.is_empty() {
        true if readings().any(|reading| *reading == Reading::Absent) => Some(quantity.metric.clone()),
        true if !complete && ran(evidence, quantity, &subject) => Some(x.to_owned()),
        _ => None,
    };

    let estimate = value_estimate(&slopes);
    let xs = || points.iter().map(|point| point.x);
    let range = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
    let margin = slope::margin_over(range, claim.margin);
    let row = Row {
        scenario: ALL.to_owned(),
        scale: Scale::Slope { of: subject.name },
        verdict: estimate.as_ref().map_or(Verdict::Inconclusive, |estimate| match aim {
            Aim::Band(band) => verdict::band(estimate, band),
            Aim::Direction(direction) => verdict::slope(estimate, margin, direction),
        }),
        estimate,
        sides: scenarios.last().map(|last| sides(evidence, quantity, last)).unwrap_or_default(),
        floor: None,
        p_value: match aim {
            Aim::Direction(_) => p_value(&slopes),
            Aim::Band(_) => None,
        },
        failed: readings().filter(|reading| **reading == Reading::Failed).count(),
    };
    (row, missing)
}

/// A scenario as a point; `None` where nothing recorded its x.
fn point(evidence: Evidence<'_>, quantity: &Quantity, x: &str, scenario: &str, subject: &Subject<'_>) -> Option<Point> {
    let of = |arm: &str| samples(evidence, quantity, scenario, arm);
    let xs = subject.terms.iter().flat_map(|(arm, _)| of(arm)).filter_map(|sample| sample.metrics.get(x).copied());
    let terms = subject.terms.iter().map(|(arm, sign)| {
        let readings = of(arm).into_iter().map(|sample| (sample.block, read(sample, &quantity.metric)));
        (readings.collect(), *sign)
    });
    Some(Point { x: median(xs.collect())?, terms: terms.collect() })
}

/// The slope of every block that ran in all scenarios: over fewer it would be of another range. A failed run leaves it open.
fn slopes(points: &[Point]) -> Vec<Pair> {
    let readings = || points.iter().flat_map(|point| &point.terms).map(|(readings, _)| readings);
    let blocks: BTreeSet<u64> = readings().flat_map(BTreeMap::keys).copied().collect();
    let of_block = |block: u64| {
        let mut failed = false;
        let mut logs = Vec::with_capacity(points.len());
        for point in points {
            let mut log = 0.0;
            for (readings, sign) in &point.terms {
                match readings.get(&block)? {
                    Reading::Value(value) => log += sign * value.ln(),
                    Reading::Failed => failed = true,
                    Reading::Absent => return None,
                }
            }
            logs.push((point.x, log.exp()));
        }
        if failed { Some(Pair::unknown()) } else { slope::of_logs(&logs).map(Pair::exact) }
    };
    blocks.into_iter().filter_map(of_block).collect()
}

/// Whether anything of the subject ran and succeeded.
fn ran(evidence: Evidence<'_>, quantity: &Quantity, subject: &Subject<'_>) -> bool {
    let scenarios = quantity.scenarios(evidence.profile);
    let mut arms = scenarios.iter().flat_map(|scenario| subject.terms.iter().map(move |(arm, _)| (scenario, arm)));
    arms.any(|(scenario, arm)| samples(evidence, quantity, scenario, arm).iter().any(|sample| sample.error.is_none()))
}
