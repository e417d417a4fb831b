//! The interval of a median by the sign test: between two of the sorted values, which assumes nothing about how they are distributed.

use super::order::median;
use super::signed_rank::{Interval, Pair, bounded, distribution, ends, rank_of};

/// Estimates the median of values, one per block, with an interval of at least `confidence`.
///
/// For values of one arm: the signed-rank test of [`estimate`](super::estimate) needs symmetry, which differences of like runs have
/// and times lack. Otherwise alike: ends that are not known exactly widen the interval, and `None` means that there is no middle.
pub fn median_estimate(values: &[Pair], confidence: f64) -> Option<Interval> {
    let known = ends(values, |value| value.mid).into_iter().filter(|mid| !mid.is_nan()).collect();
    let point = median(known).filter(|middle| !middle.is_nan())?;
    // As many of n values lie below their median as n coins show heads: a signed-rank statistic with every rank one.
    let rank = rank_of(&distribution(values.iter().map(|_| 1)), confidence);
    Some(bounded(point, values.len(), rank, ends(values, |value| value.lo), ends(values, |value| value.hi)))
}
