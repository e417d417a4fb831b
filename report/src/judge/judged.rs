//! What the judge found: plain data between the decision (`judge`) and the page (`render`), which decides nothing.

use strum::VariantArray as _;

use crate::claims::rules::{Band, computable};
pub use crate::claims::rules::{ControlState, Verdict};
use crate::claims::{Claim, Form, Unit, form_of};
pub use crate::stats::Interval as Estimate;
use crate::stats::modes::Mode;

/// What repeating an A/A control showed.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Calibrated {
    pub control: String,
    pub scenarios: Vec<String>,
    pub blocks: usize,
    pub trials: usize,
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

/// What an [`Estimate`] is an estimate of.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// `numerator / denominator` of a metric, printed in `unit`.
    Ratio { numerator: String, denominator: String, metric: String, unit: Unit },
    /// A metric of something ("async less that of empty"), per another metric of it or not, in `unit`, already multiplied by the quantity's factor.
    Value { metric: String, of: String, per: Option<String>, unit: String },
    /// A slope of log value on log x. One that is judged by its direction is printed as the change of the value over `range`.
    Slope { of: String, range: Option<Range> },
    /// Share of another claim's log effect (1.0 is all of it).
    Share { of: String },
    /// Blocks in which a criterion was met (point is the share of blocks).
    Blocks { criterion: String },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub metric: String,
    pub from: f64,
    pub to: f64,
    /// The ratio at both ends, in the unit of its claim; `None` of a value.
    pub levels: Option<([f64; 2], Unit)>,
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
    /// Medians of the two sides, so that no ratio stands without absolute values.
    pub sides: Vec<Side>,
    /// Smallest ratio - 1 that counts as an effect: infinite where nothing shows the noise, `None` where no verdict rests on it.
    pub floor: Option<f64>,
    /// Smallest ratio - 1 that matters; `None` where nothing is judged by it.
    pub margin: Option<f64>,
    /// The published figure, in the unit of its authors.
    pub figure: Option<Band>,
    pub verdict: Verdict,
    pub failed: usize,
    /// The blocks that are set aside, as they found the cores of a virtual machine elsewhere than most of the round.
    pub aside: Vec<Aside>,
    pub at: At,
    /// A smaller question of the claim, or a scenario that a pooled row has heard.
    pub beside: bool,
}

impl Row {
    /// Whether it is the row of `other` on another host.
    pub fn is_same(&self, other: &Row) -> bool {
        (&self.part, &self.scenario) == (&other.part, &other.scenario)
    }

    /// Whether it is of this scenario, or of the part that begins so.
    pub fn is_of(&self, name: &str) -> bool {
        self.scenario == name || self.part.starts_with(name)
    }

    /// A ratio beyond the margin, whatever is claimed of it; of other quantities a verdict that is not *no difference*.
    pub fn shows_effect(&self) -> bool {
        let beyond = |margin: f64| {
            let none = Band::negligible(margin);
            self.estimate.is_some_and(|it| computable(&it) && (it.lo > none.hi || it.hi < none.lo))
        };
        match self.scale {
            Scale::Ratio { .. } => self.margin.is_some_and(beyond),
            _ => matches!(self.verdict, Verdict::Holds | Verdict::Reversed | Verdict::DoesNotHold),
        }
    }

    /// The words of its part without the set-up in parentheses; empty if they are longer than `longest` characters.
    pub fn part_in_words(&self, longest: usize) -> &str {
        self.part.split(" (").next().filter(|words| words.chars().count() <= longest).unwrap_or_default()
    }
}

/// The round that a figure is of.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct At {
    /// Path of its folder, relative to the results root.
    pub round: String,
    pub host: usize,
    /// Whether idle cores of the host poll for work before they sleep.
    pub polls: bool,
}

/// A block that is set aside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aside {
    /// On the scale of its row.
    pub value: f64,
    /// From core to core then, and usually.
    pub apart_ns: f64,
    pub usual_ns: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    pub arm: String,
    pub metric: String,
    pub median: f64,
    /// The groups that its runs fall into, if they do.
    pub modes: Option<[Mode; 2]>,
}

