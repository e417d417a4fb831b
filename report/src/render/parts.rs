//! What several pages print: links, verdicts over hosts, figures beside them.

use std::collections::BTreeSet;

use super::markdown::{cell, text};
use crate::claims::Form;
use crate::figures::{self, NOTHING};
use crate::fmt::anchor;
use crate::judged::{ControlState, JudgedClaim, JudgedForm, JudgedStudy, Row, Verdict};
use crate::view::StudyView;

/// Where the evidence lies, from the root of the repository, where README.md and REPORT.md are.
pub const EVIDENCE: &str = "docs/evidence/";

/// More settings than this stand in the evidence one by one.
const MOST_SETTINGS: usize = 4;

/// The link to the evidence of a claim; `to` is the way to the folder of the evidence, empty in that folder.
pub fn link(study: &str, claim: &str, to: &str) -> String {
    format!("[{}]({to}{study}.md#{})", cell(claim), anchor(study, claim))
}

/// The original's figure, or that it gave none.
pub fn original(claim: &JudgedClaim) -> String {
    if claim.original.trim().is_empty() { "none".to_owned() } else { cell(&claim.original) }
}

/// The published figure in the unit of its authors, marked where it lies outside of the range over hosts; what is printed where there is none.
pub fn published(view: &StudyView, claim: &JudgedClaim) -> String {
    let settings = view.settings(&claim.id, Form::Published);
    let rows: Vec<&Row> = settings.first().into_iter().flatten().map(|(_, row)| *row).collect();
    match rows.first().and_then(|row| figures::published(row)) {
        Some(figure) if figures::is_outside(&rows) => format!("{}, *outside*", text(&figure)),
        Some(figure) => text(&figure),
        None => original(claim),
    }
}

/// What the hosts say of a form, of a claim or a further test: "holds on 4 of 4: +5 to +42 %; here +28 % (+27 to +29)"; a longer reason
/// than `longest` characters stands in the evidence.
pub fn said(view: &StudyView, id: &str, form: Form, longest: usize) -> String {
    let Some(JudgedForm::Judged(here)) = view.judged.asked(id, form) else { return NOTHING.to_owned() };
    let verdict = figures::over_in_words(view.over(id, form));
    let reason = here.reason.trim().trim_end_matches('.');
    let is_said = here.verdict != Verdict::Holds && !reason.is_empty();
    let reason = if is_said && reason.chars().count() <= longest { format!(" ({reason})") } else { String::new() };
    let figures = settings_in_words(view, id, form);
    let figures = if figures.is_empty() { figures } else { format!(": {figures}") };
    verdict + &reason + &figures
}

/// The figures of the settings that decide: each from the least to the most over hosts; of one setting also that of here.
fn settings_in_words(view: &StudyView, id: &str, form: Form) -> String {
    let settings = view.deciding_settings(id, form);
    let here = view.origin.here;
    match settings.as_slice() {
        [rows] => {
            let own = rows.iter().find(|(host, _)| *host == here).and_then(|(_, row)| figures::short(row));
            let range = range_in_words(rows);
            match own {
                Some(own) if rows.len() == 1 => own,
                Some(own) => format!("{range}; here {own}"),
                None => range,
            }
        }
        settings if settings.len() > MOST_SETTINGS => format!("{} settings, see there", settings.len()),
        settings => {
            let parts: BTreeSet<&str> = settings.iter().map(|rows| rows[0].1.part_in_words(60)).collect();
            let are_parts = parts.len() == settings.len() && !parts.contains("");
            let name = |row: &'_ Row| if are_parts { row.part_in_words(60).to_owned() } else { row.scenario.clone() };
            let named = settings.iter().map(|rows| format!("{}: {}", name(rows[0].1), range_in_words(rows)));
            named.collect::<Vec<_>>().join("; ")
        }
    }
}

/// From the least to the most over the hosts.
pub fn range_in_words(rows: &[(usize, &Row)]) -> String {
    let rows: Vec<&Row> = rows.iter().map(|(_, row)| *row).collect();
    figures::range(&rows).unwrap_or_else(|| NOTHING.to_owned())
}

/// The text, or `-` for none.
pub fn some(text: String) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text }
}

/// How many controls of these studies passed, failed and could not tell.
pub fn controls<'a>(studies: impl Iterator<Item = &'a JudgedStudy> + Clone) -> [usize; 3] {
    let controls = studies.flat_map(|study| &study.controls);
    [ControlState::Passed, ControlState::Failed, ControlState::CouldNotTell]
        .map(|state| controls.clone().filter(|control| control.state == state).count())
}
