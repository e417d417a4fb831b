//! claims.toml, read strictly, so that a misspelt or misplaced key cannot silently change a verdict.
//!
//! A form inherits what it does not say from its claim, a part from its form, a cause from its part. Each key in the file is an [`Entry`],
//! shared by all tables that inherit it. An entry records whether it was read; a key that was never read is an error.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::de::{DeserializeOwned, IntoDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::claims::scopes::Scopes;
use crate::claims::{
    Asked, Cause, Claim, Claims, ControlCase, Form, Further, Goal, Kind, Mirrors, Of, Part, Quantity, Replicate, Unit,
};
use crate::error::Error;
use crate::files::{Schema, TomlFile, in_line};

mod quantity;

mod handoffs;

mod map;

/// Keys that a table keeps to itself.
const OWN: &str = "id text short original published fair further part absent pending schema study budget first scope planted claim goal process duet size ours but";
/// Keys that say how a test is judged; a form and a part inherit them.
const JUDGED: &str = "kind margin aa cause figure band x direction explains at_least at_most share mirrors";
/// Keys of a quantity; a cause inherits them, too.
const MEASURED: &str = "metric scenarios blocks replicate better";
/// Keys that say what the quantity is made of; a cause inherits them if it says nothing of them.
const ARMS: &str = "ratio arm arms minus per factor unit";
/// Keys of a price, and of a rule.
const PRICED: &str = "price condition sync async base use readme report rule form shape beside handoffs count why side";
/// Keys of a map.
const MAPPED: &str = "map y without crossing curve over at when";
/// Keys that claims had before: rounds that were sealed with them are still read, without them.
const RETIRED: &str = "size size_band control";
/// Groups of keys: a table that sets one key of a group does not inherit the others.
const EITHER: [&str; 2] = ["ratio arm arms", "at_least at_most band direction"];

fn is_in(keys: &str, key: &str) -> bool {
    keys.split(' ').any(|other| other == key)
}

/// A key that is written.
struct Entry<'a> {
    key: String,
    value: Spanned<DeValue<'a>>,
    /// Where it stands in the file, in bytes.
    at: usize,
    /// What messages call the table it stands in.
    of: String,
    is_read: Cell<bool>,
}

/// What is gathered while the file is read.
struct Reader<'a> {
    file: TomlFile<'a>,
    /// Whether it is of a round, which may have been sealed before some keys were retired.
    is_of_round: bool,
    scopes: RefCell<Scopes>,
    /// Every key, each of which has to be read by somebody.
    written: RefCell<Vec<Rc<Entry<'a>>>>,
    controls: RefCell<Vec<ControlCase>>,
}

/// A table with all that it says and inherits.
struct Scope<'r, 'a> {
    reader: &'r Reader<'a>,
    /// What messages call it.
    name: String,
    /// Where it begins in the file, in bytes.
    at: usize,
    entries: BTreeMap<String, Rc<Entry<'a>>>,
}

