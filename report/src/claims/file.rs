//! claims.toml, read strictly, so that a misspelt or misplaced key cannot silently change a verdict.
//!
//! A form inherits what it does not say from its claim, a part from its form, a cause from its part. A key that nobody reads is an error.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer};
use strum::{VariantArray as _, VariantNames};
use toml::{Table, Value};

use crate::claims::{
    Aim, Asked, Cause, Claim, Claims, ControlCase, Form, Goal, Kind, Mirrors, Of, Part, Quantity, Replicate, Test,
};
use crate::claims::{handoffs::After, rules::Band};
use crate::error::Error;
use crate::files::{TomlFile, chosen, in_line};
use crate::fmt::ends_in_unit;
use crate::folder::cases::is_made_of;

/// The profiles that judge.
const PROFILES: [&str; 2] = ["quick", "full"];
/// The profile that runs the authors' own code beside its mirrors.
pub const ORIGINALS: &str = "originals";
/// Keys that claims had before: rounds have them, and they say nothing.
const RETIRED: [&str; 3] = ["size", "size_band", "control"];

/// What is inherited of the samples that are measured, and how they are made.
const SAMPLES: [&str; 4] = ["metric", "scenarios", "blocks", "better"];
/// Whoever says one of these inherits none of the others.
const ARMS: [&str; 3] = ["ratio", "arm", "arms"];
const BOUNDS: [&str; 4] = ["at_least", "at_most", "band", "direction"];
/// What a table keeps to itself.
const KEPT: [&str; 9] = ["id", "text", "short", "part", "further", "absent", "pending", "ours", "but"];

fn is_inherited(key: &str) -> bool {
    !KEPT.contains(&key)
}

type Scenarios = BTreeMap<String, Vec<String>>;

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a list of scenarios, or one for each profile")]
enum Written {
    Each(Vec<String>),
    Of(Scenarios),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a figure, or the two ends of a range")]
enum Figure {
    One(f64),
    Range([f64; 2]),
}

pub(super) trait Read: Sized {
    fn read(keys: &Keys) -> Result<Self, String>;
}

/// Reads a list of tables; what is wrong in one is said of its id.
pub(super) fn all<'de, T: Read, D: Deserializer<'de>>(tables: D) -> Result<Vec<T>, D::Error> {
    let read = |table: &Table| {
        let id = table.get("id").and_then(Value::as_str).unwrap_or_default();
        Keys::alone(table, T::read).map_err(|what| de::Error::custom(format!("{id} {what}")))
    };
    Vec::<Table>::deserialize(tables)?.iter().map(read).collect()
}

/// A table, the one around it from which it inherits some keys, and those of its own that somebody read.
pub(super) struct Keys<'a> {
    own: &'a Table,
    outer: Option<&'a Keys<'a>>,
    inherits: fn(&str) -> bool,
    read: RefCell<BTreeSet<String>>,
}

