//! claims.toml, read strictly, so that a misspelt or misplaced key cannot silently change a verdict.
//!
//! A form inherits what it does not say from its claim, a part from its form, a cause from its part. What is made of a table takes its keys out
//! of it: one that nobody takes is an error where it is written.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::{self, IgnoredAny};
use serde::{Deserialize, Deserializer};
use strum::VariantNames;

use crate::claims::rules::{Band, Direction};
use crate::claims::{
    Aim, Asked, Better, Cause, Claim, Claims, ControlCase, Form, Further, Goal, Kind, Mirrors, Of, Part, Quantity,
    Replicate, Unit,
};
use crate::error::Error;
use crate::files::{TomlFile, chosen, in_line};
use crate::folder::record::unit;

/// The profiles that judge.
const PROFILES: [&str; 2] = ["quick", "full"];
/// The profile that runs the authors' own code beside its mirrors.
pub const ORIGINALS: &str = "originals";
/// Keys that claims had before: rounds have them, and they say nothing.
const RETIRED: [&str; 3] = ["size", "size_band", "control"];

/// Names of keys.
type Keys = BTreeSet<&'static str>;

macro_rules! table {
    ($($key:ident: $of:ty,)*) => {
        /// A claim, form, part, further test, cause or goal, a planted control, or what is measured in one of these.
        #[derive(Clone, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Table {
            $($key: Option<$of>,)*
        }

        impl Table {
            /// The keys that it has, without those that were taken.
            fn keys(&self) -> Keys {
                [$(self.$key.as_ref().map(|_| stringify!($key)),)*].into_iter().flatten().collect()
            }
        }
    };
}

table! {
    // What a table keeps to itself.
    id: String,
    text: String,
    short: String,
    original: String,
    published: Box<Table>,
    fair: Box<Table>,
    further: Vec<Table>,
    part: Vec<Table>,
    absent: String,
    pending: String,
    size: f64,
    size_band: IgnoredAny,
    control: IgnoredAny,
    ours: Box<Table>,
    but: Box<Table>,
    // How a test is judged.
    kind: String,
    margin: f64,
    aa: Copies,
    cause: Vec<Table>,
    figure: Figure,
    band: [f64; 2],
    x: String,
    direction: Direction,
    explains: String,
    at_least: f64,
    at_most: f64,
    share: f64,
    mirrors: Theirs,
    // What is measured.
    metric: String,
    scenarios: Scenarios,
    blocks: BTreeMap<String, usize>,
    replicate: Replicate,
    better: Better,
    // Of which arms.
    ratio: String,
    arm: String,
    arms: Vec<String>,
    minus: String,
    per: String,
    factor: f64,
    unit: String,
}

/// Gives a table what it does not say itself and an outer one does.
macro_rules! inherit {
    ($own:ident from $outer:ident: $($key:ident)*) => {
        $($own.$key = $own.$key.take().or_else(|| $outer.$key.clone());)*
    };
}

/// Scenarios as they are written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a list of scenarios, or one for each profile")]
pub(super) enum Scenarios {
    Each(Vec<String>),
    Of(BTreeMap<String, Vec<String>>),
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a figure, or the two ends of a range")]
enum Figure {
    One(f64),
    Range([f64; 2]),
}

#[derive(Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "expected an arm, `none`, or a table of arm, scenarios and blocks")]
enum Copies {
    Of(String),
    Where { arm: Option<String>, scenarios: Option<Scenarios>, blocks: Option<BTreeMap<String, usize>> },
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected \"a / b\", or a table of what is measured of the authors' code")]
enum Theirs {
    Ratio(String),
    Where(Box<Table>),
}

impl Scenarios {
    /// By profile: a list is that of all.
    pub(super) fn by_profile(&self) -> BTreeMap<String, Vec<String>> {
        match self {
            Scenarios::Of(by_profile) => by_profile.clone(),
            Scenarios::Each(all) => {
                PROFILES.into_iter().chain([ORIGINALS]).map(|profile| (profile.to_owned(), all.clone())).collect()
            }
        }
    }
}

/// The value of a key that must be there.
fn need<T>(key: &str, value: &mut Option<T>) -> Result<T, String> {
    value.take().ok_or_else(|| format!("needs the key '{key}'"))
}

