//! A study in the report: what it asks, what the original measured, what became of its claims, its maps, what to do.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{Table, bullets, cell, headed, prose, text as text_of};
use super::parts::{EVIDENCE, here, link, published, ranges, some};
use super::{answers, maps};
use crate::charts;
use crate::claims::Form;
use crate::fmt::{self, anchor};
use crate::judge::figures::{self, or_nothing};
use crate::judge::judged::{Judged, JudgedClaim};
use crate::page::view::StudyView;

/// The section of a study.
pub fn section(view: &StudyView) -> String {
    let (study, page) = (&view.judged.study, &view.page);
    let mut out = format!("<a id=\"{}\"></a>\n\n## {}\n\n", anchor(study, ""), prose(&page.title));
    if let Some(document) = &page.document {
        let [quote, author, title] = [&document.quote, &document.author, &document.title].map(|text| prose(text));
        let _ = write!(out, "> \u{201c}{quote}\u{201d} — {author}, [{title}]({}), {}\n\n", document.url, document.year);
    }
    out.push_str(&headed("### What the original really measured", &bullets(&page.measured)));
    if !view.judged.claims.is_empty() {
        let chart = "![Claims about ratios, as published and fair, a dot per host](charts/";
        let forms = page.forms.as_deref().map(|forms| format!("{}\n\n", prose(forms))).unwrap_or_default();
        let _ = write!(out, "### Claims\n\n{forms}{}\n{chart}{})\n\n", claims(view), charts::claims_of(view));
    }
    out.push_str(&maps::section(view));
    out.push_str(&headed("### What to do", &bullets(answers::advice(view))));
    out.push_str(&headed("### Threats", &bullets(&page.limits)));
    let _ = writeln!(out, "[Evidence]({EVIDENCE}{study}.md): set-ups, hosts, the authors' own code, causes, tables.");
    out
}

/// A row per claim of which something was measured, and below them the others.
fn claims(view: &StudyView) -> String {
    let (study, mut open) = (&view.judged.study, Vec::new());
    let mut table = Table::new("Claim | Published | As published | Fair | Here | Why");
    for claim in &view.judged.claims {
        if Form::VARIANTS.iter().all(|form| view.settings(&claim.id, *form).is_empty()) {
            open.push(link(study, &claim.id, EVIDENCE));
            continue;
        }
        let text = format!("{} <sub>{}</sub>", cell(&claim.text), link(study, &claim.id, EVIDENCE));
        let [as_published, fair] = [Form::Published, Form::Fair].map(|form| found(view, claim, form));
        let here = [Form::Fair, Form::Published].into_iter().find_map(|form| here(view, &claim.id, form));
        let here = or_nothing(here, |here| text_of(&here));
        table.row([text, published(view, claim), as_published, fair, here, why(view, claim)]);
    }
    let open = if open.is_empty() { String::new() } else { format!("\nNot tested: {}.\n", fmt::listed(&open)) };
    table.render() + &open
}

/// A form as a cell: the figures over hosts, beneath them the verdict, or why there is nothing to say.
fn found(view: &StudyView, claim: &JudgedClaim, form: Form) -> String {
    if let Err(reason) = claim.form(form) {
        return format!("*{}*", cell(reason));
    }
    let verdict = figures::over_in_words(view.over(&claim.id, form));
    match ranges(view, &claim.id, form) {
        ranges if ranges.is_empty() => verdict,
        ranges => format!("{}<br>{verdict}", text_of(&ranges)),
    }
}

/// The first cause of each form that was found, said once where it is the same.
fn why(view: &StudyView, claim: &JudgedClaim) -> String {
    let cause = |(form, _): (Form, &Judged)| Some((form, view.stated_causes(&claim.id, form).into_iter().next()?));
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
