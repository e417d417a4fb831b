//! What claims.toml asks about handoffs: what one costs, and which effects that should explain.

use std::collections::BTreeMap;

use serde::Deserialize;
use strum::IntoStaticStr;

use super::file::{Keys, Read, check_kebab};
use super::{Form, Of, Quantity};
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

#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    pub id: String,
    pub text: String,
    /// In the legend of a chart.
    pub short: String,
    /// Under what it was measured; empty if nothing is special.
    pub condition: String,
    /// Whose caller works before each handoff; the rule reads between the two.
    pub after: Option<After>,
    /// What it amounts to where twenty times it says nothing, as of memory; else empty.
    pub uses: String,
    pub is_in_readme: bool,
    /// In the report, which leaves out those of the README.
    pub is_in_report: bool,
    /// What is measured, by how the handoff is made: one at least, and `Base` last where something is subtracted.
    pub sides: Vec<(Way, Quantity)>,
}

impl Read for Price {
    fn read(keys: &Keys) -> Result<Self, String> {
        let metric = keys.get("metric")?.unwrap_or_else(|| "handoff_ns".to_owned());
        let (unit, blocks): (String, _) = (keys.need("unit")?, keys.need("blocks")?);
        let scenarios = keys.scenarios()?.unwrap_or_default();
        if scenarios.is_empty() || scenarios.values().any(|scenarios| scenarios.len() != 1) {
            return Err("is measured in one scenario: name exactly one".to_owned());
        }
        let factor = keys.get("factor")?.or_else(|| fmt::conversion(fmt::unit_of(&metric), &unit));
        let factor = factor.ok_or_else(|| format!("prints {metric} in {unit}: say by what factor"))?;
        let base: Option<String> = keys.get("base")?;
        let mut sides = Vec::new();
        for way in [Way::Sync, Way::Async, Way::Base] {
            let Some(arm) = keys.get(way.into_str())? else { continue };
            let minus = base.clone().filter(|_| way != Way::Base);
            let of = Of::Value { arm, minus, per: None, factor, unit: unit.clone() };
            sides.push((way, Quantity::of_processes(&metric, of, &scenarios, &blocks)));
        }
        if sides.iter().all(|(way, _)| *way == Way::Base) {
            return Err("needs an arm: sync, async or both".to_owned());
        }
        let price = Price {
            id: keys.need("id")?,
            text: keys.need("text")?,
            short: keys.get("short")?.map_or_else(|| keys.need("id"), Ok)?,
            condition: keys.get("condition")?.unwrap_or_default(),
            after: keys.get("after")?,
            uses: keys.get("use")?.unwrap_or_default(),
            is_in_readme: keys.get("readme")?.unwrap_or_default(),
            is_in_report: keys.get("report")?.unwrap_or_default(),
            sides,
        };
        check_kebab(&price.id)?;
        let has = |way: Way| price.sides.iter().any(|(own, _)| *own == way).then(String::new);
        let what =
            "has a place in 'use' that no figure can fill: write {sync}, {async} or {async*20}, of an arm that it has";
        price.use_in_words(|way, _| has(way)).ok_or(what)?;
        Ok(price)
    }
}

impl Price {
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

/// So much work before each handoff of another price of the study.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    pub us: f64,
    pub of: String,
}

/// An effect that the price of a handoff should explain.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub id: String,
    pub text: String,
    /// The claim, or further test, that measures it, and in which form; else `observed` does.
    pub claim: Option<String>,
    pub form: Option<Form>,
    pub observed: Option<Quantity>,
    pub base: String,
    /// What says how long it takes, if not the metric of the effect.
    pub metric: Option<String>,
    pub law: Law,
}

impl Read for Rule {
    fn read(keys: &Keys) -> Result<Self, String> {
        let (claim, form, base): (Option<String>, _, String) =
            (keys.get("claim")?, keys.get("form")?, keys.need("base")?);
        let metric: Option<String> = keys.get("metric")?;
        let observed = match (&claim, &form, keys.get::<String>("ratio")?, keys.scenarios()?) {
            (Some(_), Some(_), None, None) => None,
            (None, None, Some(ratio), Some(scenarios)) => {
                let of = Of::ratio(&ratio)?;
                if !of.arms().contains(&&base) {
                    return Err(format!("has the base {base}, which is no arm of its ratio"));
                }
                let metric = metric.as_deref().unwrap_or("work_s");
                Some(Quantity::of_processes(metric, of, &scenarios, &BTreeMap::new()))
            }
            _ => return Err("needs what is measured: claim and form, or ratio and scenarios".to_owned()),
        };
        let (id, text, law) = (keys.need("id")?, keys.need("text")?, Law::read(keys)?);
        Ok(Rule { id, text, claim, form, observed, base, metric, law })
    }
}

/// What makes work longer by the price of its handoffs: of a rule, and of a curve of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// What goes on side by side with the rest, which has the handoffs; `None` where they are just added.
    pub beside: Option<Beside>,
    pub handoffs: Handoffs,
    /// Of a study, written as `STUDY.price-id`.
    pub price: String,
    pub side: Way,
}

impl Read for Law {
    fn read(keys: &Keys) -> Result<Self, String> {
        let (shape, beside) = (keys.get::<Shape>("shape")?.unwrap_or_default(), keys.get("beside")?);
        if beside.is_some() != (shape == Shape::Overlap) {
            return Err("needs the key 'beside' if its shape is overlap, and else not".to_owned());
        }
        if matches!(&beside, Some(Beside::Share { share }) if fmt::unit_of(share) != "ratio") {
            return Err("needs a metric that ends in _ratio as the share in 'beside'".to_owned());
        }
        let (handoffs, price): (_, String) = (keys.need("handoffs")?, keys.need("price")?);
        if !price.contains('.') {
            return Err(format!("has '{price}', which is no price: write STUDY.price-id"));
        }
        Ok(Law { beside, handoffs, price, side: keys.need("side")? })
    }
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shape {
    #[default]
    Added,
    Overlap,
}

/// One of two parts of work that go on side by side.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "expected an arm, or { share } of the base's time")]
pub enum Beside {
    /// What this arm does.
    Arm(String),
    /// The part of the base's time that this metric of the base says.
    Share { share: String },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "expected handoffs as { metric, arm } or { count, why }")]
pub enum Handoffs {
    Counted {
        metric: String,
        arm: String,
    },
    Known {
        count: f64,
        why: String,
    },
    /// So many of a curve.
    Designed(f64),
}

impl Handoffs {
    /// Their number, given the `median` of a metric over the runs of an arm; `None` where that is not known.
    pub fn count(&self, median: impl Fn(&str, &str) -> Option<f64>) -> Option<f64> {
        match self {
            Handoffs::Known { count, .. } | Handoffs::Designed(count) => Some(*count),
            Handoffs::Counted { metric, arm } => median(metric, arm),
        }
    }
}