impl Claims {
    /// Reads claims.toml; `name` stands in messages.
    ///
    /// # Errors
    /// Names file and line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        Self::read(text, name, false)
    }

    /// Reads the claims.toml of a round, which may have keys that are retired.
    ///
    /// # Errors
    /// As [`Claims::parse`].
    pub fn parse_of_round(text: &str, name: &str) -> Result<Self, Error> {
        Self::read(text, name, true)
    }

    fn read(text: &str, name: &str, is_of_round: bool) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let whole = DeTable::parse(text).map_err(|error| file.fault(&error))?;
        let (written, controls, scopes) = Default::default();
        let reader = Reader { file, is_of_round, scopes, written, controls };
        let whole = Spanned::new(whole.span(), DeValue::Table(whole.into_inner()));
        let top = reader.table("claims.toml", whole)?;
        top.need::<Schema>("schema")?;
        let study = top.need("study")?;
        let mut budget_s = BTreeMap::new();
        for (key, seconds) in top.take::<BTreeMap<String, f64>>("budget")?.unwrap_or_default() {
            let Some(profile) = key.strip_suffix("_s") else {
                return Err(file.error_at(&key, format!("budget '{key}': name it PROFILE_s, in seconds")));
            };
            budget_s.insert(profile.to_owned(), seconds);
        }
        let first = top.take("first")?.unwrap_or_default();
        reader.scopes.replace(Scopes::new(top.take("scope")?.unwrap_or_default()));
        let claims = top.each("claim", "claim", |claim| claim.claim())?;
        if let Some(planted) = top.table("planted", "planted")? {
            for replicate in [Replicate::Process, Replicate::Duet] {
                let key = replicate.into_str();
                if let Some(table) = planted.table(key, &format!("planted.{key}"))? {
                    table.planted(replicate)?;
                }
            }
        }
        let goals = top.each("goal", "goal", |goal| goal.goal())?;
        let prices = top.each("price", "price", |price| price.price())?;
        let rules = top.each("rule", "rule", |rule| rule.rule())?;
        let maps = top.each("map", "map", |map| map.map())?;
        reader.refuse_unread()?;
        let (controls, scopes) = (reader.controls.into_inner(), reader.scopes.into_inner());
        let claims = Claims { study, budget_s, first, scopes, claims, controls, goals, prices, rules, maps };
        claims.check_names(file)?;
        Ok(claims)
    }

    /// Ids are unique, and what explains another claim leads to it.
    fn check_names(&self, file: TomlFile<'_>) -> Result<(), Error> {
        let further = self.claims.iter().flat_map(|claim| &claim.further).map(|test| &test.id);
        let aims = self.goals.iter().map(|goal| &goal.id).chain(self.prices.iter().map(|price| &price.id));
        let aims = aims.chain(self.rules.iter().map(|rule| &rule.id)).chain(self.maps.iter().map(|map| &map.id));
        let ids = self.claims.iter().map(|claim| &claim.id).chain(further).chain(aims);
        let mut seen = BTreeSet::new();
        if let Some(id) = ids.into_iter().find(|id| !seen.insert(*id)) {
            return Err(file.error_at(&format!("id = \"{id}\""), format!("the id '{id}' stands twice")));
        }
        let is_there =
            |id: &String| self.parts().any(|(part, _)| part == id) || self.maps.iter().any(|map| map.id == *id);
        if let Some(id) = self.first.iter().find(|id| !is_there(id)) {
            return Err(file.error_at(id, format!("'{id}' is to be measured first, but there is no such claim or map")));
        }
        self.check_rules(file)?;
        for (id, part) in self.parts() {
            if let Kind::Cause { explains, form, .. } = &part.kind
                && let Some(why) = self.explains_nothing(explains, *form, &part.quantity)
            {
                let what = format!("{id} explains '{explains}'{why}");
                return Err(Error::line(file.name, part.quantity.line, what));
            }
        }
        Ok(())
    }

    /// Why the quantity `control` cannot explain what `id` asks in `form`, in words; `None` if it can.
    fn explains_nothing(&self, id: &str, form: Form, control: &Quantity) -> Option<String> {
        let parts = match self.asked(id, form) {
            Some(Asked::Parts(parts)) => parts,
            Some(Asked::Pending(_)) => return None,
            Some(Asked::Absent(_)) => return Some(format!(", which is absent {}", form.in_words())),
            None => return Some(", which is no claim or further test of this file".to_owned()),
        };
        let mut effects: Vec<&Quantity> = parts.iter().map(|part| &part.quantity).collect();
        effects.retain(|effect| effect.is_ratio());
        if effects.is_empty() {
            return Some(", which is no claim about a ratio".to_owned());
        }
        effects.retain(|effect| effect.replicate == control.replicate);
        if effects.is_empty() {
            let own = control.replicate.into_str();
            return Some(format!(", which is no effect with replicate = \"{own}\" like its own"));
        }
        let scenario = elsewhere(control, &effects)?;
        Some(format!(" in {scenario}, where that is not measured"))
    }
}

