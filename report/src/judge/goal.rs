//! Goals: our own aims, met, missed or undecided.

use super::Evidence;
use super::quantity::{gather, p_value, ratio_estimate, scale, sides, value_estimate};
use crate::claims::{Bound, Goal, Of};
use crate::judged::{Estimate, GoalStanding, JudgedGoal, Row, Verdict};
use crate::stats::CONFIDENCE;

/// Judges a goal: met if the whole interval keeps the bound, missed if none of it does.
pub(super) fn judge(evidence: Evidence<'_>, goal: &Goal) -> JudgedGoal {
    let quantity = &goal.quantity;
    let is_ratio = matches!(quantity.of, Of::Ratio { .. });
    let unit = match &quantity.of {
        Of::Value { unit, .. } => format!(" {unit}"),
        _ => String::new(),
    };
    let bound = match goal.bound {
        Bound::AtMost(limit) => format!("<= {limit}{unit}"),
        Bound::AtLeast(limit) => format!(">= {limit}{unit}"),
    };
    let measured = quantity.is_measured(evidence.profile);
    let rows: Vec<Row> = quantity
        .scenarios(evidence.profile)
        .iter()
        .filter(|_| measured)
        .map(|scenario| {
            let found = gather(evidence, quantity, scenario);
            Row {
                scenario: scenario.clone(),
                scale: scale(quantity),
                estimate: if is_ratio {
                    ratio_estimate(&found.pairs, CONFIDENCE)
                } else {
                    value_estimate(&found.pairs)
                },
                sides: sides(evidence, quantity, scenario),
                floor: None,
                verdict: Verdict::Inconclusive,
                p_value: if is_ratio { p_value(&found.pairs) } else { None },
                failed: found.failed,
            }
        })
        .collect();
    let standing = rows
        .iter()
        .map(|row| standing(row.estimate.as_ref(), goal.bound))
        // The worst over the scenarios.
        .min_by_key(|standing| match standing {
            GoalStanding::Missed => 0,
            GoalStanding::Undecided => 1,
            GoalStanding::NotMeasured => 2,
            GoalStanding::Met => 3,
        })
        .unwrap_or(GoalStanding::NotMeasured);
    JudgedGoal { id: goal.id.clone(), text: goal.text.clone(), rows, bound, standing, mark: "" }
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
