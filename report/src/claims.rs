//! What is judged, as claims.toml says it: claims, each in two forms, with what a form inherits written out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray, VariantNames};

use self::handoffs::{Price, Rule};
use self::map::Map;
use self::rules::{Band, Direction};
use crate::files::Schema;

pub use self::quantity::{Of, Quantity, Replicate};

pub(crate) mod file;
pub mod handoffs;
pub mod map;
mod quantity;
pub mod rules;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    pub schema: Schema,
    pub study: String,
    pub budget: Option<Budget>,
    /// What is measured first, by id: what the table of README shows.
    #[serde(default)]
    pub first: Vec<String>,
    /// The metrics of each scope: what one number of a metric is of, if not of the whole process.
    #[serde(default)]
    pub scope: BTreeMap<String, Vec<String>>,
    #[serde(default, rename = "claim", deserialize_with = "file::all")]
    pub claims: Vec<Claim<Asked>>,
    /// The A/A controls that the parts of the claims ask for, and the planted ones.
    #[serde(default, rename = "planted", deserialize_with = "file::planted")]
    pub controls: Vec<ControlCase>,
    #[serde(default, rename = "goal", deserialize_with = "file::all")]
    pub goals: Vec<Goal>,
    #[serde(default, rename = "price", deserialize_with = "file::all")]
    pub prices: Vec<Price>,
    #[serde(default, rename = "rule", deserialize_with = "file::all")]
    pub rules: Vec<Rule>,
    #[serde(default, rename = "map", deserialize_with = "file::all")]
    pub maps: Vec<Map>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    pub quick_s: f64,
}

/// One of the two forms in which every claim is judged; by name as page.toml and JSON say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Display, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Form {
    /// The author's set-up with its flaws.
    Published,
    /// Equal work and equal resources.
    Fair,
}

impl Form {
    pub fn in_words(self) -> &'static str {
        match self {
            Form::Published => "as published",
            Form::Fair => "fair",
        }
    }
}

/// One published statement, with what each of its tests asks, or what was found by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim<T> {
    pub id: String,
    pub text: String,
    /// The published figure, as printed.
    pub original: String,
    /// Its two forms, as published and fair, and behind them further tests, which stand in its evidence and are never counted.
    pub tests: Vec<Test<T>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Test<T> {
    /// That of the claim, or of a further test.
    pub id: String,
    /// Of a further test; else that of the claim.
    pub text: String,
    pub form: Form,
    pub of: T,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// Nothing, because the form makes no sense.
    Absent(String),
    Pending(String),
    /// Tests that judge it together: the worst verdict is its verdict.
    Parts(Vec<Part>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What tells it from the other parts; empty if there are none.
    pub text: String,
    pub kind: Kind,
    pub margin: f64,
    pub quantity: Quantity,
    /// The published figure in the unit of its authors: one number, or the ends of a range.
    pub figure: Option<Band>,
    pub unit: Unit,
    /// Fewer processors than this cannot show what is claimed.
    pub least_cpus: Option<f64>,
    /// The A/A control that gives the floor, as this part asks for it.
    pub aa: Option<ControlCase>,
    pub causes: Vec<Cause>,
    /// The authors' own code, whose effect it must show.
    pub mirrors: Option<Mirrors>,
}

/// The authors' own code beside the arms that mirror it, measured in the same blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirrors {
    pub theirs: Quantity,
    pub ours: Quantity,
    /// In what condition their code is measured once more, to show why the mirror shows something else, and what is measured there.
    pub but: Option<(String, Quantity)>,
}

#[derive(Debug, Clone, PartialEq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Kind {
    Ratio,
    Equal,
    /// A value or ratio within an asserted range, or beyond an asserted bound.
    Band(Band),
    /// How a value changes with another metric.
    Slope {
        x: String,
        aim: Aim,
    },
    /// The effect of the claim, or further test, `explains` has this cause.
    Cause {
        explains: String,
        form: Form,
    },
    /// A block's value meets `bound` in more than a share of the blocks.
    Outcome {
        bound: Band,
        share: f64,
    },
    Every,
}

