//! What the judge found: plain data between the decision (`judge`) and the page (`render`).
//!
//! Everything the report prints about a claim, control or goal is in here, so that rendering decides nothing.

use serde::Deserialize;
use strum::{Display, EnumString, IntoStaticStr, VariantArray, VariantNames};

use crate::files::chosen;
pub use crate::stats::Interval as Estimate;

/// What repeating an A/A control showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    pub control: String,
    pub scenarios: Vec<String>,
    /// Blocks of a trial.
    pub blocks: usize,
    /// Trials that could be judged.
    pub trials: usize,
    pub failed: usize,
    /// Trials whose interval leaves out that there is no difference.
    pub misses: usize,
    /// The share of trials that should, by the exact level of their intervals.
    pub level: f64,
    /// Trials in which a claim would have been said to be there, or reversed.
    pub wrong: usize,
    /// The share of such trials, its 95 % interval.
    pub wrong_between: (f64, f64),
    /// The smallest effect that 9 of 10 trials would have found, as a ratio less one; infinite if none.
    pub least: f64,
}

/// Outcome of a claim, in the words of the glossary and in its order; tables print them, and `when` in page.toml names them.
#[derive(
    Debug,
    Default,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(try_from = "String")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Verdict {
    /// The effect is there, in the direction claimed, and of the claimed size where one is claimed.
    Reproduced,
    /// There, but wholly below the claimed size.
    #[strum(serialize = "reproduced, smaller")]
    ReproducedSmaller,
    /// There, but wholly above the claimed size.
    #[strum(serialize = "reproduced, larger")]
    ReproducedLarger,
    /// There, but the interval straddles the edge of the claimed size.
    #[strum(serialize = "reproduced, size undecided")]
    ReproducedSizeUndecided,
    /// There, in the other direction.
    Reversed,
    /// Shown to be absent (or, for bands and equality, shown to be outside).
    #[strum(serialize = "not reproduced")]
    NotReproduced,
    /// A cause whose control explains at least 0.8 of the effect.
    Confirmed,
    /// A cause whose control explains at most 0.2 of the effect.
    Refuted,
    /// The interval allows more than one answer.
    Inconclusive,
    /// A control of this measurement failed.
    Invalid,
    /// Two runs of the plan disagree.
    Unstable,
    /// Not measured in this profile, or not yet.
    #[default]
    #[strum(serialize = "not measured")]
    NotMeasured,
    /// The machine is too small or hides what is needed.
    #[strum(serialize = "not testable here")]
    NotTestableHere,
    /// Nothing observable corresponds to the claim.
    #[strum(serialize = "not testable")]
    NotTestable,
}

impl TryFrom<String> for Verdict {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        chosen("verdict", &name)
    }
}

/// What an [`Estimate`] is an estimate of; decides how it is printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// `numerator / denominator` of a metric.
    Ratio { numerator: String, denominator: String, metric: String },
    /// A metric of something ("async less that of empty"), divided by another metric of it or not, in `unit`, already multiplied by the
    /// quantity's factor.
    Value { metric: String, of: String, per: Option<String>, unit: String },
    /// A slope of log value on log x.
    Slope { of: String },
    /// Share of another claim's log effect (1.0 is all of it).
    Share { of: String },
    /// Blocks in which a criterion was met (point is the share of blocks).
    Blocks { criterion: String },
}

/// One judged quantity: a claim over one scenario, or pooled.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The scenario, or `all` when pooled.
    pub scenario: String,
    pub scale: Scale,
    /// `None`: no sample, or too few for an interval and no single figure.
    pub estimate: Option<Estimate>,
    /// Medians of the two sides in the metric's own unit, so that no ratio stands without absolute values.
    pub sides: Vec<Side>,
    /// Smallest ratio - 1 that counts as an effect (margin or A/A noise, whichever is larger); `None` for bands.
    pub floor: Option<f64>,
    pub verdict: Verdict,
    /// Two-sided signed-rank p-value against "no effect", for the Holm column; `None` where it has no meaning.
    pub p_value: Option<f64>,
    /// Failed runs among the samples of this row.
    pub failed: usize,
}

impl Row {
    /// Whether anything of it was measured.
    pub fn has_figure(&self) -> bool {
        self.estimate.is_some() || !self.sides.is_empty()
    }
}

/// Absolute value of one arm in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    pub arm: String,
    pub metric: String,
    pub median: f64,
}

/// A cause with its evidence, in the order of claims.toml.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    pub short: String,
    pub text: String,
    pub evidence: Row,
    pub standing: Standing,
}

/// What the evidence says of a cause.
#[derive(Debug, Clone, Copy, PartialEq, IntoStaticStr)]
#[strum(const_into_str)]
pub enum Standing {
    /// Explains at least 0.8 of the effect, or its counter meets the bound.
    #[strum(serialize = "the cause")]
    Cause,
    /// Explains more than 0.2 and less than 0.8.
    #[strum(serialize = "part of the cause")]
    Part,
    /// Explains at most 0.2, or its counter misses the bound.
    #[strum(serialize = "not the cause")]
    NotCause,
    /// Could not be measured, or its interval allows anything.
    #[strum(serialize = "unknown")]
    Unknown,
}