/// A scenario of `control` that none of `effects` has in the same profile: blocks of two scenarios are no pairs.
fn elsewhere<'a>(control: &'a Quantity, effects: &[&Quantity]) -> Option<&'a String> {
    PROFILES.iter().filter(|profile| control.is_measured(profile)).find_map(|profile| {
        let is_there = |scenario: &&String| effects.iter().any(|effect| effect.scenarios(profile).contains(scenario));
        control.scenarios(profile).iter().find(|scenario| !is_there(scenario))
    })
}

/// The profiles that judge.
const PROFILES: [&str; 2] = ["quick", "full"];
/// The profile that runs the authors' own code beside its mirrors.
pub const ORIGINALS: &str = "originals";

impl<'a> Reader<'a> {
    /// Reads a table as it is written; its id or short text becomes its name in messages.
    fn table(&self, name: &str, value: Spanned<DeValue<'a>>) -> Result<Scope<'_, 'a>, Error> {
        let at = value.span().start;
        let DeValue::Table(table) = value.into_inner() else {
            return Err(self.file.error_in(at, format!("{name} is no table")));
        };
        let named = ["id", "short"].into_iter().find_map(|key| {
            let (key, value) = table.get_key_value(key)?;
            Some((key.span().start, value.get_ref().as_str()?.to_owned()))
        });
        let (at, name) = named.unwrap_or((at, name.to_owned()));
        let mut entries = BTreeMap::new();
        for (key, value) in table {
            let (at, key) = (key.span().start, key.into_inner().into_owned());
            if self.is_of_round && is_in(RETIRED, &key) && !name.starts_with("planted.") {
                continue;
            }
            if ![OWN, JUDGED, MEASURED, ARMS, PRICED, MAPPED].iter().any(|keys| is_in(keys, &key)) {
                return Err(self.file.error_in(at, format!("unknown key `{key}` in {name}")));
            }
            let entry = Rc::new(Entry { key: key.clone(), value, at, of: name.clone(), is_read: Cell::new(false) });
            self.written.borrow_mut().push(Rc::clone(&entry));
            entries.insert(key, entry);
        }
        Ok(Scope { reader: self, name, at, entries })
    }

    /// Refuses the first key that nobody has read.
    fn refuse_unread(&self) -> Result<(), Error> {
        let written = self.written.borrow();
        let Some(entry) = written.iter().filter(|entry| !entry.is_read.get()).min_by_key(|entry| entry.at) else {
            return Ok(());
        };
        let why = match entry.key.as_str() {
            "minus" | "per" | "factor" | "unit" => ": it belongs to a value of one arm",
            "ratio" | "arm" | "arms" => ": every test that could inherit it names its own arms",
            _ => "",
        };
        Err(self.file.error_in(entry.at, format!("the key '{}' means nothing in {}{why}", entry.key, entry.of)))
    }

    /// Adds a control and returns its id. Equal controls become a single control, with the most blocks and the smallest margin.
    fn control(&self, arm: &str, planted: Option<f64>, margin: f64, quantity: Quantity) -> String {
        let mut controls = self.controls.borrow_mut();
        let asked = quantity.asked();
        let is_equal = |other: &&mut ControlCase| other.planted == planted && other.quantity.asked() == asked;
        if let Some(other) = controls.iter_mut().find(is_equal) {
            other.margin = other.margin.min(margin);
            for (profile, blocks) in quantity.blocks {
                let most = other.quantity.blocks.entry(profile).or_default();
                *most = blocks.max(*most);
            }
            return other.id.clone();
        }
        let scenarios = PROFILES.map(|profile| quantity.scenarios(profile)).into_iter().find(|them| !them.is_empty());
        let scenarios = scenarios.unwrap_or_default();
        let first = scenarios.first().map_or("", String::as_str);
        let more = if scenarios.len() > 1 { format!(" +{}", scenarios.len() - 1) } else { String::new() };
        let kind = if planted.is_some() { "planted" } else { "aa" };
        let duet = if quantity.is_duet() { " duet" } else { "" };
        let name = format!("{kind} {arm} {} {first}{more}{duet}", quantity.metric);
        let is_alike = |other: &&ControlCase| other.id == name || other.id.starts_with(&format!("{name} #"));
        let id = match controls.iter().filter(is_alike).count() {
            0 => name,
            alike => format!("{name} #{}", alike + 1),
        };
        controls.push(ControlCase { id: id.clone(), planted, margin, quantity });
        id
    }
}

