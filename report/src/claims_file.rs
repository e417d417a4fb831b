//! claims.toml as it is written: every key of every table, before it is known which of them belong together.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::claims::{Aim, Blocks, Bound, Cause, Claim, ControlCase, Form, Goal, Kind, Of, Quantity, Size, quantity};
use crate::error::{Error, TomlFile};
use crate::verdict::{Band, Control, Direction};

/// Keys of a quantity.
const QUANTITY: &[&str] = &[
    "metric",
    "scenarios",
    "numerator",
    "denominator",
    "arm",
    "arms",
    "minus",
    "per",
    "factor",
    "unit",
    "better",
    "resolution",
    "form",
    "blocks",
];
/// Keys of every claim, whatever its kind.
const CLAIM: &[&str] =
    &["id", "text", "original", "kind", "margin", "aa", "planted", "beside", "pending", "untestable", "cause"];

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawClaims {
    pub schema: u32,
    pub study: String,
    #[serde(default)]
    pub budget: BTreeMap<String, f64>,
    #[serde(default)]
    pub claim: Vec<Raw>,
    #[serde(default)]
    pub control: Vec<Raw>,
    #[serde(default)]
    pub goal: Vec<Raw>,
}

/// A value for all profiles, or one for each.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a list of scenarios, or a table with a list for quick and one for full")]
pub(crate) enum ByProfile<T> {
    All(T),
    Each(BTreeMap<String, T>),
}

impl<T> ByProfile<T> {
    pub(crate) fn of(&self, profile: &str) -> Option<&T> {
        match self {
            ByProfile::All(value) => Some(value),
            ByProfile::Each(values) => values.get(profile),
        }
    }
}

/// A table of the file. Serde cannot refuse unknown keys of nested parts that share a table, so all keys stand side by side.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Raw {
    pub id: Option<String>,
    pub text: Option<String>,
    pub short: Option<String>,
    pub original: Option<String>,
    pub beside: Option<String>,
    pub kind: Option<String>,
    pub margin: Option<f64>,
    pub aa: Option<String>,
    pub planted: Option<String>,
    pub pending: Option<String>,
    pub untestable: Option<String>,
    pub size: Option<f64>,
    pub size_band: Option<[f64; 2]>,
    pub band: Option<[f64; 2]>,
    pub x: Option<String>,
    pub direction: Option<String>,
    pub explains: Option<String>,
    pub control: Option<String>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    pub share: Option<f64>,
    pub metric: Option<String>,
    pub scenarios: Option<ByProfile<Vec<String>>>,
    pub numerator: Option<String>,
    pub denominator: Option<String>,
    pub arm: Option<String>,
    pub arms: Option<Vec<String>>,
    pub minus: Option<String>,
    pub per: Option<String>,
    pub factor: Option<f64>,
    pub unit: Option<String>,
    pub better: Option<String>,
    pub resolution: Option<f64>,
    pub form: Option<String>,
    pub blocks: Option<Blocks>,
    #[serde(default)]
    pub cause: Vec<Raw>,
}

impl Raw {
    /// What messages call the table.
    pub(crate) fn name(&self) -> String {
        self.id.clone().or_else(|| self.short.clone()).unwrap_or_else(|| "a table without id".to_owned())
    }

    /// A text by which the table is found in the file.
    pub(crate) fn anchor(&self) -> String {
        match (&self.id, &self.short) {
            (Some(id), _) => format!("id = \"{id}\""),
            (None, Some(short)) => format!("short = \"{short}\""),
            (None, None) => "[[".to_owned(),
        }
    }

    fn need(&self, key: &str, value: Option<String>, file: TomlFile<'_>) -> Result<String, Error> {
        value.ok_or_else(|| file.error_at(&self.anchor(), format!("{} needs the key '{key}'", self.name())))
    }

