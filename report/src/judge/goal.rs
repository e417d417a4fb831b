//! Goals: our own aims.

use super::Round;
use crate::claims::rules;
use crate::claims::{Bound, Goal, Of, Quantity};
use crate::judge::judged::{Estimate, JudgedGoal, Row, Verdict};

/// Judges a goal by the newest of the `rounds` that measured it: it holds if the whole interval keeps the bound.
pub(super) fn judge(rounds: &[Round], goal: &Goal) -> JudgedGoal {
    let asked = rounds.iter().filter_map(|round| {
        let own = round.evidence.claims.goals.iter().find(|own| own.id == goal.id)?;
        own.quantity.is_measured(round.evidence.profile).then_some((round, &own.quantity))
    });
    let row_of = |(round, quantity): (&Round, &Quantity), scenario: &String| {
        let row = round.evidence.row(quantity, scenario, &round.evidence.gather(quantity, scenario));
        let verdict = row.estimate.map_or(Verdict::NotTested, |estimate| kept(&estimate, goal.bound));
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
    JudgedGoal {
        id: goal.id.clone(),
        text: goal.text.clone(),
        bound: format!("{}{unit}", goal.bound),
        verdict: rules::together(rows.iter().map(|row| row.verdict)),
        rows,
    }
}

/// Whether the whole interval keeps a bound, or none of it.
pub(super) fn kept(estimate: &Estimate, bound: Bound) -> Verdict {
    match (bound.met_by(estimate.lo), bound.met_by(estimate.hi)) {
        _ if !rules::computable(estimate) => Verdict::Unclear,
        (true, true) => Verdict::Holds,
        (false, false) => Verdict::DoesNotHold,
        _ => Verdict::Unclear,
    }
}
