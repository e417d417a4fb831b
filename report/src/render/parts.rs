//! What several sections print.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::markdown::{cell, code};
use crate::claims::Form;
use crate::figures::NOTHING;
use crate::fmt::{self, anchor};
use crate::host;
use crate::judged::{ControlState, Counts, Judged, JudgedClaim, JudgedStudy};
use crate::rounds::letter;
use crate::supplement::MARK;
use crate::view::StudyView;

/// Where the evidence lies, from the root of the repository, where README.md and REPORT.md are.
pub const EVIDENCE: &str = "docs/evidence/";

/// The link to the evidence of a claim; `to` is the way to the folder of the evidence, empty in that folder.
pub fn link(study: &str, claim: &str, to: &str) -> String {
    format!("[{}]({to}{study}.md#{})", cell(claim), anchor(study, claim))
}

/// The original's figure, or that it gave none.
pub fn original(claim: &JudgedClaim) -> String {
    if claim.original.trim().is_empty() { "none".to_owned() } else { cell(&claim.original) }
}

/// Which host a study was measured on, if it is not that of the others; else empty.
pub fn elsewhere(view: &StudyView) -> String {
    let origin = &view.origin;
    let source = origin.rounds.iter().find(|source| source.host == origin.host && !origin.is_first_host());
    source.map_or_else(String::new, |source| {
        let (study, host, first) = (code(&view.judged.study), letter(source.host), letter(0));
        let machine = cell(&host::in_words(&source.machine));
        format!("{study} was measured on host {host}, not on {first}: {machine}.\n\n")
    })
}

/// "**holds**", with the reason where there is one of at most `longest` characters: "not measured (quick)" beside "not measured" is only "quick".
pub fn verdict(found: &Judged, longest: usize) -> String {
    let whole = found.reason.trim().trim_end_matches('.');
    let rest =
        whole.strip_prefix(found.verdict.into_str()).map_or(whole, |rest| rest.trim_start_matches([':', ',']).trim());
    let reason = rest.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(rest);
    let is_said = !reason.is_empty() && reason.chars().count() <= longest;
    let reason = if is_said { format!(" ({})", cell(reason)) } else { String::new() };
    format!("**{}**{reason}", found.in_words())
}

/// The text, or `-` for none.
pub fn some(text: String) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text }
}

/// What the marks mean, one paragraph per measurement that stands in; empty without any.
pub fn supplements(view: &StudyView) -> String {
    view.supplements.iter().fold(String::new(), |mut out, supplement| {
        let failed = if supplement.failed == 0 { String::new() } else { format!(", {} failed", supplement.failed) };
        let (folder, profile) = (code(&format!("results/{}", supplement.folder)), code(&supplement.profile));
        let (runs, taken) = (fmt::plural(supplement.runs, "run", "runs"), supplement.taken(code).join(", "));
        let _ = write!(out, "{MARK} from {folder} ({runs}{failed}), profile {profile}, only {taken}.\n\n");
        out
    })
}

/// How many controls of these studies passed, failed and could not tell.
pub fn controls<'a>(studies: impl Iterator<Item = &'a JudgedStudy> + Clone) -> [usize; 3] {
    let controls = studies.flat_map(|study| &study.controls);
    [ControlState::Passed, ControlState::Failed, ControlState::CouldNotTell]
        .map(|state| controls.clone().filter(|control| control.state == state).count())
}

/// What becomes of the claims of a study, or of all.
pub struct Counted<'a> {
    /// The study, or "all".
    pub name: &'a str,
    /// It, or all.
    pub views: &'a [StudyView],
    pub claims: usize,
    /// As published, then fair.
    pub counts: [Counts; 2],
}

/// Counts the claims of each study, and of all if there are several.
pub fn counted(studies: &[StudyView]) -> impl Iterator<Item = Counted<'_>> {
    let each = studies.iter().map(|view| (view.judged.study.as_str(), std::slice::from_ref(view)));
    let all = (studies.len() > 1).then_some(("all", studies));
    each.chain(all).map(|(name, views)| {
        let claims = || views.iter().flat_map(|view| &view.judged.claims);
        let counts = [Form::Published, Form::Fair].map(|form| Counts::of(claims(), form));
        Counted { name, views, claims: claims().count(), counts }
    })
}
