//! What the judge found: plain data between the decision (`judge`) and the page (`render`).
//!
//! Everything the report prints about a claim, control or goal is in here, so that rendering decides nothing.

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray as _};

use crate::claims::{Claim, Form, Size, form_of};
pub use crate::rules::{ControlState, Count, Verdict};
pub use crate::stats::Interval as Estimate;

/// What repeating an A/A control showed.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Calibrated {
    pub control: String,
    pub scenarios: Vec<String>,
    pub blocks: usize,
    /// Trials that could be judged.
    pub trials: usize,
    pub failed: usize,
    /// Trials whose interval leaves out that there is no difference.
    pub misses: usize,
    /// The share of trials that should, by the exact level of their intervals.
    pub level: f64,
    /// Trials in which a claim would have been said to hold, or its opposite.
    pub wrong: usize,
    /// Trials that would have called an effect as large as the margin, up or down, none.
    pub equal: usize,
    /// The smallest effect that 9 of 10 trials would have found, as a ratio less one; infinite if none.
    pub least: f64,
}

/// What an [`Estimate`] is an estimate of; decides how it is printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// `numerator / denominator` of a metric.
    Ratio { numerator: String, denominator: String, metric: String },
    /// A metric of something ("async less that of empty"), divided by another metric of it or not, in `unit`, already multiplied by the
    /// quantity's factor.
    Value { metric: String, of: String, per: Option<String>, unit: String },
    /// A slope of log value on log x. One that is judged by its direction is printed as the change of the value over `range`, which is what
    /// its margin is about.
    Slope { of: String, range: Option<Range> },
    /// Share of another claim's log effect (1.0 is all of it).
    Share { of: String },
    /// Blocks in which a criterion was met (point is the share of blocks).
    Blocks { criterion: String },
}

/// From where to where a slope goes, in the unit of its x.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub metric: String,
    pub from: f64,
    pub to: f64,
}

/// One judged quantity: a test over one scenario, or pooled.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What tells its test from the other parts of the form; empty if there are none.
    pub part: String,
    /// The scenario, or `all` when pooled.
    pub scenario: String,
    pub scale: Scale,
    /// `None`: no sample, or too few for an interval and no single figure.
    pub estimate: Option<Estimate>,
    /// Medians of the two sides in the metric's own unit, so that no ratio stands without absolute values.
    pub sides: Vec<Side>,
    /// Smallest ratio - 1 that counts as an effect (margin or A/A noise, whichever is larger); infinite where nothing shows the noise, `None`
    /// where no verdict rests on it.
    pub floor: Option<f64>,
    /// Smallest ratio - 1 that matters; `None` where nothing is judged by it.
    pub margin: Option<f64>,
    pub claimed: Option<Size>,
    pub verdict: Verdict,
    pub failed: usize,
}

impl Row {
    /// Whether anything of it was measured.
    pub fn has_figure(&self) -> bool {
        self.estimate.is_some() || !self.sides.is_empty()
    }

    /// The words of its part, without the set-up in parentheses, which stands in the evidence as longer words than `longest` characters do;
    /// else empty.
    pub fn part_in_words(&self, longest: usize) -> &str {
        self.part.split(" (").next().filter(|words| words.chars().count() <= longest).unwrap_or_default()
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
    /// A row per scenario; of a slope one over all of them.
    pub evidence: Vec<Row>,
    /// The worst over the rows.
    pub standing: Standing,
}

/// What it would take to decide what is open, if estimates and noise stay as they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Blocks of the part that needs the most; infinite where an estimate lies on a bound.
    pub blocks: f64,
    /// Time for those of all parts that are not there yet, without their controls.
    pub more_s: f64,
}

/// The effect of the authors' own code beside that of its mirror.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirror {
    /// The part of the form; empty if there are none.
    pub part: String,
    pub scenario: String,
    /// In the same blocks.
    pub theirs: Estimate,
    pub ours: Estimate,
    /// In what condition their code ran; empty: as it is.
    pub but: String,
    pub apart: Estimate,
    pub state: MirrorState,
    /// The results folder and the host where both ran; `None` if it is the round itself.
    pub at: Option<(String, usize)>,
}

