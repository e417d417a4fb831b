//! What one block yields as one number, and how that is judged.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use strum::VariantNames;
use toml::de::DeValue;

use super::{ORIGINALS, PROFILES, Scope};
use crate::claims::rules::Band;
use crate::claims::{Aim, Better, Bound, Form, Kind, Of, Quantity, Replicate};
use crate::error::Error;
use crate::folder::record::unit;

impl Scope<'_, '_> {
    pub(super) fn bound(&self) -> Result<Option<Bound>, Error> {
        match (self.take::<f64>("at_most")?, self.take::<f64>("at_least")?) {
            (Some(_), Some(_)) => Err(self.fault_at("at_least", "has both at_most and at_least: keep one")),
            (Some(limit), None) => Ok(Some(Bound::AtMost(limit))),
            (None, limit) => Ok(limit.map(Bound::AtLeast)),
        }
    }

    pub(super) fn band(&self, key: &str) -> Result<Option<Band>, Error> {
        let Some([lo, hi]) = self.take::<[f64; 2]>(key)? else { return Ok(None) };
        if lo < hi {
            return Ok(Some(Band { lo, hi }));
        }
        Err(self.fault_at(key, format!("has a {key} of nothing, from {lo} to {hi}: the lower end comes first")))
    }

    /// The published figure: a number, or the ends of a range.
    pub(super) fn figure(&self) -> Result<Option<Band>, Error> {
        if matches!(self.entries.get("figure").map(|entry| entry.value.get_ref()), Some(DeValue::Array(_))) {
            return self.band("figure");
        }
        Ok(self.take("figure")?.map(|figure| Band { lo: figure, hi: figure }))
    }

    /// The asserted range of a value: from `lo` to `hi`, or all that keeps a bound.
    pub(super) fn asserted(&self) -> Result<Option<Band>, Error> {
        let bound = self.bound()?.map(|bound| match bound {
            Bound::AtMost(hi) => Band { lo: f64::NEG_INFINITY, hi },
            Bound::AtLeast(lo) => Band { lo, hi: f64::INFINITY },
        });
        Ok(self.band("band")?.or(bound))
    }

    /// Checks that `metric` and `per` have the same scope.
    pub(super) fn check_scopes(&self, metric: &str, per: &str) -> Result<(), Error> {
        let scopes = self.reader.scopes.borrow();
        let Some([above, below]) = scopes.unlike(metric, per) else { return Ok(()) };
        let what = format!(
            "divides {metric}, which is of a {above}, by {per}, which is of a {below}: divide what is of one thing, as 'scope' says"
        );
        Err(self.fault_at("per", what))
    }

    pub(super) fn margin(&self, quantity: &Quantity) -> Result<f64, Error> {
        let margin: f64 = self.take("margin")?.unwrap_or_else(|| quantity.usual_margin());
        if margin > 0.0 && margin < 1.0 {
            return Ok(margin);
        }
        Err(self.fault_at("margin", format!("has a margin of {margin}, not between 0 and 1: 0.05 is 5 %")))
    }

    pub(super) fn by_profile<T: DeserializeOwned>(&self, key: &str) -> Result<BTreeMap<String, T>, Error> {
        let values: BTreeMap<String, T> = self.need(key)?;
        let Some(other) = values.keys().find(|name| !PROFILES.contains(&name.as_str()) && *name != ORIGINALS) else {
            return Ok(values);
        };
        let what =
            format!("names the profile '{other}' in {key}: only quick and full judge, and originals beside them");
        Err(self.fault_at(key, what))
    }

    /// A list of scenarios is that of all profiles.
    pub(super) fn scenarios(&self) -> Result<BTreeMap<String, Vec<String>>, Error> {
        if self.is_table("scenarios") {
            return self.by_profile("scenarios");
        }
        let all: Vec<String> = self.need("scenarios")?;
        let profiles = PROFILES.into_iter().chain([ORIGINALS]);
        Ok(profiles.map(|profile| (profile.to_owned(), all.clone())).collect())
    }

    /// Two arms, written as `a / b`.
    pub(super) fn ratio(&self, key: &str) -> Result<Option<Of>, Error> {
        let Some(ratio) = self.take::<String>(key)? else { return Ok(None) };
        let is_arm = |arm: &str| !arm.is_empty() && !arm.contains([' ', '/', '~']);
        let arms = ratio.split_once(" / ").map(|(a, b)| (a.trim(), b.trim()));
        let arms = arms.filter(|(a, b)| is_arm(a) && is_arm(b));
        let (a, b) = arms.ok_or_else(|| self.fault_at(key, format!("has the ratio '{ratio}': write \"a / b\"")))?;
        Ok(Some(Of::Ratio { numerator: a.to_owned(), denominator: b.to_owned() }))
    }

