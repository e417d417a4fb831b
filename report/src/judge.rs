//! From samples to verdicts: pure, and the only place where claims and samples meet.

use std::collections::BTreeSet;

use self::judged::{JudgedGoal, JudgedStudy};
use crate::claims::Claims;

mod calibration;
mod claim;
mod control;
pub mod figures;
mod goal;
pub mod judged;
pub mod maps;
mod mirror;
pub mod prediction;
pub mod prices;
mod round;
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

/// Judges the goals of `claims`, each by the newest of the `rounds` of any host that measured it.
pub fn goals(claims: &Claims, rounds: &[&Round]) -> Vec<JudgedGoal> {
    claims.goals.iter().map(|goal| goal::judge(rounds, goal)).collect()
}

/// Judges `claims` on one host by its `rounds`, the newest first: of each question the newest round that asked it decides. The rounds of all hosts
/// that are `mirrored` say whether the mirrors are to be believed. What the folder of the newest round says of itself is left empty, and so are goals.
pub fn study(claims: &Claims, rounds: &[&Round], mirrored: &[&Round]) -> JudgedStudy {
    let Some(newest) = rounds.first() else { return JudgedStudy::default() };
    JudgedStudy {
        study: claims.study.clone(),
        profile: newest.profile.clone(),
        folder: newest.folder.clone(),
        claims: claims.claims.iter().map(|claim| claim::judge(claim, rounds, mirrored, newest.host)).collect(),
        controls: newest.controls().to_vec(),
        ..JudgedStudy::default()
    }
}