/// Refuses keys that nobody takes.
fn refuse<'k>(left: impl IntoIterator<Item = &'k &'static str>) -> Result<(), String> {
    let Some(key) = left.into_iter().find(|key| !RETIRED.contains(key)) else { return Ok(()) };
    let why = match *key {
        "minus" | "per" | "factor" | "unit" => ": it belongs to a value of one arm",
        "ratio" | "arm" | "arms" => ": every test that could inherit it names its own arms",
        _ => "",
    };
    Err(format!("has the key '{key}', which means nothing there{why}"))
}

/// An id that links and file names hold.
pub(super) fn check_kebab(id: &str) -> Result<(), String> {
    let is_kebab = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_name = id.split('-').all(|word| !word.is_empty() && is_kebab(word));
    is_name.then_some(()).ok_or_else(|| format!("{id} is no id: write it in small letters with hyphens between words"))
}

/// An asserted range, whose lower end comes first.
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

impl Table {
    /// A form within its claim, or a part within its form.
    fn within(mut self, outer: &Self) -> Self {
        inherit!(self from outer: kind margin aa cause figure x explains share mirrors);
        if [self.at_least, self.at_most].iter().all(Option::is_none) && self.band.is_none() && self.direction.is_none()
        {
            inherit!(self from outer: at_least at_most band direction);
        }
        self.measured_in(outer).of_arms_in(outer)
    }

    fn measured_in(mut self, outer: &Self) -> Self {
        inherit!(self from outer: metric scenarios blocks replicate better);
        self
    }

    fn of_arms_in(mut self, outer: &Self) -> Self {
        if self.ratio.is_none() && self.arm.is_none() && self.arms.is_none() {
            inherit!(self from outer: ratio arm arms);
        }
        inherit!(self from outer: minus per factor unit);
        self
    }

    fn claim(mut self) -> Result<Claim<Asked>, String> {
        let (text, original) = (need("text", &mut self.text)?, need("original", &mut self.original)?);
        let (published, fair) = (self.published.take(), self.fair.take());
        let (id, further) = (need("id", &mut self.id)?, self.further.take().unwrap_or_default());
        let mut read = Keys::new();
        let mut form = |own: Option<Box<Self>>, form: Form| {
            let lacks = || format!("needs the key '{form}': a form that makes no sense is {{ absent = \"why\" }}");
            let asked = own.ok_or_else(lacks)?.asked(&self, form, &mut read);
            asked.map_err(|what| format!("({}) {what}", form.in_words()))
        };
        let (published, fair) = (form(published, Form::Published)?, form(fair, Form::Fair)?);
        let further = further.into_iter().map(|mut own| {
            let (id, text) = (need("id", &mut own.id)?, need("text", &mut own.text)?);
            // Alone in the evidence a test about a cause explains what is fair.
            let form = own.asked(&self, Form::Fair, &mut read).map_err(|what| format!("({id}) {what}"))?;
            Ok(Further { id, text, form })
        });
        let further = further.collect::<Result<_, String>>()?;
        let claim = Claim { id, text, original, published, fair, further };
        // Where nothing is asked nothing could take them.
        if claim.parts().next().is_some() {
            refuse(self.keys().difference(&read))?;
        }
        Ok(claim)
    }

    /// What a form or a further test asks; to `read` the keys that it takes from its claim.
    fn asked(mut self, claim: &Self, form: Form, read: &mut Keys) -> Result<Asked, String> {
        let absent = self.absent.take().map(Asked::Absent);
        if let Some(nothing) = absent.or_else(|| self.pending.take().map(Asked::Pending)) {
            return refuse(&self.keys()).map(|()| nothing);
        }
        // Without parts it is its only one.
        let parts = self.part.take().unwrap_or_else(|| vec![Table { text: self.text.take(), ..Table::default() }]);
        if parts.is_empty() {
            return Err("needs at least one part in 'part'".to_owned());
        }
        let own = self.keys();
        let whole = self.within(claim);
        let mut taken = Keys::new();
        let parts = parts.into_iter().map(|part| part.part(&whole, form, &mut taken)).collect::<Result<_, _>>()?;
        refuse(own.difference(&taken))?;
        read.extend(taken.difference(&own));
        Ok(Asked::Parts(parts))
    }

