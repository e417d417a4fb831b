//! A study in the report: what it asks, what the original measured, what became of its claims, what to do.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::answers;
use super::markdown::{Table, bullets, cell, headed, prose, text};
use super::parts::{EVIDENCE, link, published, said, some};
use crate::charts;
use crate::claims::Form;
use crate::fmt::anchor;
use crate::judged::{Judged, JudgedClaim, JudgedForm};
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
        let chart = "![Claims about ratios, as published and fair, a dot per host](charts/";
        let _ = write!(out, "### Claims\n\n{}\n{chart}{})\n\n", claims(view), charts::claims_of(view));
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
    let mut table = Table::new("Claim | Published | As published | Fair | Why");
    for claim in &view.judged.claims {
        let text = format!("{} <sub>{}</sub>", cell(&claim.text), link(&view.judged.study, &claim.id, EVIDENCE));
        let [as_published, fair] = [Form::Published, Form::Fair].map(|form| found(view, claim, form));
        table.row([text, published(view, claim), as_published, fair, why(view, claim)]);
    }
    table.render()
}

/// A form as a cell: what the hosts say, with the words of its set-up, or why there is nothing to say.
fn found(view: &StudyView, claim: &JudgedClaim, form: Form) -> String {
    match claim.form(form) {
        JudgedForm::Absent(reason) => format!("*{}*", cell(reason)),
        JudgedForm::Judged(found) => {
            let setup = found.part_in_words(LONGEST);
            let setup = if setup.is_empty() { String::new() } else { format!(" ({})", cell(setup)) };
            text(&said(view, &claim.id, form, LONGEST)) + &setup
        }
    }
}

/// The causes of both forms, said once where they are the same.
fn why(view: &StudyView, claim: &JudgedClaim) -> String {
    let cause = |(form, _): (Form, &Judged)| Some((form, view.stated_causes(&claim.id, form)?));
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
