//! What claims.toml asks about the range around the published settings: what each design costs there, and where one passes another.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::file::{Scenarios, check_kebab};
use super::handoffs::{Handoffs, PriceOf, Shape, Way, check_beside};
use super::{Of, Quantity};
use crate::fmt;

/// What designs cost over the range of a parameter.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    pub id: String,
    pub text: String,
    pub x: Axis,
    pub y: Axis,
    /// The arm that the others are shown against.
    pub base: Option<String>,
    arms: Vec<String>,
    scenarios: Scenarios,
    /// The scenarios where an arm is not measured.
    #[serde(default)]
    without: BTreeMap<String, BTreeSet<String>>,
    blocks: BTreeMap<String, usize>,
    #[serde(default)]
    pub published: Vec<Setting>,
    #[serde(default, rename = "crossing")]
    pub crossings: Vec<Crossing>,
    #[serde(default, rename = "curve")]
    pub curves: Vec<Curve>,
    /// Where a scenario lies: of the arm of x, else of the base, else of the first.
    #[serde(skip)]
    pub place: Quantity,
    /// What is measured of each arm.
    #[serde(skip)]
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
}

/// What is measured of an arm.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    pub arm: String,
    pub quantity: Quantity,
}

/// A setting of the original.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub x: f64,
    pub label: String,
}

/// Where one arm passes another.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crossing {
    pub id: String,
    arm: String,
    over: Option<String>,
    /// If not that of y.
    metric: Option<String>,
    /// The ratio of the two that is passed.
    #[serde(default = "one")]
    pub at: f64,
    pub when: When,
    /// A sentence with the place `{x}`.
    pub text: String,
    /// What is measured of the arm, and of the one that it is over.
    #[serde(skip)]
    pub lines: [Line; 2],
}

fn one() -> f64 {
    1.0
}

/// How a ratio passes a value as x grows.
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
    /// All that is measured of it.
    pub fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        let crossings = self.crossings.iter().flat_map(|crossing| &crossing.lines);
        std::iter::once(&self.place).chain(self.lines.iter().chain(crossings).map(|line| &line.quantity))
    }

    /// What a round must have been asked, to be changed: where its runs stand on the x axis is read off them, whatever was asked.
    pub(super) fn asked_mut(&mut self) -> impl Iterator<Item = &mut Quantity> {
        let crossings = self.crossings.iter_mut().flat_map(|crossing| &mut crossing.lines);
        self.lines.iter_mut().chain(crossings).map(|line| &mut line.quantity)
    }

    /// The place of an arm among its lines.
    pub fn line(&self, arm: &str) -> Option<usize> {
        self.lines.iter().position(|line| line.arm == arm)
    }

    /// Fills in what is measured, or says what is wrong.
    pub(super) fn complete(&mut self) -> Result<(), String> {
        check_kebab(&self.id)?;
        let scenarios = self.scenarios.by_profile();
        if scenarios.values().any(|scenarios| scenarios.len() < 2) {
            return Err("needs two scenarios at least: each is a point".to_owned());
        }
        let known: BTreeSet<&String> = scenarios.values().flatten().collect();
        if let Some(name) = self.without.values().flatten().find(|name| !known.contains(name)) {
            return Err(format!("leaves out '{name}', which is no scenario of the map"));
        }
        let (without, blocks) = (&self.without, &self.blocks);
        let line = |arm: &str, metric: &str, per: Option<&String>, is_ratio: bool| {
            let own = fmt::unit_of(metric);
            let is_bare = is_ratio || per.is_some_and(|per| fmt::unit_of(per) == own);
            let unit = if is_bare { "ratio" } else { own }.to_owned();
            let of = Of::Value { arm: arm.to_owned(), minus: None, per: per.cloned(), factor: 1.0, unit };
            let mut quantity = Quantity::of_processes(metric, of, &scenarios, blocks);
            for names in quantity.scenarios.values_mut() {
                names.retain(|name| !without.get(arm).is_some_and(|without| without.contains(name)));
            }
            Line { arm: arm.to_owned(), quantity }
        };
        let (base, Axis { metric, per, .. }) = (&self.base, &self.y);
        let of_x = self.x.arm.as_ref().or(base.as_ref()).or(self.arms.first()).ok_or("needs an arm")?;
        self.place = line(of_x, &self.x.metric, self.x.per.as_ref(), false).quantity;
        self.lines = self.arms.iter().map(|arm| line(arm, metric, per.as_ref(), base.is_some())).collect();
        let lacks_over = "needs the key 'over': the map has no base";
        for Crossing { id, arm, over, metric: own, at, text, lines, .. } in &mut self.crossings {
            check_kebab(id)?;
            if *at <= 0.0 || text.matches("{x}").count() != 1 || text.matches('{').count() != 1 {
                return Err(format!("needs the place {{x}} in the text of {id}, and no other, and 'at' above zero"));
            }
            let over = over.as_ref().or(base.as_ref()).ok_or(lacks_over)?;
            let (metric, per) = own.as_ref().map_or((metric, per.as_ref()), |own| (own, None));
            *lines = [arm, over].map(|arm| line(arm, metric, per, false));
        }
        for curve in &mut self.curves {
            check_beside(curve.shape, curve.beside.as_ref())?;
            if curve.over.is_empty() {
                curve.over = base.clone().ok_or(lacks_over)?;
            }
            if fmt::conversion(fmt::unit_of(metric), "s").is_none() {
                return Err("has a curve, which predicts what is no time".to_owned());
            }
        }
        let crossings = self.crossings.iter().flat_map(|crossing| &crossing.lines).map(|line| &line.arm);
        let curves = self.curves.iter().flat_map(|curve| [&curve.arm, &curve.over].into_iter().chain(&curve.beside));
        let named = [of_x].into_iter().chain(base).chain(without.keys()).chain(crossings);
        match named.chain(curves).find(|arm| !self.arms.contains(arm)) {
            Some(arm) => Err(format!("names '{arm}', which is no arm of the map")),
            None => Ok(()),
        }
    }
}