impl Keys<'_> {
    /// What `read` makes of a table by itself.
    fn alone<T>(own: &Table, read: impl FnOnce(&Keys) -> Result<T, String>) -> Result<T, String> {
        Keys { own, outer: None, inherits: |_| false, read: RefCell::default() }.only(read)
    }

    /// The same of a table that inherits some keys from this one.
    fn inner<T>(
        &self,
        own: &Table,
        inherits: fn(&str) -> bool,
        read: impl FnOnce(&Keys) -> Result<T, String>,
    ) -> Result<T, String> {
        Keys { own, outer: Some(self), inherits, read: RefCell::default() }.only(read)
    }

    fn own<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, String> {
        let Some(value) = self.own.get(key) else { return Ok(None) };
        self.read.borrow_mut().insert(key.to_owned());
        value.clone().try_into().map(Some).map_err(|error| format!("cannot have this '{key}': {}", in_line(&error)))
    }

    /// The value of a key, its own or that which it inherits.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, String> {
        match (self.own(key)?, self.outer) {
            (None, Some(outer)) if (self.inherits)(key) => outer.get(key),
            (own, _) => Ok(own),
        }
    }

    pub(super) fn need<T: DeserializeOwned>(&self, key: &str) -> Result<T, String> {
        self.get(key)?.ok_or_else(|| format!("needs the key '{key}'"))
    }

    /// The nearest table that says one of the keys.
    fn nearest(&self, keys: &[&str]) -> &Self {
        match self.outer {
            Some(outer) if (self.inherits)(keys[0]) && !keys.iter().any(|key| self.own.contains_key(*key)) => {
                outer.nearest(keys)
            }
            _ => self,
        }
    }

    /// What is `read` of the table, unless it has a key that nobody read.
    fn only<T>(&self, read: impl FnOnce(&Keys) -> Result<T, String>) -> Result<T, String> {
        let (read, known) = (read(self)?, self.read.borrow());
        let mut left = self.own.keys().map(String::as_str).filter(|key| !known.contains(*key));
        let Some(key) = left.find(|key| !RETIRED.contains(key)) else { return Ok(read) };
        let why = match key {
            "minus" | "per" | "factor" | "unit" => ": it belongs to a value of one arm",
            "ratio" | "arm" | "arms" => ": every test that could inherit it names its own arms",
            _ => "",
        };
        Err(format!("has the key '{key}', which means nothing there{why}"))
    }

    /// What `read` makes of each table in the list of this key; none if there is no list.
    pub(super) fn each<T>(&self, key: &str, read: impl Fn(&Keys) -> Result<T, String>) -> Result<Vec<T>, String> {
        let tables = self.get::<Vec<Table>>(key)?.unwrap_or_default();
        tables.iter().map(|own| Keys::alone(own, &read)).collect()
    }

    pub(super) fn scenarios(&self) -> Result<Option<Scenarios>, String> {
        let each = |all: Vec<String>| ["quick", "full", ORIGINALS].map(|profile| (profile.to_owned(), all.clone()));
        Ok(self.get("scenarios")?.map(|written: Written| match written {
            Written::Of(by_profile) => by_profile,
            Written::Each(all) => each(all).into(),
        }))
    }

    /// A range with one end.
    fn bound(&self) -> Result<Option<Band>, String> {
        let keys = self.nearest(&BOUNDS);
        match (keys.own("at_least")?, keys.own("at_most")?) {
            (Some(_), Some(_)) => Err("has both at_most and at_least: keep one".to_owned()),
            (Some(lo), None) => Ok(Some(Band { lo, hi: f64::INFINITY })),
            (None, limit) => Ok(limit.map(|hi| Band { lo: f64::NEG_INFINITY, hi })),
        }
    }

    fn band(&self) -> Result<Option<Band>, String> {
        self.nearest(&BOUNDS).own("band")?.map(band).transpose()
    }

    fn margin(&self, quantity: &Quantity) -> Result<f64, String> {
        let margin = self.get("margin")?.unwrap_or_else(|| quantity.usual_margin());
        let what = || format!("has a margin of {margin}, not between 0 and 1: 0.05 is 5 %");
        (margin > 0.0 && margin < 1.0).then_some(margin).ok_or_else(what)
    }

    fn quantity(&self) -> Result<Quantity, String> {
        let arms = self.nearest(&ARMS);
        let of = match (arms.own::<String>("ratio")?, arms.own("arm")?, arms.own::<Vec<_>>("arms")?) {
            (Some(ratio), None, None) => Of::ratio(&ratio)?,
            (None, Some(arm), None) => {
                let (minus, per, factor) = (self.get("minus")?, self.get("per")?, self.get("factor")?.unwrap_or(1.0));
                Of::Value { arm, minus, per, factor, unit: String::new() }
            }
            (None, None, Some(arms)) if !arms.is_empty() => Of::Each(arms),
            _ => return Err("needs arms: either ratio = \"a / b\", or arm, or (slopes only) arms".to_owned()),
        };
        let mut quantity = Quantity { replicate: self.get("replicate")?.unwrap_or_default(), ..self.samples(of)? };
        if quantity.is_duet() && !quantity.is_ratio() {
            return Err("is a duet: it needs ratio = \"a / b\"".to_owned());
        }
        if let Of::Value { unit, per, .. } = &mut quantity.of {
            *unit = self.get("unit")?.unwrap_or_else(|| Of::unit(&quantity.metric, per.as_deref()));
        }
        Ok(quantity)
    }

    fn samples(&self, of: Of) -> Result<Quantity, String> {
        let metric = self.get("metric")?.unwrap_or_else(|| "work_s".to_owned());
        let (scenarios, blocks) = (self.scenarios()?.ok_or("needs the key 'scenarios'")?, self.need("blocks")?);
        let lower_is_better = match self.get::<String>("better")?.as_deref() {
            None | Some("lower") => true,
            Some("higher") => false,
            Some(other) => return Err(format!("has '{other}' for better: it is `higher` or `lower`")),
        };
        Ok(Quantity { lower_is_better, ..Quantity::of_processes(&metric, of, &scenarios, &blocks) })
    }

    /// How the test is judged; `form` is the form that it belongs to.
    fn kind(&self, form: Form) -> Result<Kind, String> {
        let name: String = self.need("kind")?;
        let lacks = |what: &str| format!("of kind {name} needs {what}");
        match name.as_str() {
            "ratio" => Ok(Kind::Ratio),
            "every" => Ok(Kind::Every),
            "equal" => Ok(Kind::Equal),
            "band" => {
                let asserted = match (self.band()?, self.bound()?) {
                    (Some(_), Some(_)) => None,
                    (range, bound) => range.or(bound),
                };
                Ok(Kind::Band(asserted.ok_or_else(|| lacks("one of band = [lo, hi], at_least or at_most"))?))
            }
            "slope" => {
                let x = self.get("x")?.ok_or_else(|| lacks("x, a metric"))?;
                match (self.band()?, self.nearest(&BOUNDS).own("direction")?) {
                    (Some(range), None) => Ok(Kind::Slope { x, aim: Aim::Band(range) }),
                    (None, Some(direction)) => Ok(Kind::Slope { x, aim: Aim::Direction(direction) }),
                    _ => Err(lacks("either band or direction (up, down or flat)")),
                }
            }
            "cause" => {
                let whole: String = self.get("explains")?.ok_or_else(|| lacks("explains, the id of a claim"))?;
                let named = whole.rsplit_once('.').and_then(|(id, form)| Some((id.to_owned(), chosen(form).ok()?)));
                let (explains, form) = named.unwrap_or((whole, form));
                Ok(Kind::Cause { explains, form })
            }
            "outcome" => {
                let bound = self.bound()?.ok_or_else(|| lacks("at_least or at_most"))?;
                let share = self.get("share")?.filter(|share| (0.0..1.0).contains(share));
                Ok(Kind::Outcome { bound, share: share.ok_or_else(|| lacks("a share from 0 to below 1"))? })
            }
            other => {
                Err(format!("is of no kind that there is, '{other}': choose one of {}", Kind::VARIANTS.join(", ")))
            }
        }
    }
}

