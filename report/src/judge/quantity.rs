//! Quantities: from the samples of a scenario to pairs or values, and to estimates.

use std::collections::BTreeMap;

use super::{Evidence, is_duet};
use crate::claims::{Of, Quantity};
use crate::dataset::Sample;
use crate::judged::{Estimate, Scale, Side};
use crate::stats::median;
use crate::stats::signed_rank::{self, Alternative, Interval};
use crate::stats::{CONFIDENCE, Pair, duet, estimate};

/// What a quantity came to in one scenario: one entry per block, in the order of the blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Yield {
    /// Blocks that both sides ran in.
    pub blocks: Vec<u64>,
    /// Log ratios, or values.
    pub pairs: Vec<Pair>,
    /// Failed runs among them.
    pub failed: usize,
    /// Why nothing can be said although runs succeeded: the metric is missing in all of them.
    pub missing: Option<String>,
}

/// One side of a pair in one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reading {
    /// The value of the metric.
    Value(f64),
    /// The run failed.
    Failed,
    /// The run succeeded and lacks the metric.
    Absent,
}

/// What `sample` says of `metric`.
pub(super) fn read(sample: &Sample, metric: &str) -> Reading {
    match (&sample.error, sample.metrics.get(metric)) {
        (Some(_), _) => Reading::Failed,
        (None, Some(&value)) => Reading::Value(value),
        (None, None) => Reading::Absent,
    }
}

fn by_block<'a>(samples: &[&'a Sample]) -> BTreeMap<u64, &'a Sample> {
    samples.iter().map(|sample| (sample.block, *sample)).collect()
}

/// The samples of `arm` in the blocks that `quantity` asks for: others may have asked for more of the same case.
pub(super) fn samples<'a>(evidence: Evidence<'a>, quantity: &Quantity, scenario: &str, arm: &str) -> Vec<&'a Sample> {
    let blocks = quantity.blocks.get(evidence.profile).map_or(u64::MAX, |&blocks| blocks as u64);
    evidence.data.samples(scenario, arm).iter().filter(|sample| sample.block < blocks).collect()
}

/// What `quantity` came to in `scenario`.
pub(super) fn gather(evidence: Evidence<'_>, quantity: &Quantity, scenario: &str) -> Yield {
    let samples = |arm: &str| samples(evidence, quantity, scenario, arm);
    match &quantity.of {
        Of::Ratio { numerator, denominator } if is_duet(quantity.form) => {
            duets(&samples(&format!("{numerator}~{denominator}")))
        }
        Of::Ratio { numerator, denominator } => ratios(&samples(numerator), &samples(denominator), quantity),
        Of::Value { arm, minus, per, factor, .. } => {
            let minus = minus.as_ref().map(|minus| samples(minus));
            values(&samples(arm), minus.as_deref(), per.as_deref(), *factor, quantity)
        }
        Of::Each(_) => Yield::default(),
    }
}

fn ratios(numerator: &[&Sample], denominator: &[&Sample], quantity: &Quantity) -> Yield {
    let mut found = Yield::default();
    let below = by_block(denominator);
    // A failure is infinitely bad: an infinite time, or no throughput.
    let bad = if quantity.lower_is_better { f64::INFINITY } else { f64::NEG_INFINITY };
    let step = quantity.resolution;
    for sample in numerator {
        let Some(other) = below.get(&sample.block) else {
            continue;
        };
        let pair = match (read(sample, &quantity.metric), read(other, &quantity.metric)) {
            (Reading::Absent, _) | (_, Reading::Absent) => {
                found.missing = Some(quantity.metric.clone());
                continue;
            }
            (Reading::Value(a), Reading::Value(b)) => {
                // Nothing is below one step: a count of zero is known only to be less than one.
                let log = |a: f64, b: f64| (a.max(f64::MIN_POSITIVE) / b.max(f64::MIN_POSITIVE)).ln();
                Pair { lo: log(a - step, b + step), mid: log(a, b), hi: log(a + step, b - step) }
            }
            (Reading::Failed, Reading::Failed) => Pair::unknown(),
            (Reading::Failed, _) => Pair::exact(bad),
            (_, Reading::Failed) => Pair::exact(-bad),
        };
        found.failed += usize::from(sample.error.is_some()) + usize::from(other.error.is_some());
        found.blocks.push(sample.block);
        found.pairs.push(pair);
    }
    found
}

fn duets(samples: &[&Sample]) -> Yield {
    let mut found = Yield::default();
    for sample in samples {
        found.blocks.push(sample.block);
        found.pairs.push(duet::log_ratio(&sample.pairs).map_or(Pair::unknown(), Pair::exact));
        found.failed += usize::from(sample.error.is_some());
    }
    found
}

