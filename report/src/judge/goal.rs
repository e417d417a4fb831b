//! Goals: our own aims.

use super::Round;
use crate::claims::rules;
use crate::claims::{Goal, Of};
use crate::judge::judged::{JudgedGoal, Row, Verdict};

/// Judges a goal by the newest of the `rounds` that measured it: it holds if the whole interval keeps the bound.
pub(super) fn judge(rounds: &[&Round], goal: &Goal) -> JudgedGoal {
    let rows = rounds.iter().find_map(|round| {
        let own = &round.claims.goals.iter().find(|own| own.id == goal.id)?.quantity;
        let row = |scenario: &String| {
            let row = round.row(own, scenario);
            let verdict = row.estimate.map_or(Verdict::NotTested, |estimate| rules::value(&estimate, goal.bound));
            Row { verdict, ..row }
        };
        let rows: Vec<Row> = round.asked(own).iter().map(row).collect();
        (!rows.is_empty()).then_some(rows)
    });
    let rows = rows.unwrap_or_default();
    let unit = match &goal.quantity.of {
        Of::Value { unit, .. } => format!(" {unit}"),
        _ => String::new(),
    };
    let (sign, _, limit) = goal.bound.limit();
    JudgedGoal {
        id: goal.id.clone(),
        text: goal.text.clone(),
        bound: format!("{sign} {limit}{unit}"),
        verdict: rules::together(rows.iter().map(|row| row.verdict)),
        rows,
    }
}