/// An id that links and file names hold.
pub(super) fn check_kebab(id: &str) -> Result<(), String> {
    let is_name = id.split('-').all(|word| is_made_of(word, b'-'));
    is_name.then_some(()).ok_or_else(|| format!("{id} is no id: write it in small letters with hyphens between words"))
}

fn band([lo, hi]: [f64; 2]) -> Result<Band, String> {
    let what = || format!("has a range of nothing, from {lo} to {hi}: the lower end comes first");
    (lo < hi).then_some(Band { lo, hi }).ok_or_else(what)
}

/// Why `control` shares no pairs with any of `effects`, in words: single processes and duets make none, nor do blocks of two scenarios.
fn unpaired(control: &Quantity, effects: &[&Quantity]) -> Option<String> {
    let alike: Vec<_> = effects.iter().filter(|effect| effect.replicate == control.replicate).collect();
    if alike.is_empty() {
        return Some(format!("no effect has replicate = \"{}\" like its own", control.replicate.into_str()));
    }
    PROFILES.iter().filter(|profile| control.is_measured(profile)).find_map(|profile| {
        let is_there = |scenario: &&String| alike.iter().any(|effect| effect.scenarios(profile).contains(scenario));
        let scenario = control.scenarios(profile).iter().find(|scenario| !is_there(scenario))?;
        Some(format!("no effect is measured in {scenario}, where it is"))
    })
}

