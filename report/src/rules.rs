//! The verdict rules: an interval, a margin and a floor in, a word out.
//!
//! Two thresholds, never mixed. The margin bounds the interval: "there is an effect that matters" needs all of it beyond, "there is none"
//! all of it within. The floor bounds the estimate: an effect no larger than what this machine shows between two copies of one program is
//! none. What meets neither is undecided, so that noise, which widens intervals and raises floors, can only lead there.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray, VariantNames};

use crate::files::chosen;
use crate::stats::Interval;

/// What is said of a claim in one form; its name is the word that is printed. The worst first, for someone who believes the
/// claim: what casts doubt on the measurement, then what contradicts the claim, then what leaves it open, and what bears it out last.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
#[derive(Display, EnumString, IntoStaticStr, VariantArray, VariantNames)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Verdict {
    /// A control of this measurement failed.
    Invalid,
    /// Two rounds of one host contradict each other.
    Unstable,
    /// The effect is there, in the other direction.
    Opposite,
    /// Shown to be within the margin, either way.
    #[strum(serialize = "no difference")]
    NoDifference,
    /// Shown to be no gain beyond the margin; whether it is a loss is open.
    #[strum(serialize = "not better")]
    NotBetter,
    /// Claimed to be equal, and shown to differ by more than the margin.
    Differs,
    /// A value wholly below the claimed range.
    Lower,
    /// A value wholly above the claimed range.
    Higher,
    /// A claimed cause explains less than a fifth.
    #[strum(serialize = "not the cause")]
    NotTheCause,
    /// A claimed cause explains between a fifth and four fifths.
    #[strum(serialize = "part of it")]
    PartOfIt,
    /// An outcome is met in fewer blocks than claimed.
    #[strum(serialize = "does not happen")]
    DoesNotHappen,
    /// The machine is too small or hides what is needed.
    #[strum(serialize = "not testable here")]
    NotTestableHere,
    /// Not measured in this profile, or not yet.
    #[default]
    #[strum(serialize = "not measured")]
    NotMeasured,
    /// The interval allows more than one answer, but all of it lies outside of the claimed size, and by more than the floor.
    #[strum(serialize = "undecided, but not the published size")]
    UndecidedNotTheSize,
    /// The interval allows more than one answer.
    Undecided,
    /// The effect is there, wholly below the claimed size, and by more than the floor.
    #[strum(serialize = "holds, smaller")]
    HoldsSmaller,
    /// There, wholly above the claimed size, and by more than the floor.
    #[strum(serialize = "holds, larger")]
    HoldsLarger,
    /// There; the interval straddles an end of the claimed size, or the estimate is no further from it than the floor.
    #[strum(serialize = "holds, size open")]
    HoldsSizeOpen,
    /// It is as claimed: the effect is there, and of the claimed size where one is claimed; the value lies in the range; nothing differs.
    Holds,
    /// A claimed cause explains over four fifths of the effect.
    #[strum(serialize = "the cause")]
    TheCause,
    /// An outcome is met in more than the claimed share of blocks.
    Happens,
}

/// How a verdict is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    Holds,
    DoesNotHold,
    Undecided,
    /// Not measured or not testable here: no part of what was judged.
    NotJudged,
}

impl TryFrom<String> for Verdict {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        chosen("verdict", &name)
    }
}

impl Verdict {
    /// How it is counted.
    pub fn count(self) -> Count {
        match self {
            Verdict::Invalid | Verdict::Unstable | Verdict::UndecidedNotTheSize | Verdict::Undecided => {
                Count::Undecided
            }
            Verdict::NotTestableHere | Verdict::NotMeasured => Count::NotJudged,
            doubtful if doubtful < Verdict::NotTestableHere => Count::DoesNotHold,
            _ => Count::Holds,
        }
    }
}

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

    /// The ratios that make no difference to a user.
    pub fn negligible(margin: f64) -> Self {
        Band { lo: 1.0 / (1.0 + margin), hi: 1.0 + margin }
    }

    fn contains(self, estimate: &Interval) -> bool {
        estimate.lo >= self.lo && estimate.hi <= self.hi
    }

    /// Whether the interval lies below the band, and the estimate so far below that two copies of one program would not.
    fn is_above(self, estimate: &Interval, beyond: f64) -> bool {
        estimate.hi < self.lo && estimate.point * beyond < self.lo
    }

    /// The same on the other side.
    fn is_below(self, estimate: &Interval, beyond: f64) -> bool {
        estimate.lo > self.hi && estimate.point / beyond > self.hi
    }
}

