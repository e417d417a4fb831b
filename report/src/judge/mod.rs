//! From samples to verdicts: pure, and the only place where claims and samples meet.

use crate::claims::{Claims, Form};
use crate::dataset::Dataset;
use crate::judged::{Agreement, JudgedClaim, JudgedControl, JudgedStudy, Repeat, Round, Rounds, Verdict};
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
        rounds: None,
        runs: origin.runs,
        failures: origin.failures,
        measured_s: origin.measured_s,
        memory_disagreements: origin.memory_disagreements,
        memory_compared: origin.memory_compared,
    }
}

/// Compares with `earlier` measurements by the same claims, the newest first. A claim that this one and the newest of the same profile
/// decide differently is unstable.
pub fn compare(now: &mut JudgedStudy, earlier: &[JudgedStudy]) {
    if earlier.is_empty() {
        return;
    }
    let round = |study: &JudgedStudy| Round {
        folder: study.folder.clone(),
        profile: study.profile.clone(),
        plan_seed: study.plan_seed,
        failed_controls: study
            .controls
            .iter()
            .filter(|control| !control.passed)
            .map(|control| control.id.clone())
            .collect(),
    };
    let measured: Vec<Round> = std::iter::once(round(now)).chain(earlier.iter().map(round)).collect();
    let verdict_in =
        |study: &JudgedStudy, id: &str| study.claims.iter().find(|claim| claim.id == id).map(|claim| claim.verdict);
    let before = earlier.iter().find(|study| study.profile == now.profile);
    let mut repeats = Vec::new();
    for claim in &mut now.claims {
        let in_earlier = earlier.iter().map(|study| verdict_in(study, &claim.id));
        let verdicts: Vec<Option<Verdict>> = std::iter::once(Some(claim.verdict)).chain(in_earlier).collect();
        let profiles = measured.iter().map(|round| round.profile.as_str());
        let agreement =
            agreement(&profiles.zip(&verdicts).filter_map(|(of, verdict)| Some((of, (*verdict)?))).collect::<Vec<_>>());
        // What no round measured repeats nothing.
        if verdicts.iter().flatten().any(|verdict| is_measured(*verdict)) {
            repeats.push(Repeat { claim: claim.id.clone(), verdicts, agreement });
        }
        if let Some(verdict) = before.and_then(|study| verdict_in(study, &claim.id))
            && contradict(verdict, claim.verdict)
        {
            claim.reason = format!("{verdict} in the run before, {} in this one", claim.verdict);
            claim.verdict = Verdict::Unstable;
        }
    }
    now.rounds = Some(Rounds { measured, repeats });
}

/// What verdicts on one claim, each with its profile, say together.
fn agreement(verdicts: &[(&str, Verdict)]) -> Agreement {
    let pairs = || {
        verdicts.iter().enumerate().flat_map(|(at, first)| verdicts[at + 1..].iter().map(move |other| (first, other)))
    };
    if pairs().all(|(first, other)| first.1 == other.1) {
        return Agreement::Same;
    }
    let contradictions = || pairs().filter(|(first, other)| contradict(first.1, other.1));
    match (contradictions().any(|(first, other)| first.0 == other.0), contradictions().next().is_some()) {
        (true, _) => Agreement::Differs,
        (false, true) => Agreement::ByProfile,
        (false, false) => Agreement::Open,
    }
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

/// Whether a verdict rests on a measurement.
fn is_measured(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::NotMeasured | Verdict::NotTestable | Verdict::NotTestableHere)
}

/// Whether a verdict says something about the claim.
fn is_decided(verdict: Verdict) -> bool {
    is_measured(verdict) && !matches!(verdict, Verdict::Inconclusive | Verdict::Invalid | Verdict::Unstable)
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
