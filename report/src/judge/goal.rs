//! Goals: our own aims, met, missed or undecided.

use super::evidence::Evidence;
use crate::claims::{Bound, Goal, Of};
use crate::judged::{Estimate, JudgedGoal, Kept, Row};
use crate::rules;

/// Judges a goal: met if the whole interval keeps the bound, missed if none of it does.
pub(super) fn judge(evidence: Evidence<'_>, goal: &Goal) -> JudgedGoal {
    let quantity = &goal.quantity;
    let unit = match &quantity.of {
        Of::Value { unit, .. } => format!(" {unit}"),
        _ => String::new(),
    };
    let measured = quantity.is_measured(evidence.profile);
    let scenarios = quantity.scenarios(evidence.profile).iter().filter(|_| measured);
    let rows: Vec<Row> =
        scenarios.map(|scenario| evidence.row(quantity, scenario, &evidence.gather(quantity, scenario))).collect();
    let standings =
        rows.iter().map(|row| row.estimate.map_or(Kept::NotMeasured, |estimate| kept(&estimate, goal.bound)));
    JudgedGoal {
        id: goal.id.clone(),
        text: goal.text.clone(),
        bound: format!("{}{unit}", goal.bound),
        // The worst over the scenarios.
        standing: standings.min().unwrap_or(Kept::NotMeasured),
        rows,
        mark: "",
    }
}

/// Whether the whole interval keeps a bound, or none of it.
pub(super) fn kept(estimate: &Estimate, bound: Bound) -> Kept {
    match (bound.met_by(estimate.lo), bound.met_by(estimate.hi)) {
        _ if !rules::computable(estimate) => Kept::Undecided,
        (true, true) => Kept::Met,
        (false, false) => Kept::Missed,
        _ => Kept::Undecided,
    }
}
