//! What claims.toml asks about handoffs: what one costs, and which effects that should explain.

use std::collections::BTreeMap;

use serde::Deserialize;
use strum::IntoStaticStr;

use super::file::{Scenarios, check_kebab};
use super::{Form, Of, Quantity, Replicate};
use crate::fmt;

/// How a handoff is made; page and claims.toml call it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Way {
    Sync,
    Async,
    /// Without a handoff: the same thing done in place.
    #[serde(skip)]
    Base,
}

/// What one handoff costs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub id: String,
    pub text: String,
    /// Under what it was measured; empty if nothing is special.
    #[serde(default)]
    pub condition: String,
    sync: Option<String>,
    r#async: Option<String>,
    base: Option<String>,
    #[serde(default = "handoff_ns")]
    metric: String,
    unit: String,
    factor: Option<f64>,
    scenarios: Scenarios,
    blocks: BTreeMap<String, usize>,
    /// What it amounts to where twenty times it says nothing, as of memory; else empty.
    #[serde(default, rename = "use")]
    pub uses: String,
    #[serde(default, rename = "readme")]
    pub is_in_readme: bool,
    /// In the report, too, which shows those of the README in any case.
    #[serde(default, rename = "report")]
    pub is_in_report: bool,
    /// What is measured, by how the handoff is made: one at least, and `Base` last where something is subtracted.
    #[serde(skip)]
    pub sides: Vec<(Way, Quantity)>,
}

fn handoff_ns() -> String {
    "handoff_ns".to_owned()
}

impl Price {
    /// Fills in its sides, or says what is wrong.
    pub(super) fn complete(&mut self) -> Result<(), String> {
        check_kebab(&self.id)?;
        let scenarios = self.scenarios.by_profile();
        if scenarios.values().any(|scenarios| scenarios.len() != 1) {
            return Err("is measured in one scenario: name exactly one".to_owned());
        }
        let factor = self.factor.or_else(|| fmt::conversion(fmt::unit_of(&self.metric), &self.unit));
        let factor = factor.ok_or_else(|| format!("prints {} in {}: say by what factor", self.metric, self.unit))?;
        for (way, arm) in [(Way::Sync, &self.sync), (Way::Async, &self.r#async), (Way::Base, &self.base)] {
            let Some(arm) = arm.clone() else { continue };
            let minus = self.base.clone().filter(|_| way != Way::Base);
            let of = Of::Value { arm, minus, per: None, factor, unit: self.unit.clone() };
            let quantity = Quantity::of_processes(&self.metric, of, &scenarios, &self.blocks);
            self.sides.push((way, quantity));
        }
        if self.sides.iter().all(|(way, _)| *way == Way::Base) {
            return Err("needs an arm: sync, async or both".to_owned());
        }
        let has = |way: Way| self.sides.iter().any(|(own, _)| *own == way).then(String::new);
        let what =
            "has a place in 'use' that no figure can fill: write {sync}, {async} or {async*20}, of an arm that it has";
        self.use_in_words(|way, _| has(way)).map(drop).ok_or_else(|| what.to_owned())
    }

    /// The sentence of use, in which `figure` fills places such as `{async}` and `{async*20}`; `None` if it cannot.
    pub fn use_in_words(&self, figure: impl Fn(Way, f64) -> Option<String>) -> Option<String> {
        let mut places = self.uses.split('{');
        let mut words = places.next().unwrap_or_default().to_owned();
        for place in places {
            let (place, after) = place.split_once('}')?;
            let (way, factor) = place.split_once('*').unwrap_or((place, "1"));
            let way = [Way::Sync, Way::Async].into_iter().find(|own| own.into_str() == way)?;
            words += &figure(way, factor.parse().ok().filter(|factor| *factor > 0.0)?)?;
            words += after;
        }
        Some(words)
    }
}

/// An effect that the price of a handoff should explain.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: String,
    pub text: String,
    /// The claim, or further test, that measures it, and in which form; or a ratio in some scenarios.
    pub claim: Option<String>,
    pub form: Option<Form>,
    ratio: Option<String>,
    scenarios: Option<Scenarios>,
    #[serde(default)]
    replicate: Replicate,
    /// The arm without the handoffs.
    pub base: String,
    /// What says how long it takes, if not the metric of the effect.
    pub metric: Option<String>,
    pub shape: Shape,
    /// Of [`Shape::Overlap`] the arm that does one of the parts alone.
    pub beside: Option<String>,
    pub handoffs: Handoffs,
    pub price: PriceOf,
    pub side: Way,
    /// The ratio that measures it, if no claim does.
    #[serde(skip)]
    pub observed: Option<Quantity>,
}

impl Rule {
    /// Fills in what observes it, or says what is wrong.
    pub(super) fn complete(&mut self) -> Result<(), String> {
        check_beside(self.shape, self.beside.as_ref())?;
        match (&self.claim, self.form, &self.ratio, &self.scenarios) {
            (Some(_), Some(_), None, None) => Ok(()),
            (None, None, Some(ratio), Some(scenarios)) => {
                let of = Of::ratio(ratio)?;
                if !of.arms().contains(&&self.base) {
                    return Err(format!("has the base {}, which is no arm of its ratio", self.base));
                }
                let metric = self.metric.as_deref().unwrap_or("work_s");
                let quantity = Quantity::of_processes(metric, of, &scenarios.by_profile(), &BTreeMap::new());
                self.observed = Some(Quantity { replicate: self.replicate, ..quantity });
                Ok(())
            }
            _ => Err("needs what is measured: claim and form, or ratio and scenarios".to_owned()),
        }
    }
}

/// The price of a study, written as `STUDY.price-id`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct PriceOf {
    pub study: String,
    pub id: String,
}

impl TryFrom<String> for PriceOf {
    type Error = String;

    fn try_from(price: String) -> Result<Self, String> {
        let (study, id) = price.split_once('.').ok_or_else(|| format!("{price} is no price: write STUDY.price-id"))?;
        Ok(PriceOf { study: study.to_owned(), id: id.to_owned() })
    }
}

/// How handoffs add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Each makes the work longer.
    #[default]
    Added,
    /// Two parts of the work go on side by side: one that an arm does alone, and the rest with the handoffs.
    Overlap,
}

/// Only what overlaps has something beside it.
pub(super) fn check_beside(shape: Shape, beside: Option<&String>) -> Result<(), String> {
    let fits = beside.is_some() == (shape == Shape::Overlap);
    fits.then_some(()).ok_or_else(|| "needs the key 'beside' if its shape is overlap, and else not".to_owned())
}

/// How many handoffs there are.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "expected handoffs as { metric, arm } or { count, why }")]
pub enum Handoffs {
    /// A counter of the record: of an arm, less that of another one.
    Counted { metric: String, arm: String, minus: Option<String> },
    /// So many, and why.
    Known { count: f64, why: String },
    /// So many of a curve.
    Designed(f64),
}

impl Handoffs {
    /// Their number, given the `median` of a metric over the runs of an arm; `None` where that is not known.
    pub fn count(&self, median: impl Fn(&str, &str) -> Option<f64>) -> Option<f64> {
        match self {
            Handoffs::Known { count, .. } | Handoffs::Designed(count) => Some(*count),
            Handoffs::Counted { metric, arm, minus } => {
                let less = minus.as_ref().map_or(Some(0.0), |minus| median(metric, minus))?;
                Some(median(metric, arm)? - less)
            }
        }
    }
}