impl Read for Claim<Asked> {
    fn read(keys: &Keys) -> Result<Self, String> {
        let (id, text, original) = (keys.need("id")?, keys.need("text")?, keys.need("original")?);
        let of = |name: &str, own: &Table, form: Form| {
            keys.inner(own, is_inherited, |keys| asked(keys, form)).map_err(|what| format!("({name}) {what}"))
        };
        let form = |form: &Form| {
            let lacks = || format!("needs the key '{form}': a form that makes no sense is {{ absent = \"why\" }}");
            let of = of(form.in_words(), &keys.get::<Table>(form.into_str())?.ok_or_else(lacks)?, *form)?;
            Ok(Test { id: String::clone(&id), text: String::clone(&text), form: *form, of })
        };
        let forms = Form::VARIANTS.iter().map(form);
        let further = |mut own: Table| {
            let mut take = |key| {
                let text = own.remove(key).and_then(|text| text.try_into().ok());
                text.ok_or_else(|| format!("needs a text as the key '{key}'"))
            };
            let (id, text): (String, String) = (take("id")?, take("text")?);
            // Alone in the evidence a test about a cause explains what is fair.
            Ok(Test { of: of(&id, &own, Form::Fair)?, id, text, form: Form::Fair })
        };
        let further = keys.get::<Vec<_>>("further")?.unwrap_or_default().into_iter().map(further);
        let tests = forms.chain(further).collect::<Result<_, String>>()?;
        Ok(Claim { id, text, original, tests })
    }
}

fn asked(keys: &Keys, form: Form) -> Result<Asked, String> {
    if let Some(why) = keys.get("absent")? {
        return Ok(Asked::Absent(why));
    }
    if let Some(why) = keys.get("pending")? {
        return Ok(Asked::Pending(why));
    }
    // Without parts it is its only one.
    let Some(parts) = keys.get::<Vec<Table>>("part")? else { return Ok(Asked::Parts(vec![part(keys, form)?])) };
    if parts.is_empty() {
        return Err("needs at least one part in 'part'".to_owned());
    }
    let of = |own: &Table| keys.inner(own, is_inherited, |keys| part(keys, form));
    Ok(Asked::Parts(parts.iter().map(of).collect::<Result<_, _>>()?))
}

fn part(keys: &Keys, form: Form) -> Result<Part, String> {
    let text = keys.get("text")?.unwrap_or_default();
    let (kind, quantity) = (keys.kind(form)?, keys.quantity()?);
    let fits = match (&kind, &quantity.of) {
        (Kind::Slope { .. }, of) => !matches!(of, Of::Value { .. }),
        (Kind::Ratio | Kind::Band(_) | Kind::Outcome { .. }, of) => !matches!(of, Of::Each(_)),
        (Kind::Equal | Kind::Cause { .. } | Kind::Every, of) => matches!(of, Of::Ratio { .. }),
    };
    if !fits {
        let kind = kind.into_str();
        return Err(format!("of kind {kind} is made of the wrong arms: see the kinds in docs/FORMAT.md"));
    }
    let causes = keys.get::<Vec<Table>>("cause")?.unwrap_or_default();
    let causes = causes.iter().map(|own| cause(own, keys, &quantity)).collect::<Result<_, _>>()?;
    let figure = match keys.get::<Figure>("figure")? {
        None => None,
        Some(Figure::One(figure)) => Some(Band { lo: figure, hi: figure }),
        Some(Figure::Range(range)) => Some(band(range)?),
    };
    // That of a value stands in its quantity.
    let unit = if quantity.is_ratio() { keys.get("unit")? } else { None }.unwrap_or_default();
    let mirrors = keys.get("mirrors")?.map(|theirs| mirrors(theirs, keys, &quantity)).transpose()?;
    let margin = keys.margin(&quantity)?;
    let least_cpus = keys.get("least_cpus")?;
    let part = Part { text, kind, margin, quantity, figure, unit, least_cpus, aa: None, causes, mirrors };
    Ok(Part { aa: copies(keys, &part)?, ..part })
}

