//! What is said of each study in short. The sentences come from page.toml, their figures and words from the verdicts over hosts.

use std::collections::BTreeSet;
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::markdown::{Table, cell, prose};
use super::parts::{EVIDENCE, controls, link, range_in_words};
use crate::claims::Form;
use crate::figures;
use crate::fmt::{self, anchor};
use crate::judged::{JudgedClaim, Verdict};
use crate::page::{Answer, Document, When};
use crate::rules::over;
use crate::sentence::{Piece, Sentence, What};
use crate::view::StudyView;

/// A row per study: what they said, what their set-up shows, what is left at equal work, and what to do.
pub fn table(studies: &[StudyView], report: &str) -> String {
    let mut table = Table::new("They said | Their set-up, run again | Equal work | So");
    for view in studies {
        let Some(Answer { name, said, setup, equal, so, .. }) = &view.page.answer else { continue };
        let name = format!("[{}]({report}#{})", cell(name), anchor(&view.judged.study, ""));
        let [said, setup, equal, so] = [said, setup, equal, so].map(|sentence| linked(view, &filled(view, sentence)));
        table.row([format!("{name}: {said}"), setup, equal, so].map(|text| text.replace('|', "\\|")));
    }
    table.render()
}

/// The one conclusion: what the difference was where it was not async.
pub fn conclusion(studies: &[StudyView]) -> String {
    let answers = studies.iter().filter_map(|view| view.page.answer.as_ref());
    let named = answers.filter_map(|answer| Some(format!("{} ({})", answer.instead.as_ref()?, answer.name)));
    let named: Vec<String> = named.collect();
    if named.is_empty() {
        return String::new();
    }
    format!("**Mostly the difference was something else than async**: {}.\n", prose(&named.join(", ")))
}

/// What is quoted of each study, why it is so, and when it is otherwise.
pub fn all(studies: &[StudyView], report: &str) -> String {
    studies.iter().filter_map(|view| answer(view, report)).collect::<Vec<_>>().join("\n")
}

fn answer(view: &StudyView, report: &str) -> Option<String> {
    let (Document { url, year, quote, author, title, .. }, answer) =
        (view.page.document.as_ref()?, view.page.answer.as_ref()?);
    let [heading, quote, author, title] = [&view.page.title, quote, author, title].map(|text| prose(text));
    let mut out = format!(
        "### [{heading}]({report}#{})\n\n> \u{201c}{quote}\u{201d} — {author}, [{title}]({url}), {year}\n\n",
        anchor(&view.judged.study, "")
    );
    for (named, sentence) in [("Why", &answer.why), ("Unless", &answer.unless)] {
        let _ = writeln!(out, "- **{named}.** {}", linked(view, &filled(view, sentence)));
    }
    Some(out)
}

/// A sentence as Markdown, with the claims that it names in parentheses as links.
fn linked(view: &StudyView, sentence: &str) -> String {
    view.judged.claims.iter().fold(prose(sentence), |said, JudgedClaim { id, .. }| {
        said.replace(&format!("({id})"), &format!("({})", link(&view.judged.study, id, EVIDENCE)))
    })
}

/// The advice that the verdicts over hosts bear out, each with the claim that it rests on.
pub fn advice(view: &StudyView) -> impl Iterator<Item = String> {
    let fits = |when: &When| when.verdicts.contains(&view.over(&when.claim, when.form).verdict);
    let fitting = view.page.advice.iter().filter(move |advice| advice.when.as_ref().is_none_or(fits));
    fitting.map(|advice| {
        let text = filled(view, &advice.text);
        let rests = advice.when.as_ref().map(|when| format!(" ({})", link(&view.judged.study, &when.claim, EVIDENCE)));
        text + &rests.unwrap_or_default()
    })
}

/// A sentence with its figures; one that nobody measured reads *not tested*.
pub fn filled(view: &StudyView, sentence: &Sentence) -> String {
    let said = |piece: &Piece| match piece {
        Piece::Words(words) => words.clone(),
        Piece::Figure { claim, form, scenario, what } => {
            figure(view, (claim, *form), scenario.as_ref(), *what).unwrap_or_else(|| Verdict::NotTested.to_string())
        }
    };
    sentence.pieces.iter().map(said).collect()
}

/// The figure of a place in a sentence; `None` if it is not known.
fn figure(view: &StudyView, (id, form): (&str, Form), scenario: Option<&String>, what: What) -> Option<String> {
    let settings = if scenario.is_some() { view.settings(id, form) } else { view.deciding_settings(id, form) };
    let rows = settings.iter().find(|rows| scenario.is_none_or(|scenario| rows[0].1.scenario == *scenario));
    match what {
        What::Said => {
            let said = |what| figure(view, (id, form), scenario, what);
            let both = [said(What::Range), said(What::Verdict)];
            Some(both.into_iter().flatten().collect::<Vec<_>>().join(", "))
        }
        What::Verdict if scenario.is_none() => Some(figures::over_in_words(view.over(id, form))),
        What::Verdict => {
            let verdicts = rows?.iter().map(|(_, row)| row.verdict);
            Some(figures::over_in_words(over(verdicts)))
        }
        What::Range => Some(range_in_words(rows?)),
        What::Here => rows?.iter().find(|(host, _)| *host == view.origin.here).and_then(|(_, row)| figures::short(row)),
        What::Published => figures::published(rows?[0].1),
        What::Theirs => {
            let scale = &rows?[0].1.scale;
            let mirrors = view.judged.asked(id, form)?.judged()?.mirrors.iter().filter(|mirror| mirror.but.is_empty());
            let of_scenario = mirrors.filter(|mirror| scenario.is_none_or(|scenario| mirror.scenario == *scenario));
            let points: Vec<f64> = of_scenario.map(|mirror| mirror.theirs.point).collect();
            figures::range_of(scale, &points)
        }
    }
}

/// Where all this was measured, and what its words mean.
pub fn tally(studies: &[StudyView]) -> String {
    let Some(first) = studies.first() else { return String::new() };
    let hosts: BTreeSet<usize> = studies.iter().flat_map(|view| view.hosts().map(|(host, _)| host)).collect();
    let named = hosts.iter().map(|host| {
        let of = studies.iter().filter(|view| view.hosts().any(|(other, _)| other == *host)).count();
        let of =
            if of == studies.len() { String::new() } else { format!(" ({})", fmt::plural(of, "study", "studies")) };
        cell(first.origin.name(*host)) + &of
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let [passed, failed, open] = controls(studies.iter().map(|view| &view.judged));
    let all = fmt::plural(passed + failed + open, "control", "controls");
    format!(
        "Measured on {}: {named}; `here` is {}. A figure is the range over hosts; in parentheses stands the confidence interval of one host (at least 95 %). \
         *Holds on 3 of 3* counts the hosts that decide. Of {all} here (an arm against its own copy, plain or slowed), {passed} passed, {failed} failed and {open} could not tell.\n",
        fmt::plural(hosts.len(), "host", "hosts"),
        cell(first.origin.name(first.origin.here)),
    )
}