    /// Reads the quantity of this table.
    pub(super) fn quantity(&self) -> Result<Quantity, Error> {
        let of = match (self.ratio("ratio")?, self.take("arm")?, self.take("arms")?) {
            (Some(ratio), None, None) => ratio,
            (None, Some(arm), None) => Of::Value {
                arm,
                minus: self.take("minus")?,
                per: self.take("per")?,
                factor: self.take("factor")?.unwrap_or(1.0),
                unit: String::new(),
            },
            (None, None, Some(arms)) if !Vec::is_empty(&arms) => Of::Each(arms),
            _ => return Err(self.fault("needs arms: either ratio = \"a / b\", or arm, or (slopes only) arms")),
        };
        let mut quantity = self.samples(of)?;
        if let Of::Value { unit: printed, per, .. } = &mut quantity.of {
            let own = unit(&quantity.metric).unwrap_or("s");
            // Seconds per second are no seconds.
            let cancels = per.as_deref().is_some_and(|per| unit(per) == Some(own));
            if let Some(per) = per {
                self.check_scopes(&quantity.metric, per)?;
            }
            *printed = self.take("unit")?.unwrap_or_else(|| if cancels { "ratio" } else { own }.to_owned());
        }
        quantity.replicate = self.take("replicate")?.unwrap_or(quantity.replicate);
        if quantity.is_duet() && !quantity.is_ratio() {
            return Err(self.fault("is a duet: it needs ratio = \"a / b\""));
        }
        Ok(quantity)
    }

    /// The samples of some arms.
    pub(super) fn samples(&self, of: Of) -> Result<Quantity, Error> {
        let metric: String = self.take("metric")?.unwrap_or_else(|| "work_s".to_owned());
        if unit(&metric).is_none() {
            return Err(self.fault_at("metric", format!("has the metric '{metric}', which does not end in a unit")));
        }
        Ok(Quantity {
            line: self.reader.file.line_at(self.at),
            metric,
            scenarios: self.scenarios()?,
            of,
            lower_is_better: self.take("better")?.unwrap_or(Better::Lower) == Better::Lower,
            replicate: Replicate::Process,
            blocks: self.by_profile("blocks")?,
        })
    }

    /// Reads how the test is judged; `form` is the form that the table belongs to.
    pub(super) fn kind(&self, form: Form) -> Result<Kind, Error> {
        let name: String = self.need("kind")?;
        let lacks = |what: &str| self.fault(format!("of kind {name} needs {what}"));
        match name.as_str() {
            "ratio" => Ok(Kind::Ratio),
            "every" => Ok(Kind::Every),
            "equal" => Ok(Kind::Equal),
            "band" => {
                let asserted = self.asserted()?;
                Ok(Kind::Band(asserted.ok_or_else(|| lacks("band = [lo, hi], at_least or at_most"))?))
            }
            "slope" => {
                let x = self.take("x")?.ok_or_else(|| lacks("x, a metric"))?;
                let aim = match (self.band("band")?, self.take("direction")?) {
                    (Some(band), None) => Aim::Band(band),
                    (None, Some(direction)) => Aim::Direction(direction),
                    _ => return Err(lacks("either band or direction (up, down or flat)")),
                };
                Ok(Kind::Slope { x, aim })
            }
            "cause" => {
                let whole: String = self.take("explains")?.ok_or_else(|| lacks("explains, the id of a claim"))?;
                let named = whole.rsplit_once('.').and_then(|(id, form)| Some((id.to_owned(), form.parse().ok()?)));
                let (explains, form) = named.unwrap_or((whole, form));
                Ok(Kind::Cause { explains, form })
            }
            "outcome" => {
                let bound = self.bound()?.ok_or_else(|| lacks("at_least or at_most"))?;
                let share = self.take("share")?.filter(|share| (0.0..1.0).contains(share));
                Ok(Kind::Outcome { bound, share: share.ok_or_else(|| lacks("a share from 0 to below 1"))? })
            }
            other => {
                let known = Kind::VARIANTS.join(", ");
                Err(self.fault_at("kind", format!("is of no kind that there is, '{other}': choose one of {known}")))
            }
        }
    }
}
