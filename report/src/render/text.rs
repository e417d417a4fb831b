//! Answers and verdicts for a terminal.

use std::fmt::Write as _;

use strum::VariantArray as _;

use super::answers;
use super::parts::{Counted, counted};
use crate::claims::Form;
use crate::figures;
use crate::fmt;
use crate::judged::{Counts, JudgedForm, JudgedStudy};
use crate::page::Role;
use crate::supplement::{MARK, Supplement};
use crate::view::StudyView;

/// Width of the column of forms: the longest is "as published".
const FORM: usize = 12;
/// Width of the lines that follow an id.
const WIDTH: usize = 100;

/// What is quoted of each study, whether it holds and what to do, and how many claims do: a screen.
pub fn answers(studies: &[StudyView]) -> String {
    let mut text = String::new();
    for view in studies {
        let Some(claim) = answers::claim_of(view) else { continue };
        let _ = writeln!(text, "{}", view.page.title);
        let verdicts = answers::verdicts(view, claim);
        let lines = match answers::said(view, Role::Short) {
            Some(short) => vec![verdicts.map(|(heading, _)| heading).join(". ") + ".", short],
            None => verdicts.map(|(heading, sentence)| format!("{heading}. {sentence}")).to_vec(),
        };
        let advice = answers::said(view, Role::Do).map(|sentence| format!("Do: {sentence}"));
        for line in lines.into_iter().chain(advice) {
            text.push_str("  ");
            push_wrapped(&mut text, &line.replace('`', ""), 4);
        }
    }
    let _ = writeln!(text, "\n{:<16}{:>7}{:>30}{:>30}", "", "claims", "as published", "fair");
    for Counted { name, claims, counts, .. } in counted(studies) {
        let _ = write!(text, "{name:<16}{claims:>7}");
        for count in &counts {
            let _ = write!(text, "{:>30}", figures::count_in_words(count));
        }
        text.push('\n');
    }
    text
}

/// Per claim its id and text, and beneath it per form the verdict, the figure and the cause, or why there is none.
pub fn verdict_table(studies: &[StudyView]) -> String {
    let mut text = String::new();
    for view in studies {
        let JudgedStudy { study, folder, profile, runs, failures, claims, .. } = &view.judged;
        let (count, failed) = (claims.len(), failures.len());
        let _ = writeln!(text, "{study}: {count} claims, profile {profile}, {runs} runs ({failed} failed), {folder}");
        for form in Form::VARIANTS {
            let Counts { judged, holds, does_not_hold, undecided, .. } = Counts::of(claims, *form);
            let counts = format!("{judged} judged: {holds} hold, {does_not_hold} do not hold, {undecided} undecided");
            let _ = writeln!(text, "{:<FORM$}  {counts}", form.in_words());
        }
        for supplement in &view.supplements {
            let Supplement { profile, runs, failed, folder, .. } = supplement;
            let taken = supplement.taken(str::to_owned).join(", ");
            let _ = writeln!(text, "{MARK} profile {profile}, {runs} runs ({failed} failed), only {taken}, {folder}");
        }
        let width = claims.iter().map(|claim| claim.id.chars().count()).max().unwrap_or(0);
        for claim in claims {
            let _ = write!(text, "{:<width$}  ", claim.id);
            push_wrapped(&mut text, &claim.text, width + 2);
            for form in Form::VARIANTS {
                let _ = write!(text, "{:width$}  {:<FORM$}  ", "", form.in_words());
                push_wrapped(&mut text, &said(claim.form(*form)), width + FORM + 4);
            }
        }
    }
    text
}

/// The verdict with its figure and cause, or the reason why there is none.
fn said(form: &JudgedForm) -> String {
    match form {
        JudgedForm::Absent(reason) => format!("absent: {reason}"),
        JudgedForm::Judged(found) => {
            let reason = Some(found.reason.clone()).filter(|reason| !reason.is_empty());
            let parts = [figures::form_figure(found), figures::form_cause(found), reason];
            let detail = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
            if detail.is_empty() { found.verdict.to_string() } else { format!("{}: {detail}", found.verdict) }
        }
    }
}

/// Words up to the width, further lines indented.
fn push_wrapped(text: &mut String, words: &str, indent: usize) {
    let room = WIDTH.saturating_sub(indent).max(40);
    let lines = fmt::lines(words.split_whitespace(), " ", |line| line.chars().count() <= room);
    let _ = writeln!(text, "{}", lines.join(&format!("\n{:indent$}", "")));
}
