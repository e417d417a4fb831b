//! From samples to verdicts: pure, and the only place where claims and samples meet.

use crate::claims::Form;
use crate::judged::{Agreement, ControlState, Count, JudgedControl, JudgedStudy, Repeat, Round, Rounds, Verdict};

mod calibration;
mod claim;
mod control;
mod evidence;
mod goal;
mod mirror;
mod slope;
mod supplement;

pub use calibration::calibrate;
pub use evidence::Evidence;
pub use mirror::mirrors;
pub use supplement::add;

/// Judges everything in a results folder; what the folder says of itself is left empty.
pub fn study(evidence: Evidence<'_>) -> JudgedStudy {
    let controls: Vec<JudgedControl> =
        evidence.claims.controls.iter().map(|control| control::judge(evidence, control)).collect();
    JudgedStudy {
        study: evidence.claims.study.clone(),
        profile: evidence.profile.to_owned(),
        claims: evidence.claims.claims.iter().map(|claim| claim::judge(evidence, claim, &controls)).collect(),
        controls,
        goals: evidence.claims.goals.iter().map(|goal| goal::judge(evidence, goal)).collect(),
        ..JudgedStudy::default()
    }
}

/// Compares with `others`, rounds of the same host by the same claims, the newest first. A form of a claim that this one and the newest of
/// the same profile decide differently is unstable.
pub fn compare(now: &mut JudgedStudy, others: &[JudgedStudy]) {
    if others.is_empty() {
        return;
    }
    let round = |study: &JudgedStudy| {
        let failed = study.controls.iter().filter(|control| control.state == ControlState::Failed);
        Round {
            folder: study.folder.clone(),
            profile: study.profile.clone(),
            plan_seed: study.plan_seed,
            failed_controls: failed.map(|control| control.id.clone()).collect(),
        }
    };
    let measured: Vec<Round> = std::iter::once(round(now)).chain(others.iter().map(round)).collect();
    let verdict_in = |study: &JudgedStudy, id: &str, form: Form| Some(study.claim(id)?.form(form).judged()?.verdict);
    let profile = now.profile.clone();
    let mut repeats = Vec::new();
    for claim in &mut now.claims {
        let id = claim.id.clone();
        for (form, found) in claim.forms_mut() {
            let in_others = others.iter().map(|study| verdict_in(study, &id, form));
            let verdicts: Vec<Option<Verdict>> = std::iter::once(Some(found.verdict)).chain(in_others).collect();
            let profiles = measured.iter().map(|round| round.profile.as_str());
            let by_profile = profiles.zip(&verdicts).filter_map(|(of, verdict)| Some((of, (*verdict)?)));
            let agreement = agreement(&by_profile.collect::<Vec<_>>());
            // What no round measured repeats nothing.
            if verdicts.iter().flatten().any(|verdict| verdict.count() != Count::NotJudged) {
                repeats.push(Repeat { claim: id.clone(), form, verdicts, agreement });
            }
            // A smaller round in between, which leaves all open, settles nothing.
            let of_profile = others.iter().filter(|study| study.profile == profile);
            let mut before = of_profile.filter_map(|study| verdict_in(study, &id, form));
            if let Some(verdict) = before.find(|verdict| contradict(*verdict, found.verdict)) {
                found.reason = format!("{verdict} in another round, {} in this one", found.verdict);
                found.verdict = Verdict::Unstable;
            }
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

/// Verdicts that leave open what others settle.
const OPEN: [(Verdict, &[Verdict]); 2] = [
    (Verdict::HoldsSizeOpen, &[Verdict::Holds, Verdict::HoldsSmaller, Verdict::HoldsLarger]),
    (Verdict::NotBetter, &[Verdict::NoDifference, Verdict::Opposite]),
];

/// Whether two verdicts on one claim cannot both be right. One that leaves something open agrees with one that settles it.
fn contradict(before: Verdict, now: Verdict) -> bool {
    let is_decided = |verdict: Verdict| matches!(verdict.count(), Count::Holds | Count::DoesNotHold);
    let settles = |open: Verdict, other: Verdict| OPEN.iter().any(|(of, by)| *of == open && by.contains(&other));
    is_decided(before) && is_decided(now) && before != now && !settles(before, now) && !settles(now, before)
}