/// A claim with everything the report says about it.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct JudgedClaim {
    pub id: String,
    pub text: String,
    pub original: String,
    /// Id of the claim beside which this one is shown; such a claim is not counted.
    pub beside: Option<String>,
    pub kind: &'static str,
    /// One row per scenario, or one pooled row and one per scenario for `every`.
    pub rows: Vec<Row>,
    /// The worst verdict over the rows, after controls and the comparison with the run before.
    pub verdict: Verdict,
    /// Why it is invalid, unstable, not measured or not testable; empty otherwise.
    pub reason: String,
    pub causes: Vec<Cause>,
    /// `†` or `‡` if its figures are of a partial measurement, which gives no verdict; empty otherwise.
    pub mark: &'static str,
    /// p-value after Holm over all judged claims of the study; `None` where the claim has none.
    pub holm: Option<f64>,
}

impl JudgedClaim {
    /// The row that the one-line summary shows: the one that decided the verdict, else the first.
    pub fn deciding_row(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.verdict == self.verdict).or_else(|| self.rows.first())
    }

    /// The cause in a few words: those that stand, `part: ` before partial ones, or `cause unknown`.
    pub fn cause_in_short(&self) -> String {
        let named = self.causes.iter().filter_map(|cause| match cause.standing {
            Standing::Cause => Some(cause.short.clone()),
            Standing::Part => Some(format!("part: {}", cause.short)),
            Standing::NotCause | Standing::Unknown => None,
        });
        let named: Vec<String> = named.collect();
        if named.is_empty() { "cause unknown".to_owned() } else { named.join("; ") }
    }
}

/// An A/A or planted control.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedControl {
    pub id: String,
    pub row: Row,
    /// The planted ratio; `None` for A/A.
    pub planted: Option<f64>,
    pub passed: bool,
    pub reason: String,
}

/// One of our own aims.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedGoal {
    pub id: String,
    pub text: String,
    pub rows: Vec<Row>,
    /// `<= 2.5` or `>= 2.5`, with unit.
    pub bound: String,
    pub standing: GoalStanding,
    /// `†` or `‡` if it was judged on a partial measurement; empty otherwise.
    pub mark: &'static str,
}

/// Whether a goal was reached, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum GoalStanding {
    Missed,
    Undecided,
    #[strum(serialize = "not measured")]
    NotMeasured,
    Met,
}

/// Several measurements by the same claims on the same kind of machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounds {
    /// Which: this one first, then those before it, the newest first.
    pub measured: Vec<Round>,
    /// What they say of each claim.
    pub repeats: Vec<Repeat>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    pub folder: String,
    pub profile: String,
    pub plan_seed: u64,
    /// Ids of the controls that failed in it: the claims they guard are invalid.
    pub failed_controls: Vec<String>,
}

/// The verdicts of a claim, one per round; `None` where the round had no such claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    pub claim: String,
    pub verdicts: Vec<Option<Verdict>>,
    pub agreement: Agreement,
}

/// What several verdicts on one claim say together; by name as a cell of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(const_into_str)]
pub enum Agreement {
    /// All are the same.
    #[strum(serialize = "same")]
    Same,
    /// They differ, but none contradicts another: some are open.
    #[strum(serialize = "open in some")]
    Open,
    /// Those of different profiles, which ask it of different sizes, contradict each other.
    #[strum(serialize = "differs by profile")]
    ByProfile,
    /// Those of one profile contradict each other.
    #[strum(serialize = "**differs**")]
    Differs,
}

/// A study as judged: the input of `render`.
#[derive(Debug, Clone, Default)]
pub struct JudgedStudy {
    pub study: String,
    /// Path of the results folder, relative to the results root: `txn_engine/20261121T050000Z-quick`.
    pub folder: String,
    pub profile: String,
    pub plan_seed: u64,
    pub plan_hash: String,
    pub claims: Vec<JudgedClaim>,
    pub controls: Vec<JudgedControl>,
    pub goals: Vec<JudgedGoal>,
    /// This and the measurements before it by the same claims on the same kind of machine; `None` if it is the only one.
    pub rounds: Option<Rounds>,
    /// Planned runs, failed runs as `(run id, scenario, arm, error)`, and seconds spent inside the runs.
    pub runs: usize,
    pub failures: Vec<(String, String, String, String)>,
    pub measured_s: f64,
    /// Cases whose `VmHWM` and GNU time's peak RSS differ by over 5 %: `(scenario, arm, vmhwm_kib, gnu_time_kib)`.
    pub memory_disagreements: Vec<(String, String, f64, f64)>,
    /// How many cases that cross-check compared.
    pub memory_compared: usize,
}