    fn part(self, outer: &Self, form: Form, taken: &mut Keys) -> Result<Part, String> {
        let own = self.keys();
        let mut all = Table { text: None, ..self.clone() }.within(outer);
        let (text, whole) = (self.text.unwrap_or_default(), all.clone());
        let kind = all.kind(form)?;
        let quantity = all.quantity()?;
        let fits = match (&kind, &quantity.of) {
            (Kind::Slope { .. }, of) => !matches!(of, Of::Value { .. }),
            (Kind::Ratio | Kind::Band(_) | Kind::Outcome { .. }, of) => !matches!(of, Of::Each(_)),
            (Kind::Equal | Kind::Cause { .. } | Kind::Every, of) => matches!(of, Of::Ratio { .. }),
        };
        if !fits {
            let kind = kind.into_str();
            return Err(format!("of kind {kind} is made of the wrong arms: see the kinds in docs/FORMAT.md"));
        }
        let causes = all.cause.take().unwrap_or_default().into_iter().map(|cause| cause.cause(&whole, &quantity));
        let causes = causes.collect::<Result<_, _>>()?;
        let figure = all.figure.take().map(|figure| match figure {
            Figure::One(figure) => Ok(Band { lo: figure, hi: figure }),
            Figure::Range(range) => band(range),
        });
        let figure = figure.transpose()?;
        // That of a value stands in its quantity.
        let unit = all.unit.take_if(|_| quantity.is_ratio()).map(|unit| chosen::<Unit>("unit", &unit)).transpose()?;
        let mirrors = all.mirrors.take().map(|theirs| theirs.mirrors(&whole, &quantity)).transpose()?;
        let (margin, unit) = (all.margin(&quantity)?, unit.unwrap_or_default());
        let mut part = Part { text, kind, margin, quantity, figure, unit, aa: None, causes, mirrors };
        part.aa = all.aa(&part)?;
        let left = all.keys();
        refuse(own.intersection(&left))?;
        taken.extend(whole.keys().into_iter().filter(|key| !left.contains(key) && !own.contains(key)));
        Ok(part)
    }

    /// How the test is judged; `form` is the form that it belongs to.
    fn kind(&mut self, form: Form) -> Result<Kind, String> {
        let name = need("kind", &mut self.kind)?;
        let lacks = |what: &str| format!("of kind {name} needs {what}");
        match name.as_str() {
            "ratio" => Ok(Kind::Ratio),
            "every" => Ok(Kind::Every),
            "equal" => Ok(Kind::Equal),
            "band" => {
                let asserted = match (self.band.take(), self.bound()?) {
                    (Some(range), None) => Some(band(range)?),
                    (None, bound) => bound,
                    _ => None,
                };
                Ok(Kind::Band(asserted.ok_or_else(|| lacks("one of band = [lo, hi], at_least or at_most"))?))
            }
            "slope" => {
                let x = self.x.take().ok_or_else(|| lacks("x, a metric"))?;
                let aim = match (self.band.take(), self.direction.take()) {
                    (Some(range), None) => Aim::Band(band(range)?),
                    (None, Some(direction)) => Aim::Direction(direction),
                    _ => return Err(lacks("either band or direction (up, down or flat)")),
                };
                Ok(Kind::Slope { x, aim })
            }
            "cause" => {
                let whole = self.explains.take().ok_or_else(|| lacks("explains, the id of a claim"))?;
                let named = whole.rsplit_once('.').and_then(|(id, form)| Some((id.to_owned(), form.parse().ok()?)));
                let (explains, form) = named.unwrap_or((whole, form));
                Ok(Kind::Cause { explains, form })
            }
            "outcome" => {
                let bound = self.bound()?.ok_or_else(|| lacks("at_least or at_most"))?;
                let share = self.share.take().filter(|share| (0.0..1.0).contains(share));
                Ok(Kind::Outcome { bound, share: share.ok_or_else(|| lacks("a share from 0 to below 1"))? })
            }
            other => {
                Err(format!("is of no kind that there is, '{other}': choose one of {}", Kind::VARIANTS.join(", ")))
            }
        }
    }

