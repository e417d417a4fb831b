//! What one block yields as one number.

use std::collections::BTreeMap;

use serde::Deserialize;
use strum::IntoStaticStr;

use crate::fmt::unit_of;

/// What one block yields as one number.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// A metric of the record, or `process_s`.
    pub metric: String,
    pub scenarios: BTreeMap<String, Vec<String>>,
    pub of: Of,
    pub lower_is_better: bool,
    pub replicate: Replicate,
    /// How many a profile runs, by the profile's name; a profile that is absent does not measure.
    pub blocks: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Of {
    Ratio {
        numerator: String,
        denominator: String,
    },
    Value {
        arm: String,
        /// An arm whose value is subtracted.
        minus: Option<String>,
        per: Option<String>,
        factor: f64,
        /// Of the value, for print.
        unit: String,
    },
    /// Of several arms, each for itself: slopes.
    Each(Vec<String>),
}

impl Of {
    /// Two arms, written as `a / b`.
    pub(super) fn ratio(written: &str) -> Result<Self, String> {
        let is_arm = |arm: &str| !arm.is_empty() && !arm.contains([' ', '/', '~']);
        let arms = written.split_once(" / ").filter(|(a, b)| is_arm(a) && is_arm(b));
        let (a, b) = arms.ok_or_else(|| format!("has the ratio '{written}': write \"a / b\""))?;
        Ok(Of::Ratio { numerator: a.to_owned(), denominator: b.to_owned() })
    }

    /// The unit of a value for which none is written: seconds per second are no seconds.
    pub(super) fn unit(metric: &str, per: Option<&str>) -> String {
        let own = unit_of(metric);
        if per.is_some_and(|per| unit_of(per) == own) { "ratio" } else { own }.to_owned()
    }

    /// The A/A pair of an arm; a duet is listed as arm~twin.
    pub fn copies(arm: &str, replicate: Replicate) -> Self {
        let (arm, copy) = (arm.to_owned(), format!("{arm}@aa"));
        match replicate {
            Replicate::Process => Of::Ratio { numerator: copy, denominator: arm },
            Replicate::Duet => Of::Ratio { numerator: arm, denominator: copy },
        }
    }

    pub fn arms(&self) -> Vec<&String> {
        match self {
            Of::Ratio { numerator, denominator } => vec![numerator, denominator],
            Of::Value { arm, minus, .. } => [arm].into_iter().chain(minus).collect(),
            Of::Each(arms) => arms.iter().collect(),
        }
    }
}

/// Where the samples of a quantity come from: what one number of it is made of.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Replicate {
    #[default]
    Process,
    /// Processes that alternate two arms.
    Duet,
}

impl Quantity {
    /// What one process yields, the less the better.
    pub(super) fn of_processes(
        metric: &str,
        of: Of,
        scenarios: &BTreeMap<String, Vec<String>>,
        blocks: &BTreeMap<String, usize>,
    ) -> Self {
        let (metric, scenarios, blocks) = (metric.to_owned(), scenarios.clone(), blocks.clone());
        Quantity { metric, scenarios, of, lower_is_better: true, replicate: Replicate::Process, blocks }
    }

    pub fn scenarios(&self, profile: &str) -> &[String] {
        self.scenarios.get(profile).map_or(&[], Vec::as_slice)
    }

    pub fn is_measured(&self, profile: &str) -> bool {
        self.blocks.get(profile).is_some_and(|&blocks| blocks > 0) && !self.scenarios(profile).is_empty()
    }

    pub fn is_duet(&self) -> bool {
        self.replicate == Replicate::Duet
    }

    pub fn is_ratio(&self) -> bool {
        matches!(self.of, Of::Ratio { .. })
    }

    /// Whether both ask the same of `profile`, however often it is measured and wherever it is written.
    pub(super) fn asks_as(&self, other: &Self, profile: &str) -> bool {
        let of_profile = |quantity: &Self| Quantity { scenarios: BTreeMap::new(), ..quantity.asked() };
        self.scenarios(profile) == other.scenarios(profile) && of_profile(self) == of_profile(other)
    }

    /// The same, however often it is measured and wherever it is written.
    pub(crate) fn asked(&self) -> Self {
        let mut asked = Quantity { blocks: BTreeMap::new(), ..self.clone() };
        if let Of::Value { unit, .. } = &mut asked.of {
            unit.clear(); // a word behind the figure
        }
        asked
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
        let of = |scenario: &String| self.arms().into_iter().map(|arm| (scenario.clone(), arm)).collect::<Vec<_>>();
        self.scenarios(profile).iter().flat_map(of).collect()
    }

    /// The smallest difference that matters to a user if nothing else is said: 2 % in duets, 10 % of memory and of quantiles of latency,
    /// 5 % of everything else.
    pub fn usual_margin(&self) -> f64 {
        let is_quantile = ["_p50", "_p99", "_max"].iter().any(|quantile| self.metric.contains(quantile));
        match self.replicate {
            Replicate::Duet => 0.02,
            Replicate::Process if self.is_memory() || is_quantile => 0.10,
            Replicate::Process => 0.05,
        }
    }

    /// The same quantity in no more blocks than `other`.
    #[must_use]
    pub fn within(&self, other: &Quantity) -> Quantity {
        let fewer =
            |(name, own): (&String, &usize)| (name.clone(), other.blocks.get(name).map_or(0, |most| *most.min(own)));
        Quantity { blocks: self.blocks.iter().map(fewer).collect(), ..self.clone() }
    }

    pub fn is_memory(&self) -> bool {
        self.metric.ends_with("_kib") || self.metric.ends_with("_bytes")
    }
}
