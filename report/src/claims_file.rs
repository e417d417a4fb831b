//! claims.toml, read strictly, so that a misspelt or misplaced key cannot silently change a verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use strum::{EnumString, VariantNames};
use toml::{Table, Value};

use crate::claims::{Aim, Bound, Cause, Claim, Claims, ControlCase, Form, Goal, Kind, Of, Quantity, Size};
use crate::error::Error;
use crate::files::{Schema, TomlFile, chosen};
use crate::record::unit;
use crate::verdict::{Band, Control, Direction};

/// Every key that means something in a table of some kind; a misspelt one is told from one in the wrong place.
const KEYS: &str = "id text short original beside kind margin aa planted pending untestable size size_band band x direction \
                    explains control at_least at_most share metric scenarios numerator denominator arm arms minus per factor unit \
                    better resolution form blocks cause";

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClaims {
    #[serde(rename = "schema")]
    _schema: Schema,
    study: String,
    #[serde(default)]
    budget: BTreeMap<String, f64>,
    #[serde(default)]
    claim: Vec<Table>,
    #[serde(default)]
    control: Vec<Table>,
    #[serde(default)]
    goal: Vec<Table>,
}

/// Which value is the better one.
#[derive(Debug, Clone, Copy, PartialEq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum Better {
    Lower,
    Higher,
}

/// What a control controls.
#[derive(Debug, Clone, Copy, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum ControlKind {
    Aa,
    Planted,
}

/// A table that is being read: whoever reads a key takes it out, and what is left in the end means nothing.
struct Reader<'a> {
    table: Table,
    /// What messages call the table.
    name: String,
    /// A text by which the table is found in the file.
    anchor: String,
    file: TomlFile<'a>,
}

impl Claims {
    /// Reads claims.toml; `name` stands in messages.
    ///
    /// # Errors
    /// Names file and line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let raw: RawClaims = file.parse()?;
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
            claims: file.each(raw.claim, Reader::claim)?,
            controls: file.each(raw.control, Reader::control)?,
            goals: file.each(raw.goal, Reader::goal)?,
        };
        claims.check_names(file)?;
        Ok(claims)
    }

    /// Ids are unique, and what a claim names is there.
    fn check_names(&self, file: TomlFile<'_>) -> Result<(), Error> {
        let at = |id: &str| format!("id = \"{id}\"");
        let mut seen = BTreeSet::new();
        let claims = self.claims.iter().map(|claim| &claim.id);
        let controls = self.controls.iter().map(|control| &control.id);
        for id in claims.chain(controls).chain(self.goals.iter().map(|goal| &goal.id)) {
            if !seen.insert(id) {
                return Err(file.error_at(&at(id), format!("the id '{id}' stands twice")));
            }
        }
        for claim in &self.claims {
            let named = |key: &str, id: &Option<String>, is_there: &dyn Fn(&str) -> bool, what: &str| match id {
                Some(id) if !is_there(id) => {
                    let what = format!("{key} of {} names '{id}', which is no {what} of this file", claim.id);
                    Err(file.error_at(&at(&claim.id), what))
                }
                _ => Ok(()),
            };
            let control = |id: &str| self.control(id).map(|control| control.planted.is_some());
            let explains = match &claim.kind {
                Kind::Cause { explains, .. } if claim.quantity.is_some() => Some(explains.clone()),
                _ => None,
            };
            let is_ratio =
                |id: &str| self.claim(id).and_then(|claim| claim.quantity.as_ref()).is_some_and(Quantity::is_ratio);
            named("aa", &claim.aa, &|id| control(id) == Some(false), "control of kind aa")?;
            named("planted", &claim.planted, &|id| control(id) == Some(true), "control of kind planted")?;
            named("beside", &claim.beside, &|id| self.claim(id).is_some(), "claim")?;
            named("explains", &explains, &is_ratio, "claim about a ratio")?;
        }
        Ok(())
    }
}

