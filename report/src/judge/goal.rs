//! Goals: our own aims, met, missed or undecided.

use super::evidence::Evidence;
use crate::claims::{Bound, Goal, Of};
use crate::judged::{Estimate, GoalStanding, JudgedGoal, Row};

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
    let standings = rows.iter().map(|row| standing(row.estimate.as_ref(), goal.bound));
    JudgedGoal {
        id: goal.id.clone(),
        text: goal.text.clone(),
        bound: format!("{}{unit}", goal.bound),
        // The worst over the scenarios.
        standing: standings.min().unwrap_or(GoalStanding::NotMeasured),
        rows,
        mark: "",
    }
}

fn standing(estimate: Option<&Estimate>, bound: Bound) -> GoalStanding {
    match estimate {
        Some(estimate) if estimate.level < 1.0 => match (bound.met_by(estimate.lo), bound.met_by(estimate.hi)) {
            (true, true) => GoalStanding::Met,
            (false, false) => GoalStanding::Missed,
            _ => GoalStanding::Undecided,
        },
        Some(_) => GoalStanding::Undecided,
        None => GoalStanding::NotMeasured,
    }
}
