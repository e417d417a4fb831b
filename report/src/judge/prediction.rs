//! The rule: what an effect should be by the price of a handoff, beside what was measured.

use std::collections::BTreeSet;

use crate::claims::handoffs::{Beside, Rule, Shape};
use crate::fmt;
use crate::judge::Round;
use crate::judge::judged::{Estimate, JudgedStudy, Row, Scale};
use crate::judge::prices::{Prices, Tariff};
use crate::stats::signed_rank::FEWEST;

/// Below this effect a prediction may be so many points off, and above it by this share of its logarithm.
const SMALL: f64 = 0.20;
const POINTS: f64 = 0.05;
const SHARE: f64 = 0.25;

/// What a rule needs of one host in one scenario to predict, and what was measured there.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    pub rule: Rule,
    pub host: usize,
    /// Whether idle cores of the host poll before they sleep.
    pub polls: bool,
    pub scenario: String,
    /// The arm with the handoffs over the one without.
    pub effect: Estimate,
    /// What the arm without handoffs takes, and in [`Shape::Overlap`] one of its parts alone.
    pub base_s: f64,
    pub part_s: f64,
    pub handoffs: f64,
    /// What one of them takes, if this host knows.
    pub price: Option<Tariff>,
}

/// What handoffs make of work that takes `base_s` without them, as a ratio, where each takes `price_s`. In [`Shape::Overlap`] one of its two parts takes
/// `part_s`; both then pay the price, for one gives while the other takes, so that it adds to the longer.
pub fn effect(shape: Shape, (base_s, part_s): (f64, f64), handoffs: f64, price_s: f64) -> f64 {
    let longer = match shape {
        Shape::Added => base_s,
        Shape::Overlap => part_s.max(base_s - part_s),
    };
    (longer + handoffs * price_s) / base_s
}

/// Whether a prediction is as good as the rule promises.
pub fn agrees(predicted: f64, measured: f64) -> bool {
    if (measured - 1.0).abs() < SMALL {
        (predicted - measured).abs() <= POINTS
    } else {
        (predicted.ln() - measured.ln()).abs() <= SHARE * measured.ln().abs()
    }
}

impl Observed {
    pub fn between_s(&self) -> f64 {
        self.base_s / self.handoffs
    }

    /// The effect, as a ratio, if a handoff takes so long.
    pub fn predicted(&self, price_s: f64) -> f64 {
        effect(self.rule.shape, (self.base_s, self.part_s), self.handoffs, price_s)
    }
}

/// What the `rounds` of one host, the newest first, say of a rule, and what was `judged` there.
pub fn observe(rule: &Rule, rounds: &[&Round], judged: &JudgedStudy, prices: &Prices) -> Vec<Observed> {
    let in_round = |round: &Round, row: &Row| observe_row(rule, round, row, prices);
    if let Some(quantity) = &rule.observed {
        let scenarios: BTreeSet<&String> = quantity.scenarios.values().flatten().collect();
        let newest =
            |scenario: &String| rounds.iter().find_map(|round| in_round(round, &round.row(quantity, scenario)));
        return scenarios.into_iter().filter_map(newest).collect();
    }
    let of_row = |row: &Row| in_round(rounds.iter().find(|round| round.folder == row.round)?, row);
    let found = rule.claim.as_ref().zip(rule.form).and_then(|(id, form)| judged.found(id, form));
    found.into_iter().flat_map(|found| &found.rows).filter_map(of_row).collect()
}

/// What a round says of a rule where it measured the ratio of `row`.
fn observe_row(rule: &Rule, round: &Round, row: &Row, all: &Prices) -> Option<Observed> {
    let Scale::Ratio { numerator, denominator, .. } = &row.scale else { return None };
    // What too few blocks measured is no effect yet.
    let is_effect = |of: &Estimate| of.n >= FEWEST && of.point.is_finite() && of.point > 0.0;
    let estimate = row.estimate.filter(is_effect)?;
    let effect = match &rule.base {
        base if base == denominator => estimate,
        base if base == numerator => {
            let Estimate { point, lo, hi, .. } = estimate;
            Estimate { point: 1.0 / point, lo: 1.0 / hi, hi: 1.0 / lo, ..estimate }
        }
        _ => return None,
    };
    let median = |metric: &str, arm: &str| round.median(&row.scenario, arm, metric);
    let seconds = |metric: &str, arm: &str| Some(median(metric, arm)? * fmt::conversion(fmt::unit_of(metric), "s")?);
    let side = row.sides.iter().find(|side| side.arm == rule.base);
    let base_s = match &rule.metric {
        Some(metric) => seconds(metric, &rule.base)?,
        None => side?.median * fmt::conversion(fmt::unit_of(&side?.metric), "s")?,
    };
    let part_s = match &rule.beside {
        None => 0.0,
        Some(Beside::Arm(part)) => seconds(rule.metric.as_deref().unwrap_or("work_s"), part)?,
        Some(Beside::Share { share }) => median(share, &rule.base)? * base_s,
    };
    let handoffs = rule.handoffs.count(median)?;
    let (rule, host, polls, scenario) = (rule.clone(), round.host, round.polls, row.scenario.clone());
    let price = Tariff::on(host, all, &rule.price, rule.side);
    let observed = Observed { rule, host, polls, scenario, effect, base_s, part_s, handoffs, price };
    (base_s > 0.0 && handoffs > 0.0).then_some(observed)
}
