//! The verdict rules: an interval, a margin and a floor in, a word out. The margin bounds the interval: "there is an effect that matters" needs
//! all of it beyond, "there is none" none of it. The floor bounds the estimate: an effect no larger than what this machine shows between two
//! copies of one program is none. What meets neither is unclear.

use serde::Deserialize;
use strum::{Display, IntoStaticStr, VariantArray};

use crate::stats::Interval;

/// The words of verdicts: seven on claims, and four on causes, of which they share *unclear*. Its name is the word that is printed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Verdict {
    Holds,
    /// No part of the interval lies beyond the margin on the claimed side.
    #[strum(serialize = "no difference")]
    NoDifference,
    Reversed,
    /// All of the interval misses what is asserted; or settings and hosts deny a claim in different words.
    #[strum(serialize = "does not hold")]
    DoesNotHold,
    Depends,
    /// The interval allows more than one answer, or the measurement must not be believed.
    Unclear,
    #[default]
    #[strum(serialize = "not tested")]
    NotTested,
    /// The cause explains at least four fifths of the effect.
    #[strum(serialize = "explains it")]
    ExplainsIt,
    /// The cause explains between a fifth and four fifths.
    #[strum(serialize = "part of it")]
    PartOfIt,
    /// The cause explains at most a fifth.
    #[strum(serialize = "does not")]
    DoesNot,
}

impl Verdict {
    pub fn is_decided(self) -> bool {
        !matches!(self, Verdict::Unclear | Verdict::NotTested)
    }

    pub fn agrees(self) -> bool {
        matches!(self, Verdict::Holds | Verdict::ExplainsIt)
    }

    fn denies(self) -> bool {
        matches!(self, Verdict::NoDifference | Verdict::Reversed | Verdict::DoesNotHold)
    }

    /// Whether two verdicts on one question cannot both be right: what is no difference in one round may be a loss in the next.
    pub fn contradicts(self, other: Verdict) -> bool {
        self.is_decided() && other.is_decided() && self != other && !(self.denies() && other.denies())
    }
}