fn cause(own: &Table, part: &Keys, effect: &Quantity) -> Result<Cause, String> {
    let names_arms = ["ratio", "arm"].iter().any(|key| own.contains_key(*key));
    let inherits: fn(&str) -> bool = if own.contains_key("arm") {
        // A counter of one arm cannot come from a duet, even if the claim does.
        |key| SAMPLES.contains(&key)
    } else if names_arms {
        |key| SAMPLES.contains(&key) || key == "replicate"
    } else {
        |key| is_inherited(key) && !BOUNDS.contains(&key)
    };
    let read = |keys: &Keys| {
        let (short, text) = (keys.need("short")?, keys.need("text")?);
        let (bound, quantity) = (keys.bound()?, keys.quantity()?.within(effect));
        let fault = match bound {
            Some(_) => None,
            None if !quantity.is_ratio() => Some("is a counter: it needs at_least or at_most".to_owned()),
            None if !names_arms => {
                Some("is a control arm: it needs a ratio of its own, or at_least or at_most".to_owned())
            }
            None => unpaired(&quantity, &[effect]).map(|what| format!("explains nothing: {what}")),
        };
        fault.map_or(Ok(Cause { short, text, quantity, bound }), Err)
    };
    let short = own.get("short").and_then(Value::as_str).unwrap_or_default();
    part.inner(own, inherits, read).map_err(|what| format!("has a cause, {short}, that {what}"))
}

/// The authors' own code, which the arms of a part mirror, in the same runs or with what else is measured there.
fn mirrors(theirs: Value, part: &Keys, ours: &Quantity) -> Result<Mirrors, String> {
    let table = match theirs {
        Value::String(ratio) => Table::from_iter([("ratio".to_owned(), Value::String(ratio))]),
        Value::Table(table) => table,
        _ => {
            return Err("needs \"a / b\", or a table of what is measured of the authors' code, in 'mirrors'".to_owned());
        }
    };
    let inherits = |key: &str| SAMPLES.contains(&key) || key == "replicate";
    let read = |keys: &Keys| {
        let own = |key: &str| {
            let Some(own) = keys.get::<Table>(key)? else { return Ok(None) };
            let text = |keys: &Keys| if key == "but" { keys.need("text") } else { Ok(String::new()) };
            keys.inner(&own, inherits, |keys| Ok((text(keys)?, keys.quantity()?))).map(Some)
        };
        let theirs = keys.quantity()?;
        let (scenarios, blocks) = (theirs.scenarios.clone(), theirs.blocks.clone());
        let ours = own("ours")?.map_or_else(|| ours.clone(), |(_, ours)| ours);
        Ok(Mirrors { ours: Quantity { scenarios, blocks, ..ours }, theirs, but: own("but")? })
    };
    part.inner(&table, inherits, read).map_err(|what| format!("has mirrors of which one {what}"))
}

/// The A/A control that a part asks for: by default, where it has a floor, of its denominator.
fn copies(keys: &Keys, part: &Part) -> Result<Option<ControlCase>, String> {
    let mut quantity = part.quantity.clone();
    let mut arm = match &quantity.of {
        Of::Ratio { denominator, .. } if part.has_floor() => Some(denominator.clone()),
        _ => None,
    };
    match keys.get::<Value>("aa")? {
        None => {}
        Some(Value::String(own)) => arm = Some(own).filter(|own| own != "none"),
        Some(Value::Table(own)) => {
            let read = |keys: &Keys| Ok((keys.get("arm")?, keys.scenarios()?, keys.get("blocks")?));
            let (own, scenarios, blocks) = Keys::alone(&own, read)?;
            arm = Some(own.or(arm).ok_or("needs the arm of its A/A control in 'aa'")?);
            quantity.scenarios = scenarios.unwrap_or(quantity.scenarios);
            quantity.blocks = blocks.unwrap_or(quantity.blocks);
        }
        Some(_) => return Err("needs an arm, `none`, or a table of arm, scenarios and blocks in 'aa'".to_owned()),
    }
    Ok(arm.map(|arm| {
        quantity.of = Of::copies(&arm, quantity.replicate);
        ControlCase::new(&arm, None, part.margin, quantity)
    }))
}