/// Whether there were enough pairs for an interval.
pub fn computable(estimate: &Interval) -> bool {
    estimate.level < 1.0 && !estimate.lo.is_nan() && !estimate.hi.is_nan()
}

/// A claimed difference: a ratio above 1 as the claim states it. A floor below the margin counts as the margin. Both stand between "there"
/// and "not there", and between "of the claimed size" and "of another".
pub fn ratio(estimate: &Interval, margin: f64, floor: f64, size: Option<Band>) -> Verdict {
    let beyond = 1.0 + floor.max(margin);
    let none = Band::negligible(margin);
    if !computable(estimate) {
        Verdict::Undecided
    } else if estimate.lo > none.hi && estimate.point > beyond {
        match size {
            Some(band) if band.is_above(estimate, beyond) => Verdict::HoldsSmaller,
            Some(band) if band.is_below(estimate, beyond) => Verdict::HoldsLarger,
            Some(band) if !band.contains(estimate) => Verdict::HoldsSizeOpen,
            _ => Verdict::Holds,
        }
    } else if estimate.hi < none.lo && estimate.point < 1.0 / beyond {
        Verdict::Opposite
    } else if none.contains(estimate) {
        Verdict::NoDifference
    } else if estimate.hi < none.hi {
        Verdict::NotBetter
    } else if size.is_some_and(|band| band.is_above(estimate, beyond) || band.is_below(estimate, beyond)) {
        Verdict::UndecidedNotTheSize
    } else {
        Verdict::Undecided
    }
}

/// A claimed equality of two arms.
pub fn equal(estimate: &Interval, margin: f64) -> Verdict {
    differs_outside(estimate, Band::negligible(margin))
}

fn differs_outside(estimate: &Interval, band: Band) -> Verdict {
    match value(estimate, band) {
        Verdict::Lower | Verdict::Higher => Verdict::Differs,
        verdict => verdict,
    }
}

/// A claimed range of a value, or of a slope.
pub fn value(estimate: &Interval, band: Band) -> Verdict {
    if !computable(estimate) {
        Verdict::Undecided
    } else if band.contains(estimate) {
        Verdict::Holds
    } else if estimate.hi < band.lo {
        Verdict::Lower
    } else if estimate.lo > band.hi {
        Verdict::Higher
    } else {
        Verdict::Undecided
    }
}

/// Which way a slope is claimed to go.
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
        _ if !computable(estimate) => Verdict::Undecided,
        Direction::Flat => differs_outside(estimate, Band { lo: -margin, hi: margin }),
        Direction::Up => ratio(&over(1.0), margin.exp_m1(), 0.0, None),
        Direction::Down => ratio(&over(-1.0), margin.exp_m1(), 0.0, None),
    }
}

/// From this share of an effect on, a control explains it.
pub const EXPLAINS: f64 = 0.8;
/// Up to this share, it does not.
pub const EXPLAINS_NOT: f64 = 0.2;

/// Whose cause a control isolates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// The claimed one: what it explains speaks for the claim.
    Claimed,
    /// Another one: what it explains speaks against the claim.
    Rival,
}

/// A cause, from the share of the effect that a control explains; the same thresholds wherever a cause is named.
pub fn cause(share: &Interval, control: Control) -> Verdict {
    let (explains, explains_not) = match control {
        Control::Claimed => (Verdict::TheCause, Verdict::NotTheCause),
        Control::Rival => (Verdict::NotTheCause, Verdict::TheCause),
    };
    if !computable(share) {
        Verdict::Undecided
    } else if share.lo >= EXPLAINS {
        explains
    } else if share.hi <= EXPLAINS_NOT {
        explains_not
    } else if share.lo > EXPLAINS_NOT && share.hi < EXPLAINS {
        Verdict::PartOfIt
    } else {
        Verdict::Undecided
    }
}