/// The unit in which a ratio is printed: that of the authors.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Percent up to three times, times beyond.
    #[default]
    Plain,
    /// The first side against the second: 1.27 is "+27 %".
    Percent,
    /// The second side against the first: 1.25 is "-20 %".
    Inverse,
    Times,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    Band(Band),
    Direction(Direction),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    pub short: String,
    pub text: String,
    pub quantity: Quantity,
    /// For a counter; a control arm without it is judged by the share it explains.
    pub bound: Option<Band>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ControlCase {
    pub id: String,
    /// The planted ratio; `None` for A/A.
    pub planted: Option<f64>,
    pub margin: f64,
    /// The copy over the arm.
    pub quantity: Quantity,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    pub id: String,
    pub text: String,
    pub quantity: Quantity,
    pub bound: Band,
}

impl Asked {
    pub fn parts(&self) -> &[Part] {
        match self {
            Asked::Parts(parts) => parts,
            Asked::Absent(_) | Asked::Pending(_) => &[],
        }
    }
}

impl Part {
    /// Whether its verdict rests on a floor, which copies of one program show. That of a value does if it names their arm.
    pub fn has_floor(&self) -> bool {
        matches!(self.kind, Kind::Ratio | Kind::Every | Kind::Equal) && (self.quantity.is_ratio() || self.aa.is_some())
    }

    fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        let causes = self.causes.iter().map(|cause| &cause.quantity);
        let mirrors = self.mirrors.iter().flat_map(|Mirrors { theirs, ours, but }| {
            [theirs, ours].into_iter().chain(but.iter().map(|(_, theirs)| theirs))
        });
        [&self.quantity].into_iter().chain(causes).chain(mirrors)
    }
}

impl<T> Claim<T> {
    pub fn form(&self, form: Form) -> &T {
        &self.tests[form as usize].of
    }

    pub fn further(&self) -> &[Test<T>] {
        &self.tests[Form::VARIANTS.len()..]
    }

    /// The claim with what `of` makes of each of its tests.
    pub(crate) fn map<U>(&self, of: impl Fn(&Test<T>) -> U) -> Claim<U> {
        let Claim { id, text, original, tests } = self;
        let tests =
            tests.iter().map(|own| Test { id: own.id.clone(), text: own.text.clone(), form: own.form, of: of(own) });
        Claim { id: id.clone(), text: text.clone(), original: original.clone(), tests: tests.collect() }
    }
}

/// What there is of the claim `id` in `form`, or of the further test of this id.
pub(crate) fn form_of<'a, T>(claims: &'a [Claim<T>], id: &str, form: Form) -> Option<&'a T> {
    let tests = claims.iter().flat_map(|claim| &claim.tests).filter(|test| test.id == id);
    tests.max_by_key(|test| test.form == form).map(|test| &test.of)
}

impl Claims {
    pub fn control(&self, id: &str) -> Option<&ControlCase> {
        self.controls.iter().find(|control| control.id == id)
    }

    /// The scopes of `metric` and `per` where they differ: a count of a whole process says nothing about a single archive. A setting fits all.
    pub fn unlike(&self, metric: &str, per: &str) -> Option<[&str; 2]> {
        let scope = |metric: &str| {
            let named = self.scope.iter().find(|(_, metrics)| metrics.iter().any(|of| of == metric));
            named.map_or("process", |(scope, _)| scope.as_str())
        };
        let scopes = [metric, per].map(scope);
        (scopes[0] != scopes[1] && !scopes.contains(&"setting")).then_some(scopes)
    }

    /// What the claim `id` asks in `form`, or the further test of this id.
    pub fn asked(&self, id: &str, form: Form) -> Option<&Asked> {
        form_of(&self.claims, id, form)
    }