/// Whether a mirror does what it mirrors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum MirrorState {
    Agrees,
    Disagrees,
    /// Too much noise, or too few blocks.
    #[strum(serialize = "could not tell")]
    CouldNotTell,
}

/// What the evidence says of a cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// Of a control arm: by the share of the effect that it explains.
    Share(Verdict),
    /// Of a counter: by its bound.
    Counter(Kept),
}

impl Standing {
    /// As it is printed.
    pub fn in_words(self) -> &'static str {
        match self {
            Standing::Share(verdict) => verdict.into_str(),
            Standing::Counter(Kept::Met) => "borne out",
            Standing::Counter(Kept::Missed) => "not borne out",
            Standing::Counter(Kept::Undecided | Kept::NotMeasured) => "undecided",
        }
    }

    /// How far it is a cause, of several parts the worst: all of it, a part, or not shown to be one.
    fn rank(self) -> u8 {
        match self {
            Standing::Share(Verdict::TheCause) | Standing::Counter(Kept::Met) => 2,
            Standing::Share(Verdict::PartOfIt) => 1,
            _ => 0,
        }
    }
}

/// Whether a value keeps a bound, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Kept {
    Missed,
    Undecided,
    #[strum(serialize = "not measured")]
    NotMeasured,
    Met,
}

/// A claim with everything the report says about it.
pub type JudgedClaim = Claim<JudgedForm>;

/// What was found of a claim in one form.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgedForm {
    /// It makes no sense; why.
    Absent(String),
    Judged(Judged),
}

impl JudgedForm {
    /// What was found; `None` of a form that makes no sense.
    pub fn judged(&self) -> Option<&Judged> {
        if let JudgedForm::Judged(judged) = self { Some(judged) } else { None }
    }

    /// The same, to be changed.
    pub fn judged_mut(&mut self) -> Option<&mut Judged> {
        if let JudgedForm::Judged(judged) = self { Some(judged) } else { None }
    }
}

/// A verdict with its evidence.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Judged {
    /// The kind of its first part.
    pub kind: &'static str,
    /// One row per part and scenario; of `every` a pooled one before them.
    pub rows: Vec<Row>,
    /// The worst verdict over the parts, after controls and the comparison with the run before.
    pub verdict: Verdict,
    /// Why it is invalid, unstable, not measured, not testable or left open whatever the figures say; empty otherwise.
    pub reason: String,
    pub causes: Vec<Cause>,
    /// The authors' own code beside its mirror, a row per part and scenario.
    pub mirrors: Vec<Mirror>,
    /// What would decide it, if its intervals leave it open.
    pub price: Option<Price>,
    /// `†` if its figures are of a partial measurement, which gives no verdict; empty otherwise.
    pub mark: &'static str,
}

impl Judged {
    /// The row that the one-line summary shows: the one that decided the verdict, else the first.
    pub fn deciding_row(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.verdict == self.verdict).or_else(|| self.rows.first())
    }

    /// The verdict in words; of what holds in one part and not in another it says that.
    pub fn in_words(&self) -> &'static str {
        let holds_in_part = || self.rows.iter().any(|row| row.verdict.count() == Count::Holds);
        if self.verdict.count() == Count::DoesNotHold && holds_in_part() {
            "does not hold everywhere"
        } else {
            self.verdict.into_str()
        }
    }

    /// The words of its only part, as [`Row::part_in_words`]; empty if there are several.
    pub fn part_in_words(&self, longest: usize) -> &str {
        let first = self.rows.first().filter(|first| self.rows.iter().all(|row| row.part == first.part));
        first.map_or("", |row| row.part_in_words(longest))
    }

    /// Whether it was decided: a cause of something else is not stated.
    pub fn is_decided(&self) -> bool {
        matches!(self.verdict.count(), Count::Holds | Count::DoesNotHold)
    }

    /// The causes that stand, in a few words, `part: ` before partial ones. One that several parts name counts by the worst of them.
    pub fn stated_causes(&self) -> Vec<String> {
        let mut worst: Vec<(&str, u8)> = Vec::new();
        for cause in self.causes.iter().filter(|_| self.is_decided()) {
            match worst.iter_mut().find(|(short, _)| *short == cause.short) {
                Some((_, rank)) => *rank = cause.standing.rank().min(*rank),
                None => worst.push((&cause.short, cause.standing.rank())),
            }
        }
        let said = |(short, rank): (&str, u8)| match rank {
            2 => Some(short.to_owned()),
            1 => Some(format!("part: {short}")),
            _ => None,
        };
        worst.into_iter().filter_map(said).collect()
    }
}

