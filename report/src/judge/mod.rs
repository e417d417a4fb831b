//! From samples to verdicts: pure, and the only place where claims and samples meet.

use crate::judged::{
    Agreement, ControlState, Count, Judged, JudgedControl, JudgedStudy, Repeat, Round, Rounds, Row, Verdict,
};

mod calibration;
mod claim;
mod control;
mod evidence;
mod goal;
mod mirror;
mod price;
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
    let this = now.clone();
    let all: Vec<&JudgedStudy> = std::iter::once(&this).chain(others).collect();
    let round = |study: &&JudgedStudy| {
        let failed = study.controls.iter().filter(|control| control.state == ControlState::Failed);
        Round {
            folder: study.folder.clone(),
            profile: study.profile.clone(),
            plan_seed: study.plan_seed,
            failed_controls: failed.map(|control| control.id.clone()).collect(),
        }
    };
    let measured = all.iter().map(round).collect();
    let mut repeats = Vec::new();
    for claim in &mut now.claims {
        let id = claim.id.clone();
        for (form, found) in claim.forms_mut() {
            let in_each: Vec<Option<(&str, &Judged)>> =
                all.iter().map(|study| Some((study.profile.as_str(), study.asked(&id, form)?.judged()?))).collect();
            let verdicts: Vec<Option<Verdict>> =
                in_each.iter().map(|judged| Some(judged.as_ref()?.1.verdict)).collect();
            let findings: Vec<(&str, &Judged)> = in_each.into_iter().flatten().collect();
            // What no round measured repeats nothing.
            if verdicts.iter().flatten().any(|verdict| verdict.count() != Count::NotJudged) {
                repeats.push(Repeat { claim: id.clone(), form, verdicts, agreement: agreement(&findings) });
            }
            // A smaller round in between, which leaves all open, settles nothing. What this one found contradicts itself nowhere.
            let mut of_profile = findings.into_iter().filter(|(profile, _)| *profile == this.profile);
            if let Some((_, other)) = of_profile.find(|(_, other)| contradict(other, found)) {
                found.reason = format!("{} in another round, {} in this one", other.verdict, found.verdict);
                found.verdict = Verdict::Unstable;
            }
        }
    }
    now.rounds = Some(Rounds { measured, repeats });
}

/// What the findings on one claim, each with its profile, say together.
fn agreement(findings: &[(&str, &Judged)]) -> Agreement {
    let pairs = || {
        findings.iter().enumerate().flat_map(|(at, first)| findings[at + 1..].iter().map(move |other| (first, other)))
    };
    if pairs().all(|(first, other)| first.1.verdict == other.1.verdict) {
        return Agreement::Same;
    }
    let contradictions = pairs().filter(|(first, other)| contradict(first.1, other.1));
    // One within a profile outweighs those of two.
    match contradictions.map(|(first, other)| first.0 == other.0).max() {
        Some(true) => Agreement::Differs,
        Some(false) => Agreement::ByProfile,
        None => Agreement::Open,
    }
}

/// Verdicts that leave open what others settle.
const OPEN: [(Verdict, &[Verdict]); 2] = [
    (Verdict::HoldsSizeOpen, &[Verdict::Holds, Verdict::HoldsSmaller, Verdict::HoldsLarger]),
    (Verdict::NotBetter, &[Verdict::NoDifference, Verdict::Opposite]),
];

/// Whether two findings on one claim cannot both be right. Of several tests the worst verdict counts, which may be another test's in another round:
/// where both made the same tests, one of these has to contradict itself.
fn contradict(before: &Judged, now: &Judged) -> bool {
    let is_same = |a: &Row, b: &Row| a.part == b.part && a.scenario == b.scenario;
    let again = |row| now.rows.iter().filter(move |other| is_same(row, other)).map(move |other| (row, other));
    let twice: Vec<(&Row, &Row)> = before.rows.iter().flat_map(again).collect();
    verdicts_contradict(before.verdict, now.verdict)
        && (twice.is_empty() || twice.iter().any(|(row, other)| verdicts_contradict(row.verdict, other.verdict)))
}

/// Whether two verdicts on one quantity cannot both be right. One that leaves something open agrees with one that settles it.
fn verdicts_contradict(before: Verdict, now: Verdict) -> bool {
    let is_decided = |verdict: Verdict| matches!(verdict.count(), Count::Holds | Count::DoesNotHold);
    let settles = |open: Verdict, other: Verdict| OPEN.iter().any(|(of, by)| *of == open && by.contains(&other));
    is_decided(before) && is_decided(now) && before != now && !settles(before, now) && !settles(now, before)
}
