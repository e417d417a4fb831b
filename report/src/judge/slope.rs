//! Slopes: how a value grows with another metric over the scenarios of a claim.

use std::collections::BTreeMap;

use super::evidence::{ALL, Evidence, Reading, Yield, read};
use crate::claims::{Aim, Of, Part, Quantity, Size};
use crate::judged::{Range, Row, Scale, Verdict};
use crate::rules;
use crate::stats::{CONFIDENCE, duet, estimate, median, slope};

/// The arms that a slope is of, with their sign in the logarithm: one, or two of a ratio.
type Terms<'a> = [(&'a str, f64)];

/// One scenario as a point of the fit: its x, and the readings of every term by block.
struct Point {
    x: f64,
    terms: Vec<(BTreeMap<u64, Reading>, f64)>,
}

/// A row per arm, or one of a ratio, and the metric that is missing, if one is.
pub(super) fn rows(evidence: Evidence<'_>, part: &Part, x: &str, aim: Aim) -> (Vec<Row>, Option<String>) {
    let row = |name: String, terms: &Terms<'_>| row(evidence, part, (x, aim), name, terms);
    let cases = part.quantity.arms();
    let rows = match &part.quantity.of {
        Of::Ratio { numerator, denominator } => {
            vec![row(format!("{numerator} ÷ {denominator}"), &of_ratio(&cases))]
        }
        Of::Value { arm, .. } => vec![row(arm.clone(), &[(arm, 1.0)])],
        Of::Each(arms) => arms.iter().map(|arm| row(arm.clone(), &[(arm, 1.0)])).collect(),
    };
    let (rows, missing): (_, Vec<Option<String>>) = rows.into_iter().unzip();
    (rows, missing.into_iter().flatten().next())
}

/// The slope of a ratio over its scenarios, block by block; nothing of another quantity.
pub(super) fn gather(evidence: Evidence<'_>, quantity: &Quantity, x: &str) -> Yield {
    if !quantity.is_ratio() {
        return Yield::default();
    }
    slopes(&points(evidence, quantity, x, &of_ratio(&quantity.arms())), quantity.scenarios(evidence.profile).len())
}

/// The terms of a ratio of `cases`: two, or the one case of a duet, whose samples are ratios already.
fn of_ratio(cases: &[String]) -> Vec<(&str, f64)> {
    cases.iter().map(String::as_str).zip([1.0, -1.0]).collect()
}

fn row(
    evidence: Evidence<'_>,
    part: &Part,
    (x, aim): (&str, Aim),
    name: String,
    terms: &Terms<'_>,
) -> (Row, Option<String>) {
    let quantity = &part.quantity;
    let scenarios = quantity.scenarios(evidence.profile);
    let points = points(evidence, quantity, x, terms);
    let readings = || points.iter().flat_map(|point| &point.terms).flat_map(|(readings, _)| readings.values());
    let slopes = slopes(&points, scenarios.len()).values();
    let ran = || {
        let mut cases = scenarios.iter().flat_map(|scenario| terms.iter().map(move |(arm, _)| (scenario, arm)));
        cases.any(|(scenario, arm)| {
            evidence.samples(quantity, scenario, arm).iter().any(|sample| sample.error.is_none())
        })
    };
    let missing = match slopes.is_empty() {
        true if readings().any(Result::is_err) => Some(quantity.metric.clone()),
        true if points.len() < scenarios.len() && ran() => Some(x.to_owned()),
        _ => None,
    };

    let estimate = estimate(&slopes, CONFIDENCE);
    let xs = || points.iter().map(|point| point.x);
    let (from, to) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
    let margin = slope::margin_over((from, to), part.margin);
    let range = matches!(aim, Aim::Direction(_)).then(|| Range { metric: x.to_owned(), from, to });
    let row = Row {
        scenario: ALL.to_owned(),
        scale: Scale::Slope { of: name, range },
        part: String::new(),
        verdict: estimate.as_ref().map_or(Verdict::Undecided, |estimate| match aim {
            Aim::Band(band) => rules::value(estimate, band),
            Aim::Direction(direction) => rules::slope(estimate, margin, direction),
        }),
        estimate,
        sides: scenarios.last().map(|last| evidence.sides(quantity, last)).unwrap_or_default(),
        floor: None,
        margin: matches!(aim, Aim::Direction(_)).then_some(part.margin),
        claimed: if let Aim::Band(band) = aim { Some(Size::Range(band)) } else { None },
        failed: readings().filter(|reading| **reading == Ok(None)).count(),
    };
    (row, missing)
}

/// The scenarios of which something recorded x, as points.
fn points(evidence: Evidence<'_>, quantity: &Quantity, x: &str, terms: &Terms<'_>) -> Vec<Point> {
    let point = |scenario: &String| {
        let of = |arm: &str| evidence.samples(quantity, scenario, arm);
        let xs = terms.iter().flat_map(|(arm, _)| evidence.recorded(quantity, scenario, arm, x));
        let terms = terms.iter().map(|(arm, sign)| {
            let readings = of(arm).into_iter().map(|sample| {
                let of_duet = || Ok(duet::log_ratio(&sample.pairs).map(f64::exp));
                (sample.block, if quantity.is_duet() { of_duet() } else { read(sample, &quantity.metric) })
            });
            (readings.collect(), *sign)
        });
        Some(Point { x: median(xs.collect())?, terms: terms.collect() })
    };
    quantity.scenarios(evidence.profile).iter().filter_map(point).collect()
}

/// The slope of every block that ran in all of so many scenarios: over fewer it would be of another range. A failed run leaves it open.
fn slopes(points: &[Point], scenarios: usize) -> Yield {
    if points.len() < scenarios {
        return Yield::default();
    }
    let of_block = |block: u64| {
        let mut failed = false;
        let mut logs = Vec::with_capacity(points.len());
        for point in points {
            let mut log = 0.0;
            for (readings, sign) in &point.terms {
                match readings.get(&block)?.as_ref().ok()? {
                    Some(value) => log += sign * value.ln(),
                    None => failed = true,
                }
            }
            logs.push((point.x, log.exp()));
        }
        if failed { Some(f64::NAN) } else { slope::of_logs(&logs) }
    };
    let first = points.iter().flat_map(|point| &point.terms).next();
    let blocks = first.into_iter().flat_map(|(readings, _)| readings.keys());
    Yield { pairs: blocks.filter_map(|&block| Some((block, of_block(block)?))).collect(), ..Yield::default() }
}