impl JudgedStudy {
    /// The claim called `id`.
    pub fn claim(&self, id: &str) -> Option<&JudgedClaim> {
        self.claims.iter().find(|claim| claim.id == id)
    }

    /// What was found for the claim `id` in `form`, or for the further test of this id.
    pub fn asked(&self, id: &str, form: Form) -> Option<&JudgedForm> {
        form_of(&self.claims, id, form)
    }
}

impl JudgedClaim {
    /// The forms that make sense.
    pub fn forms(&self) -> impl Iterator<Item = (Form, &Judged)> {
        Form::VARIANTS.iter().filter_map(|&form| Some((form, self.form(form).judged()?)))
    }

    /// The same, to be changed.
    pub fn forms_mut(&mut self) -> impl Iterator<Item = (Form, &mut Judged)> {
        let both = [(Form::Published, &mut self.published), (Form::Fair, &mut self.fair)];
        both.into_iter().filter_map(|(form, found)| Some((form, found.judged_mut()?)))
    }

    /// Everything that was found, further tests included.
    pub fn evidence(&self) -> impl Iterator<Item = &Judged> {
        self.forms().map(|(_, found)| found).chain(self.further.iter().filter_map(|test| test.form.judged()))
    }
}

/// How many claims come to what in a form.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All that follow but the last two.
    pub judged: usize,
    pub holds: usize,
    pub does_not_hold: usize,
    pub undecided: usize,
    /// Not measured, or not testable here.
    pub not_judged: usize,
    /// The form makes no sense.
    pub absent: usize,
}

impl Counts {
    /// Counts the claims in a form.
    pub fn of<'a>(claims: impl IntoIterator<Item = &'a JudgedClaim>, form: Form) -> Self {
        let mut counts = Counts::default();
        for claim in claims {
            let count = match claim.form(form).judged().map(|found| found.verdict.count()) {
                Some(Count::Holds) => &mut counts.holds,
                Some(Count::DoesNotHold) => &mut counts.does_not_hold,
                Some(Count::Undecided) => &mut counts.undecided,
                Some(Count::NotJudged) => &mut counts.not_judged,
                None => &mut counts.absent,
            };
            *count += 1;
        }
        counts.judged = counts.holds + counts.does_not_hold + counts.undecided;
        counts
    }
}

/// An A/A or planted control.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedControl {
    pub id: String,
    pub row: Row,
    pub planted: Option<f64>,
    /// Standard deviation of the arm's log time from layout to layout; `None` where the copies cannot show it.
    pub layout_sd: Option<f64>,
    pub state: ControlState,
    /// Why it is in this state; empty if it passed.
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
    pub standing: Kept,
    /// `†` if it was judged on a partial measurement; empty otherwise.
    pub mark: &'static str,
}

/// Several measurements by the same claims on the same kind of machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounds {
    /// Which: this one first, then those before it, the newest first.
    pub measured: Vec<Round>,
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

/// The verdicts of a claim in a form, one per round; `None` where the round had no such claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    pub claim: String,
    pub form: Form,
    pub verdicts: Vec<Option<Verdict>>,
    pub agreement: Agreement,
}

/// What several verdicts on one claim say together; by name as a cell of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(const_into_str)]
pub enum Agreement {
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
