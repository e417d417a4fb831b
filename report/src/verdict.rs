//! The verdict rules: an interval, a margin and a floor in, a word out.
//!
//! Two thresholds, never mixed. The floor guards "there is an effect"; the margin alone decides "there is none". What meets neither is
//! inconclusive, so that noise, which widens intervals and raises floors, can only lead there.

use strum::{EnumString, VariantNames};

use crate::judged::{Estimate, Verdict};
use crate::stats::{CONFIDENCE, binomial};

/// A range of values, ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    pub lo: f64,
    pub hi: f64,
}

impl Band {
    /// The range that counts as "of this size" for a claimed ratio: its log effect times 0.5 to 2.
    pub fn around(size: f64) -> Self {
        let (half, twice) = (size.powf(0.5), size.powf(2.0));
        Band { lo: half.min(twice), hi: half.max(twice) }
    }

    fn contains(self, estimate: &Estimate) -> bool {
        estimate.lo >= self.lo && estimate.hi <= self.hi
    }

    fn excludes(self, estimate: &Estimate) -> bool {
        estimate.hi < self.lo || estimate.lo > self.hi
    }
}

/// Whether there were enough pairs for an interval.
fn computable(estimate: &Estimate) -> bool {
    estimate.level < 1.0 && !estimate.lo.is_nan() && !estimate.hi.is_nan()
}

/// The range of ratios that make no difference to a user.
fn negligible(margin: f64) -> Band {
    Band { lo: 1.0 / (1.0 + margin), hi: 1.0 + margin }
}

/// A claimed difference: a ratio above 1 as the claim states it.
///
/// Reproduced beyond the floor, in words that say how the interval lies to the claimed `size`; reversed below its inverse; not reproduced
/// inside the margin. A floor below the margin counts as the margin.
pub fn ratio(estimate: &Estimate, margin: f64, floor: f64, size: Option<Band>) -> Verdict {
    if !computable(estimate) {
        return Verdict::Inconclusive;
    }
    let floor = floor.max(margin);
    if estimate.lo > 1.0 + floor {
        return match size {
            None => Verdict::Reproduced,
            Some(band) if band.contains(estimate) => Verdict::Reproduced,
            Some(band) if estimate.hi < band.lo => Verdict::ReproducedSmaller,
            Some(band) if estimate.lo > band.hi => Verdict::ReproducedLarger,
            Some(_) => Verdict::ReproducedSizeUndecided,
        };
    }
    if estimate.hi < 1.0 / (1.0 + floor) {
        Verdict::Reversed
    } else if negligible(margin).contains(estimate) {
        Verdict::NotReproduced
    } else {
        Verdict::Inconclusive
    }
}

/// A claimed equality of two arms: reproduced inside the margin, not reproduced wholly outside.
pub fn equal(estimate: &Estimate, margin: f64) -> Verdict {
    band(estimate, negligible(margin))
}

/// A claimed range of a value, or of a slope: reproduced inside, not reproduced wholly outside.
pub fn band(estimate: &Estimate, band: Band) -> Verdict {
    if !computable(estimate) {
        Verdict::Inconclusive
    } else if band.contains(estimate) {
        Verdict::Reproduced
    } else if band.excludes(estimate) {
        Verdict::NotReproduced
    } else {
        Verdict::Inconclusive
    }
}

/// Which way a slope is claimed to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Direction {
    /// Grows with x.
    Up,
    /// Shrinks with x.
    Down,
    /// Does neither.
    Flat,
}

/// A claimed direction of a slope; `margin` is a slope, from [`margin_over`](crate::stats::slope::margin_over).
///
/// Both ends of the margin are the same size, because a slope is already logarithmic.
pub fn slope(estimate: &Estimate, margin: f64, direction: Direction) -> Verdict {
    if !computable(estimate) {
        return Verdict::Inconclusive;
    }
    let flat = Band { lo: -margin, hi: margin };
    let (up, down) = (estimate.lo > margin, estimate.hi < -margin);
    match direction {
        Direction::Flat => band(estimate, flat),
        _ if flat.contains(estimate) => Verdict::NotReproduced,
        Direction::Up if up => Verdict::Reproduced,
        Direction::Down if down => Verdict::Reproduced,
        _ if up || down => Verdict::Reversed,
        _ => Verdict::Inconclusive,
    }
}

/// From this share of an effect on, a control explains it.
pub const EXPLAINS: f64 = 0.8;
/// Up to this share, it does not.
pub const EXPLAINS_NOT: f64 = 0.2;

/// Whose cause a control isolates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Control {
    /// The claimed one: what it explains speaks for the claim.
    Claimed,
    /// Another one: what it explains speaks against the claim.
    Rival,
}