impl<'r, 'a> Scope<'r, 'a> {
    fn fault(&self, what: impl AsRef<str>) -> Error {
        self.reader.file.error_in(self.at, format!("{} {}", self.name, what.as_ref()))
    }

    /// An error at a key of it, or at itself.
    fn fault_at(&self, key: &str, what: impl AsRef<str>) -> Error {
        let at = self.entries.get(key).map_or(self.at, |entry| entry.at);
        self.reader.file.error_in(at, format!("{} {}", self.name, what.as_ref()))
    }

    fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Whether it says what its quantity is made of.
    fn names_arms(&self) -> bool {
        self.has("ratio") || self.has("arm")
    }

    /// The value of a key as it is written, if it is there.
    fn raw(&self, key: &str) -> Option<Spanned<DeValue<'a>>> {
        let entry = self.entries.get(key)?;
        entry.is_read.set(true);
        Some(entry.value.clone())
    }

    /// The value of a key, if it is there.
    fn take<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Error> {
        let read = self.raw(key).map(|value| T::deserialize(value.into_deserializer())).transpose();
        read.map_err(|error: toml::de::Error| self.fault_at(key, format!("{key}: {}", in_line(&error))))
    }

    /// The value of a key that must be there.
    fn need<T: DeserializeOwned>(&self, key: &str) -> Result<T, Error> {
        self.take(key)?.ok_or_else(|| self.fault(format!("needs the key '{key}'")))
    }

    /// Whether the value of a key is a table.
    fn is_table(&self, key: &str) -> bool {
        matches!(self.entries.get(key).map(|entry| entry.value.get_ref()), Some(DeValue::Table(_)))
    }

    /// The table of a key, which messages call `name`, if it is there.
    fn table(&self, key: &str, name: &str) -> Result<Option<Scope<'r, 'a>>, Error> {
        if self.has(key) && !self.is_table(key) {
            return Err(self.fault_at(key, format!("needs a table in '{key}'")));
        }
        self.raw(key).map(|table| self.reader.table(name, table)).transpose()
    }

    /// What `read` makes of each table of a key, which messages call `name`; nothing if it is not there.
    fn each<T>(&self, key: &str, name: &str, read: impl Fn(Self) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        match self.raw(key).map(Spanned::into_inner) {
            None => Ok(Vec::new()),
            Some(DeValue::Array(tables)) => {
                tables.into_iter().map(|table| read(self.reader.table(name, table)?)).collect()
            }
            Some(_) => Err(self.fault_at(key, format!("needs a list of tables in '{key}'"))),
        }
    }

    /// The scope with what it does not say and `outer` does, of the keys that `is_inherited`.
    fn within(mut self, outer: &Self, is_inherited: impl Fn(&Self, &str) -> bool) -> Self {
        let is_said = |key: &str| match EITHER.iter().find(|keys| is_in(keys, key)) {
            Some(rivals) => rivals.split(' ').any(|rival| self.has(rival)),
            None => self.has(key),
        };
        let inherited = outer.entries.iter().filter(|(key, _)| is_inherited(&self, key) && !is_said(key));
        let inherited: Vec<_> = inherited.map(|(key, entry)| (key.clone(), Rc::clone(entry))).collect();
        self.entries.extend(inherited);
        self
    }

    /// A form within its claim, or a part within its form.
    fn test_within(self, outer: &Self) -> Self {
        self.within(outer, |_, key| !is_in(OWN, key))
    }

    fn claim(&self) -> Result<Claim<Asked>, Error> {
        let (id, text) = (self.need("id")?, self.need("text")?);
        let original = self.need("original")?;
        let form = |form: Form| {
            let table = self.table(form.into_str(), &format!("{} ({})", self.name, form.in_words()))?;
            let what = format!("needs the key '{form}': a form that makes no sense is {{ absent = \"why\" }}");
            table.ok_or_else(|| self.fault(what))?.test_within(self).asked(form)
        };
        let (published, fair) = (form(Form::Published)?, form(Form::Fair)?);
        let further = self.each("further", "a further test", |table| {
            let scope = table.test_within(self);
            // Alone in the evidence a test about a cause explains what is fair.
            Ok(Further { id: scope.need("id")?, text: scope.need("text")?, form: scope.asked(Form::Fair)? })
        })?;
        let claim = Claim { id, text, original, published, fair, further };
        if claim.parts().next().is_none() {
            // Nothing is asked that could mean what the claim says.
            self.entries.values().for_each(|entry| entry.is_read.set(true));
        }
        Ok(claim)
    }

    /// What a form or a further test asks.
    fn asked(&self, form: Form) -> Result<Asked, Error> {
        if let Some(reason) = self.take("absent")? {
            return Ok(Asked::Absent(reason));
        }
        if let Some(reason) = self.take("pending")? {
            return Ok(Asked::Pending(reason));
        }
        if !self.has("part") {
            return Ok(Asked::Parts(vec![self.part(form)?]));
        }
        let parts = self.each("part", &self.name, |part| part.test_within(self).part(form))?;
        if parts.is_empty() {
            return Err(self.fault_at("part", "needs at least one part in 'part'"));
        }
        Ok(Asked::Parts(parts))
    }

    fn part(&self, form: Form) -> Result<Part, Error> {
        let kind = self.kind(form)?;
        let quantity = self.quantity()?;
        let fits = match (&kind, &quantity.of) {
            (Kind::Slope { .. }, of) => !matches!(of, Of::Value { .. }),
            (Kind::Ratio | Kind::Band(_) | Kind::Outcome { .. }, of) => !matches!(of, Of::Each(_)),
            (Kind::Equal | Kind::Cause { .. } | Kind::Every, of) => matches!(of, Of::Ratio { .. }),
        };
        if !fits {
            let kind = kind.into_str();
            let what = format!("of kind {kind} is made of the wrong arms: see the kinds in docs/FORMAT.md");
            return Err(self.fault(what));
        }
        let causes = self.each("cause", "a cause", |cause| cause.cause(self, &quantity))?;
        let text = if self.has("id") { None } else { self.take("text")? };
        let (text, margin) = (text.unwrap_or_default(), self.margin(&quantity)?);
        let (mirrors, figure) = (self.mirrors(&quantity)?, self.figure()?);
        // That of a value stands in its quantity.
        let unit = if quantity.is_ratio() { self.take("unit")?.unwrap_or_default() } else { Unit::default() };
        let mut part = Part { text, kind, margin, quantity, figure, unit, aa: None, causes, mirrors };
        part.aa = self.aa(&part)?;
        Ok(part)
    }

    /// The authors' own code that the arms of a test mirror: `mirrors = "a / b"` in the same runs, or a table of what else is measured there.
    fn mirrors(&self, ours: &Quantity) -> Result<Option<Mirrors>, Error> {
        if !self.is_table("mirrors") {
            let theirs = self.ratio("mirrors")?.map(|of| Quantity { of, ..ours.clone() });
            return Ok(theirs.map(|theirs| Mirrors { theirs, ours: ours.clone(), but: None }));
        }
        // What is measured in a table of this key, where it does not say itself how.
        let inner = |outer: &Self, key: &str| -> Result<Option<Self>, Error> {
            let own = outer.table(key, &format!("{key} of {}", outer.name))?;
            Ok(own.map(|own| own.within(outer, |_, key| is_in(MEASURED, key))))
        };
        let Some(scope) = inner(self, "mirrors")? else { return Ok(None) };
        if !scope.names_arms() {
            return Err(scope.fault("needs arms of the authors' code: ratio = \"a / b\", or arm"));
        }
        let theirs = scope.quantity()?;
        let ours = inner(&scope, "ours")?.map_or_else(|| Ok(ours.clone()), |scope| scope.quantity())?;
        let but = inner(&scope, "but")?.map(|scope| Ok((scope.need("text")?, scope.quantity()?))).transpose()?;
        let (scenarios, blocks) = (theirs.scenarios.clone(), theirs.blocks.clone());
        Ok(Some(Mirrors { ours: Quantity { scenarios, blocks, ..ours }, theirs, but }))
    }

    /// The cause that it is, of an `effect` in the test `outer`.
    fn cause(self, outer: &Self, effect: &Quantity) -> Result<Cause, Error> {
        let names_arms = self.names_arms();
        let scope = self.within(outer, |own, key| match key {
            // A counter of one arm cannot come from a duet, even if the claim does.
            "replicate" => !own.has("arm"),
            _ => is_in(MEASURED, key) || is_in(ARMS, key) && !names_arms,
        });
        let (short, text) = (scope.need::<String>("short")?, scope.need("text")?);
        let (bound, quantity) = (scope.bound()?, scope.quantity()?.within(effect));
        if bound.is_none() {
            if !quantity.is_ratio() {
                return Err(scope.fault("is a counter: it needs at_least or at_most"));
            }
            if !names_arms {
                return Err(scope.fault("is a control arm: it needs a ratio of its own, or at_least or at_most"));
            }
            if quantity.replicate != effect.replicate {
                let [own, its] = [&quantity, effect].map(|quantity| quantity.replicate.into_str());
                return Err(scope.fault_at("replicate", format!("is a cause in {} and explains none of its effect: it has replicate = \"{own}\", the effect \"{its}\"", outer.name)));
            }
            if let Some(scenario) = elsewhere(&quantity, &[effect]) {
                let what = format!("explains an effect in {scenario}, where that is not measured");
                return Err(scope.fault_at("scenarios", what));
            }
        }
        Ok(Cause { short, text, quantity, bound })
    }

    /// The id of the A/A control that a part asks for: by default, where it has a floor, of its denominator.
    fn aa(&self, part: &Part) -> Result<Option<String>, Error> {
        let mut quantity = part.quantity.clone();
        let table = if self.is_table("aa") { self.table("aa", &format!("aa of {}", self.name))? } else { None };
        let table = table.map(|table| table.within(self, |_, key| matches!(key, "scenarios" | "blocks")));
        let arm: Option<String> = match &table {
            None => self.take("aa")?,
            Some(asked) => {
                (quantity.scenarios, quantity.blocks) = (asked.scenarios()?, asked.by_profile("blocks")?);
                asked.take("arm")?
            }
        };
        let arm = match (arm, &part.quantity.of) {
            (Some(none), _) if none == "none" => return Ok(None),
            (Some(arm), _) => arm,
            (None, Of::Ratio { denominator, .. }) if part.has_floor() => denominator.clone(),
            (None, _) if table.is_some() => return Err(self.fault_at("aa", "needs the arm of its A/A control")),
            (None, _) => return Ok(None),
        };
        quantity.of = Of::copies(&arm, quantity.replicate);
        Ok(Some(self.reader.control(&arm, None, part.margin, quantity)))
    }

    fn planted(&self, replicate: Replicate) -> Result<(), Error> {
        let arm: String = self.need("arm")?;
        let size: f64 = self.need("size")?;
        if size <= 1.0 {
            return Err(self.fault_at("size", "needs a size above 1: how much longer the copy takes"));
        }
        // The handicapped copy stands above the line, so that it is a ratio above 1.
        let of = Of::Ratio { numerator: format!("{arm}@slow"), denominator: arm.clone() };
        let quantity = Quantity { replicate, ..self.samples(of)? };
        let margin = self.margin(&quantity)?;
        // What an effect of this size must stand out from.
        let copies = Quantity { of: Of::copies(&arm, replicate), ..quantity.clone() };
        self.reader.control(&arm, None, margin, copies);
        self.reader.control(&arm, Some(size), margin, quantity);
        Ok(())
    }

    fn goal(&self) -> Result<Goal, Error> {
        let (id, text) = (self.need("id")?, self.need("text")?);
        let bound = self.bound()?.ok_or_else(|| self.fault("needs at_most or at_least"))?;
        Ok(Goal { id, text, quantity: self.quantity()?, bound })
    }
}