fn values(
    samples: &[&Sample],
    minus: Option<&[&Sample]>,
    per: Option<&str>,
    factor: f64,
    quantity: &Quantity,
) -> Yield {
    let mut found = Yield::default();
    let minus = minus.map(by_block);
    let bad = if quantity.lower_is_better { f64::INFINITY } else { f64::NEG_INFINITY };
    for sample in samples {
        let subtracted = match &minus {
            None => Reading::Value(0.0),
            Some(minus) => match minus.get(&sample.block) {
                Some(other) => read(other, &quantity.metric),
                None => continue,
            },
        };
        let divisor = per.map_or(Reading::Value(1.0), |per| read(sample, per));
        let pair = match (read(sample, &quantity.metric), subtracted, divisor) {
            (Reading::Absent, ..) | (_, Reading::Absent, _) => {
                found.missing = Some(quantity.metric.clone());
                continue;
            }
            (_, _, Reading::Absent) => {
                found.missing = per.map(str::to_owned);
                continue;
            }
            (Reading::Value(value), Reading::Value(less), Reading::Value(divisor)) if divisor != 0.0 => {
                Pair::exact((value - less) / divisor * factor)
            }
            (Reading::Failed, Reading::Value(_), _) => Pair::exact(bad),
            _ => Pair::unknown(),
        };
        found.failed += usize::from(sample.error.is_some()) + usize::from(subtracted == Reading::Failed);
        found.blocks.push(sample.block);
        found.pairs.push(pair);
    }
    found
}

/// The estimate of log ratios as a ratio.
pub(super) fn ratio_estimate(pairs: &[Pair], confidence: f64) -> Option<Estimate> {
    estimate(pairs, confidence).map(|interval| exponentiated(&interval))
}

/// The estimate of values as they are.
pub(super) fn value_estimate(pairs: &[Pair]) -> Option<Estimate> {
    estimate(pairs, CONFIDENCE).map(|interval| plain(&interval))
}

/// An interval on its own scale.
pub(super) fn plain(interval: &Interval) -> Estimate {
    let Interval { point, lo, hi, n, level } = *interval;
    Estimate { point, lo, hi, n, level }
}

fn exponentiated(interval: &Interval) -> Estimate {
    let Interval { point, lo, hi, n, level } = *interval;
    Estimate { point: point.exp(), lo: lo.exp(), hi: hi.exp(), n, level }
}

/// The two-sided p-value of log ratios against none.
pub(super) fn p_value(pairs: &[Pair]) -> Option<f64> {
    if pairs.len() < signed_rank::FEWEST {
        return None;
    }
    Some(signed_rank::p_value_against(pairs, 0.0, Alternative::TwoSided))
}

/// What an estimate of `quantity` is an estimate of.
pub(super) fn scale(quantity: &Quantity) -> Scale {
    match &quantity.of {
        Of::Ratio { numerator, denominator } => Scale::Ratio {
            numerator: numerator.clone(),
            denominator: denominator.clone(),
            metric: quantity.metric.clone(),
        },
        Of::Value { arm, minus, per, unit, .. } => {
            let minus = minus.as_ref().map(|minus| format!(" less that of {minus}")).unwrap_or_default();
            let of = format!("{arm}{minus}");
            Scale::Value { metric: quantity.metric.clone(), of, per: per.clone(), unit: unit.clone() }
        }
        Of::Each(arms) => Scale::Slope { of: arms.join(", ") },
    }
}

/// The medians of both sides in the metric's own unit; of a duet, over all of its times.
pub(super) fn sides(evidence: Evidence<'_>, quantity: &Quantity, scenario: &str) -> Vec<Side> {
    let side = |arm: &str, median: Option<f64>| {
        Some(Side { arm: arm.to_owned(), metric: quantity.metric.clone(), median: median? })
    };
    let of_arm = |arm: &String| {
        let samples = samples(evidence, quantity, scenario, arm);
        side(arm, median(samples.iter().filter_map(|sample| sample.metrics.get(&quantity.metric).copied()).collect()))
    };
    match &quantity.of {
        Of::Ratio { numerator, denominator } if is_duet(quantity.form) => {
            let samples = samples(evidence, quantity, scenario, &format!("{numerator}~{denominator}"));
            let pairs = || samples.iter().flat_map(|sample| &sample.pairs);
            let times = [
                side(numerator, median(pairs().map(|pair| pair.a_s).collect())),
                side(denominator, median(pairs().map(|pair| pair.b_s).collect())),
            ];
            times.into_iter().flatten().collect()
        }
        Of::Ratio { numerator, denominator } => [numerator, denominator].into_iter().filter_map(of_arm).collect(),
        Of::Value { arm, minus, .. } => std::iter::once(arm).chain(minus).filter_map(of_arm).collect(),
        Of::Each(arms) => arms.iter().filter_map(of_arm).collect(),
    }
}