    /// Every key of a table and whether it is there.
    fn keys(&self) -> [(&'static str, bool); 36] {
        [
            ("id", self.id.is_some()),
            ("text", self.text.is_some()),
            ("short", self.short.is_some()),
            ("original", self.original.is_some()),
            ("beside", self.beside.is_some()),
            ("kind", self.kind.is_some()),
            ("margin", self.margin.is_some()),
            ("aa", self.aa.is_some()),
            ("planted", self.planted.is_some()),
            ("pending", self.pending.is_some()),
            ("untestable", self.untestable.is_some()),
            ("size", self.size.is_some()),
            ("size_band", self.size_band.is_some()),
            ("band", self.band.is_some()),
            ("x", self.x.is_some()),
            ("direction", self.direction.is_some()),
            ("explains", self.explains.is_some()),
            ("control", self.control.is_some()),
            ("at_least", self.at_least.is_some()),
            ("at_most", self.at_most.is_some()),
            ("share", self.share.is_some()),
            ("metric", self.metric.is_some()),
            ("scenarios", self.scenarios.is_some()),
            ("numerator", self.numerator.is_some()),
            ("denominator", self.denominator.is_some()),
            ("arm", self.arm.is_some()),
            ("arms", self.arms.is_some()),
            ("minus", self.minus.is_some()),
            ("per", self.per.is_some()),
            ("factor", self.factor.is_some()),
            ("unit", self.unit.is_some()),
            ("better", self.better.is_some()),
            ("resolution", self.resolution.is_some()),
            ("form", self.form.is_some()),
            ("blocks", self.blocks.is_some()),
            ("cause", !self.cause.is_empty()),
        ]
    }

    /// Refuses keys that mean nothing in this table: all but those of `allowed`.
    pub(crate) fn refuse_others(&self, allowed: &[&[&str]], file: TomlFile<'_>) -> Result<(), Error> {
        match self.keys().iter().find(|(key, present)| *present && !allowed.iter().any(|keys| keys.contains(key))) {
            Some((key, _)) => {
                Err(file.error_at(&self.anchor(), format!("the key '{key}' means nothing in {}", self.name())))
            }
            None => Ok(()),
        }
    }

    fn margin(&self, file: TomlFile<'_>) -> Result<f64, Error> {
        match self.margin {
            Some(margin) if margin > 0.0 && margin < 1.0 => Ok(margin),
            Some(margin) => {
                let what = format!("margin {margin} of {} is not between 0 and 1: 0.05 is 5 %", self.name());
                Err(file.error_at(&self.anchor(), what))
            }
            None => Err(file.error_at(&self.anchor(), format!("{} needs the key 'margin'", self.name()))),
        }
    }

    fn bound(&self, file: TomlFile<'_>) -> Result<Option<Bound>, Error> {
        match (self.at_most, self.at_least) {
            (Some(_), Some(_)) => {
                Err(file.error_at(&self.anchor(), format!("{} has both at_most and at_least: keep one", self.name())))
            }
            (Some(limit), None) => Ok(Some(Bound::AtMost(limit))),
            (None, limit) => Ok(limit.map(Bound::AtLeast)),
        }
    }

    fn range(&self, key: &str, [lo, hi]: [f64; 2], file: TomlFile<'_>) -> Result<Band, Error> {
        if lo < hi {
            return Ok(Band { lo, hi });
        }
        Err(file.error_at(
            &self.anchor(),
            format!("{key} of {} runs from {lo} to {hi}: the lower end comes first", self.name()),
        ))
    }

    pub(crate) fn into_claim(mut self, file: TomlFile<'_>) -> Result<Claim, Error> {
        let id = self.need("id", self.id.clone(), file)?;
        let text = self.need("text", self.text.clone(), file)?;
        let original = self.need("original", self.original.clone(), file)?;
        let kind_name = self.need("kind", self.kind.clone(), file)?;
        if !Kind::NAMES.contains(&kind_name.as_str()) {
            let what = format!("kind '{kind_name}' of {id} is unknown: choose one of {}", Kind::NAMES.join(", "));
            return Err(file.error_at(&self.anchor(), what));
        }
        let unmeasured = self.pending.is_some() || self.untestable.is_some();
        if unmeasured && self.metric.is_none() {
            // Nothing of the rest need be said yet; any kind stands for the name.
            let kind = Kind::Ratio { size: None };
            let kind = if kind_name == "equal" { Kind::Equal } else { kind };
            return Ok(Claim {
                id,
                text,
                original,
                beside: self.beside,
                kind,
                margin: self.margin.unwrap_or(0.05),
                aa: None,
                planted: None,
                quantity: None,
                pending: self.pending,
                untestable: self.untestable,
                causes: Vec::new(),
            });
        }
        let margin = self.margin(file)?;
        let kind = self.claim_kind(&kind_name, file)?;
        let causes = std::mem::take(&mut self.cause);
        let quantity = quantity(&mut self, file, None)?;
        let fits = match kind {
            Kind::Slope { .. } => !matches!(quantity.of, Of::Value { .. }),
            Kind::Band(_) | Kind::Outcome { .. } => !matches!(quantity.of, Of::Each(_)),
            Kind::Ratio { .. } | Kind::Equal | Kind::Cause { .. } | Kind::Every { .. } => {
                matches!(quantity.of, Of::Ratio { .. })
            }
        };
        if !fits {
            let what = format!("{id} of kind {kind_name} is made of the wrong arms: see the kinds in docs/FORMAT.md");
            return Err(file.error_at(&self.anchor(), what));
        }
        let causes = causes.into_iter().map(|raw| raw.into_cause(file, &quantity)).collect::<Result<_, _>>()?;
        let Raw { beside, aa, planted, pending, untestable, .. } = self;
        let quantity = Some(quantity);
        Ok(Claim { id, text, original, beside, kind, margin, aa, planted, quantity, pending, untestable, causes })
    }

    fn claim_kind(&self, name: &str, file: TomlFile<'_>) -> Result<Kind, Error> {
        let wrong = |what: &str| file.error_at(&self.anchor(), format!("{} of kind {name} needs {what}", self.name()));
        let size = match (self.size, self.size_band) {
            (Some(_), Some(_)) => return Err(wrong("size or size_band, not both")),
            (Some(size), None) if size > 1.0 => Some(Size::Ratio(size)),
            (Some(_), None) => return Err(wrong("a size above 1: state the ratio as the claim does")),
            (None, Some(band)) => Some(Size::Range(self.range("size_band", band, file)?)),
            (None, None) => None,
        };
        let bound = self.bound(file)?;
        let keys = |of_kind: &[&str]| self.refuse_others(&[CLAIM, QUANTITY, of_kind], file);
        Ok(match name {
            "equal" => {
                keys(&[])?;
                Kind::Equal
            }
            "band" => {
                keys(&["band"])?;
                let band = self.band.ok_or_else(|| wrong("band = [lo, hi]"))?;
                Kind::Band(self.range("band", band, file)?)
            }
            "slope" => {
                keys(&["band", "x", "direction"])?;
                let x = self.x.clone().ok_or_else(|| wrong("x, a metric"))?;
                let aim = match (self.band, self.direction.as_deref()) {
                    (Some(band), None) => Aim::Band(self.range("band", band, file)?),
                    (None, Some("up")) => Aim::Direction(Direction::Up),
                    (None, Some("down")) => Aim::Direction(Direction::Down),
                    (None, Some("flat")) => Aim::Direction(Direction::Flat),
                    _ => return Err(wrong("either band or direction (up, down or flat)")),
                };
                Kind::Slope { x, aim }
            }
            "cause" => {
                keys(&["explains", "control"])?;
                let explains = self.explains.clone().ok_or_else(|| wrong("explains, the id of a claim"))?;
                let control = match self.control.as_deref() {
                    Some("claimed") => Control::Claimed,
                    Some("rival") => Control::Rival,
                    _ => return Err(wrong("control = \"claimed\" or \"rival\"")),
                };
                Kind::Cause { explains, control }
            }
            "outcome" => {
                keys(&["at_least", "at_most", "share"])?;
                let bound = bound.ok_or_else(|| wrong("at_least or at_most"))?;
                let share = self
                    .share
                    .filter(|share| (0.0..1.0).contains(share))
                    .ok_or_else(|| wrong("a share from 0 to below 1"))?;
                Kind::Outcome { bound, share }
            }
            "every" => {
                keys(&["size", "size_band"])?;
                Kind::Every { size }
            }
            _ => {
                keys(&["size", "size_band"])?;
                Kind::Ratio { size }
            }
        })
    }

    fn into_cause(mut self, file: TomlFile<'_>, claim: &Quantity) -> Result<Cause, Error> {
        let short = self.need("short", self.short.clone(), file)?;
        let text = self.need("text", self.text.clone(), file)?;
        let bound = self.bound(file)?;
        self.refuse_others(&[&["short", "text", "at_least", "at_most"], QUANTITY], file)?;
        let quantity = quantity(&mut self, file, Some(claim))?;
        if bound.is_none() && !matches!(quantity.of, Of::Ratio { .. }) {
            let what = format!("the cause '{short}' is a counter: it needs at_least or at_most");
            return Err(file.error_at(&self.anchor(), what));
        }
        Ok(Cause { short, text, quantity, bound })
    }

    pub(crate) fn into_control(mut self, file: TomlFile<'_>) -> Result<ControlCase, Error> {
        let id = self.need("id", self.id.clone(), file)?;
        let kind = self.need("kind", self.kind.clone(), file)?;
        self.refuse_others(
            &[&["id", "kind", "arm", "margin", "size", "metric", "scenarios", "form", "blocks", "resolution"]],
            file,
        )?;
        let arm = self.arm.take();
        let arm = self.need("arm", arm, file)?;
        let margin = self.margin(file)?;
        let duet = self.form.as_deref() == Some("duet");
        let wrong = |what: &str| file.error_at(&format!("id = \"{id}\""), format!("{id} {what}"));
        // The copy stands above the line, so that a planted handicap is a ratio above 1; a duet is listed as arm~twin.
        let (copy, planted) = match (kind.as_str(), self.size) {
            ("aa", None) => ("aa", None),
            ("planted", Some(size)) if size > 1.0 => ("slow", Some(size)),
            ("planted", _) => return Err(wrong("of kind planted needs size, a ratio above 1")),
            ("aa", Some(_)) => return Err(wrong("of kind aa has no size")),
            (other, _) => return Err(wrong(&format!("is of kind '{other}', which is unknown: choose aa or planted"))),
        };
        let (numerator, denominator) = if duet && planted.is_none() {
            (arm.clone(), format!("{arm}@{copy}"))
        } else {
            (format!("{arm}@{copy}"), arm)
        };
        self.numerator = Some(numerator);
        self.denominator = Some(denominator);
        let quantity = quantity(&mut self, file, None)?;
        debug_assert_eq!(quantity.form == Form::Duet, duet);
        Ok(ControlCase { id, planted, margin, quantity })
    }

    pub(crate) fn into_goal(mut self, file: TomlFile<'_>) -> Result<Goal, Error> {
        let id = self.need("id", self.id.clone(), file)?;
        let text = self.need("text", self.text.clone(), file)?;
        let bound = self
            .bound(file)?
            .ok_or_else(|| file.error_at(&self.anchor(), format!("the goal {id} needs at_most or at_least")))?;
        self.refuse_others(&[&["id", "text", "at_least", "at_most"], QUANTITY], file)?;
        let quantity = quantity(&mut self, file, None)?;
        Ok(Goal { id, text, quantity, bound })
    }
}