impl Read for Goal {
    fn read(keys: &Keys) -> Result<Self, String> {
        let bound = keys.bound()?.ok_or("needs at_most or at_least")?;
        Ok(Goal { id: keys.need("id")?, text: keys.need("text")?, quantity: keys.quantity()?, bound })
    }
}

/// Reads what is planted, by replicate: behind each the control of copies, which an effect of this size must stand out from.
pub(super) fn planted<'de, D: Deserializer<'de>>(tables: D) -> Result<Vec<ControlCase>, D::Error> {
    let read = |replicate: &Replicate, keys: &Keys| {
        let (arm, size): (String, f64) = (keys.need("arm")?, keys.need("size")?);
        if size <= 1.0 {
            return Err("needs a size above 1: how much longer the copy takes".to_owned());
        }
        // The handicapped copy stands above the line, so that it is a ratio above 1.
        let of = Of::Ratio { numerator: format!("{arm}@slow"), denominator: arm.clone() };
        let quantity = Quantity { replicate: *replicate, ..keys.samples(of)? };
        let margin = keys.margin(&quantity)?;
        let copies = Quantity { of: Of::copies(&arm, *replicate), ..quantity.clone() };
        Ok([(None, copies), (Some(size), quantity)].map(|(size, of)| ControlCase::new(&arm, size, margin, of)))
    };
    let named = |(replicate, table): (&Replicate, &Table)| {
        let read = Keys::alone(table, |keys| read(replicate, keys));
        read.map_err(|what| format!("planted.{} {what}", replicate.into_str()))
    };
    let tables = BTreeMap::<Replicate, Table>::deserialize(tables)?;
    let controls: Result<Vec<_>, String> = tables.iter().map(named).collect();
    Ok(controls.map_err(de::Error::custom)?.into_iter().flatten().collect())
}

