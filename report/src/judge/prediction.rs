//! The rule: what an effect should be by the price of a handoff, beside what was measured.

use std::collections::BTreeSet;

use crate::claims::handoffs::{Beside, Rule};
use crate::fmt;
use crate::judge::Round;
use crate::judge::judged::{At, Estimate, JudgedStudy, Row, Scale};
use crate::judge::prices::{Prices, Tariff};
use crate::stats::signed_rank::FEWEST;

/// Below this effect a prediction may be so many points off, and above it by this share of its logarithm.
const SMALL: f64 = 0.20;
const POINTS: f64 = 0.05;
const SHARE: f64 = 0.25;

/// What was measured of a rule on one host in one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    pub rule: Rule,
    pub at: At,
    pub scenario: String,
    /// The arm with the handoffs over the one without.
    pub effect: Estimate,
    pub handoffs: f64,
    /// Work between two of them.
    pub between_s: f64,
    /// `None` where this host does not know the price.
    pub predicted: Option<Predicted>,
}

/// An effect as a host's own price predicts it.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    pub tariff: Tariff,
    /// What a handoff takes after as much work as lies between two of these.
    pub price_s: f64,
    /// As a ratio.
    pub effect: f64,
    pub agrees: bool,
}

/// What handoffs make of work that takes `base_s` without them, as a ratio, where each takes `price_s`. If a part of it, which takes `part_s`, goes on
/// beside the rest, both pay the price, for one gives while the other takes, so that it adds to the longer.
pub fn effect((base_s, part_s): (f64, f64), handoffs: f64, price_s: f64) -> f64 {
    (part_s.max(base_s - part_s) + handoffs * price_s) / base_s
}

/// Whether a prediction is as good as the rule promises.
pub fn agrees(predicted: f64, measured: f64) -> bool {
    if (measured - 1.0).abs() < SMALL {
        (predicted - measured).abs() <= POINTS
    } else {
        (predicted.ln() - measured.ln()).abs() <= SHARE * measured.ln().abs()
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
    let of_row = |row: &Row| in_round(rounds.iter().find(|round| round.at == row.at)?, row);
    let found = rule.claim.as_ref().zip(rule.form).and_then(|(id, form)| judged.found(id, form));
    found.into_iter().flat_map(|found| &found.rows).filter_map(of_row).collect()
}

/// What a round says of a rule where it measured the ratio of `row`.
fn observe_row(rule: &Rule, round: &Round, row: &Row, all: &Prices) -> Option<Observed> {
    let Scale::Ratio { numerator, denominator, .. } = &row.scale else { return None };
    // What too few blocks measured is no effect yet.
    let is_effect = |of: &Estimate| of.n >= FEWEST && of.point.is_finite() && of.point > 0.0;
    let estimate = row.estimate.filter(is_effect)?;
    let measured = match &rule.base {
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
    let part_s = match &rule.law.beside {
        None => 0.0,
        Some(Beside::Arm(part)) => seconds(rule.metric.as_deref().unwrap_or("work_s"), part)?,
        Some(Beside::Share { share }) => median(share, &rule.base)? * base_s,
    };
    let handoffs = rule.law.handoffs.count(median)?;
    let between_s = base_s / handoffs;
    let predict = |tariff: Tariff| {
        let price_s = tariff.after(between_s);
        let effect = effect((base_s, part_s), handoffs, price_s);
        Predicted { tariff, price_s, effect, agrees: agrees(effect, measured.point) }
    };
    let (rule, at, scenario) = (rule.clone(), round.at.clone(), row.scenario.clone());
    let predicted = Tariff::on(at.host, all, &rule.law).map(predict);
    let observed = Observed { rule, at, scenario, effect: measured, handoffs, between_s, predicted };
    (base_s > 0.0 && handoffs > 0.0).then_some(observed)
}
