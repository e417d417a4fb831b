//! Prices and rules in claims.toml.

use std::collections::BTreeMap;

use super::Scope;
use crate::claims::handoffs::{Handoffs, Measured, Piece, Price, PriceOf, Rule, Shape, Way};
use crate::claims::{Claims, Form, Of, Quantity, Replicate};
use crate::error::Error;
use crate::files::TomlFile;
use crate::fmt;
use crate::folder::record::unit;

/// The metric of a price that names none.
const HANDOFF: &str = "handoff_ns";

impl Claims {
    /// What a rule explains is a claim or a further test.
    pub(super) fn check_rules(&self, file: TomlFile<'_>) -> Result<(), Error> {
        for Rule { id, measured, .. } in &self.rules {
            if let Measured::Claim(claim, form) = measured
                && self.asked(claim, *form).is_none()
            {
                let what = format!("{id} is about '{claim}', which is no claim or further test of this file");
                return Err(file.error_at(&format!("id = \"{id}\""), what));
            }
        }
        Ok(())
    }
}

impl Scope<'_, '_> {
    /// The id of a `what`, which links and file names hold.
    pub(super) fn kebab_id(&self, what: &str) -> Result<String, Error> {
        let id: String = self.need("id")?;
        let is_kebab = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if id.split('-').all(|word| !word.is_empty() && is_kebab(word)) {
            return Ok(id);
        }
        let why = format!("is no name of a {what}: write it in small letters with hyphens between words");
        Err(self.fault_at("id", why))
    }

    pub(super) fn price(&self) -> Result<Price, Error> {
        let id = self.kebab_id("price")?;
        let base: Option<String> = self.take("base")?;
        let mut sides = Vec::new();
        for way in [Way::Sync, Way::Async] {
            if let Some(arm) = self.take(way.into_str())? {
                sides.push((way, self.handoff(arm, base.clone())?));
            }
        }
        if sides.is_empty() {
            return Err(self.fault("needs an arm: sync, async or both"));
        }
        if let Some(arm) = base {
            sides.push((Way::Base, self.handoff(arm, None)?));
        }
        let mut price = Price {
            id,
            text: self.need("text")?,
            condition: self.take("condition")?.unwrap_or_default(),
            sides,
            uses: Vec::new(),
            is_in_readme: self.take("readme")?.unwrap_or(false),
            is_in_report: self.take("report")?.unwrap_or(false),
        };
        price.uses = self.uses(&price)?;
        Ok(price)
    }

    /// What an arm takes for a handoff, less what `minus` does.
    fn handoff(&self, arm: String, minus: Option<String>) -> Result<Quantity, Error> {
        let printed: String = self.need("unit")?;
        let mut quantity = self.samples(Of::Each(Vec::new()))?;
        if !self.has("metric") {
            HANDOFF.clone_into(&mut quantity.metric);
        }
        if quantity.scenarios.values().any(|scenarios| scenarios.len() != 1) {
            return Err(self.fault_at("scenarios", "is measured in one scenario: name exactly one"));
        }
        let own = fmt::conversion(unit(&quantity.metric).unwrap_or_default(), &printed);
        let factor = self.take("factor")?.or(own);
        let unfit = || format!("prints {} in {printed}: say by what factor", quantity.metric);
        let factor = factor.ok_or_else(|| self.fault_at("unit", unfit()))?;
        quantity.of = Of::Value { arm, minus, per: None, factor, unit: printed };
        Ok(quantity)
    }

    /// The sentence of use, with places such as `{async}` and `{async*20}`; nothing without one.
    fn uses(&self, price: &Price) -> Result<Vec<Piece>, Error> {
        let text: String = self.take("use")?.unwrap_or_default();
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some((words, place)) = rest.split_once('{') {
            let place = place.split_once('}');
            let figure = place.and_then(|(figure, _)| {
                let (way, factor) = figure.split_once('*').unwrap_or((figure, "1"));
                let way = [Way::Sync, Way::Async].into_iter().find(|own| own.into_str() == way.trim())?;
                let factor = factor.trim().parse().ok().filter(|factor: &f64| *factor > 0.0)?;
                price.has(way).then_some(Piece::Times(way, factor))
            });
            let (Some(figure), Some((_, after))) = (figure, place) else {
                let what = "has a place in 'use' that no figure can fill: write {sync}, {async} or {async*20}, of an arm that it has";
                return Err(self.fault_at("use", what));
            };
            pieces.extend([Piece::Words(words.to_owned()), figure]);
            rest = after;
        }
        pieces.push(Piece::Words(rest.to_owned()));
        pieces.retain(|piece| *piece != Piece::Words(String::new()));
        Ok(pieces)
    }

    /// An effect that the price of a handoff should explain.
    pub(super) fn rule(&self) -> Result<Rule, Error> {
        let base: String = self.need("base")?;
        let measured = match (self.take("claim")?, self.ratio("ratio")?) {
            (Some(claim), None) => Measured::Claim(claim, self.need::<Form>("form")?),
            (None, Some(of)) => Measured::Ratio(self.observed(of, &base)?),
            _ => return Err(self.fault("needs what is measured: claim and form, or ratio and scenarios")),
        };
        Ok(Rule {
            id: self.need("id")?,
            text: self.need("text")?,
            measured,
            shape: self.shape()?,
            handoffs: self.handoffs()?,
            price: self.price_of()?,
            base,
            metric: self.take("metric")?,
        })
    }

    /// How handoffs add up.
    pub(super) fn shape(&self) -> Result<Shape, Error> {
        match self.need::<String>("shape")?.as_str() {
            "added" => Ok(Shape::Added),
            "overlap" => Ok(Shape::Overlap(self.need("beside")?)),
            _ => Err(self.fault_at("shape", "has a shape that there is not: choose added or overlap")),
        }
    }

    /// The price that predicts, as `STUDY.price-id`, and its side.
    pub(super) fn price_of(&self) -> Result<PriceOf, Error> {
        let price: String = self.need("price")?;
        let (study, price) =
            price.split_once('.').ok_or_else(|| self.fault_at("price", "names no price: write STUDY.price-id"))?;
        Ok((study.to_owned(), price.to_owned(), self.need("side")?))
    }

    /// A ratio that others measure, with or without the arm `base`.
    fn observed(&self, of: Of, base: &str) -> Result<Quantity, Error> {
        if !of.arms().iter().any(|arm| *arm == base) {
            return Err(self.fault_at("base", "is no arm of its ratio"));
        }
        Ok(Quantity {
            line: self.reader.file.line_at(self.at),
            metric: self.take("metric")?.unwrap_or_else(|| "work_s".to_owned()),
            scenarios: self.scenarios()?,
            of,
            lower_is_better: true,
            replicate: self.take("replicate")?.unwrap_or(Replicate::Process),
            blocks: BTreeMap::new(),
        })
    }

    pub(super) fn handoffs(&self) -> Result<Handoffs, Error> {
        let table = self.table("handoffs", &format!("handoffs of {}", self.name))?;
        let table = table.ok_or_else(|| self.fault("needs the key 'handoffs'"))?;
        if let Some(count) = table.take("count")? {
            return Ok(Handoffs::Known(count, table.need("why")?));
        }
        Ok(Handoffs::Counted { metric: table.need("metric")?, arm: table.need("arm")?, minus: table.take("minus")? })
    }
}