impl Claims {
    /// Reads claims.toml; an error names `name` and the line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let mut claims: Claims = toml::from_str(text).map_err(|error| {
            // What is wrong with an entry as a whole is said of its id, and stands there.
            let said = in_line(&error);
            let id = format!("id = \"{}\"", said.split(' ').next().unwrap_or_default());
            if text.contains(&id) { file.error_at(&id, said) } else { file.fault(&error) }
        })?;
        let asked = claims.parts().filter_map(|(_, part)| part.aa.clone());
        claims.controls = ControlCase::united(asked.chain(claims.controls.clone()).collect());
        match claims.fault() {
            Some((id, what)) => Err(file.error_at(&format!("id = \"{id}\""), format!("{id} {what}"))),
            None => Ok(claims),
        }
    }

    /// What no table can know by itself, as an id and what is wrong with it: ids are unique, what explains another claim leads to it, and so on.
    fn fault(&self) -> Option<(&str, String)> {
        let claims = self.claims.iter();
        let ids = claims.flat_map(|claim| [&claim.id].into_iter().chain(claim.further().iter().map(|test| &test.id)));
        let ids = ids.chain(self.goals.iter().map(|goal| &goal.id)).chain(self.prices.iter().map(|price| &price.id));
        let ids = ids.chain(self.rules.iter().map(|rule| &rule.id)).chain(self.maps.iter().map(|map| &map.id));
        let mut seen = BTreeSet::new();
        if let Some(id) = ids.into_iter().find(|id| !seen.insert(*id)) {
            return Some((id.as_str(), "stands twice".to_owned()));
        }
        let is_there = |id: &str| self.parts().any(|(part, _)| part == id) || self.maps.iter().any(|map| map.id == id);
        if let Some(id) = self.first.iter().find(|id| !is_there(id)) {
            return Some((id.as_str(), "is to be measured first, but there is no such claim or map".to_owned()));
        }
        let lost = self.rules.iter().find_map(|rule| {
            let claim = rule.claim.as_ref().filter(|claim| self.asked(claim, Form::Fair).is_none())?;
            Some((rule.id.as_str(), format!("is about '{claim}', which is no claim or further test of this file")))
        });
        let is_after = |after: &After| {
            let mut firsts = self.prices.iter().filter(|price| price.id == after.of && price.after.is_none());
            let alike = self.prices.iter().filter(|price| price.after.as_ref() == Some(after));
            after.us > 0.0 && after.us.is_finite() && firsts.next().is_some() && alike.count() == 1
        };
        let baseless = self.prices.iter().find_map(|price| {
            price.after.as_ref().filter(|after| !is_after(after))?;
            let what = "needs in 'after' a price of this file that has none, and a time above zero that no other has";
            Some((price.id.as_str(), what.to_owned()))
        });
        let unexplained = self.parts().find_map(|(id, part)| {
            let Kind::Cause { explains, form } = &part.kind else { return None };
            let why = self.explains_nothing(explains, *form, &part.quantity)?;
            Some((id, format!("explains '{explains}'{why}")))
        });
        let wrong = || self.quantities().find_map(|(id, quantity)| Some((id, self.fault_of(quantity)?)));
        lost.or(baseless).or(unexplained).or_else(wrong)
    }

    fn fault_of(&self, quantity: &Quantity) -> Option<String> {
        let metric = &quantity.metric;
        if !ends_in_unit(metric) {
            return Some(format!("has the metric '{metric}', which does not end in a unit"));
        }
        let mut profiles = quantity.scenarios.keys().chain(quantity.blocks.keys());
        if let Some(other) = profiles.find(|name| !PROFILES.contains(&name.as_str()) && *name != ORIGINALS) {
            return Some(format!("names the profile '{other}': only quick and full judge, and originals beside them"));
        }
        let Of::Value { per: Some(per), .. } = &quantity.of else { return None };
        let [above, below] = self.unlike(metric, per)?;
        Some(format!(
            "divides {metric}, which is of a {above}, by {per}, which is of a {below}: divide what is of one thing, as 'scope' says"
        ))
    }

    /// Why the quantity `control` cannot explain what `id` asks in `form`, in words; `None` if it can.
    fn explains_nothing(&self, id: &str, form: Form, control: &Quantity) -> Option<String> {
        let parts = match self.asked(id, form) {
            Some(Asked::Parts(parts)) => parts,
            Some(Asked::Pending(_)) => return None,
            Some(Asked::Absent(_)) => return Some(format!(", which is absent {}", form.in_words())),
            None => return Some(", which is no claim or further test of this file".to_owned()),
        };
        let effects = parts.iter().map(|part| &part.quantity).filter(|effect| effect.is_ratio());
        unpaired(control, &effects.collect::<Vec<_>>()).map(|what| format!(", but {what}"))
    }
}

impl ControlCase {
    fn new(arm: &str, planted: Option<f64>, margin: f64, quantity: Quantity) -> Self {
        let scenarios = PROFILES.map(|profile| quantity.scenarios(profile)).into_iter().find(|them| !them.is_empty());
        let scenarios = scenarios.unwrap_or_default();
        let first = scenarios.first().map_or("", String::as_str);
        let more = if scenarios.len() > 1 { format!(" +{}", scenarios.len() - 1) } else { String::new() };
        let kind = if planted.is_some() { "planted" } else { "aa" };
        let duet = if quantity.is_duet() { " duet" } else { "" };
        let id = format!("{kind} {arm} {} {first}{more}{duet}", quantity.metric);
        ControlCase { id, planted, margin, quantity }
    }

    /// Whether both ask the same, however often.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.planted == other.planted && self.quantity.asked() == other.quantity.asked()
    }

    /// Equal controls as a single one, with the most blocks and the smallest margin; those that only sound alike get a number.
    fn united(asked: Vec<Self>) -> Vec<Self> {
        let mut controls: Vec<Self> = Vec::new();
        for mut control in asked {
            if let Some(other) = controls.iter_mut().find(|other| other.is_like(&control)) {
                other.margin = other.margin.min(control.margin);
                for (profile, blocks) in control.quantity.blocks {
                    let most = other.quantity.blocks.entry(profile).or_default();
                    *most = blocks.max(*most);
                }
                continue;
            }
            let alike = controls.iter().filter(|other| other.id.split(" #").next() == Some(&control.id)).count();
            if alike > 0 {
                control.id = format!("{} #{}", control.id, alike + 1);
            }
            controls.push(control);
        }
        controls
    }
}
