//! What claims.toml asks about the range around the published settings: what each design costs there, and where one passes another.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Table;

use super::file::{Keys, Read, check_kebab};
use super::handoffs::{Handoffs, PriceOf, Shape, Way, check_beside};
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
    /// The arm that the others are shown against.
    pub base: Option<String>,
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
    #[serde(default = "unbounded")]
    pub most: f64,
}

fn unbounded() -> f64 {
    f64::INFINITY
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
    /// What is measured of the arm, and of the one that it is over.
    pub lines: [Line; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    Falls,
    Rises,
}

/// What the price of a handoff predicts of an arm.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    pub arm: String,
    /// The arm without the handoffs, if not the base.
    #[serde(default)]
    pub over: String,
    #[serde(default)]
    pub shape: Shape,
    pub beside: Option<String>,
    pub handoffs: Handoffs,
    pub price: PriceOf,
    pub side: Way,
}

impl Map {
    pub fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        let crossings = self.crossings.iter().flat_map(|crossing| &crossing.lines);
        [&self.place].into_iter().chain(self.lines.iter().chain(crossings).map(|line| &line.quantity))
    }

    /// What a round must have been asked, to be changed: where its runs stand on the x axis is read off them, whatever was asked.
    pub(super) fn asked_mut(&mut self) -> impl Iterator<Item = &mut Quantity> {
        let crossings = self.crossings.iter_mut().flat_map(|crossing| &mut crossing.lines);
        self.lines.iter_mut().chain(crossings).map(|line| &mut line.quantity)
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
        let without: BTreeMap<String, BTreeSet<String>> = keys.get("without")?.unwrap_or_default();
        let known: BTreeSet<&String> = scenarios.values().flatten().collect();
        if let Some(name) = without.values().flatten().find(|name| !known.contains(name)) {
            return Err(format!("leaves out '{name}', which is no scenario of the map"));
        }
        let words: BTreeMap<String, String> = keys.get("names")?.unwrap_or_default();
        let line = |arm: &str, metric: &str, per: Option<&String>, is_ratio: bool| {
            let unit = if is_ratio { "ratio".to_owned() } else { Of::unit(metric, per.map(String::as_str)) };
            let of = Of::Value { arm: arm.to_owned(), minus: None, per: per.cloned(), factor: 1.0, unit };
            let mut quantity = Quantity::of_processes(metric, of, &scenarios, &blocks);
            for names in quantity.scenarios.values_mut() {
                names.retain(|name| !without.get(arm).is_some_and(|without| without.contains(name)));
            }
            Line { arm: arm.to_owned(), name: words.get(arm).map_or(arm, String::as_str).to_owned(), quantity }
        };
        let (x, y, arms): (Axis, Axis, Vec<String>) = (keys.need("x")?, keys.need("y")?, keys.need("arms")?);
        let of_x = x.arm.as_ref().or(base.as_ref()).or(arms.first()).ok_or("needs an arm")?;
        let place = line(of_x, &x.metric, x.per.as_ref(), false).quantity;
        let lines: Vec<Line> = arms.iter().map(|arm| line(arm, &y.metric, y.per.as_ref(), base.is_some())).collect();
        let over =
            |own: Option<String>| own.or_else(|| base.clone()).ok_or("needs the key 'over': the map has no base");
        let crossing = |own: &Table| {
            let keys = Keys::of(own, None, |_| false);
            let (id, text): (String, String) = (keys.need("id")?, keys.need("text")?);
            check_kebab(&id)?;
            let (at, when) = (keys.get("at")?.unwrap_or(1.0), keys.need("when")?);
            if at <= 0.0 || text.matches("{x}").count() != 1 || text.matches('{').count() != 1 {
                return Err(format!("needs the place {{x}} in the text of {id}, and no other, and 'at' above zero"));
            }
            let lines = [keys.need("arm")?, over(keys.get("over")?)?]
                .map(|arm: String| line(&arm, &y.metric, y.per.as_ref(), false));
            keys.only(Ok(Crossing { id, at, when, text, lines }))
        };
        let crossings = keys.get::<Vec<Table>>("crossing")?.unwrap_or_default();
        let crossings: Vec<Crossing> = crossings.iter().map(crossing).collect::<Result<_, _>>()?;
        let mut curves: Vec<Curve> = keys.get("curve")?.unwrap_or_default();
        for curve in &mut curves {
            check_beside(curve.shape, curve.beside.is_some())?;
            curve.over = over(Some(curve.over.clone()).filter(|over| !over.is_empty()))?;
            if fmt::conversion(fmt::unit_of(&y.metric), "s").is_none() {
                return Err("has a curve, which predicts what is no time".to_owned());
            }
        }
        let of_crossings = crossings.iter().flat_map(|crossing| &crossing.lines).map(|line| &line.arm);
        let of_curves = curves.iter().flat_map(|curve| [&curve.arm, &curve.over].into_iter().chain(&curve.beside));
        let named = [of_x]
            .into_iter()
            .chain(&base)
            .chain(without.keys())
            .chain(words.keys())
            .chain(of_crossings)
            .chain(of_curves);
        if let Some(arm) = { named }.find(|arm| !arms.contains(arm)) {
            return Err(format!("names '{arm}', which is no arm of the map"));
        }
        let (text, published) = (keys.need("text")?, keys.get("published")?.unwrap_or_default());
        let is_in_report = keys.get("report")?.unwrap_or(true);
        Ok(Map { id, text, is_in_report, x, y, base, published, crossings, curves, place, lines })
    }
}
