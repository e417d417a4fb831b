//! What several pages print: links, verdicts over hosts, figures beside them.

use std::collections::BTreeSet;

use super::markdown::{cell, text};
use crate::claims::Form;
use crate::fmt::anchor;
use crate::judge::figures::{self, NOTHING};
use crate::judge::judged::{JudgedClaim, Row};
use crate::page::view::StudyView;

/// Where the evidence lies, from the root of the repository, where README.md and REPORT.md are.
pub const EVIDENCE: &str = "docs/evidence/";

/// More settings than this stand one by one in the evidence only.
const MOST_SETTINGS: usize = 4;
/// Longer words for a part stand in the evidence only.
const LONGEST_PART: usize = 60;

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
        // Without what stands in parentheses.
        None => original(claim).split(" (").next().unwrap_or_default().to_owned(),
    }
}

/// The figures of the settings that decide, from the least to the most over hosts: of each part where the parts have names, else of all together;
/// empty without any.
pub fn ranges(view: &StudyView, id: &str, form: Form) -> String {
    let settings = view.deciding_settings(id, form);
    let first = |rows: &Vec<(usize, &'_ Row)>| rows[0].1.part_in_words(LONGEST_PART).to_owned();
    let parts: BTreeSet<String> = settings.iter().map(first).collect();
    let are_parts = parts.len() == settings.len() && !parts.contains("") && settings.len() <= MOST_SETTINGS;
    let rows: Vec<&Row> = settings.iter().flatten().map(|(_, row)| *row).collect();
    match settings.as_slice() {
        [] => String::new(),
        [rows] => range_in_words(rows),
        settings if are_parts => {
            let named = settings.iter().map(|rows| format!("{}: {}", first(rows), range_in_words(rows)));
            named.collect::<Vec<_>>().join("; ")
        }
        settings if rows.iter().all(|row| figures::are_alike(&row.scale, &rows[0].scale)) => {
            format!("{}, {} settings", figures::range(&rows).unwrap_or_else(|| NOTHING.to_owned()), settings.len())
        }
        settings => format!("{} settings", settings.len()),
    }
}

/// The figure of the only setting that decides on the host of the newest round, with its interval.
pub fn here(view: &StudyView, id: &str, form: Form) -> Option<String> {
    let settings = view.deciding_settings(id, form);
    let [rows] = settings.as_slice() else { return None };
    rows.iter().find(|(host, _)| *host == view.origin.here).and_then(|(_, row)| figures::short(row))
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

/// A round of which there is a figure, as a link from the evidence.
pub fn round(folder: &str) -> String {
    format!("[{}](../../results/{folder})", folder.rsplit('/').next().unwrap_or_default())
}
