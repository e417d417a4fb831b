//! What is judged, as claims.toml says it.

use std::collections::BTreeMap;

use serde::Deserialize;
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

use crate::verdict::{Band, Control, Direction};

/// A value for all profiles, or one for each.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a list of scenarios, or a table with a list for quick and one for full")]
pub enum ByProfile<T> {
    /// The same whatever the profile.
    All(T),
    /// By the name of the profile.
    Each(BTreeMap<String, T>),
}

impl<T> ByProfile<T> {
    fn of(&self, profile: &str) -> Option<&T> {
        match self {
            ByProfile::All(value) => Some(value),
            ByProfile::Each(values) => values.get(profile),
        }
    }
}

/// How many blocks a profile runs, by the profile's name; a profile that is absent does not measure.
pub type Blocks = BTreeMap<String, usize>;

/// What claims.toml says.
#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    pub study: String,
    /// Seconds that the plan of a profile may take, by profile.
    pub budget_s: BTreeMap<String, f64>,
    /// The claims, in order.
    pub claims: Vec<Claim>,
    pub controls: Vec<ControlCase>,
    /// Our own aims.
    pub goals: Vec<Goal>,
}

/// What one block yields as one number.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// A metric of the record, or `process_s`.
    pub metric: String,
    pub scenarios: ByProfile<Vec<String>>,
    /// The arms it is made of.
    pub of: Of,
    /// Whether a smaller value is the better one.
    pub lower_is_better: bool,
    /// Smallest step of a counted metric.
    pub resolution: f64,
    /// Process or duet.
    pub form: Form,
    pub blocks: Blocks,
}

/// How a quantity is made of arms.
#[derive(Debug, Clone, PartialEq)]
pub enum Of {
    /// Of two arms of one block.
    Ratio {
        /// Above the line.
        numerator: String,
        /// Below it.
        denominator: String,
    },
    /// Of one arm.
    Value {
        arm: String,
        /// An arm whose value is subtracted.
        minus: Option<String>,
        /// A metric of the arm to divide by.
        per: Option<String>,
        /// Multiplies the value.
        factor: f64,
        /// Of the value, for print.
        unit: String,
    },
    /// Of several arms, each for itself: slopes.
    Each(Vec<String>),
}

impl Of {
    /// The arms, each for itself.
    pub fn arms(&self) -> Vec<&String> {
        match self {
            Of::Ratio { numerator, denominator } => vec![numerator, denominator],
            Of::Value { arm, minus, .. } => std::iter::once(arm).chain(minus).collect(),
            Of::Each(arms) => arms.iter().collect(),
        }
    }
}

/// Where the samples of a quantity come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Form {
    /// Whole processes.
    Process,
    /// Processes that alternate two arms.
    Duet,
}

/// One published statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub id: String,
    /// In our words.
    pub text: String,
    /// The published figure, as printed.
    pub original: String,
    /// Id of the claim beside which it stands.
    pub beside: Option<String>,
    pub kind: Kind,
    /// Smallest ratio less one that matters.
    pub margin: f64,
    /// Id of the A/A control that gives the floor.
    pub aa: Option<String>,
    /// Id of the planted control.
    pub planted: Option<String>,
    /// What is measured; `None` for a claim that is pending or untestable.
    pub quantity: Option<Quantity>,
    /// Why nothing is measured yet.
    pub pending: Option<String>,
    /// Why nothing can be measured.
    pub untestable: Option<String>,
    /// Causes to be checked.
    pub causes: Vec<Cause>,
}

/// How a claim is judged.
#[derive(Debug, Clone, PartialEq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Kind {
    /// A difference, of a size if one is claimed.
    Ratio { size: Option<Size> },
    /// No difference.
    Equal,
    /// A value within a range.
    Band(Band),
    /// How a value changes with another metric.
    Slope {
        /// The other metric.
        x: String,
        /// What is claimed of the slope.
        aim: Aim,
    },
    /// Another claim's effect has this cause.
    Cause {
        /// Id of the claim whose effect is explained.
        explains: String,
        /// Whose cause the control isolates.
        control: Control,
    },
    /// A criterion is met in more than a share of the blocks.
    Outcome {
        /// What a block's value must meet.
        bound: Bound,
        /// The share.
        share: f64,
    },
    /// A difference in every scenario.
    Every { size: Option<Size> },
}

/// How large a claimed difference is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// One published ratio.
    Ratio(f64),
    /// A published range of ratios.
    Range(Band),
}

impl Size {
    /// The ratios that count as this size.
    pub fn band(self) -> Band {
        match self {
            Size::Ratio(size) => Band::around(size),
            Size::Range(band) => band,
        }
    }
}

/// What is claimed of a slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// It lies in a range.
    Band(Band),
    /// It goes one way, or none.
    Direction(Direction),
}

/// A limit of a value.
#[derive(Debug, Clone, Copy, PartialEq, Display)]
pub enum Bound {
    /// This or less.
    #[strum(to_string = "<= {0}")]
    AtMost(f64),
    /// This or more.
    #[strum(to_string = ">= {0}")]
    AtLeast(f64),
}