/// A claimed cause, from the share of the effect that a control explains; what is neither most nor little of it is inconclusive.
pub fn cause(share: &Estimate, control: Control) -> Verdict {
    if !computable(share) {
        return Verdict::Inconclusive;
    }
    match control {
        Control::Claimed if share.lo >= EXPLAINS => Verdict::Confirmed,
        Control::Claimed if share.hi <= EXPLAINS_NOT => Verdict::Refuted,
        Control::Rival if share.lo >= EXPLAINS => Verdict::Refuted,
        Control::Rival if share.hi <= EXPLAINS_NOT => Verdict::Confirmed,
        _ => Verdict::Inconclusive,
    }
}

/// A criterion that was met in `met` of `n` blocks and is claimed to be met in more than `share` of them.
pub fn outcome(met: usize, n: usize, share: f64) -> Verdict {
    let (lo, hi) = binomial::interval(met, n, CONFIDENCE);
    if n == 0 {
        Verdict::Inconclusive
    } else if lo > share {
        Verdict::Reproduced
    } else if hi < share {
        Verdict::NotReproduced
    } else {
        Verdict::Inconclusive
    }
}

/// Adjusted p-value below which a scenario contradicts a claim about every one.
pub const CONTRADICTS: f64 = 0.05;

/// A claimed difference in every one of several scenarios.
///
/// `pooled` estimates the mean over the scenarios of each block's log ratios. `reversed` are the p-values, adjusted by Holm, of each
/// scenario for lying beyond the floor in the other direction (one-sided). One scenario that goes the other way refutes "every",
/// whatever the rest does; a pool that is reversed as a whole is the stronger word and stands.
pub fn every(pooled: &Estimate, reversed: &[f64], margin: f64, floor: f64, size: Option<Band>) -> Verdict {
    let verdict = ratio(pooled, margin, floor, size);
    let contradicted = reversed.iter().any(|&p_value| p_value < CONTRADICTS);
    match verdict {
        Verdict::Reversed => Verdict::Reversed,
        _ if contradicted => Verdict::NotReproduced,
        verdict => verdict,
    }
}

/// Whether two copies of one arm are told apart: the interval lies wholly beyond the margin.
pub fn aa_failed(estimate: &Estimate, margin: f64) -> bool {
    computable(estimate) && negligible(margin).excludes(estimate)
}

/// Whether a planted effect of `size` was found: beyond the floor, and inside the interval `wide`, for which there must be blocks enough.
pub fn planted_found(estimate: &Estimate, wide: &Estimate, floor: f64, size: f64) -> bool {
    computable(estimate) && estimate.lo > 1.0 + floor && computable(wide) && wide.lo <= size && size <= wide.hi
}

/// Whether a planted effect of `size` was measured as something else: `wide` excludes it. That is the method's failure, where an
/// interval too wide to tell is the machine's.
pub fn planted_missed(wide: &Estimate, size: f64) -> bool {
    computable(wide) && (size < wide.lo || wide.hi < size)
}

/// Whether going first matters in a duet: `first` is the effect of going first on the logarithm of an arm's time, over the processes.
///
/// The same rule as for A/A, since both ask whether the instrument has a bias that matters: the interval lies wholly beyond the margin.
/// A point estimate beyond it is not enough, or noise would invalidate.
pub fn order_failed(first: &Estimate, margin: f64) -> bool {
    let limit = margin.ln_1p();
    first.level < 1.0 && (first.lo > limit || first.hi < -limit)
}

/// The verdict of a claim over several scenarios: the worst of theirs.
///
/// Worst for someone who believes the claim: what casts doubt on the measurement comes first, then what contradicts the claim, then what
/// leaves it open, and what bears it out last; among the last, those that contradict the claimed size come before the one that leaves it
/// open. So "reproduced" means reproduced everywhere. Without verdicts nothing was measured.
pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let rank = |verdict: &Verdict| WORST_FIRST.iter().position(|other| other == verdict);
    verdicts.into_iter().min_by_key(rank).unwrap_or(Verdict::NotMeasured)
}

/// Of what leaves a claim open, first what more measuring changes least.
const WORST_FIRST: [Verdict; 14] = [
    Verdict::Invalid,
    Verdict::Unstable,
    Verdict::Reversed,
    Verdict::NotReproduced,
    Verdict::Refuted,
    Verdict::NotTestable,
    Verdict::NotTestableHere,
    Verdict::NotMeasured,
    Verdict::Inconclusive,
    Verdict::ReproducedSmaller,
    Verdict::ReproducedLarger,
    Verdict::ReproducedSizeUndecided,
    Verdict::Reproduced,
    Verdict::Confirmed,
];