    /// A range with one end.
    fn bound(&mut self) -> Result<Option<Band>, String> {
        match (self.at_least.take(), self.at_most.take()) {
            (Some(_), Some(_)) => Err("has both at_most and at_least: keep one".to_owned()),
            (Some(lo), None) => Ok(Some(Band { lo, hi: f64::INFINITY })),
            (None, limit) => Ok(limit.map(|hi| Band { lo: f64::NEG_INFINITY, hi })),
        }
    }

    fn margin(&mut self, quantity: &Quantity) -> Result<f64, String> {
        let margin = self.margin.take().unwrap_or_else(|| quantity.usual_margin());
        let what = || format!("has a margin of {margin}, not between 0 and 1: 0.05 is 5 %");
        (margin > 0.0 && margin < 1.0).then_some(margin).ok_or_else(what)
    }

    fn quantity(&mut self) -> Result<Quantity, String> {
        let of = match (self.ratio.take(), self.arm.take(), self.arms.take()) {
            (Some(ratio), None, None) => Of::ratio(&ratio)?,
            (None, Some(arm), None) => Of::Value {
                arm,
                minus: self.minus.take(),
                per: self.per.take(),
                factor: self.factor.take().unwrap_or(1.0),
                unit: String::new(),
            },
            (None, None, Some(arms)) if !arms.is_empty() => Of::Each(arms),
            _ => return Err("needs arms: either ratio = \"a / b\", or arm, or (slopes only) arms".to_owned()),
        };
        let replicate = self.replicate.take().unwrap_or_default();
        let mut quantity = Quantity { replicate, ..self.samples(of)? };
        if quantity.is_duet() && !quantity.is_ratio() {
            return Err("is a duet: it needs ratio = \"a / b\"".to_owned());
        }
        if let Of::Value { unit, per, .. } = &mut quantity.of {
            *unit = self.unit.take().unwrap_or_else(|| Of::unit(&quantity.metric, per.as_deref()));
        }
        Ok(quantity)
    }

    /// The samples of some arms.
    fn samples(&mut self, of: Of) -> Result<Quantity, String> {
        let metric = self.metric.take().unwrap_or_else(|| "work_s".to_owned());
        let scenarios = need("scenarios", &mut self.scenarios)?.by_profile();
        let lower_is_better = self.better.take() != Some(Better::Higher);
        let quantity = Quantity::of_processes(&metric, of, &scenarios, &need("blocks", &mut self.blocks)?);
        Ok(Quantity { lower_is_better, ..quantity })
    }

    /// The cause that it is, of an `effect` in a part.
    fn cause(mut self, part: &Self, effect: &Quantity) -> Result<Cause, String> {
        let (own, names_arms) = (self.keys(), self.ratio.is_some() || self.arm.is_some());
        // A counter of one arm cannot come from a duet, even if the claim does.
        let replicate = if self.arm.is_some() { self.replicate } else { self.replicate.or(part.replicate) };
        self = Table { replicate, ..self.measured_in(part) };
        if !names_arms {
            self = self.of_arms_in(part);
        }
        let (short, text) = (need("short", &mut self.short)?, need("text", &mut self.text)?);
        let name = |what: String| format!("has a cause, {short}, that {what}");
        let (bound, quantity) = (self.bound().map_err(name)?, self.quantity().map_err(name)?.within(effect));
        refuse(own.intersection(&self.keys())).map_err(name)?;
        if bound.is_none() {
            if !quantity.is_ratio() {
                return Err(name("is a counter: it needs at_least or at_most".to_owned()));
            }
            if !names_arms {
                return Err(name("is a control arm: it needs a ratio of its own, or at_least or at_most".to_owned()));
            }
            if let Some(what) = unpaired(&quantity, &[effect]) {
                return Err(name(format!("explains nothing: {what}")));
            }
        }
        Ok(Cause { short, text, quantity, bound })
    }

