//! The Wilcoxon signed-rank test on paired differences, its interval and the Hodges-Lehmann estimate: exact, as R's
//! `wilcox.test(exact = TRUE, conf.int = TRUE)`. Ties stay as they are; an interval may have zero width.

use super::median;

/// Fewest pairs for which a two-sided interval of 95 % exists, and from which noise is estimated.
pub const FEWEST: usize = 6;

/// An estimate of the middle with its interval, on the scale of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate: the median of the Walsh averages, or of the values themselves.
    pub point: f64,
    pub lo: f64,
    pub hi: f64,
    pub n: usize,
    /// Actual two-sided error rate; 1 if there are too few pairs for an interval, which is then the whole line.
    pub level: f64,
}

/// Estimates the middle of `differences`, one per pair and in logarithms for ratios, with an interval of at least `confidence`.
///
/// A failed run makes its side infinitely bad; where both sides failed the pair is not a number and may lie anywhere, which can only widen the interval.
/// `None` without a middle: no pair is known, or they lie at opposite infinities. No part of the result is ever NaN.
pub fn estimate(differences: &[f64], confidence: f64) -> Option<Interval> {
    let (point, n) = (hodges_lehmann(differences)?, differences.len());
    Some(bounded(point, n, interval_rank(n, confidence), walsh_averages(differences)))
}

/// Estimates the median of values of one arm, one per block, by the sign test: the signed-rank test needs symmetry, which times lack. Else alike.
pub fn median_estimate(values: &[f64], confidence: f64) -> Option<Interval> {
    let known = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let point = median(known).filter(|middle| !middle.is_nan())?;
    // As many of n values lie below their median as n coins show heads: a signed-rank statistic with every rank one.
    let rank = rank_of(&distribution(values.iter().map(|_| 1)), confidence);
    Some(bounded(point, values.len(), rank, values.iter().copied()))
}

/// The interval between the `rank`-th smallest and largest of the `averages`; without a rank, the whole line.
fn bounded(point: f64, n: usize, rank: Option<(usize, f64)>, averages: impl Iterator<Item = f64>) -> Interval {
    let Some((rank, level)) = rank else {
        return Interval { point, lo: f64::NEG_INFINITY, hi: f64::INFINITY, n, level: 1.0 };
    };
    let averages: Vec<f64> = averages.collect();
    // What is unknown is as bad as it can be for the end in question.
    let [low, high] = [f64::NEG_INFINITY, f64::INFINITY].map(|end| {
        let mut averages: Vec<f64> = averages.iter().map(|average| unless_nan(*average, end)).collect();
        averages.sort_unstable_by(f64::total_cmp);
        averages
    });
    Interval { point, lo: low[rank - 1], hi: high[high.len() - rank], n, level }
}

/// Which Walsh average, counted from either end, bounds the interval of `n` pairs, and the error rate that this leaves; `None` with too few pairs.
pub fn interval_rank(n: usize, confidence: f64) -> Option<(usize, f64)> {
    rank_of(&distribution(1..=n), confidence)
}

/// The same for any statistic of signs whose null distribution has these `masses`.
fn rank_of(masses: &[f64], confidence: f64) -> Option<(usize, f64)> {
    let alpha = 1.0 - confidence;
    // R allows the same tolerance, so that a quantile which is exact on paper is not missed by rounding.
    let enough = alpha / 2.0 - 10.0 * f64::EPSILON;
    let mut sum = 0.0;
    let reached = masses.iter().position(|mass| {
        sum += mass;
        sum >= enough
    });
    let rank = reached.unwrap_or(masses.len() - 1).max(1);
    let level = 2.0 * masses.iter().take(rank).sum::<f64>();
    // The tolerance is for rounding only.
    (level <= alpha * (1.0 + 1e-9)).then_some((rank, level))
}

/// The Hodges-Lehmann estimate: the median of the Walsh averages that are known. `None` without any, or between opposite infinities.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    let known = walsh_averages(values).filter(|average| !average.is_nan()).collect();
    median(known).filter(|middle| !middle.is_nan())
}

/// Averages of all pairs of values, each with itself included; NaN where opposite infinities meet.
pub fn walsh_averages(values: &[f64]) -> impl Iterator<Item = f64> {
    let with_later = |(index, &a): (usize, &f64)| values[index..].iter().map(move |&b| f64::midpoint(a, b));
    values.iter().enumerate().flat_map(with_later)
}

fn unless_nan(value: f64, otherwise: f64) -> f64 {
    if value.is_nan() { otherwise } else { value }
}

/// Probability of each sum of a random half of `ranks`: every rank is in or out with probability 1/2.
fn distribution(ranks: impl IntoIterator<Item = usize>) -> Vec<f64> {
    let mut masses = vec![1.0];
    for rank in ranks {
        let mut next = vec![0.0; masses.len() + rank];
        for (sum, mass) in masses.iter().enumerate() {
            next[sum] += mass / 2.0;
            next[sum + rank] += mass / 2.0;
        }
        masses = next;
    }
    masses
}

/// Exact two-sided p-value of `differences` against every middle within `margin` of zero: it agrees with an interval that lies wholly beyond.
pub fn p_value_beyond(differences: &[f64], margin: f64) -> f64 {
    let turned: Vec<f64> = differences.iter().map(|difference| -difference).collect();
    (2.0 * p_value_below(differences, -margin).min(p_value_below(&turned, -margin))).min(1.0)
}

/// Exact p-value of `differences` for a middle below `centre`, P(V <= observed) over all choices of their signs, which agrees with the interval of
/// [`estimate`]. Ties share a rank, zeros are ranked and then say nothing (Pratt); what is not a number speaks against it.
pub fn p_value_below(differences: &[f64], centre: f64) -> f64 {
    let mut by_size: Vec<f64> = differences.iter().map(|of| unless_nan(of - centre, f64::INFINITY)).collect();
    by_size.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the mid-rank is a whole number.
    let mut ranks = Vec::new();
    let (mut statistic, mut before) = (0, 0);
    for tied in by_size.chunk_by(|a, b| a.abs().total_cmp(&b.abs()).is_eq()) {
        let doubled = 2 * before + tied.len() + 1;
        before += tied.len();
        for &difference in tied.iter().filter(|difference| **difference != 0.0) {
            ranks.push(doubled);
            statistic += if difference > 0.0 { doubled } else { 0 };
        }
    }
    distribution(ranks).iter().take(statistic + 1).sum::<f64>().min(1.0)
}
