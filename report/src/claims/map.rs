//! What claims.toml asks about the range around the published settings: what each design costs there, and where one passes another.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::file::{Keys, Read, check_kebab};
use super::handoffs::{Beside, Law};
use super::{Of, Quantity};
use crate::fmt;

/// What designs cost over the range of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    pub id: String,
    pub text: String,
    /// Whether it stands in REPORT.md, beside the evidence.
    pub is_in_report: bool,
    pub x: Axis,
    pub y: Axis,
    /// The position of the line that the others are shown against.
    pub base: Option<usize>,
    pub published: Vec<Setting>,
    pub crossings: Vec<Crossing>,
    pub curves: Vec<Curve>,
    /// Where a scenario lies: of the arm of x, else of the base, else of the first.
    pub place: Quantity,
    pub lines: Vec<Line>,
}

/// What an axis shows, and what that is called.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    metric: String,
    pub label: String,
    per: Option<String>,
    /// Of x alone: the arm whose runs say it.
    arm: Option<String>,
    /// Of y alone: the most that the chart shows.
    pub most: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub arm: String,
    /// What people call the arm.
    pub name: String,
    pub quantity: Quantity,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub x: f64,
    pub label: String,
}

/// Where one arm passes another.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    pub id: String,
    /// The ratio of the two that is passed.
    pub at: f64,
    pub when: When,
    pub text: String,
    /// The positions of their lines.
    pub arm: usize,
    pub over: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    Falls,
    Rises,
}

/// What the price of a handoff predicts of an arm over one without the handoffs: the positions of their lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub arm: usize,
    pub over: usize,
    pub law: Law,
}

impl Map {
    pub fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        [&self.place].into_iter().chain(self.lines.iter().map(|line| &line.quantity))
    }

    pub fn line(&self, arm: &str) -> Option<usize> {
        self.lines.iter().position(|line| line.arm == arm)
    }
}

impl Read for Map {
    fn read(keys: &Keys) -> Result<Self, String> {
        let (id, base): (String, Option<String>) = (keys.need("id")?, keys.get("base")?);
        check_kebab(&id)?;
        let (scenarios, blocks) = (keys.scenarios()?.unwrap_or_default(), keys.need("blocks")?);
        if scenarios.is_empty() || scenarios.values().any(|scenarios| scenarios.len() < 2) {
            return Err("needs two scenarios at least: each is a point".to_owned());
        }
        let (x, y, arms): (Axis, Axis, Vec<String>) = (keys.need("x")?, keys.need("y")?, keys.need("arms")?);
        let position = |arm: &String| {
            let known = arms.iter().position(|own| own == arm);
            known.ok_or_else(|| format!("names '{arm}', which is no arm of the map"))
        };
        let base = base.as_ref().map(position).transpose()?;
        let without: BTreeMap<String, BTreeSet<String>> = keys.get("without")?.unwrap_or_default();
        let known: BTreeSet<&String> = scenarios.values().flatten().collect();
        if let Some(name) = without.values().flatten().find(|name| !known.contains(name)) {
            return Err(format!("leaves out '{name}', which is no scenario of the map"));
        }
        let words: BTreeMap<String, String> = keys.get("names")?.unwrap_or_default();
        without.keys().chain(words.keys()).try_for_each(|arm| position(arm).map(|_| ()))?;
        let quantity = |arm: &str, Axis { metric, per, .. }: &Axis, is_ratio: bool| {
            let unit = if is_ratio { "ratio".to_owned() } else { Of::unit(metric, per.as_deref()) };
            let of = Of::Value { arm: arm.to_owned(), minus: None, per: per.clone(), factor: 1.0, unit };
            let mut quantity = Quantity::of_processes(metric, of, &scenarios, &blocks);
            for names in quantity.scenarios.values_mut() {
                names.retain(|name| !without.get(arm).is_some_and(|without| without.contains(name)));
            }
            quantity
        };
        let line = |arm: &String| {
            let name = words.get(arm).unwrap_or(arm).clone();
            Line { arm: arm.clone(), name, quantity: quantity(arm, &y, base.is_some()) }
        };
        let of_x = x.arm.as_ref().map(position).transpose()?.or(base).unwrap_or_default();
        let place = quantity(arms.get(of_x).ok_or("needs an arm")?, &x, false);
        // The arm of a crossing or a curve, and the one that it is over.
        let both = |keys: &Keys| -> Result<(usize, usize), String> {
            let over = keys.get("over")?.map(|over| position(&over)).transpose()?.or(base);
            Ok((position(&keys.need("arm")?)?, over.ok_or("needs the key 'over': the map has no base")?))
        };
        let crossing = |keys: &Keys| {
            let (id, text): (String, String) = (keys.need("id")?, keys.need("text")?);
            check_kebab(&id)?;
            let (at, when) = (keys.get("at")?.unwrap_or(1.0), keys.need("when")?);
            if at <= 0.0 || text.matches("{x}").count() != 1 || text.matches('{').count() != 1 {
                return Err(format!("needs the place {{x}} in the text of {id}, and no other, and 'at' above zero"));
            }
            let (arm, over) = both(keys)?;
            Ok(Crossing { id, at, when, text, arm, over })
        };
        let curve = |keys: &Keys| {
            let ((arm, over), law) = (both(keys)?, Law::read(keys)?);
            if let Some(Beside::Arm(part)) = &law.beside {
                position(part)?;
            }
            if fmt::conversion(fmt::unit_of(&y.metric), "s").is_none() {
                return Err("has a curve, which predicts what is no time".to_owned());
            }
            Ok(Curve { arm, over, law })
        };
        let (crossings, curves) = (keys.each("crossing", crossing)?, keys.each("curve", curve)?);
        let (text, published) = (keys.need("text")?, keys.get("published")?.unwrap_or_default());
        let is_in_report = keys.get("report")?.unwrap_or(true);
        let lines = arms.iter().map(line).collect();
        Ok(Map { id, text, is_in_report, x, y, base, published, crossings, curves, place, lines })
    }
}
