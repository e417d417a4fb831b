//! From samples to verdicts: pure, and the only place where claims and samples meet.

use std::collections::BTreeSet;

use self::judged::{JudgedGoal, JudgedStudy, Row, Verdict};
use crate::claims::{Claims, Goal, Of, rules};

mod calibration;
mod claim;
mod control;
pub mod figures;
pub mod judged;
pub mod maps;
mod mirror;
mod pairs;
pub mod prediction;
pub mod prices;
pub mod round;
pub mod rounds;
mod slope;

pub use calibration::calibrate;
pub use round::Round;

/// What was found of each `key`, by the newest of the `rounds`, the newest first, that found anything.
fn newest<'a, K: Ord, T>(
    rounds: &[&'a Round],
    key: impl Fn(&'a Round) -> K,
    find: impl Fn(&'a Round) -> Option<T>,
) -> Vec<T> {
    let mut known = BTreeSet::new();
    let unknown = |round: &&'a Round| {
        let key = key(round);
        let found = if known.contains(&key) { None } else { find(round) };
        known.extend(found.is_some().then_some(key));
        found
    };
    rounds.iter().filter_map(unknown).collect()
}

/// Judges our own aims, each by the newest of the `rounds` of any host that measured it: one holds if the whole interval keeps the bound.
pub fn goals(claims: &Claims, rounds: &[&Round]) -> Vec<JudgedGoal> {
    let judge = |goal: &Goal| {
        let in_round = |round: &&Round| {
            let own = &round.claims.goals.iter().find(|own| own.id == goal.id)?.quantity;
            let row = |scenario: &String| {
                let row = round.row(own, scenario);
                Row { verdict: row.estimate.map_or(Verdict::NotTested, |of| rules::value(&of, goal.bound)), ..row }
            };
            let rows: Vec<Row> = round.asked(own).iter().map(row).collect();
            (!rows.is_empty()).then_some(rows)
        };
        let rows = rounds.iter().find_map(in_round).unwrap_or_default();
        let unit = if let Of::Value { unit, .. } = &goal.quantity.of { unit } else { "" };
        let (sign, _, limit) = goal.bound.limit();
        let (id, text, bound) = (goal.id.clone(), goal.text.clone(), format!("{sign} {limit} {unit}"));
        let verdict = rules::together(rows.iter().map(|row| row.verdict));
        JudgedGoal { id, text, bound: bound.trim_end().to_owned(), verdict, rows }
    };
    claims.goals.iter().map(judge).collect()
}

/// Judges `claims` on one host by its `rounds`, the newest first; those of all hosts that are `mirrored` say whether the mirrors are to be believed.
pub fn study(claims: &Claims, rounds: &[&Round], mirrored: &[&Round]) -> JudgedStudy {
    let Some(newest) = rounds.first() else { return JudgedStudy::default() };
    JudgedStudy {
        study: claims.study.clone(),
        profile: newest.profile.clone(),
        folder: newest.at.round.clone(),
        claims: claims.claims.iter().map(|claim| claim::judge(claim, rounds, mirrored, newest.at.host)).collect(),
        controls: newest.controls().to_vec(),
        ..JudgedStudy::default()
    }
}