/// A cause with its evidence, in the order of claims.toml.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    pub short: String,
    pub text: String,
    /// A row per scenario; of a slope one over all of them.
    pub evidence: Vec<Row>,
    pub verdict: Verdict,
}

/// The effect of the authors' own code beside that of its mirror.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirror {
    /// Of the form; empty if there are none.
    pub part: String,
    pub scenario: String,
    /// In the same blocks.
    pub theirs: Estimate,
    pub ours: Estimate,
    /// In what condition their code ran; empty: as it is.
    pub but: String,
    pub apart: Estimate,
    /// *Holds* if both show the same, *does not hold* if not; *unclear* by noise, or too few blocks.
    pub agrees: Verdict,
    /// Where both ran.
    pub at: At,
}

impl Mirror {
    pub fn is_same(&self, other: &Mirror) -> bool {
        (&self.part, &self.scenario) == (&other.part, &other.scenario)
    }
}

/// A claim with everything the report says about it.
pub type JudgedClaim = Claim<JudgedForm>;

/// What was found of a claim in one form, or why that makes no sense.
pub type JudgedForm = Result<Judged, String>;

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Judged {
    /// One row per part and scenario; of `every` a pooled one before them.
    pub rows: Vec<Row>,
    /// After controls, mirrors and the round before.
    pub verdict: Verdict,
    /// Why it is unclear or not tested whatever the figures say; empty otherwise.
    pub reason: String,
    pub causes: Vec<Cause>,
    /// The authors' own code beside its mirror, a row per part, scenario and host.
    pub mirrors: Vec<Mirror>,
    /// Folders of older rounds of the host that say otherwise.
    pub contradicted_in: Vec<String>,
}

impl Judged {
    /// What the one-line summary shows: of the rows that decide the one with the verdict, else the first.
    pub fn deciding_row(&self) -> Option<&Row> {
        let deciding = || self.rows.iter().filter(|row| !row.beside);
        deciding().find(|row| row.verdict == self.verdict).or_else(|| deciding().next())
    }

    /// Only an effect has a cause.
    pub fn has_effect(&self) -> bool {
        self.rows.iter().any(Row::shows_effect)
    }
}

impl JudgedStudy {
    /// What was found for the claim `id` in `form`, or for the further test of this id.
    pub fn asked(&self, id: &str, form: Form) -> Option<&JudgedForm> {
        form_of(&self.claims, id, form)
    }

    /// The same of a form that makes sense.
    pub fn found(&self, id: &str, form: Form) -> Option<&Judged> {
        self.asked(id, form)?.as_ref().ok()
    }
}

impl JudgedClaim {
    pub fn forms(&self) -> impl Iterator<Item = (Form, &Judged)> {
        let forms = self.tests.iter().take(Form::VARIANTS.len());
        forms.filter_map(|test| Some((test.form, test.of.as_ref().ok()?)))
    }

    pub fn evidence(&self) -> impl Iterator<Item = &Judged> {
        self.tests.iter().flat_map(|test| &test.of)
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
    pub verdict: Verdict,
}

/// A study as judged on one host: each question by the newest round that asked it.
#[derive(Debug, Clone, Default)]
pub struct JudgedStudy {
    pub study: String,
    /// Path of the newest round, relative to the results root: `txn_engine/20261121T050000Z-quick`. Controls, runs and failures are of it.
    pub folder: String,
    pub profile: String,
    pub plan_seed: u64,
    pub plan_hash: String,
    pub claims: Vec<JudgedClaim>,
    pub controls: Vec<JudgedControl>,
    pub goals: Vec<JudgedGoal>,
    /// Planned runs, failed runs as `(run id, scenario, arm, error)`, and seconds spent inside the runs.
    pub runs: usize,
    pub failures: Vec<(String, String, String, String)>,
    pub measured_s: f64,
    /// Cases whose `VmHWM` and GNU time's peak RSS differ by over 5 %: `(scenario, arm, vmhwm_kib, gnu_time_kib)`.
    pub memory_disagreements: Vec<(String, String, f64, f64)>,
    /// How many cases that cross-check compared.
    pub memory_compared: usize,
}