/// A criterion that was met in a share of blocks of this interval, and is claimed to be met in more than `share` of them.
pub fn outcome(met: &Interval, share: f64) -> Verdict {
    if met.lo > share {
        Verdict::Happens
    } else if met.hi < share {
        Verdict::DoesNotHappen
    } else {
        Verdict::Undecided
    }
}

/// Adjusted p-value below which one of several scenarios contradicts what is said of every one: a claim, or that copies are alike.
pub const CONTRADICTS: f64 = 0.05;

/// One of the scenarios of a claim about every one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Each {
    pub estimate: Interval,
    pub floor: f64,
    /// For lying below the margin, one-sided, adjusted by Holm over the scenarios.
    pub p_value: f64,
}

/// A claimed difference in every one of several scenarios.
///
/// `pooled` estimates the mean over the scenarios of each block's log ratios. It holds where the pool does and each scenario's own estimate
/// clears the margin and its floor: the margin alone is cleared by noise. One scenario that is shown not to refutes "every", whatever the
/// rest does.
pub fn every(pooled: &Interval, scenarios: &[Each], margin: f64, floor: f64, size: Option<Band>) -> Verdict {
    let verdict = ratio(pooled, margin, floor, size);
    let contradicting = scenarios.iter().filter(|each| each.p_value < CONTRADICTS);
    // What is shown to clear nothing is not better at least, if its own interval does not say more.
    let refuted = contradicting.map(|each| match ratio(&each.estimate, margin, each.floor, None) {
        own if own.count() == Count::DoesNotHold => own,
        _ => Verdict::NotBetter,
    });
    let clears = |each: &Each| each.estimate.point > 1.0 + each.floor.max(margin);
    match (verdict, refuted.min()) {
        (Verdict::Opposite, _) => verdict,
        (_, Some(worst)) => worst,
        _ if verdict.count() == Count::Holds && !scenarios.iter().all(clears) => Verdict::Undecided,
        _ => verdict,
    }
}

/// What became of a control. Only one that failed makes what it guards invalid.
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
        Verdict::Differs => ControlState::Failed,
        _ => ControlState::CouldNotTell,
    }
}

/// Whether a planted effect of `size` was found. `wide` is the interval, of a higher confidence, that must not lie further from it than
/// half the margin.
///
/// Every round scatters a little more than its own interval allows; what is far below the margin turns no verdict.
pub fn planted(estimate: &Interval, wide: &Interval, margin: f64, floor: f64, size: f64) -> ControlState {
    let slack = 1.0 + margin / 2.0;
    if computable(wide) && (size * slack < wide.lo || wide.hi * slack < size) {
        ControlState::Failed
    } else if computable(wide) && ratio(estimate, margin, floor, None) == Verdict::Holds {
        ControlState::Passed
    } else {
        ControlState::CouldNotTell
    }
}

/// Whether single processes of two arms contradict their duet: the intervals of the two ratios lie further apart than the margin.
pub fn disagree(duet: &Interval, single: &Interval, margin: f64) -> bool {
    let apart = |below: &Interval, above: &Interval| below.hi * (1.0 + margin) < above.lo;
    computable(duet) && computable(single) && (apart(duet, single) || apart(single, duet))
}

/// Of an effect this share may depend on who goes first.
const OF_THE_EFFECT: f64 = 0.1;

/// Whether going first matters in a duet: `first` is the effect of going first on the logarithm of an arm's time, over the processes, `effect`
/// the logarithm of the duet's ratio.
///
/// The same rule as for A/A, since both ask whether the instrument has a bias that matters. Both orders are equally frequent, so that what
/// is the same for both arms cancels; beside a large effect what is left of 5 % is nothing.
pub fn order_matters(first: &Interval, effect: f64, margin: f64) -> bool {
    let most = margin.ln_1p().max(effect.abs() * OF_THE_EFFECT);
    differs_outside(first, Band { lo: -most, hi: most }) == Verdict::Differs
}

/// The verdict over several scenarios: the worst of theirs, so that "holds" means that it holds everywhere. Without verdicts nothing was
/// measured.
pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().min().unwrap_or_default()
}
