//! A study in the report: what it asks, what the original measured, what became of its claims, what to do.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::answers;
use super::markdown::{Table, bullets, cell, headed, prose, text};
use super::parts::{EVIDENCE, elsewhere, link, original, some, verdict};
use crate::charts;
use crate::claims::Form;
use crate::figures;
use crate::fmt::{self, anchor};
use crate::judged::{Judged, JudgedClaim, JudgedForm, Verdict};
use crate::view::StudyView;

/// A longer reason, or longer words for a part of a test, stand in the evidence.
const LONGEST: usize = 70;

/// The section of a study.
pub fn section(view: &StudyView) -> String {
    let (study, page) = (&view.judged.study, &view.page);
    let mut out = format!("<a id=\"{}\"></a>\n\n## {}\n\n", anchor(study, ""), prose(&page.title));
    if let Some(document) = &page.document {
        let (author, title) = (prose(&document.author), prose(&document.title));
        let _ = write!(out, "{author}, [{title}]({}), {}.\n\n", document.url, document.year);
    }
    let _ = write!(out, "{}\n\n", prose(&page.question));
    out.push_str(&headed("### What the original really measured", &bullets(&page.measured)));
    if !view.judged.claims.is_empty() {
        let chart = "![Claims about ratios, as published and fair, with their intervals](charts/";
        let (claims, file, elsewhere) = (claims(view), charts::claims_of(view), elsewhere(view));
        let _ = write!(out, "### Claims\n\n{claims}\n{chart}{file})\n\n{elsewhere}");
    }
    out.push_str(&headed("### What to do", &bullets(answers::advice(view))));
    out.push_str(&headed("### Threats", &bullets(&page.limits)));
    let _ = writeln!(
        out,
        "Tables, charts, intervals, the authors' own code and every test of a cause: [the evidence]({EVIDENCE}{study}.md)."
    );
    out
}

fn claims(view: &StudyView) -> String {
    let mut table = Table::new("Claim | Published | As published here | Fair | Why");
    for claim in &view.judged.claims {
        let text = format!("{} <sub>{}</sub>", cell(&claim.text), link(&view.judged.study, &claim.id, EVIDENCE));
        table.row([text, original(claim), found(&claim.published), found(&claim.fair), why(claim)]);
    }
    table.render()
}

/// A form as a cell: its verdict and the figure that decided it, or why there is none.
fn found(form: &JudgedForm) -> String {
    match form {
        JudgedForm::Absent(reason) => format!("*{}*", cell(reason)),
        JudgedForm::Judged(found) => {
            let said = figure(found).map(|figure| format!(": {figure}")).unwrap_or_default();
            verdict(found, LONGEST) + &said
        }
    }
}

/// The figure without what stands in the evidence (blocks and scenario), but with how many tests it stands for, and the words of the one that decided.
fn figure(found: &Judged) -> Option<String> {
    let row = found.deciding_row()?;
    let figure = figures::short(row)?;
    let of = match found.rows.as_slice() {
        [] | [_] => String::new(),
        rows if rows.iter().all(|row| row.verdict == found.verdict) => format!("one of {}", rows.len()),
        rows => format!("the worst of {}", rows.len()),
    };
    let of = joined([of, cell(row.part_in_words(LONGEST))], ": ");
    // Why an interval that leaves out 1 decides nothing all the same.
    let leaves_out_1 = figures::shown(row).is_some_and(|found| found.lo > 1.0 || found.hi < 1.0);
    let margin = row.margin.filter(|_| row.verdict == Verdict::Undecided && leaves_out_1);
    let margin = margin.map_or_else(String::new, |margin| format!("margin {}", fmt::percent(margin)));
    let of = joined([of, margin], ", ");
    let of = if of.is_empty() { of } else { format!(" ({of})") };
    Some(figures::marked(text(&figure) + &of, found.mark))
}

fn joined(said: [String; 2], by: &str) -> String {
    said.into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>().join(by)
}

/// The causes of both forms, said once where they are the same.
fn why(claim: &JudgedClaim) -> String {
    let cause = |(form, found): (Form, &Judged)| Some((form, figures::form_cause(found)?));
    let causes: Vec<(Form, String)> = claim.forms().filter_map(cause).collect();
    let of_all = |cause: &str| causes.len() == claim.forms().count() && causes.iter().all(|(_, other)| other == cause);
    let said = match causes.as_slice() {
        [(_, cause), ..] if of_all(cause) => cause.clone(),
        causes => {
            let said = causes.iter().map(|(form, cause)| format!("{}: {cause}", form.in_words()));
            said.collect::<Vec<_>>().join("; ")
        }
    };
    some(cell(&said))
}