    /// The A/A control that a part asks for: by default, where it has a floor, of its denominator.
    fn aa(&mut self, part: &Part) -> Result<Option<ControlCase>, String> {
        let mut quantity = part.quantity.clone();
        let mut arm = match &quantity.of {
            Of::Ratio { denominator, .. } if part.has_floor() => Some(denominator.clone()),
            _ => None,
        };
        match self.aa.take() {
            None => {}
            Some(Copies::Of(none)) if none == "none" => return Ok(None),
            Some(Copies::Of(own)) => arm = Some(own),
            Some(Copies::Where { arm: own, scenarios, blocks }) => {
                arm = Some(own.or(arm).ok_or("needs the arm of its A/A control in 'aa'")?);
                quantity.scenarios = scenarios.map_or(quantity.scenarios, |own| own.by_profile());
                quantity.blocks = blocks.unwrap_or(quantity.blocks);
            }
        }
        Ok(arm.map(|arm| {
            quantity.of = Of::copies(&arm, quantity.replicate);
            ControlCase::new(&arm, None, part.margin, quantity)
        }))
    }

    /// The control of what is planted, behind that of copies, which an effect of this size must stand out from.
    fn planted(mut self, replicate: Replicate) -> Result<[ControlCase; 2], String> {
        let (arm, size) = (need("arm", &mut self.arm)?, need("size", &mut self.size)?);
        if size <= 1.0 {
            return Err("needs a size above 1: how much longer the copy takes".to_owned());
        }
        // The handicapped copy stands above the line, so that it is a ratio above 1.
        let of = Of::Ratio { numerator: format!("{arm}@slow"), denominator: arm.clone() };
        let quantity = Quantity { replicate, ..self.samples(of)? };
        let margin = self.margin(&quantity)?;
        refuse(&self.keys())?;
        let copies = Quantity { of: Of::copies(&arm, replicate), ..quantity.clone() };
        let planted = ControlCase::new(&arm, Some(size), margin, quantity);
        Ok([ControlCase::new(&arm, None, margin, copies), planted])
    }

    fn goal(mut self) -> Result<Goal, String> {
        let (id, text) = (need("id", &mut self.id)?, need("text", &mut self.text)?);
        let (bound, quantity) = (self.bound()?.ok_or("needs at_most or at_least")?, self.quantity()?);
        refuse(&self.keys())?;
        Ok(Goal { id, text, quantity, bound })
    }
}

impl Theirs {
    /// The authors' own code, which the arms of a part mirror, in the same runs or with what else is measured there.
    fn mirrors(self, part: &Table, ours: &Quantity) -> Result<Mirrors, String> {
        let mut table = match self {
            Theirs::Ratio(ratio) => {
                let theirs = Quantity { of: Of::ratio(&ratio)?, ..ours.clone() };
                return Ok(Mirrors { theirs, ours: ours.clone(), but: None });
            }
            Theirs::Where(table) => table.measured_in(part),
        };
        let inner = |own: Box<Table>| own.measured_in(&table);
        let (ours_there, but) = (table.ours.clone().map(inner), table.but.clone().map(inner));
        (table.ours, table.but) = (None, None);
        let quantity = |mut table: Table| {
            let quantity = table.quantity().map_err(|what| format!("has mirrors of which one {what}"))?;
            refuse(&table.keys()).map(|()| quantity)
        };
        let theirs = quantity(table)?;
        let ours = ours_there.map_or_else(|| Ok(ours.clone()), quantity)?;
        let but = but.map(|mut but| Ok::<_, String>((need("text", &mut but.text)?, quantity(but)?))).transpose()?;
        let (scenarios, blocks) = (theirs.scenarios.clone(), theirs.blocks.clone());
        Ok(Mirrors { ours: Quantity { scenarios, blocks, ..ours }, theirs, but })
    }
}

/// Reads the table of a claim or goal; what is wrong in it is said of its id.
fn read<'de, T, D: Deserializer<'de>>(table: D, of: fn(Table) -> Result<T, String>) -> Result<T, D::Error> {
    let table = Table::deserialize(table)?;
    let id = table.id.clone().unwrap_or_default();
    of(table).map_err(|what| de::Error::custom(format!("{id} {what}")))
}

impl<'de> Deserialize<'de> for Claim<Asked> {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        read(table, Table::claim)
    }
}

impl<'de> Deserialize<'de> for Goal {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        read(table, Table::goal)
    }
}

