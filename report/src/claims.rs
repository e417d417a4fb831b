//! claims.toml: what is judged. Read strictly, so that a misspelt key cannot silently change a verdict.

use std::collections::{BTreeMap, BTreeSet};

use crate::claims_file::{ByProfile, Raw, RawClaims};
use crate::error::{Error, TomlFile};
use crate::verdict::{Band, Control, Direction};

/// How many blocks a profile runs, by the profile's name; a profile that is absent does not measure.
pub type Blocks = BTreeMap<String, usize>;

/// What claims.toml says.
#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    /// Name of the study.
    pub study: String,
    /// Seconds that the plan of a profile may take, by profile.
    pub budget_s: BTreeMap<String, f64>,
    /// The claims, in order.
    pub claims: Vec<Claim>,
    /// The controls.
    pub controls: Vec<ControlCase>,
    /// Our own aims.
    pub goals: Vec<Goal>,
}

/// What one block yields as one number.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// A metric of the record, or `process_s`.
    pub metric: String,
    /// Scenarios by profile.
    scenarios: ByProfile<Vec<String>>,
    /// The arms it is made of.
    pub of: Of,
    /// Whether a smaller value is the better one.
    pub lower_is_better: bool,
    /// Smallest step of a counted metric.
    pub resolution: f64,
    /// Process or duet.
    pub form: Form,
    /// Blocks by profile.
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
        /// The arm.
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

/// Where the samples of a quantity come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Whole processes.
    Process,
    /// Processes that alternate two arms.
    Duet,
}

/// One published statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Its id.
    pub id: String,
    /// In our words.
    pub text: String,
    /// The published figure, as printed.
    pub original: String,
    /// Id of the claim beside which it stands.
    pub beside: Option<String>,
    /// How it is judged.
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
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A difference, of a size if one is claimed.
    Ratio {
        /// The claimed size.
        size: Option<Size>,
    },
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
    Every {
        /// The claimed size.
        size: Option<Size>,
    },
}

impl Kind {
    /// Names of all kinds.
    pub const NAMES: [&'static str; 7] = ["ratio", "equal", "band", "slope", "cause", "outcome", "every"];

    /// The kind's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Ratio { .. } => "ratio",
            Kind::Equal => "equal",
            Kind::Band(_) => "band",
            Kind::Slope { .. } => "slope",
            Kind::Cause { .. } => "cause",
            Kind::Outcome { .. } => "outcome",
            Kind::Every { .. } => "every",
        }
    }
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

impl Bound {
    /// Whether `value` keeps the bound.
    #[must_use]
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
    /// Its id.
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
    /// Its id.
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
    #[must_use]
    pub fn scenarios(&self, profile: &str) -> &[String] {
        self.scenarios.of(profile).map_or(&[], Vec::as_slice)
    }

    /// Whether `profile` measures it.
    #[must_use]
    pub fn is_measured(&self, profile: &str) -> bool {
        self.blocks.get(profile).is_some_and(|&blocks| blocks > 0) && !self.scenarios(profile).is_empty()
    }

    /// The arms of the test cases it needs, as cases.tsv names them.
    #[must_use]
    pub fn arms(&self) -> Vec<String> {
        match &self.of {
            Of::Ratio { numerator, denominator } if self.form == Form::Duet => {
                vec![format!("{numerator}~{denominator}")]
            }
            Of::Ratio { numerator, denominator } => vec![numerator.clone(), denominator.clone()],
            Of::Value { arm, minus, .. } => std::iter::once(arm).chain(minus).cloned().collect(),
            Of::Each(arms) => arms.clone(),
        }
    }

    /// The test cases it needs in `profile`, as scenario and arm.
    #[must_use]
    pub fn cases(&self, profile: &str) -> Vec<(String, String)> {
        let arms = self.arms();
        let of = |scenario: &String| arms.iter().map(|arm| (scenario.clone(), arm.clone())).collect::<Vec<_>>();
        self.scenarios(profile).iter().flat_map(of).collect()
    }

    /// Whether it is about memory.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        self.metric.ends_with("_kib") || self.metric.ends_with("_bytes")
    }
}