/// The verdict over several settings: the one that all share, *depends* where they are decided differently, *does not hold* if all of them deny it. What
/// agrees in some settings and is unclear in others is unclear; what was not tested counts only if nothing was.
pub fn together(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let tested: Vec<Verdict> = verdicts.into_iter().filter(|verdict| *verdict != Verdict::NotTested).collect();
    let decided: Vec<Verdict> = tested.iter().copied().filter(|verdict| verdict.is_decided()).collect();
    let differ = decided.windows(2).any(|pair| pair[0] != pair[1]);
    match decided.first() {
        None => tested.first().copied().unwrap_or_default(),
        Some(_) if differ && decided.iter().all(|verdict| verdict.denies()) => Verdict::DoesNotHold,
        Some(_) if differ => Verdict::Depends,
        Some(first) if first.agrees() && decided.len() < tested.len() => Verdict::Unclear,
        Some(first) => *first,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Over {
    /// The word of the hosts that decide, as of settings that are judged [`together`].
    pub verdict: Verdict,
    pub decided: usize,
    /// Hosts that were asked and leave it unclear.
    pub unclear: usize,
}

/// The verdict over hosts, of which those that leave it unclear are counted apart.
pub fn over(verdicts: impl IntoIterator<Item = Verdict>) -> Over {
    let (decided, open): (Vec<Verdict>, Vec<Verdict>) = verdicts.into_iter().partition(|verdict| verdict.is_decided());
    let unclear = open.iter().filter(|verdict| **verdict == Verdict::Unclear).count();
    let verdict = together(if decided.is_empty() { open } else { decided.clone() });
    Over { verdict, decided: decided.len(), unclear }
}

/// A range of values, ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    pub lo: f64,
    pub hi: f64,
}

impl Band {
    /// The ratios that make no difference to a user.
    pub fn negligible(margin: f64) -> Self {
        Band { lo: 1.0 / (1.0 + margin), hi: 1.0 + margin }
    }

    /// What a range with one end asks of a value, as a sign and in words, and that end.
    pub fn limit(self) -> (&'static str, &'static str, f64) {
        if self.lo.is_finite() { (">=", "at least", self.lo) } else { ("<=", "at most", self.hi) }
    }

    pub fn holds(self, value: f64) -> bool {
        (self.lo..=self.hi).contains(&value)
    }
}

pub fn computable(estimate: &Interval) -> bool {
    estimate.level < 1.0 && !estimate.lo.is_nan() && !estimate.hi.is_nan()
}

/// A claimed difference: a ratio above 1 as the claim states it. A floor below the margin counts as the margin.
pub fn ratio(estimate: &Interval, margin: f64, floor: f64) -> Verdict {
    let beyond = 1.0 + floor.max(margin);
    let none = Band::negligible(margin);
    match *estimate {
        _ if !computable(estimate) => Verdict::Unclear,
        Interval { lo, point, .. } if lo > none.hi && point > beyond => Verdict::Holds,
        Interval { hi, point, .. } if hi < none.lo && point < 1.0 / beyond => Verdict::Reversed,
        Interval { hi, .. } if hi <= none.hi => Verdict::NoDifference,
        _ => Verdict::Unclear,
    }
}

pub fn equal(estimate: &Interval, margin: f64) -> Verdict {
    value(estimate, Band::negligible(margin))
}

/// An asserted range or bound of a value, of a ratio or of a slope.
pub fn value(estimate: &Interval, band: Band) -> Verdict {
    match *estimate {
        _ if !computable(estimate) => Verdict::Unclear,
        Interval { lo, hi, .. } if band.holds(lo) && band.holds(hi) => Verdict::Holds,
        Interval { lo, hi, .. } if hi < band.lo || lo > band.hi => Verdict::DoesNotHold,
        _ => Verdict::Unclear,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Up,
    Down,
    Flat,
}

/// A claimed direction of a slope; `margin` is a slope, from [`margin_over`](crate::stats::slope::margin_over).
pub fn slope(estimate: &Interval, margin: f64, direction: Direction) -> Verdict {
    // A slope is a logarithm already: as a ratio over the tested range it falls under the rule of ratios. Its margin is its floor.
    let over = |sign: f64| {
        let (a, b) = ((sign * estimate.lo).exp(), (sign * estimate.hi).exp());
        Interval { point: (sign * estimate.point).exp(), lo: a.min(b), hi: a.max(b), ..*estimate }
    };
    match direction {
        _ if !computable(estimate) => Verdict::Unclear,
        Direction::Flat => value(estimate, Band { lo: -margin, hi: margin }),
        Direction::Up => ratio(&over(1.0), margin.exp_m1(), 0.0),
        Direction::Down => ratio(&over(-1.0), margin.exp_m1(), 0.0),
    }
}

pub const EXPLAINS: f64 = 0.8;
pub const EXPLAINS_NOT: f64 = 0.2;

/// A cause, from the share of the effect that a control explains; the same thresholds wherever a cause is named.
pub fn cause(share: &Interval) -> Verdict {
    match *share {
        _ if !computable(share) => Verdict::Unclear,
        Interval { lo, .. } if lo >= EXPLAINS => Verdict::ExplainsIt,
        Interval { hi, .. } if hi <= EXPLAINS_NOT => Verdict::DoesNot,
        Interval { lo, hi, .. } if lo > EXPLAINS_NOT && hi < EXPLAINS => Verdict::PartOfIt,
        _ => Verdict::Unclear,
    }
}

/// A criterion that was met in a share of blocks of this interval, and is claimed to be met in more than `share` of them.
pub fn outcome(met: &Interval, share: f64) -> Verdict {
    match *met {
        Interval { lo, .. } if lo > share => Verdict::Holds,
        Interval { hi, .. } if hi < share => Verdict::DoesNotHold,
        _ => Verdict::Unclear,
    }
}

/// Adjusted p-value below which one of several scenarios contradicts what is said of every one: a claim, or that copies are alike.
pub const CONTRADICTS: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Each {
    pub estimate: Interval,
    pub floor: f64,
    /// For lying below the margin, one-sided, adjusted by Holm over the scenarios.
    pub p_value: f64,
}

/// A claimed difference in every one of several scenarios: it holds where the `pooled` one does, of the mean of each block's log ratios, and each
/// scenario's own estimate clears the margin and its floor, for noise clears the margin alone. One that is shown not to refutes "every".
pub fn every(pooled: &Interval, scenarios: &[Each], margin: f64, floor: f64) -> Verdict {
    let verdict = ratio(pooled, margin, floor);
    let contradicting = scenarios.iter().filter(|each| each.p_value < CONTRADICTS);
    // What is shown to clear nothing is no gain at least, if its own interval does not say more.
    let refuted = contradicting.map(|each| match ratio(&each.estimate, margin, each.floor) {
        Verdict::Reversed => Verdict::Reversed,
        _ => Verdict::NoDifference,
    });
    let clears = |each: &Each| each.estimate.point > 1.0 + each.floor.max(margin);
    match (verdict, refuted.max()) {
        (Verdict::Reversed, _) => verdict,
        (_, Some(worst)) => worst,
        (Verdict::Holds, None) if !scenarios.iter().all(clears) => Verdict::Unclear,
        _ => verdict,
    }
}

/// What became of a control. Only one that failed makes what it guards unclear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum ControlState {
    /// The copies are alike; the planted effect was found at its size.
    Passed,
    /// Too much noise, or too few blocks.
    #[strum(serialize = "could not tell")]
    CouldNotTell,
    /// The copies were told apart; the planted effect was missed; in a duet it matters who goes first.
    Failed,
    #[strum(serialize = "not measured")]
    NotMeasured,
}

/// Whether two copies of one arm are told apart: wholly beyond the margin the method sees what is not there.
pub fn aa(estimate: &Interval, margin: f64) -> ControlState {
    match equal(estimate, margin) {
        Verdict::Holds => ControlState::Passed,
        Verdict::DoesNotHold => ControlState::Failed,
        _ => ControlState::CouldNotTell,
    }
}

/// Whether a planted effect of `size` was found. `wide` is the interval, of a higher confidence, that must not lie further from it than half
/// the margin: every round scatters a little more than its own interval allows, and what is far below the margin turns no verdict.
pub fn planted(estimate: &Interval, wide: &Interval, margin: f64, floor: f64, size: f64) -> ControlState {
    let slack = 1.0 + margin / 2.0;
    match ratio(estimate, margin, floor) {
        _ if !computable(wide) => ControlState::CouldNotTell,
        _ if size * slack < wide.lo || wide.hi * slack < size => ControlState::Failed,
        Verdict::Holds => ControlState::Passed,
        _ => ControlState::CouldNotTell,
    }
}

/// Whether single processes of two arms contradict their duet: the intervals of the two ratios lie further apart than the margin.
pub fn disagree(duet: &Interval, single: &Interval, margin: f64) -> bool {
    let apart = |below: &Interval, above: &Interval| below.hi * (1.0 + margin) < above.lo;
    computable(duet) && computable(single) && (apart(duet, single) || apart(single, duet))
}

/// Of an effect this share may depend on who goes first.
const OF_THE_EFFECT: f64 = 0.1;

/// Whether going first matters in a duet, by the rule of A/A: `first` is its effect on the logarithm of an arm's time, `effect` the logarithm of the
/// duet's ratio. Both orders are equally frequent, so that what is the same for both arms cancels.
pub fn order_matters(first: &Interval, effect: f64, margin: f64) -> bool {
    let most = margin.ln_1p().max(effect.abs() * OF_THE_EFFECT);
    value(first, Band { lo: -most, hi: most }) == Verdict::DoesNotHold
}