impl Bound {
    /// Whether `value` keeps the bound.
    pub fn met_by(self, value: f64) -> bool {
        match self {
            Bound::AtMost(limit) => value <= limit,
            Bound::AtLeast(limit) => value >= limit,
        }
    }
}

/// A cause that the report may state.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// In a few words.
    pub short: String,
    /// A sentence.
    pub text: String,
    /// Its evidence.
    pub quantity: Quantity,
    /// For a counter; a control arm without it is judged by the share it explains.
    pub bound: Option<Bound>,
}

/// An A/A or planted control.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlCase {
    pub id: String,
    /// The planted ratio; `None` for A/A.
    pub planted: Option<f64>,
    /// Smallest ratio less one that matters.
    pub margin: f64,
    /// The copy over the arm.
    pub quantity: Quantity,
}

/// One of our own aims.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    pub id: String,
    /// In words.
    pub text: String,
    /// What is measured.
    pub quantity: Quantity,
    /// What it should meet.
    pub bound: Bound,
}

impl Quantity {
    /// The same quantity from processes of single arms.
    #[must_use]
    pub fn of_processes(&self) -> Quantity {
        Quantity { form: Form::Process, ..self.clone() }
    }

    /// The scenarios in `profile`.
    pub fn scenarios(&self, profile: &str) -> &[String] {
        self.scenarios.of(profile).map_or(&[], Vec::as_slice)
    }

    /// Whether `profile` measures it.
    pub fn is_measured(&self, profile: &str) -> bool {
        self.blocks.get(profile).is_some_and(|&blocks| blocks > 0) && !self.scenarios(profile).is_empty()
    }

    /// Whether its samples are processes that alternate its two arms.
    pub fn is_duet(&self) -> bool {
        self.form == Form::Duet
    }

    /// Whether it is a ratio of two arms.
    pub fn is_ratio(&self) -> bool {
        matches!(self.of, Of::Ratio { .. })
    }

    /// The arms of the test cases it needs, as cases.tsv names them.
    pub fn arms(&self) -> Vec<String> {
        match &self.of {
            Of::Ratio { numerator, denominator } if self.is_duet() => vec![format!("{numerator}~{denominator}")],
            of => of.arms().into_iter().cloned().collect(),
        }
    }

    /// The test cases it needs in `profile`, as scenario and arm.
    pub fn cases(&self, profile: &str) -> Vec<(String, String)> {
        let arms = self.arms();
        let of = |scenario: &String| arms.iter().map(|arm| (scenario.clone(), arm.clone())).collect::<Vec<_>>();
        self.scenarios(profile).iter().flat_map(of).collect()
    }

    /// Whether it is about memory.
    pub fn is_memory(&self) -> bool {
        self.metric.ends_with("_kib") || self.metric.ends_with("_bytes")
    }
}

impl Claims {
    /// The claim called `id`.
    pub fn claim(&self, id: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.id == id)
    }

    /// The control called `id`.
    pub fn control(&self, id: &str) -> Option<&ControlCase> {
        self.controls.iter().find(|control| control.id == id)
    }

    /// Every quantity that is measured, with the name of what needs it.
    pub fn quantities(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        let claims = self.claims.iter().flat_map(|claim| {
            let causes = claim.causes.iter().map(|cause| &cause.quantity);
            claim.quantity.iter().chain(causes).map(|quantity| (claim.id.as_str(), quantity))
        });
        let controls = self.controls.iter().map(|control| (control.id.as_str(), &control.quantity));
        let goals = self.goals.iter().map(|goal| (goal.id.as_str(), &goal.quantity));
        claims.chain(controls).chain(goals)
    }

    /// Whether both ask the same, be it with other numbers of blocks: a later round may be larger or smaller than the one before.
    pub fn ask_as(&self, other: &Claims) -> bool {
        self.without_blocks() == other.without_blocks()
    }

    /// What is asked, whatever time is spent on the answer.
    fn without_blocks(&self) -> Claims {
        let mut claims = self.clone();
        claims.budget_s.clear();
        let of_claims = claims.claims.iter_mut().flat_map(|claim| {
            let causes = claim.causes.iter_mut().map(|cause| &mut cause.quantity);
            claim.quantity.iter_mut().chain(causes)
        });
        let of_controls = claims.controls.iter_mut().map(|control| &mut control.quantity);
        let of_goals = claims.goals.iter_mut().map(|goal| &mut goal.quantity);
        of_claims.chain(of_controls).chain(of_goals).for_each(|quantity| quantity.blocks.clear());
        claims
    }

    /// How many blocks of each test case (scenario and arm) `profile` needs.
    pub fn blocks(&self, profile: &str) -> BTreeMap<(String, String), usize> {
        let mut needed = BTreeMap::new();
        for (_, quantity) in self.quantities() {
            let Some(&blocks) = quantity.blocks.get(profile) else {
                continue;
            };
            for case in quantity.cases(profile) {
                let most = needed.entry(case).or_insert(0);
                *most = blocks.max(*most);
            }
        }
        needed
    }
}
