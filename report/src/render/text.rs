//! Answers and verdicts for a terminal.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::answers::filled;
use super::{parts, prices};
use crate::claims::Form;
use crate::fmt;
use crate::judge::figures::{self, NOTHING};
use crate::judge::judged::{JudgedStudy, Row};
use crate::page::view::StudyView;

/// Width of the column of forms: the longest is "as published".
const FORM: usize = 12;
/// Width of the lines that follow an id.
const WIDTH: usize = 100;

/// What is quoted of each study, what became of it and what to do, and what a handoff costs: a screen.
pub fn answers(studies: &[StudyView]) -> String {
    let mut text = String::new();
    for view in studies {
        let Some(answer) = &view.page.answer else { continue };
        let _ = writeln!(text, "{}", view.page.title);
        let lines = [
            ("They said", &answer.said),
            ("Run again", &answer.setup),
            ("Equal work", &answer.equal),
            ("So", &answer.so),
        ];
        for (name, sentence) in lines {
            let _ = write!(text, "  {name:<12}");
            push_wrapped(&mut text, &filled(view, sentence).replace('`', ""), 14);
        }
    }
    text + &prices::in_text(studies, true)
}

/// What the hosts say of one claim: here, over the hosts, and what was published; `None` if there is no such claim.
pub fn claim(view: &StudyView, id: &str) -> Option<String> {
    let claim = view.judged.claim(id)?;
    let each = |of: &dyn Fn(Form) -> Option<String>| {
        let said = Form::VARIANTS.iter().filter_map(|form| Some(format!("{} {}", form.in_words(), of(*form)?)));
        parts::some(said.collect::<Vec<_>>().join("; "))
    };
    let here = each(&|form| {
        let found = claim.form(form).as_ref().ok()?;
        let figure = found.deciding_row().and_then(figures::short);
        Some(format!("{} ({})", figure.unwrap_or_else(|| NOTHING.to_owned()), found.verdict))
    });
    let range = each(&|form| {
        let settings = view.deciding_settings(id, form);
        Some(format!("{} ({})", parts::range_in_words(settings.first()?), figures::over_in_words(view.over(id, form))))
    });
    let row: Option<&Row> =
        claim.forms().find_map(|(_, found)| found.deciding_row().filter(|row| row.figure.is_some()));
    let published = row.and_then(figures::published).unwrap_or_else(|| claim.original.clone());
    Some(format!("{id}: {}\nhere:      {here}\nrange:     {range}\npublished: {published}\n", claim.text))
}

/// Per claim its id and text, and beneath it per form the verdict over hosts with its figures and cause, or why there is none.
pub fn verdict_table(studies: &[StudyView]) -> String {
    let mut text = String::new();
    for view in studies {
        let JudgedStudy { study, folder, profile, runs, failures, claims, .. } = &view.judged;
        let (count, failed) = (claims.len(), failures.len());
        let _ = writeln!(text, "{study}: {count} claims, newest {folder} ({profile}, {runs} runs, {failed} failed)");
        let width = claims.iter().map(|claim| claim.id.chars().count()).max().unwrap_or(0);
        for claim in claims {
            let _ = write!(text, "{:<width$}  ", claim.id);
            push_wrapped(&mut text, &claim.text, width + 2);
            for form in Form::VARIANTS {
                let _ = write!(text, "{:width$}  {:<FORM$}  ", "", form.in_words());
                let said = match claim.form(*form) {
                    Err(reason) => format!("absent: {reason}"),
                    Ok(found) => said(view, &claim.id, *form, &found.reason),
                };
                push_wrapped(&mut text, &said, width + FORM + 4);
            }
        }
    }
    text
}

/// "holds on 4 of 4 (why): +5 to +42 %; here +28 % (+27 to +29); its cause".
fn said(view: &StudyView, id: &str, form: Form, reason: &str) -> String {
    let verdict = figures::over_in_words(view.over(id, form));
    let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    let ranges = parts::ranges(view, id, form);
    let ranges = if ranges.is_empty() { ranges } else { format!(": {ranges}") };
    let here = parts::here(view, id, form).map(|here| format!("; here {here}"));
    let causes = view.stated_causes(id, form).into_iter().map(|cause| format!("; {cause}"));
    [verdict, reason, ranges, here.unwrap_or_default(), causes.collect::<Vec<_>>().concat()].concat()
}

/// Words up to the width, further lines indented.
fn push_wrapped(text: &mut String, words: &str, indent: usize) {
    let room = WIDTH.saturating_sub(indent).max(40);
    let lines = fmt::lines(words.split_whitespace(), " ", |line| line.chars().count() <= room);
    let _ = writeln!(text, "{}", lines.join(&format!("\n{:indent$}", "")));
}
