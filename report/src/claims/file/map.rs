//! Maps in claims.toml.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Scope;
use crate::claims::handoffs::{Handoffs, Shape};
use crate::claims::map::{Crossing, Curve, Line, Map};
use crate::claims::{Of, Quantity, Replicate};
use crate::error::Error;
use crate::fmt;
use crate::folder::record::unit;

/// What an axis shows, and what that is called.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Axis {
    metric: String,
    label: String,
    per: Option<String>,
    /// Of x alone: the arm whose runs say it, if not the base.
    arm: Option<String>,
}

impl Scope<'_, '_> {
    pub(super) fn map(&self) -> Result<Map, Error> {
        let id = self.kebab_id("map")?;
        let (x, y): (Axis, Axis) = (self.need("x")?, self.need("y")?);
        let base: Option<String> = self.take("base")?;
        let arms: Vec<String> = self.need("arms")?;
        let (scenarios, blocks) = (self.scenarios()?, self.by_profile("blocks")?);
        if scenarios.values().any(|scenarios| scenarios.len() < 2) {
            return Err(self.fault_at("scenarios", "needs two scenarios at least: each is a point"));
        }
        self.check_axes(&x, &y)?;
        let known = |key: &str, scope: &Self, arm: &String| {
            let what = || scope.fault_at(key, format!("names '{arm}', which is no arm of the map"));
            arms.contains(arm).then_some(()).ok_or_else(what)
        };
        let Some(first) = arms.first() else { return Err(self.fault_at("arms", "needs an arm")) };
        base.iter().try_for_each(|arm| known("base", self, arm))?;
        let without: BTreeMap<String, BTreeSet<String>> = self.take("without")?.unwrap_or_default();
        let left_out = without.values().flatten().find(|name| !scenarios.values().flatten().any(|own| own == *name));
        if let Some(name) = left_out {
            return Err(self.fault_at("without", format!("leaves out '{name}', which is no scenario of the map")));
        }
        without.keys().try_for_each(|arm| known("without", self, arm))?;
        x.arm.iter().try_for_each(|arm| known("x", self, arm))?;
        let line = |arm: &str, Axis { metric, per, .. }: &Axis, is_ratio: bool| {
            let own = fmt::unit_of(metric);
            let is_bare = is_ratio || per.as_deref().is_some_and(|per| fmt::unit_of(per) == own);
            let unit = if is_bare { "ratio" } else { own }.to_owned();
            let of = Of::Value { arm: arm.to_owned(), minus: None, per: per.clone(), factor: 1.0, unit };
            let mut scenarios = scenarios.clone();
            let is_there = |name: &String| !without.get(arm).is_some_and(|without| without.contains(name));
            for names in scenarios.values_mut() {
                names.retain(is_there);
            }
            let quantity = Quantity {
                line: self.reader.file.line_at(self.at),
                metric: metric.clone(),
                scenarios,
                of,
                lower_is_better: true,
                replicate: Replicate::Process,
                blocks: blocks.clone(),
            };
            Line { arm: arm.to_owned(), quantity }
        };
        // Two arms of the map: what is asked about, and what it is compared with.
        let pair = |scope: &Self| -> Result<(String, String), Error> {
            let (arm, over) = (scope.need("arm")?, scope.take("over")?.or_else(|| base.clone()));
            let over = over.ok_or_else(|| scope.fault("needs the key 'over': the map has no base"))?;
            known("arm", scope, &arm)?;
            known("over", scope, &over)?;
            Ok((arm, over))
        };
        let crossings = self.each("crossing", "a crossing", |scope| {
            let (arm, over) = pair(&scope)?;
            let at = scope.take("at")?.unwrap_or(1.0);
            let metric = scope.take("metric")?;
            let axis = metric.map_or(y.clone(), |metric| Axis { metric, per: None, ..y.clone() });
            let text: String = scope.need("text")?;
            if at <= 0.0 || unit(&axis.metric).is_none() {
                return Err(scope.fault("needs a ratio above zero in 'at', and a metric that ends in a unit"));
            }
            if text.matches("{x}").count() != 1 || text.matches('{').count() != 1 {
                return Err(scope.fault_at("text", "needs the place {x} in 'text', and no other"));
            }
            let (id, when) = (scope.kebab_id("crossing")?, scope.need("when")?);
            Ok(Crossing { id, arm: line(&arm, &axis, false), over: line(&over, &axis, false), at, when, text })
        })?;
        let curves = self.each("curve", "a curve", |scope| {
            let (arm, over) = pair(&scope)?;
            if fmt::conversion(fmt::unit_of(&y.metric), "s").is_none() {
                return Err(scope.fault("predicts what is no time"));
            }
            let handoffs = if scope.is_table("handoffs") {
                scope.handoffs()?
            } else {
                Handoffs::Known(scope.need("handoffs")?, String::new())
            };
            let shape = if scope.has("shape") { scope.shape()? } else { Shape::Added };
            if let Shape::Overlap(beside) = &shape {
                known("beside", &scope, beside)?;
            }
            Ok(Curve { arm, over, shape, handoffs, price: scope.price_of()? })
        })?;
        Ok(Map {
            id,
            text: self.need("text")?,
            x: line(x.arm.as_ref().or(base.as_ref()).unwrap_or(first), &x, false).quantity,
            lines: arms.iter().map(|arm| line(arm, &y, base.is_some())).collect(),
            x_label: x.label,
            y_label: y.label,
            base,
            published: self.take("published")?.unwrap_or_default(),
            crossings,
            curves,
        })
    }

    /// The metrics of both end in units, and what divides them is of the same scope.
    fn check_axes(&self, x: &Axis, y: &Axis) -> Result<(), Error> {
        for (key, Axis { metric, per, .. }) in [("x", x), ("y", y)] {
            if unit(metric).is_none() {
                return Err(self.fault_at(key, format!("has the metric '{metric}', which does not end in a unit")));
            }
            per.iter().try_for_each(|per| self.check_scopes(metric, per))?;
        }
        if y.arm.is_some() { Err(self.fault_at("y", "has an arm: each line is one")) } else { Ok(()) }
    }
}
