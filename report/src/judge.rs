//! From samples to verdicts: pure, and the only place where claims and samples meet.

use std::collections::BTreeSet;

use self::judged::{JudgedControl, JudgedStudy, Row};
use crate::claims::{Claims, Quantity};
use crate::stats;

mod calibration;
mod claim;
mod control;
mod evidence;
pub mod figures;
mod goal;
pub mod judged;
pub mod maps;
mod mirror;
pub mod prediction;
pub mod prices;
pub mod rounds;
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

    /// What it measured of a quantity in `scenario`; `None` if it did not.
    pub fn row(&self, quantity: &Quantity, scenario: &str) -> Option<Row> {
        let row = self.evidence.row(quantity, scenario, &self.evidence.gather(quantity, scenario));
        row.estimate.is_some().then(|| Row { round: self.folder.to_owned(), ..row })
    }

    /// The median of a metric over the runs of a test case that succeeded.
    pub fn median(&self, scenario: &str, arm: &str, metric: &str) -> Option<f64> {
        let samples = self.evidence.data.samples(scenario, arm);
        stats::median(samples.iter().filter_map(|sample| sample.metrics.get(metric).copied()).collect())
    }
}

/// What was found on each host, by the newest of its rounds that found anything. The `rounds` are of all hosts, the newest first.
fn newest_of_hosts<T>(rounds: &[(usize, &Round)], find: impl Fn(usize, &Round) -> Option<T>) -> Vec<T> {
    let mut known = BTreeSet::new();
    let on = |(host, round): &(usize, &Round)| {
        let found = if known.contains(host) { None } else { find(*host, round) };
        known.extend(found.is_some().then_some(*host));
        found
    };
    rounds.iter().filter_map(on).collect()
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
