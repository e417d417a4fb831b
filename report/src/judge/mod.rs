//! From samples to verdicts: pure, and the only place where claims and samples meet.

use crate::claims::Claims;
use crate::judged::{JudgedControl, JudgedStudy};

mod calibration;
mod claim;
mod control;
mod evidence;
mod goal;
mod mirror;
mod slope;

pub use calibration::calibrate;
pub use evidence::Evidence;
pub use mirror::Originals;

/// A round of one host, and what became of its controls.
#[derive(Debug)]
pub struct Round<'a> {
    /// Its samples, and the claims as far as it was asked them.
    pub evidence: Evidence<'a>,
    /// Path of its folder, relative to the results root.
    pub folder: &'a str,
    controls: Vec<JudgedControl>,
}

impl<'a> Round<'a> {
    /// A round with its controls judged.
    pub fn new(evidence: Evidence<'a>, folder: &'a str) -> Self {
        let controls = evidence.claims.controls.iter().map(|control| control::judge(evidence, control)).collect();
        Round { evidence, folder, controls }
    }
}

/// Judges `claims` on one host by its `rounds`, the newest first: of each question the newest round that asked it decides. What the folder of
/// the newest round says of itself is left empty.
pub fn study(claims: &Claims, rounds: &[Round], originals: &Originals, host: usize) -> JudgedStudy {
    let Some(newest) = rounds.first() else { return JudgedStudy::default() };
    JudgedStudy {
        study: claims.study.clone(),
        profile: newest.evidence.profile.to_owned(),
        folder: newest.folder.to_owned(),
        claims: claims.claims.iter().map(|claim| claim::judge(claim, rounds, originals, host)).collect(),
        controls: newest.controls.clone(),
        goals: claims.goals.iter().map(|goal| goal::judge(rounds, goal)).collect(),
        ..JudgedStudy::default()
    }
}
