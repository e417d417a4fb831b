//! The verdict table for a terminal.

use std::fmt::Write as _;

use crate::figures;
use crate::judged::JudgedClaim;
use crate::supplement::MARK;
use crate::view::StudyView;

/// Width of the column of verdicts: the longest is "reproduced, size undecided".
const VERDICT: usize = 26;
/// Width of the lines that follow an id.
const WIDTH: usize = 100;

/// Per claim its id, verdict and text, and beneath it the figure, the cause, or why there is none.
pub fn verdict_table(studies: &[StudyView]) -> String {
    let mut text = String::new();
    for view in studies {
        let judged = &view.judged;
        let counted = judged.claims.iter().filter(|claim| claim.beside.is_none()).count();
        let _ = writeln!(
            text,
            "{}: {counted} claims, profile {}, {} runs ({} failed), {}",
            judged.study,
            judged.profile,
            judged.runs,
            judged.failures.len(),
            judged.folder
        );
        for supplement in &view.supplements {
            let _ = writeln!(
                text,
                "{} profile {}, {} runs ({} failed), only {}, {}",
                MARK,
                supplement.profile,
                supplement.runs,
                supplement.failed,
                supplement.taken(str::to_owned).join(", "),
                supplement.folder,
            );
        }
        let width = judged.claims.iter().map(|claim| shown_id(claim).chars().count()).max().unwrap_or(0);
        for (claim, _) in view.claims() {
            let indent = width + VERDICT + 4;
            let _ = write!(text, "{:<width$}  {:<VERDICT$}  ", shown_id(claim), claim.verdict.into_str());
            push_wrapped(&mut text, &claim.text, indent);
            push_line(&mut text, &detail(claim), indent);
        }
    }
    text
}

fn shown_id(claim: &JudgedClaim) -> String {
    if claim.beside.is_some() { format!("  {}", claim.id) } else { claim.id.clone() }
}

/// The figure and its cause, or the reason why there is none.
fn detail(claim: &JudgedClaim) -> String {
    let figure = figures::claim_figure(claim);
    let cause = figures::claim_cause(claim);
    let parts = [figure, cause, claim.reason.clone()];
    let said: Vec<String> = parts.into_iter().filter(|part| !part.is_empty() && part != figures::NOTHING).collect();
    said.join("; ")
}

fn push_line(text: &mut String, line: &str, indent: usize) {
    if !line.is_empty() {
        let _ = write!(text, "{:indent$}", "");
        push_wrapped(text, line, indent);
    }
}

/// Words up to the width, further lines indented.
fn push_wrapped(text: &mut String, words: &str, indent: usize) {
    let mut length = 0;
    for word in words.split_whitespace() {
        let needed = word.chars().count() + usize::from(length > 0);
        if length > 0 && length + needed > WIDTH.saturating_sub(indent).max(40) {
            let _ = write!(text, "\n{:indent$}", "");
            length = 0;
        }
        if length > 0 {
            text.push(' ');
        }
        text.push_str(word);
        length += needed;
    }
    text.push('\n');
}