impl Claims {
    /// Reads claims.toml; `name` stands in messages.
    ///
    /// # Errors
    /// Names file and line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let raw: RawClaims = file.parse()?;
        if raw.schema != 1 {
            return Err(file.error_at("schema", format!("schema {} is unknown: this program reads 1", raw.schema)));
        }
        let mut budget_s = BTreeMap::new();
        for (key, seconds) in raw.budget {
            let Some(profile) = key.strip_suffix("_s") else {
                return Err(file.error_at(&key, format!("budget '{key}': name it PROFILE_s, in seconds")));
            };
            budget_s.insert(profile.to_owned(), seconds);
        }
        let claims = Claims {
            study: raw.study,
            budget_s,
            claims: raw.claim.into_iter().map(|raw| raw.into_claim(file)).collect::<Result<_, _>>()?,
            controls: raw.control.into_iter().map(|raw| raw.into_control(file)).collect::<Result<_, _>>()?,
            goals: raw.goal.into_iter().map(|raw| raw.into_goal(file)).collect::<Result<_, _>>()?,
        };
        claims.check_names(file)?;
        Ok(claims)
    }

    /// The claim called `id`.
    #[must_use]
    pub fn claim(&self, id: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.id == id)
    }

    /// The control called `id`.
    #[must_use]
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
    #[must_use]
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
    #[must_use]
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

    fn check_names(&self, file: TomlFile<'_>) -> Result<(), Error> {
        let mut seen = BTreeSet::new();
        let claims = self.claims.iter().map(|claim| &claim.id);
        let controls = self.controls.iter().map(|control| &control.id);
        for id in claims.chain(controls).chain(self.goals.iter().map(|goal| &goal.id)) {
            if !seen.insert(id) {
                return Err(file.error_at(&format!("id = \"{id}\""), format!("the id '{id}' stands twice")));
            }
        }
        for claim in &self.claims {
            let at = format!("id = \"{}\"", claim.id);
            let absent = |key: &str, id: &str, what: &str| {
                Err(file.error_at(&at, format!("{key} of {} names '{id}', which is no {what} of this file", claim.id)))
            };
            for (key, id, planted) in [("aa", &claim.aa, false), ("planted", &claim.planted, true)] {
                if let Some(id) = id {
                    match self.control(id) {
                        Some(control) if control.planted.is_some() == planted => {}
                        _ => return absent(key, id, &format!("control of kind {key}")),
                    }
                }
            }
            if let Some(id) = claim.beside.as_deref().filter(|id| self.claim(id).is_none()) {
                return absent("beside", id, "claim");
            }
            if let Kind::Cause { explains, .. } = &claim.kind {
                let explained = self.claim(explains).and_then(|claim| claim.quantity.as_ref());
                if !explained.is_some_and(|quantity| matches!(quantity.of, Of::Ratio { .. }))
                    && claim.quantity.is_some()
                {
                    return absent("explains", explains, "claim about a ratio");
                }
            }
        }
        Ok(())
    }
}

/// The keys of one table as they stand in the file, to be turned into what they mean.
pub(crate) fn quantity(raw: &mut Raw, file: TomlFile<'_>, within: Option<&Quantity>) -> Result<Quantity, Error> {
    let fault = |what: String| file.error_at(&raw.anchor(), what);
    let name = raw.name();
    let inherited = |key: &str| fault(format!("{name} needs the key '{key}'"));
    let metric =
        raw.metric.clone().or_else(|| within.map(|outer| outer.metric.clone())).ok_or_else(|| inherited("metric"))?;
    if metric != "process_s" && crate::record::unit(&metric).is_none() {
        return Err(fault(format!("the metric '{metric}' of {name} does not end in a unit")));
    }
    let scenarios = raw
        .scenarios
        .clone()
        .or_else(|| within.map(|outer| outer.scenarios.clone()))
        .ok_or_else(|| inherited("scenarios"))?;
    let blocks =
        raw.blocks.clone().or_else(|| within.map(|outer| outer.blocks.clone())).ok_or_else(|| inherited("blocks"))?;
    if let Some(profile) = blocks.keys().find(|profile| !["quick", "full"].contains(&profile.as_str())) {
        return Err(fault(format!("blocks of {name} names the profile '{profile}': only quick and full judge")));
    }
    let form = match raw.form.as_deref() {
        // A counter of one arm cannot come from a duet, even if the claim does.
        None if raw.arm.is_some() => Form::Process,
        None => within.map_or(Form::Process, |outer| outer.form),
        Some("process") => Form::Process,
        Some("duet") => Form::Duet,
        Some(other) => return Err(fault(format!("form '{other}' of {name} is unknown: choose process or duet"))),
    };
    let lower_is_better = match raw.better.as_deref() {
        None => within.is_none_or(|outer| outer.lower_is_better),
        Some("lower") => true,
        Some("higher") => false,
        Some(other) => return Err(fault(format!("better = '{other}' of {name} is unknown: choose lower or higher"))),
    };
    let of = match (raw.numerator.take(), raw.denominator.take(), raw.arm.take(), raw.arms.take()) {
        (Some(numerator), Some(denominator), None, None) => Of::Ratio { numerator, denominator },
        (None, None, Some(arm), None) => Of::Value {
            arm,
            minus: raw.minus.take(),
            per: raw.per.take(),
            factor: raw.factor.unwrap_or(1.0),
            unit: raw.unit.take().unwrap_or_else(|| crate::record::unit(&metric).unwrap_or("s").to_owned()),
        },
        (None, None, None, Some(arms)) if !arms.is_empty() => Of::Each(arms),
        _ => {
            let choice = "either numerator and denominator, or arm, or (slopes only) arms";
            return Err(file.error_at(&raw.anchor(), format!("{name} needs {choice}")));
        }
    };
    // What belongs to a value is taken by now; the rest means nothing.
    let is_value = matches!(of, Of::Value { .. });
    if raw.minus.is_some() || raw.per.is_some() || !is_value && (raw.factor.is_some() || raw.unit.is_some()) {
        let what = format!("the keys minus, per, factor and unit of {name} belong to a value of one arm");
        return Err(file.error_at(&raw.anchor(), what));
    }
    if form == Form::Duet && !matches!(of, Of::Ratio { .. }) {
        return Err(file.error_at(&raw.anchor(), format!("{name} is a duet: it needs numerator and denominator")));
    }
    let resolution = raw.resolution.unwrap_or(0.0);
    Ok(Quantity { metric, scenarios, of, lower_is_better, resolution, form, blocks })
}
