//! The Wilcoxon signed-rank test on paired differences, its interval and the Hodges-Lehmann estimate.
//!
//! All exact, as R's `wilcox.test(exact = TRUE, conf.int = TRUE)`: the interval runs between two of the sorted Walsh averages,
//! which two of them follows from the null distribution of the statistic. Ties stay as they are; an interval may have zero width.

/// Fewest pairs for which a two-sided interval of 95 % exists.
pub const FEWEST: usize = 6;

/// One paired difference, in logarithms for ratios.
///
/// The three agree for a plain measurement. A counted metric is only known to within its resolution, so that `lo` and `hi` lie beside
/// `mid`; a failed run makes its side infinitely bad, and if both sides failed the pair says nothing, from minus to plus infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Smallest difference that is compatible with the measurement.
    pub lo: f64,
    /// The difference.
    pub mid: f64,
    /// Largest.
    pub hi: f64,
}

impl Pair {
    /// A difference known exactly.
    #[must_use]
    pub fn exact(difference: f64) -> Self {
        Pair { lo: difference, mid: difference, hi: difference }
    }

    /// A pair whose both sides failed.
    #[must_use]
    pub fn unknown() -> Self {
        Pair { lo: f64::NEG_INFINITY, mid: 0.0, hi: f64::INFINITY }
    }
}

/// A Hodges-Lehmann estimate with its interval, on the scale of the pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate: the median of the Walsh averages.
    pub point: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Number of pairs.
    pub n: usize,
    /// Actual two-sided error rate; 1 if there are too few pairs for an interval, which is then the whole line.
    pub level: f64,
}

/// Estimates the middle of `pairs` with an interval of at least `confidence`; `None` without pairs.
#[must_use]
pub fn estimate(pairs: &[Pair], confidence: f64) -> Option<Interval> {
    let n = pairs.len();
    if n == 0 {
        return None;
    }
    let point = middle(&walsh_averages(pairs.iter().map(|pair| pair.mid), 0.0));
    let Some((rank, level)) = interval_rank(n, confidence) else {
        return Some(Interval { point, lo: f64::NEG_INFINITY, hi: f64::INFINITY, n, level: 1.0 });
    };
    let low = walsh_averages(pairs.iter().map(|pair| pair.lo), f64::NEG_INFINITY);
    let high = walsh_averages(pairs.iter().map(|pair| pair.hi), f64::INFINITY);
    Some(Interval { point, lo: low[rank - 1], hi: high[high.len() - rank], n, level })
}

/// Which Walsh average, counted from either end, bounds the interval of `n` pairs, and the error rate that this leaves.
#[must_use]
pub fn interval_rank(n: usize, confidence: f64) -> Option<(usize, f64)> {
    let alpha = 1.0 - confidence;
    let rank = quantile(alpha / 2.0, n).max(1);
    let level = 2.0 * cumulative(rank - 1, n);
    // With few pairs even the widest interval errs more often than is allowed. The tolerance is for rounding only.
    (level <= alpha * (1.0 + 1e-9)).then_some((rank, level))
}

/// Sorted averages of all pairs of values, each value with itself included. Opposite infinities average to `clash`.
#[must_use]
pub fn walsh_averages(values: impl Iterator<Item = f64>, clash: f64) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut averages = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, &a) in values.iter().enumerate() {
        for &b in &values[index..] {
            let average = f64::midpoint(a, b);
            averages.push(if average.is_nan() { clash } else { average });
        }
    }
    averages.sort_by(f64::total_cmp);
    averages
}

/// The median of sorted values.
pub(super) fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        return sorted[half];
    }
    let middle = f64::midpoint(sorted[half - 1], sorted[half]);
    if middle.is_nan() { 0.0 } else { middle }
}

/// P(V <= `statistic`) for `n` pairs without effect: R's `psignrank`.
#[must_use]
pub fn cumulative(statistic: usize, n: usize) -> f64 {
    let ranks: Vec<usize> = (1..=n).collect();
    distribution(&ranks).iter().take(statistic + 1).sum::<f64>().min(1.0)
}

/// The smallest v with P(V <= v) >= `probability`: R's `qsignrank`.
#[must_use]
pub fn quantile(probability: f64, n: usize) -> usize {
    let ranks: Vec<usize> = (1..=n).collect();
    let mut sum = 0.0;
    // R allows the same tolerance, so that a quantile which is exact on paper is not missed by rounding.
    let enough = probability - 10.0 * f64::EPSILON;
    let distribution = distribution(&ranks);
    distribution
        .iter()
        .position(|mass| {
            sum += mass;
            sum >= enough
        })
        .unwrap_or(distribution.len() - 1)
}

/// Probability of each sum of a random half of `ranks`: every rank is in or out with probability 1/2.
fn distribution(ranks: &[usize]) -> Vec<f64> {
    let mut masses = vec![1.0];
    for &rank in ranks {
        let mut next = vec![0.0; masses.len() + rank];
        for (sum, mass) in masses.iter().enumerate() {
            next[sum] += mass / 2.0;
            next[sum + rank] += mass / 2.0;
        }
        masses = next;
    }
    masses
}

/// Which alternative a p-value is against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// The middle is not zero.
    TwoSided,
    /// The middle is below zero.
    Less,
    /// The middle is above zero.
    Greater,
}

/// Exact p-value of `differences` against a middle of zero, given their sizes: ties share a rank, zeros are ranked and then say nothing
/// (Pratt). 1 without differences.
#[must_use]
pub fn p_value(differences: &[f64], alternative: Alternative) -> f64 {
    let mut order: Vec<f64> = differences.to_vec();
    order.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the mid-rank is a whole number.
    let mut ranks = Vec::new();
    let mut statistic = 0;
    let mut start = 0;
    while start < order.len() {
        let size = order[start].abs();
        let end = start + order[start..].iter().take_while(|value| value.abs().total_cmp(&size).is_eq()).count();
        let doubled = start + 1 + end;
        for &value in &order[start..end] {
            if value != 0.0 {
                ranks.push(doubled);
                statistic += if value > 0.0 { doubled } else { 0 };
            }
        }
        start = end;
    }
    let masses = distribution(&ranks);
    let below: f64 = masses[..=statistic].iter().sum();
    let above: f64 = masses[statistic..].iter().sum();
    match alternative {
        Alternative::Less => below.min(1.0),
        Alternative::Greater => above.min(1.0),
        Alternative::TwoSided => (2.0 * below.min(above)).min(1.0),
    }
}
