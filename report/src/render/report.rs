//! REPORT.md: what is in it, prices and rule, the studies, threats to every measurement here, and how to rebuild the file.

use std::collections::BTreeSet;
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{EVIDENCE, Table, around, bullets, cell, heading, known, link, original, prose, some, text};
use super::{GENERATED, answers, maps, prices, rule};
use crate::charts;
use crate::claims::Form;
use crate::fmt::{self, anchor};
use crate::judge::figures;
use crate::judge::judged::{JudgedClaim, Verdict};
use crate::page::view::StudyView;

const THREATS: [&str; 5] = [
    "Other guests of a virtual machine disturb. Where the controls cannot exclude that, a verdict is *unclear*.",
    "More cores may show gains that two cannot.",
    "Idle cores of most hosts sleep, which makes handoffs dearer ([why](docs/METHODOLOGY.md#small-virtual-machines)).",
    "The code is rewritten: a difference may come from that.",
    "Inputs are generated: the published shape without the variety of real data.",
];

pub fn page(studies: &[StudyView]) -> String {
    let first = [GENERATED.to_owned(), head(studies), prices::section(studies), rule::section(studies)];
    let last = format!(
        "## Threats to all of them\n\n{}## Rebuild this file\n\n`make report` makes the same bytes from the raw samples, without measuring.\n",
        bullets(THREATS)
    );
    let sections = first.into_iter().chain(studies.iter().map(study)).chain([last]);
    sections.filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

fn head(studies: &[StudyView]) -> String {
    let of_study = |view: &StudyView| format!("[{}](#{})", view.judged.study, anchor(&view.judged.study, ""));
    let prices = studies.iter().any(|view| !view.prices.is_empty()).then(|| "[Prices](#prices)".to_owned());
    let contents = bullets(prices.into_iter().chain(studies.iter().map(of_study)));
    let claims = answers::CLAIMS;
    format!(
        "# Async or not: five published comparisons, measured again\n\n{contents}\
         *As published* is the authors' set-up with its flaws, *fair* is equal work on equal resources. A figure is the range over hosts, above its [verdict](docs/METHODOLOGY.md#verdicts) and the hosts that decide it. \
         *Here* is the newest host's figure, fair if there is one, with its confidence interval. \
         *Outside*: the published figure is in neither our range nor that of their code.\n\n{claims}(charts/claims.svg)\n"
    )
}

fn study(view: &StudyView) -> String {
    let (study, page) = (&view.judged.study, &view.page);
    let mut out = heading(&anchor(study, ""), &format!("## {}", prose(&page.title)));
    if let Some(document) = &page.document {
        let [quote, author, title] = [&document.quote, &document.author, &document.title].map(|text| prose(text));
        let _ = write!(out, "> \u{201c}{quote}\u{201d} — {author}, [{title}]({}), {}\n\n", document.url, document.year);
    }
    out += &around("### What the original really measured\n\n", bullets(&page.measured), "");
    if !view.judged.claims.is_empty() {
        let chart = format!("{}(charts/{})", answers::CLAIMS, charts::claims_of(view));
        let forms = around("", prose(page.forms.as_deref().unwrap_or_default()), " ");
        let full = view.rounds.iter().filter(|source| source.folder.ends_with("-full"));
        let full = full.map(|source| source.host).collect::<BTreeSet<_>>().len();
        let full = if full == 0 { "none".to_owned() } else { full.to_string() };
        let hosts = format!("Hosts: {}; large sizes: {full}.", view.hosts().count());
        let _ = write!(out, "### Claims\n\n{forms}{hosts}\n\n{}\n{chart}\n\n", claims(view));
    }
    let advice = page.advice.iter().map(|advice| answers::filled(view, advice));
    out += &maps::section(view);
    out += &around("### What to do\n\n", bullets(advice), "");
    out += &around("### Threats\n\n", bullets(&page.limits), "");
    out + &format!("[Evidence]({EVIDENCE}{study}.md)\n")
}

/// A row per claim of which something was measured, and below them the others.
fn claims(view: &StudyView) -> String {
    let (study, mut open) = (&view.judged.study, Vec::new());
    let mut table = Table::new("Claim | Published | As published | Fair | Here | Why");
    for claim in &view.judged.claims {
        if Form::VARIANTS.iter().all(|form| view.settings(&claim.id, *form).is_empty()) {
            let what = claim.text.split(" (").next().unwrap_or_default();
            open.push(format!("{} ({})", cell(what), link(study, &claim.id, EVIDENCE)));
            continue;
        }
        let said = format!("{} <sub>{}</sub>", cell(&claim.text), link(study, &claim.id, EVIDENCE));
        let [as_published, fair] = [Form::Published, Form::Fair].map(|form| found(view, claim, form));
        let here = [Form::Fair, Form::Published].into_iter().find_map(|form| here(view, &claim.id, form));
        table.row([said, published(view, claim), as_published, fair, known(here), why(view, claim)]);
    }
    table.render() + &around("\nNot tested: ", fmt::listed(&open), ".\n")
}

/// A form as a cell: the figures over hosts, beneath them the verdict, or why there is nothing to say.
fn found(view: &StudyView, claim: &JudgedClaim, form: Form) -> String {
    if let Err(reason) = claim.form(form) {
        return format!("*{}*", cell(reason));
    }
    let ranges = text(&figures::ranges(&view.deciding_settings(&claim.id, form)).unwrap_or_default());
    around("", ranges, "<br>") + &figures::over_in_words(view.over(&claim.id, form))
}

/// The published figure in the unit of its authors, marked where it lies outside of the range over hosts; what is printed where there is none.
fn published(view: &StudyView, claim: &JudgedClaim) -> String {
    let mut rows = view.deciding_settings(&claim.id, Form::Published).concat();
    let figured = rows.first().and_then(|first| Some((*first, figures::published(first)?)));
    let Some((first, figure)) = figured else {
        return original(claim).split(" (").next().unwrap_or_default().to_owned();
    };
    rows.retain(|row| figures::are_alike(&row.scale, &first.scale));
    let of_part = view.mirrors(&claim.id, Form::Published).filter(|mirror| mirror.part == first.part);
    let theirs: Vec<f64> = of_part.map(|mirror| mirror.theirs.point).collect();
    let was_tested = view.over(&claim.id, Form::Published).verdict != Verdict::NotTested;
    let is_outside = was_tested && figures::is_outside(&rows, &theirs);
    text(&figure) + if is_outside { ", *outside*" } else { "" }
}

/// The figure of the only setting that decides on the host of the newest round, with its interval.
fn here(view: &StudyView, id: &str, form: Form) -> Option<String> {
    let settings = view.deciding_settings(id, form);
    let [rows] = settings.as_slice() else { return None };
    rows.iter().find(|row| row.at.host == view.here).and_then(|row| figures::short(row))
}

/// The first cause of each form that was found, said once where it is the same.
fn why(view: &StudyView, claim: &JudgedClaim) -> String {
    let causes = claim.forms().map(|(form, _)| (form, view.stated_cause(&claim.id, form))).collect::<Vec<_>>();
    let of_form = |(form, cause): &(Form, Option<String>)| Some(format!("{}: {}", form.in_words(), cause.as_ref()?));
    some(cell(&match causes.as_slice() {
        [(_, Some(cause)), others @ ..] if others.iter().all(|(_, other)| other.as_ref() == Some(cause)) => {
            cause.clone()
        }
        causes => causes.iter().filter_map(of_form).collect::<Vec<_>>().join("; "),
    }))
}
