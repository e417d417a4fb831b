//! From samples to verdicts: pure, and the only place where claims and samples meet.

use std::collections::BTreeMap;

use crate::claims::{Claims, Form};
use crate::dataset::Dataset;
use crate::judged::{JudgedClaim, JudgedControl, JudgedStudy, Repeat, Verdict};
use crate::stats::holm;

mod calibration;
mod claim;
mod control;
mod goal;
mod quantity;
mod slope;
mod supplement;

pub use calibration::calibrate;
pub use supplement::{Addition, add};

/// The scenario of a row that speaks for several.
const ALL: &str = "all";

/// What the judge works on: the claims and samples of one results folder.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What is judged.
    pub claims: &'a Claims,
    /// The samples.
    pub data: &'a Dataset,
    /// `quick`, `full` or `smoke`.
    pub profile: &'a str,
}

/// What a results folder says of itself, carried through to the report.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Path of the folder below the results.
    pub folder: String,
    /// Seed of the plan.
    pub plan_seed: u64,
    /// Hash of the plan.
    pub plan_hash: String,
    /// Planned runs.
    pub runs: usize,
    /// Failed runs as run, scenario, arm and error.
    pub failures: Vec<(String, String, String, String)>,
    /// Seconds spent in the runs.
    pub measured_s: f64,
    /// Cases whose two readings of the peak memory differ, as scenario, arm, `VmHWM` and GNU time in KiB.
    pub memory_disagreements: Vec<(String, String, f64, f64)>,
    /// Cases that were compared.
    pub memory_compared: usize,
}

/// Judges everything in a results folder.
#[must_use]
pub fn study(evidence: Evidence<'_>, origin: Origin) -> JudgedStudy {
    let controls: Vec<JudgedControl> =
        evidence.claims.controls.iter().map(|control| control::judge(evidence, control)).collect();
    let mut claims: Vec<JudgedClaim> =
        evidence.claims.claims.iter().map(|claim| claim::judge(evidence, claim, &controls)).collect();
    adjust(&mut claims);
    let goals = evidence.claims.goals.iter().map(|goal| goal::judge(evidence, goal)).collect();
    JudgedStudy {
        study: evidence.claims.study.clone(),
        folder: origin.folder,
        profile: evidence.profile.to_owned(),
        plan_seed: origin.plan_seed,
        plan_hash: origin.plan_hash,
        claims,
        controls,
        goals,
        before: None,
        runs: origin.runs,
        failures: origin.failures,
        measured_s: origin.measured_s,
        memory_disagreements: origin.memory_disagreements,
        memory_compared: origin.memory_compared,
    }
}

/// Compares with the run before: a claim that was decided in both and differently is unstable.
pub fn compare(now: &mut JudgedStudy, before: &JudgedStudy) {
    let earlier: BTreeMap<&str, Verdict> =
        before.claims.iter().map(|claim| (claim.id.as_str(), claim.verdict)).collect();
    let mut repeats = Vec::new();
    for claim in &mut now.claims {
        let Some(&verdict) = earlier.get(claim.id.as_str()) else {
            continue;
        };
        repeats.push(Repeat { claim: claim.id.clone(), before: verdict, now: claim.verdict });
        if contradict(verdict, claim.verdict) {
            claim.reason = format!("{verdict} in the run before, {} in this one", claim.verdict);
            claim.verdict = Verdict::Unstable;
        }
    }
    now.before = Some((before.folder.clone(), repeats));
}

/// Whether two verdicts on one claim cannot both be right. One that leaves the size open agrees with one that settles it.
fn contradict(before: Verdict, now: Verdict) -> bool {
    use Verdict::{Reproduced, ReproducedLarger, ReproducedSizeUndecided, ReproducedSmaller};
    let sized = |verdict| matches!(verdict, Reproduced | ReproducedSmaller | ReproducedLarger);
    let size_open = match (before, now) {
        (ReproducedSizeUndecided, other) | (other, ReproducedSizeUndecided) => sized(other),
        _ => false,
    };
    is_decided(before) && is_decided(now) && before != now && !size_open
}

/// Whether a verdict says something about the claim.
fn is_decided(verdict: Verdict) -> bool {
    !matches!(
        verdict,
        Verdict::Inconclusive
            | Verdict::Invalid
            | Verdict::Unstable
            | Verdict::NotMeasured
            | Verdict::NotTestable
            | Verdict::NotTestableHere
    )
}

/// Adjusts the p-values of the claims for their number. A claim over several scenarios counts with its largest, as it takes the worst verdict.
fn adjust(claims: &mut [JudgedClaim]) {
    let largest = |claim: &JudgedClaim| {
        // `every` is decided by its first row, which pools the scenarios.
        let deciding = if claim.kind == "every" { 1 } else { claim.rows.len() };
        claim.rows.iter().take(deciding).filter_map(|row| row.p_value).reduce(f64::max)
    };
    let with: Vec<usize> = (0..claims.len()).filter(|&index| largest(&claims[index]).is_some()).collect();
    let p_values: Vec<f64> = with.iter().filter_map(|&index| largest(&claims[index])).collect();
    for (index, adjusted) in with.into_iter().zip(holm::adjust(&p_values)) {
        claims[index].holm = Some(adjusted);
    }
}

/// Whether a form's samples of single arms can stand in for each other.
fn is_duet(form: Form) -> bool {
    form == Form::Duet
}
