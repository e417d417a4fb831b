//! What claims.toml asks about handoffs: what one costs, and which effects that should explain.

use serde::Deserialize;
use strum::IntoStaticStr;

use super::{Form, Quantity};

/// How a handoff is made; page and claims.toml call it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Way {
    Sync,
    Async,
    /// Without a handoff: the same thing done in place.
    #[serde(skip)]
    Base,
}

/// What one handoff costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    pub id: String,
    pub text: String,
    /// Under what it was measured; empty if nothing is special.
    pub condition: String,
    /// What is measured, by how the handoff is made: one at least, and `Base` last where something is subtracted.
    pub sides: Vec<(Way, Quantity)>,
    /// What it amounts to where twenty times it says nothing, as of memory; else empty.
    pub uses: Vec<Piece>,
    pub is_in_readme: bool,
    /// In the report, too, which shows those of the README in any case.
    pub is_in_report: bool,
}

/// A piece of the sentence of use.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Words(String),
    /// So many times what was measured.
    Times(Way, f64),
}

impl Price {
    /// Whether it is measured this way.
    pub fn has(&self, way: Way) -> bool {
        self.sides.iter().any(|(own, _)| *own == way)
    }
}

/// An effect that the price of a handoff should explain.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub id: String,
    pub text: String,
    pub measured: Measured,
    pub shape: Shape,
    pub handoffs: Handoffs,
    pub price: PriceOf,
    /// The arm without the handoffs.
    pub base: String,
    /// What says how long it takes, if not the metric of the effect.
    pub metric: Option<String>,
}

/// Study and id of a price, and how the handoff is made.
pub type PriceOf = (String, String, Way);

/// Where the effect is measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// In a form of the claim, or the further test, of this id.
    Claim(String, Form),
    Ratio(Quantity),
}

/// How handoffs add up.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Each makes the work longer.
    Added,
    /// Two parts of the work go on side by side: this arm, which does one of them alone, and the rest with the handoffs.
    Overlap(String),
}

/// How many handoffs there are.
#[derive(Debug, Clone, PartialEq)]
pub enum Handoffs {
    /// A counter of the record: of an arm, less that of another one.
    Counted { metric: String, arm: String, minus: Option<String> },
    /// So many, and why.
    Known(f64, String),
}

impl Handoffs {
    /// Their number, given the `median` of a metric over the runs of an arm; `None` where that is not known.
    pub fn count(&self, median: impl Fn(&str, &str) -> Option<f64>) -> Option<f64> {
        match self {
            Handoffs::Known(count, _) => Some(*count),
            Handoffs::Counted { metric, arm, minus } => {
                let less = minus.as_ref().map_or(Some(0.0), |minus| median(metric, minus))?;
                Some(median(metric, arm)? - less)
            }
        }
    }
}
