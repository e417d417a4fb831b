//! From samples to verdicts: pure, and the only place where claims and samples meet.

use crate::judged::{Agreement, JudgedClaim, JudgedControl, JudgedStudy, Repeat, Round, Rounds, Verdict};
use crate::stats::holm;

mod calibration;
mod claim;
mod control;
mod evidence;
mod goal;
mod slope;
mod supplement;

pub use calibration::calibrate;
pub use evidence::Evidence;
pub use supplement::add;

/// Judges everything in a results folder; what the folder says of itself is left empty.
pub fn study(evidence: Evidence<'_>) -> JudgedStudy {
    let controls: Vec<JudgedControl> =
        evidence.claims.controls.iter().map(|control| control::judge(evidence, control)).collect();
    let mut claims: Vec<JudgedClaim> =
        evidence.claims.claims.iter().map(|claim| claim::judge(evidence, claim, &controls)).collect();
    adjust(&mut claims);
    JudgedStudy {
        study: evidence.claims.study.clone(),
        profile: evidence.profile.to_owned(),
        claims,
        controls,
        goals: evidence.claims.goals.iter().map(|goal| goal::judge(evidence, goal)).collect(),
        ..JudgedStudy::default()
    }
}

/// Compares with `others`, rounds of the same host by the same claims, the newest first. A claim that this one and the newest of the same
/// profile decide differently is unstable.
pub fn compare(now: &mut JudgedStudy, others: &[JudgedStudy]) {
    if others.is_empty() {
        return;
    }
    let round = |study: &JudgedStudy| {
        let failed = study.controls.iter().filter(|control| !control.passed);
        Round {
            folder: study.folder.clone(),
            profile: study.profile.clone(),
            plan_seed: study.plan_seed,
            failed_controls: failed.map(|control| control.id.clone()).collect(),
        }
    };
    let measured: Vec<Round> = std::iter::once(round(now)).chain(others.iter().map(round)).collect();
    let verdict_in =
        |study: &JudgedStudy, id: &str| study.claims.iter().find(|claim| claim.id == id).map(|claim| claim.verdict);
    let same_profile = others.iter().find(|study| study.profile == now.profile);
    let mut repeats = Vec::new();
    for claim in &mut now.claims {
        let in_others = others.iter().map(|study| verdict_in(study, &claim.id));
        let verdicts: Vec<Option<Verdict>> = std::iter::once(Some(claim.verdict)).chain(in_others).collect();
        let profiles = measured.iter().map(|round| round.profile.as_str());
        let agreement =
            agreement(&profiles.zip(&verdicts).filter_map(|(of, verdict)| Some((of, (*verdict)?))).collect::<Vec<_>>());
        // What no round measured repeats nothing.
        if verdicts.iter().flatten().any(|verdict| is_measured(*verdict)) {
            repeats.push(Repeat { claim: claim.id.clone(), verdicts, agreement });
        }
        if let Some(verdict) = same_profile.and_then(|study| verdict_in(study, &claim.id))
            && contradict(verdict, claim.verdict)
        {
            claim.reason = format!("{verdict} in another round, {} in this one", claim.verdict);
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
    let (with, p_values): (Vec<usize>, Vec<f64>) =
        claims.iter().enumerate().filter_map(|(index, claim)| Some((index, largest(claim)?))).unzip();
    for (index, adjusted) in with.into_iter().zip(holm::adjust(&p_values)) {
        claims[index].holm = Some(adjusted);
    }
}
