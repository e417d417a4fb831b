//! Goals: our own aims.

use super::Round;
use crate::claims::rules;
use crate::claims::{Goal, Of, Quantity};
use crate::judge::judged::{JudgedGoal, Row, Verdict};

/// Judges a goal by the newest of the `rounds` that measured it: it holds if the whole interval keeps the bound.
pub(super) fn judge(rounds: &[Round], goal: &Goal) -> JudgedGoal {
    let asked = rounds.iter().filter_map(|round| {
        let own = round.evidence.claims.goals.iter().find(|own| own.id == goal.id)?;
        own.quantity.is_measured(round.evidence.profile).then_some((round, &own.quantity))
    });
    let row_of = |(round, quantity): (&Round, &Quantity), scenario: &String| {
        let row = round.evidence.row(quantity, scenario, &round.evidence.gather(quantity, scenario));
        let verdict = row.estimate.map_or(Verdict::NotTested, |estimate| rules::value(&estimate, goal.bound));
        Row { verdict, round: round.folder.to_owned(), ..row }
    };
    let rows: Vec<Row> = { asked }.next().map_or_else(Vec::new, |(round, quantity)| {
        let scenarios = quantity.scenarios(round.evidence.profile).iter();
        scenarios.map(|scenario| row_of((round, quantity), scenario)).collect()
    });
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
