//! REPORT.md: what is in it, prices and rule, the studies, threats to every measurement here, and how to rebuild the file.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{Table, bullets, cell, code, headed, heading, known, prose, text};
use super::parts::{EVIDENCE, here, link, published, ranges, some};
use super::{GENERATED, answers, maps, prices, rule};
use crate::charts;
use crate::claims::Form;
use crate::fmt::{self, anchor};
use crate::judge::figures;
use crate::judge::judged::{Judged, JudgedClaim};
use crate::page::view::StudyView;

/// Limits of every measurement here, whatever the study.
const THREATS: [&str; 4] = [
    "Other guests of a virtual machine disturb. What the controls cannot tell from that is *unclear*.",
    "More cores may show gains that two cannot.",
    "The code is rewritten: a difference may come from that.",
    "Inputs are generated. They have the published shape, not the variety of real data.",
];

/// The report over the studies that have been measured, in the order given.
pub fn page(studies: &[StudyView]) -> String {
    let first = [GENERATED.to_owned(), head(studies), prices::section(studies), rule::section(studies)];
    let first = first.into_iter().filter(|section| !section.is_empty());
    let last = format!("## Threats to all of them\n\n{}{}", bullets(THREATS), commands(studies));
    first.chain(studies.iter().map(study)).chain([last]).collect::<Vec<_>>().join("\n")
}

/// Title, contents, and how to read the tables.
fn head(studies: &[StudyView]) -> String {
    let of_study = |view: &StudyView| format!("[{}](#{})", view.judged.study, anchor(&view.judged.study, ""));
    let prices = studies.iter().any(|view| !view.prices.is_empty()).then(|| "[Prices](#prices)".to_owned());
    let contents = bullets(prices.into_iter().chain(studies.iter().map(of_study)));
    format!(
        "# Async or not: five published comparisons, measured again\n\n{contents}\
         *As published* is the authors' set-up with its flaws, *fair* is equal work on equal resources. A figure is the range over hosts. \
         Beneath it stands the [verdict](docs/METHODOLOGY.md#verdicts) with the hosts that decide it; a host that it does not count was not asked. \
         *Here* is the newest host's figure with its confidence interval, the fair one if there is one. *Outside* marks a published figure outside of the range. \
         Read on: [how we measure](docs/METHODOLOGY.md), [controls](docs/evidence/TRUST.md), [machines](docs/evidence/MACHINES.md).\n"
    )
}

/// The commands, and the newest raw data that they read.
fn commands(studies: &[StudyView]) -> String {
    let mut table = Table::new("Newest raw samples | Hash of the plan");
    for StudyView { judged, .. } in studies {
        // As many digits as tell two plans apart; `report verdicts` has all.
        let hash = judged.plan_hash.get(..12).unwrap_or(&judged.plan_hash);
        let [samples, hash] = [&format!("results/{}", judged.folder), hash].map(code);
        table.row([samples, hash]);
    }
    let how = "## Rebuild this file\n\n`make report` makes the same bytes from the raw samples, without measuring.\n\n";
    how.to_owned() + &table.render()
}

/// The section of a study.
fn study(view: &StudyView) -> String {
    let (study, page) = (&view.judged.study, &view.page);
    let mut out = heading(&anchor(study, ""), &format!("## {}", prose(&page.title)));
    if let Some(document) = &page.document {
        let [quote, author, title] = [&document.quote, &document.author, &document.title].map(|text| prose(text));
        let _ = write!(out, "> \u{201c}{quote}\u{201d} — {author}, [{title}]({}), {}\n\n", document.url, document.year);
    }
    out.push_str(&headed("### What the original really measured", &bullets(&page.measured)));
    if !view.judged.claims.is_empty() {
        let chart = format!("{}(charts/{})", answers::CLAIMS, charts::claims_of(view));
        let forms = page.forms.as_deref().map(|forms| format!("{} ", prose(forms))).unwrap_or_default();
        let hosts = view.hosts().count();
        let _ = write!(out, "### Claims\n\n{forms}Hosts in all: {hosts}.\n\n{}\n{chart}\n\n", claims(view));
    }
    out.push_str(&maps::section(view));
    out.push_str(&headed("### What to do", &bullets(answers::advice(view))));
    out.push_str(&headed("### Threats", &bullets(&page.limits)));
    let _ = writeln!(out, "[Evidence]({EVIDENCE}{study}.md)");
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
        let said = format!("{} <sub>{}</sub>", cell(&claim.text), link(study, &claim.id, EVIDENCE));
        let [as_published, fair] = [Form::Published, Form::Fair].map(|form| found(view, claim, form));
        let here = [Form::Fair, Form::Published].into_iter().find_map(|form| here(view, &claim.id, form));
        table.row([said, published(view, claim), as_published, fair, known(here), why(view, claim)]);
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
        ranges => format!("{}<br>{verdict}", text(&ranges)),
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