impl<'a> TomlFile<'a> {
    /// Reads every table by `read`.
    fn each<T>(self, tables: Vec<Table>, read: impl Fn(&mut Reader<'a>) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let one = |table: Table| {
            let named = ["id", "short"].into_iter().find_map(|key| Some((key, table.get(key)?.as_str()?.to_owned())));
            let anchor = named.as_ref().map_or_else(|| "[[".to_owned(), |(key, name)| format!("{key} = \"{name}\""));
            let name = named.map_or_else(|| "a table without id".to_owned(), |(_, name)| name);
            if let Some(key) = table.keys().find(|key| !KEYS.split(' ').any(|known| known == *key)) {
                return Err(self.error_at(key, format!("unknown field `{key}` in {name}")));
            }
            let mut reader = Reader { table, name, anchor, file: self };
            let read = read(&mut reader)?;
            reader.refuse_rest().map(|()| read)
        };
        tables.into_iter().map(one).collect()
    }
}

impl Reader<'_> {
    fn fault(&self, what: impl Into<String>) -> Error {
        self.file.error_at(&self.anchor, what)
    }

    /// The value of a key, if it is there.
    fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, Error> {
        let read = |value: Value| {
            let written = format!("{key} = {value}");
            let place = if self.file.text.contains(&written) { &written } else { &self.anchor };
            value.try_into().map_err(|error| self.file.error_at(place, error.message().trim().replace('\n', ", ")))
        };
        self.table.remove(key).map(read).transpose()
    }

    /// The value of a key that must be there.
    fn need<T: DeserializeOwned>(&mut self, key: &str) -> Result<T, Error> {
        self.take(key)?.ok_or_else(|| self.fault(format!("{} needs the key '{key}'", self.name)))
    }

    /// The value of a key that must be there, or has been said by an `outer` table.
    fn inherit<T: DeserializeOwned + Clone>(&mut self, key: &str, outer: Option<&T>) -> Result<T, Error> {
        match outer {
            Some(outer) if !self.table.contains_key(key) => Ok(outer.clone()),
            _ => self.need(key),
        }
    }

    /// The value of a key that is one of few names.
    fn choice<T: FromStr + VariantNames>(&mut self, key: &str) -> Result<Option<T>, Error> {
        let text: Option<String> = self.take(key)?;
        let read = |text: String| chosen(key, &text).map_err(|what| self.fault(format!("{}: {what}", self.name)));
        text.map(read).transpose()
    }

    /// Refuses the keys that nobody has taken.
    fn refuse_rest(&self) -> Result<(), Error> {
        let Some(key) = self.table.keys().next() else {
            return Ok(());
        };
        let of_value = ["minus", "per", "factor", "unit"].contains(&key.as_str());
        let why = if of_value { ": it belongs to a value of one arm" } else { "" };
        Err(self.fault(format!("the key '{key}' means nothing in {}{why}", self.name)))
    }

    fn margin(&mut self) -> Result<f64, Error> {
        let margin: f64 = self.need("margin")?;
        if margin > 0.0 && margin < 1.0 {
            return Ok(margin);
        }
        Err(self.fault(format!("margin {margin} of {} is not between 0 and 1: 0.05 is 5 %", self.name)))
    }

    fn bound(&mut self) -> Result<Option<Bound>, Error> {
        match (self.take::<f64>("at_most")?, self.take::<f64>("at_least")?) {
            (Some(_), Some(_)) => Err(self.fault(format!("{} has both at_most and at_least: keep one", self.name))),
            (Some(limit), None) => Ok(Some(Bound::AtMost(limit))),
            (None, limit) => Ok(limit.map(Bound::AtLeast)),
        }
    }

    fn range(&self, key: &str, [lo, hi]: [f64; 2]) -> Result<Band, Error> {
        if lo < hi {
            return Ok(Band { lo, hi });
        }
        Err(self.fault(format!("{key} of {} runs from {lo} to {hi}: the lower end comes first", self.name)))
    }

    /// What one block yields; a cause takes what it does not say from `within`, the quantity of its claim.
    fn quantity(&mut self, within: Option<&Quantity>) -> Result<Quantity, Error> {
        let metric = self.inherit("metric", within.map(|outer| &outer.metric))?;
        if metric != "process_s" && unit(&metric).is_none() {
            return Err(self.fault(format!("the metric '{metric}' of {} does not end in a unit", self.name)));
        }
        let scenarios = self.inherit("scenarios", within.map(|outer| &outer.scenarios))?;
        let blocks = self.inherit("blocks", within.map(|outer| &outer.blocks))?;
        if let Some(profile) = blocks.keys().find(|profile| !["quick", "full"].contains(&profile.as_str())) {
            let what = format!("blocks of {} names the profile '{profile}': only quick and full judge", self.name);
            return Err(self.fault(what));
        }
        let form = match (self.choice("form")?, within) {
            (Some(form), _) => form,
            // A counter of one arm cannot come from a duet, even if the claim does.
            (None, Some(outer)) if !self.table.contains_key("arm") => outer.form,
            (None, _) => Form::Process,
        };
        let lower_is_better = match self.choice::<Better>("better")? {
            Some(better) => better == Better::Lower,
            None => within.is_none_or(|outer| outer.lower_is_better),
        };
        let of = match (self.take("numerator")?, self.take("denominator")?, self.take("arm")?, self.take("arms")?) {
            (Some(numerator), Some(denominator), None, None) => Of::Ratio { numerator, denominator },
            (None, None, Some(arm), None) => Of::Value {
                arm,
                minus: self.take("minus")?,
                per: self.take("per")?,
                factor: self.take("factor")?.unwrap_or(1.0),
                unit: self.take("unit")?.unwrap_or_else(|| unit(&metric).unwrap_or("s").to_owned()),
            },
            (None, None, None, Some(arms)) if !Vec::is_empty(&arms) => Of::Each(arms),
            _ => {
                let choice = "either numerator and denominator, or arm, or (slopes only) arms";
                return Err(self.fault(format!("{} needs {choice}", self.name)));
            }
        };
        let resolution = self.take("resolution")?.unwrap_or(0.0);
        if form == Form::Duet && !matches!(of, Of::Ratio { .. }) {
            return Err(self.fault(format!("{} is a duet: it needs numerator and denominator", self.name)));
        }
        Ok(Quantity { metric, scenarios, of, lower_is_better, resolution, form, blocks })
    }

    fn claim(&mut self) -> Result<Claim, Error> {
        let mut claim = Claim {
            id: self.need("id")?,
            text: self.need("text")?,
            original: self.need("original")?,
            beside: self.take("beside")?,
            kind: Kind::Ratio { size: None },
            margin: 0.05,
            aa: None,
            planted: None,
            quantity: None,
            pending: self.take("pending")?,
            untestable: self.take("untestable")?,
            causes: Vec::new(),
        };
        let kind: String = self.need("kind")?;
        if !Kind::VARIANTS.contains(&kind.as_str()) {
            let known = Kind::VARIANTS.join(", ");
            return Err(self.fault(format!("{}: there is no kind '{kind}': choose one of {known}", claim.id)));
        }
        if (claim.pending.is_some() || claim.untestable.is_some()) && !self.table.contains_key("metric") {
            // Nothing of the rest need be said yet, and what is said means nothing yet.
            self.table.clear();
            return Ok(claim);
        }
        claim.margin = self.margin()?;
        claim.kind = self.claim_kind(&kind)?;
        claim.aa = self.take("aa")?;
        claim.planted = self.take("planted")?;
        let causes = self.take("cause")?.unwrap_or_default();
        let quantity = self.quantity(None)?;
        let fits = match claim.kind {
            Kind::Slope { .. } => !matches!(quantity.of, Of::Value { .. }),
            Kind::Band(_) | Kind::Outcome { .. } => !matches!(quantity.of, Of::Each(_)),
            Kind::Ratio { .. } | Kind::Equal | Kind::Cause { .. } | Kind::Every { .. } => quantity.is_ratio(),
        };
        if !fits {
            let what =
                format!("{} of kind {kind} is made of the wrong arms: see the kinds in docs/FORMAT.md", claim.id);
            return Err(self.fault(what));
        }
        claim.causes = self.file.each(causes, |reader| reader.cause(&quantity))?;
        claim.quantity = Some(quantity);
        Ok(claim)
    }

    fn claim_kind(&mut self, name: &str) -> Result<Kind, Error> {
        match name {
            "equal" => Ok(Kind::Equal),
            "band" => {
                let band = self.take("band")?.ok_or_else(|| self.lacks(name, "band = [lo, hi]"))?;
                Ok(Kind::Band(self.range("band", band)?))
            }
            "slope" => {
                let x = self.take("x")?.ok_or_else(|| self.lacks(name, "x, a metric"))?;
                let direction = self.choice::<Direction>("direction")?;
                let aim = match (self.take("band")?, direction) {
                    (Some(band), None) => Aim::Band(self.range("band", band)?),
                    (None, Some(direction)) => Aim::Direction(direction),
                    _ => return Err(self.lacks(name, "either band or direction (up, down or flat)")),
                };
                Ok(Kind::Slope { x, aim })
            }
            "cause" => {
                let explains = self.take("explains")?.ok_or_else(|| self.lacks(name, "explains, the id of a claim"))?;
                let control = self.choice::<Control>("control")?;
                let control = control.ok_or_else(|| self.lacks(name, "control = \"claimed\" or \"rival\""))?;
                Ok(Kind::Cause { explains, control })
            }
            "outcome" => {
                let bound = self.bound()?.ok_or_else(|| self.lacks(name, "at_least or at_most"))?;
                let share = self.take("share")?.filter(|share| (0.0..1.0).contains(share));
                Ok(Kind::Outcome { bound, share: share.ok_or_else(|| self.lacks(name, "a share from 0 to below 1"))? })
            }
            "every" => Ok(Kind::Every { size: self.size(name)? }),
            _ => Ok(Kind::Ratio { size: self.size(name)? }),
        }
    }

    /// An error about what a claim of the kind needs.
    fn lacks(&self, kind: &str, what: &str) -> Error {
        self.fault(format!("{} of kind {kind} needs {what}", self.name))
    }

    fn size(&mut self, kind: &str) -> Result<Option<Size>, Error> {
        match (self.take("size")?, self.take("size_band")?) {
            (Some(_), Some(_)) => Err(self.lacks(kind, "size or size_band, not both")),
            (Some(size), None) if size > 1.0 => Ok(Some(Size::Ratio(size))),
            (Some(_), None) => Err(self.lacks(kind, "a size above 1: state the ratio as the claim does")),
            (None, Some(band)) => Ok(Some(Size::Range(self.range("size_band", band)?))),
            (None, None) => Ok(None),
        }
    }

    fn cause(&mut self, claim: &Quantity) -> Result<Cause, Error> {
        let (short, text) = (self.need::<String>("short")?, self.need("text")?);
        let bound = self.bound()?;
        let quantity = self.quantity(Some(claim))?;
        if bound.is_none() && !quantity.is_ratio() {
            return Err(self.fault(format!("the cause '{short}' is a counter: it needs at_least or at_most")));
        }
        Ok(Cause { short, text, quantity, bound })
    }

    fn control(&mut self) -> Result<ControlCase, Error> {
        let id: String = self.need("id")?;
        let kind = self.choice("kind")?;
        let kind = kind.ok_or_else(|| self.fault(format!("{id} needs the key 'kind'")))?;
        let arm: String = self.need("arm")?;
        let margin = self.margin()?;
        // The copy stands above the line, so that a planted handicap is a ratio above 1; a duet is listed as arm~twin.
        let (copy, planted) = match (kind, self.take::<f64>("size")?) {
            (ControlKind::Aa, None) => (format!("{arm}@aa"), None),
            (ControlKind::Aa, Some(_)) => return Err(self.fault(format!("{id} of kind aa has no size"))),
            (ControlKind::Planted, Some(size)) if size > 1.0 => (format!("{arm}@slow"), Some(size)),
            (ControlKind::Planted, _) => {
                return Err(self.fault(format!("{id} of kind planted needs size, a ratio above 1")));
            }
        };
        let is_duet = self.table.get("form").and_then(Value::as_str) == Some("duet");
        let (numerator, denominator) = if is_duet && planted.is_none() { (arm, copy) } else { (copy, arm) };
        let of_quantity = ["metric", "scenarios", "form", "blocks", "resolution"];
        let (quantity, rest) =
            std::mem::take(&mut self.table).into_iter().partition(|(key, _)| of_quantity.contains(&key.as_str()));
        self.table = rest;
        self.refuse_rest()?;
        self.table = quantity;
        self.table.insert("numerator".to_owned(), numerator.into());
        self.table.insert("denominator".to_owned(), denominator.into());
        Ok(ControlCase { id, planted, margin, quantity: self.quantity(None)? })
    }

    fn goal(&mut self) -> Result<Goal, Error> {
        let (id, text) = (self.need::<String>("id")?, self.need("text")?);
        let bound = self.bound()?;
        let bound = bound.ok_or_else(|| self.fault(format!("the goal {id} needs at_most or at_least")))?;
        Ok(Goal { id, text, quantity: self.quantity(None)?, bound })
    }
}
