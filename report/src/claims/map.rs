//! What claims.toml asks about the range around the published settings: what each design costs there, and where one passes another.

use serde::Deserialize;

use super::Quantity;
use super::handoffs::{Handoffs, PriceOf, Shape};

/// What designs cost over the range of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    pub id: String,
    pub text: String,
    /// Where a scenario lies, and what that is called: of the arm `base`, else of the first.
    pub x: Quantity,
    pub x_label: String,
    pub y_label: String,
    /// The arm that the others are shown against.
    pub base: Option<String>,
    /// What is measured of each arm.
    pub lines: Vec<Line>,
    pub published: Vec<Setting>,
    pub crossings: Vec<Crossing>,
    pub curves: Vec<Curve>,
}

/// What is measured of an arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub arm: String,
    pub quantity: Quantity,
}

/// A setting of the original.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub x: f64,
    pub label: String,
}

/// Where one arm passes another.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    pub id: String,
    pub arm: Line,
    pub over: Line,
    /// The ratio of the two that is passed.
    pub at: f64,
    pub when: When,
    /// A sentence with the place `{x}`.
    pub text: String,
}

/// How a ratio passes a value as x grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    Falls,
    Rises,
}

/// What the price of a handoff predicts of an arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub arm: String,
    /// The arm without the handoffs.
    pub over: String,
    pub shape: Shape,
    pub handoffs: Handoffs,
    pub price: PriceOf,
}

impl Map {
    /// All that is measured of it.
    pub fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        let crossings = self.crossings.iter().flat_map(|crossing| [&crossing.arm, &crossing.over]);
        std::iter::once(&self.x).chain(self.lines.iter().chain(crossings).map(|line| &line.quantity))
    }

    /// What a round must have been asked, to be changed: where its runs stand on the x axis is read off them, whatever was asked.
    pub(super) fn asked_mut(&mut self) -> impl Iterator<Item = &mut Quantity> {
        let crossings = self.crossings.iter_mut().flat_map(|crossing| [&mut crossing.arm, &mut crossing.over]);
        self.lines.iter_mut().chain(crossings).map(|line| &mut line.quantity)
    }

    /// The place of an arm among its lines.
    pub fn line(&self, arm: &str) -> Option<usize> {
        self.lines.iter().position(|line| line.arm == arm)
    }
}