    /// The controls that guard a part: the A/A control that it names and, if it has a floor, the planted one of its replicate.
    pub fn guards<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = &'a ControlCase> {
        self.controls.iter().filter(|control| match control.planted {
            None => part.aa.as_ref().is_some_and(|asked| asked.is_like(control)),
            Some(_) => part.has_floor() && part.quantity.replicate == control.quantity.replicate,
        })
    }

    /// Every test of every claim, with the id of its claim or further test.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &Part)> {
        let tests = self.claims.iter().flat_map(|claim| &claim.tests);
        tests.flat_map(|test| test.of.parts().iter().map(|part| (test.id.as_str(), part)))
    }

    /// Every quantity that is measured, with the name of what needs it.
    pub fn quantities(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        let claims = self.parts().flat_map(|(id, part)| part.quantities().map(move |quantity| (id, quantity)));
        let controls = self.controls.iter().map(|control| (control.id.as_str(), &control.quantity));
        let goals = self.goals.iter().map(|goal| (goal.id.as_str(), &goal.quantity));
        let prices =
            self.prices.iter().flat_map(|price| price.sides.iter().map(move |(_, of)| (price.id.as_str(), of)));
        let maps = self.maps.iter().flat_map(|map| map.quantities().map(move |of| (map.id.as_str(), of)));
        claims.chain(controls).chain(goals).chain(prices).chain(maps)
    }

    /// These claims with the blocks of a round, whose own claims are `round`, as far as it was asked the same: a test by the same claim, form,
    /// scenarios, arms, metric, replicate and margin; what explains or guards a test, whoever asked for it.
    #[must_use]
    pub fn asked_in(&self, round: &Claims, profile: &str) -> Claims {
        let take = |quantity: &mut Quantity, others: &mut dyn Iterator<Item = &Quantity>| {
            let same = others.filter(|other| other.asks_as(quantity, profile));
            let most = same.filter_map(|other| other.blocks.get(profile)).max();
            quantity.blocks = most.map(|blocks| (profile.to_owned(), *blocks)).into_iter().collect();
        };
        let of_anybody = |quantity: &mut Quantity| take(quantity, &mut round.quantities().map(|(_, other)| other));
        let mut claims = self.clone();
        for claim in &mut claims.claims {
            let own = round.claims.iter().filter(|own| own.id == claim.id).flat_map(|own| &own.tests);
            for test in &mut claim.tests {
                let Asked::Parts(parts) = &mut test.of else { continue };
                // A further test is counted nowhere: it may have been a form of the claim before.
                let is_same = |own: &&Test<Asked>| test.id != claim.id || (&own.id, own.form) == (&test.id, test.form);
                let own: Vec<&Part> = own.clone().filter(is_same).flat_map(|own| own.of.parts()).collect();
                for Part { margin, quantity, causes, mirrors, .. } in parts {
                    let alike = own.iter().filter(|other| other.margin.to_bits() == margin.to_bits());
                    take(quantity, &mut alike.map(|other| &other.quantity));
                    causes.iter_mut().map(|cause| &mut cause.quantity).for_each(of_anybody);
                    if let Some(Mirrors { theirs, ours, but }) = mirrors {
                        [theirs, ours].into_iter().chain(but.iter_mut().map(|(_, theirs)| theirs)).for_each(of_anybody);
                    }
                }
            }
        }
        for ControlCase { planted, quantity, .. } in &mut claims.controls {
            let same = round.controls.iter().filter(|other| other.planted == *planted);
            take(quantity, &mut same.map(|other| &other.quantity));
        }
        claims.goals.iter_mut().map(|goal| &mut goal.quantity).for_each(of_anybody);
        claims.prices.iter_mut().flat_map(|price| &mut price.sides).for_each(|(_, quantity)| of_anybody(quantity));
        let lines = claims.maps.iter_mut().flat_map(|map| &mut map.lines);
        // Where its runs stand on the x axis is read off them, whatever was asked.
        lines.map(|line| &mut line.quantity).for_each(of_anybody);
        claims
    }

    /// The scenarios of what is measured first, and of what guards it.
    pub fn first_scenarios(&self, profile: &str) -> BTreeSet<&str> {
        let parts = self.parts().filter(|(id, _)| self.first.iter().any(|first| first == id));
        let quantities = parts.flat_map(|(_, part)| {
            [&part.quantity].into_iter().chain(self.guards(part).map(|control| &control.quantity))
        });
        let prices = self.prices.iter().filter(|price| price.is_in_readme);
        let prices = prices.flat_map(|price| price.sides.iter().map(|(_, quantity)| quantity));
        let maps = self.maps.iter().filter(|map| self.first.contains(&map.id)).flat_map(Map::quantities);
        let measured = quantities.chain(prices).chain(maps).filter(|of| of.is_measured(profile));
        measured.flat_map(|of| of.scenarios(profile)).map(String::as_str).collect()
    }

    /// How many blocks of each test case (scenario and arm) `profile` needs.
    pub fn blocks(&self, profile: &str) -> BTreeMap<(String, String), usize> {
        let mut needed = BTreeMap::new();
        let asked = self.quantities().filter_map(|(_, of)| Some((of, *of.blocks.get(profile)?)));
        for (case, blocks) in
            asked.flat_map(|(of, blocks)| of.cases(profile).into_iter().map(move |case| (case, blocks)))
        {
            let most: &mut usize = needed.entry(case).or_default();
            *most = blocks.max(*most);
        }
        needed
    }
}