/// Reads what is planted, by replicate.
pub(super) fn planted<'de, D: Deserializer<'de>>(tables: D) -> Result<Vec<ControlCase>, D::Error> {
    let tables = BTreeMap::<Replicate, Table>::deserialize(tables)?.into_iter();
    let controls = tables.map(|(replicate, table)| {
        table.planted(replicate).map_err(|what| format!("planted.{} {what}", replicate.into_str()))
    });
    let controls: Vec<[ControlCase; 2]> = controls.collect::<Result<_, _>>().map_err(de::Error::custom)?;
    Ok(controls.into_iter().flatten().collect())
}

impl Claims {
    /// Reads claims.toml; `name` stands in messages.
    ///
    /// # Errors
    /// Names file and line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let mut claims: Claims = toml::from_str(text).map_err(|error| {
            // What is wrong with a claim or goal as a whole is said of its id, and stands there.
            let said = in_line(&error);
            let id = format!("id = \"{}\"", said.split(' ').next().unwrap_or_default());
            if text.contains(&id) { file.error_at(&id, said) } else { file.fault(&error) }
        })?;
        let asked = claims.parts().filter_map(|(_, part)| part.aa.clone());
        claims.controls = ControlCase::united(asked.chain(claims.controls.clone()).collect());
        let Claims { prices, rules, maps, .. } = &mut claims;
        let prices = prices.iter_mut().map(|price| (price.complete(), &price.id));
        let rules = rules.iter_mut().map(|rule| (rule.complete(), &rule.id));
        for (complete, id) in prices.chain(rules).chain(maps.iter_mut().map(|map| (map.complete(), &map.id))) {
            complete.map_err(|what| file.error_at(&format!("id = \"{id}\""), format!("{id} {what}")))?;
        }
        claims.check(file)?;
        Ok(claims)
    }

    /// What no table can know by itself: ids are unique, what explains another claim leads to it, and so on.
    fn check(&self, file: TomlFile<'_>) -> Result<(), Error> {
        let fault = |id: &str, what: String| Err(file.error_at(&format!("id = \"{id}\""), what));
        if let Some(key) = self.budget.keys().find(|key| !key.ends_with("_s")) {
            return Err(file.error_at(key, format!("budget '{key}': name it PROFILE_s, in seconds")));
        }
        let claims = self.claims.iter();
        let ids = claims.flat_map(|claim| [&claim.id].into_iter().chain(claim.further.iter().map(|test| &test.id)));
        let aims = self.goals.iter().map(|goal| &goal.id).chain(self.prices.iter().map(|price| &price.id));
        let aims = aims.chain(self.rules.iter().map(|rule| &rule.id)).chain(self.maps.iter().map(|map| &map.id));
        let mut seen = BTreeSet::new();
        if let Some(id) = ids.chain(aims).find(|id| !seen.insert(*id)) {
            return fault(id, format!("the id '{id}' stands twice"));
        }
        let is_there =
            |id: &String| self.parts().any(|(part, _)| part == id) || self.maps.iter().any(|map| map.id == *id);
        if let Some(id) = self.first.iter().find(|id| !is_there(id)) {
            return Err(file.error_at(id, format!("'{id}' is to be measured first, but there is no such claim or map")));
        }
        for rule in &self.rules {
            if let (Some(claim), Some(form)) = (&rule.claim, rule.form)
                && self.asked(claim, form).is_none()
            {
                let what = format!("{} is about '{claim}', which is no claim or further test of this file", rule.id);
                return fault(&rule.id, what);
            }
        }
        for (id, part) in self.parts() {
            if let Kind::Cause { explains, form, .. } = &part.kind
                && let Some(why) = self.explains_nothing(explains, *form, &part.quantity)
            {
                return fault(id, format!("{id} explains '{explains}'{why}"));
            }
        }
        for (id, quantity) in self.quantities() {
            if let Some(what) = self.fault(quantity) {
                return fault(id, format!("{id} {what}"));
            }
        }
        Ok(())
    }

    /// What is wrong with a quantity, in words.
    fn fault(&self, quantity: &Quantity) -> Option<String> {
        let metric = &quantity.metric;
        if unit(metric).is_none() {
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
    /// A control of `arm`.
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
            let is_alike = |other: &&Self| other.id == control.id || other.id.starts_with(&format!("{} #", control.id));
            let alike = controls.iter().filter(is_alike).count();
            if alike > 0 {
                control.id = format!("{} #{}", control.id, alike + 1);
            }
            controls.push(control);
        }
        controls
    }
}
