//! What other documents show of each study: the README what is said in short, that of its crate its goals. Figures come from the rows over hosts.

use std::collections::BTreeSet;
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.
use std::mem;

use super::markdown::{EVIDENCE, Table, around, cell, code, known, prose, some, text};
use super::{REPORT, prices};
use crate::claims::Form;
use crate::claims::rules::Over;
use crate::fmt::{self, anchor};
use crate::judge::figures::{self, or_nothing};
use crate::judge::judged::{JudgedGoal, Row, Verdict};
use crate::page::view::StudyView;
use crate::page::{Answer, Document, Piece, Sentence, What};

const WIDTH: usize = 86;

pub const CLAIMS: &str = "![Measured ratios beside published ones]";

/// The first block of the README: what the difference was where it was not async, a row per study, and where they were measured.
pub fn block(studies: &[StudyView]) -> String {
    let mut table =
        Table::new("Study | They say of async | Their setup, our code (their code) | Equal work | What to do");
    let mut causes = Vec::new();
    for view in studies {
        let Some(Answer { name, said, setup, equal, so, instead, .. }) = &view.page.answer else { continue };
        causes.extend(instead.as_ref().map(|instead| format!("{instead} ({name})")));
        // Name and advice are said once.
        let [mut name, mut so] = [link(view, name), cell(&filled(view, so))];
        for ((said, setup), equal) in said.iter().zip(setup).zip(equal) {
            let [said, setup, equal] = [said, setup, equal].map(|sentence| cell(&filled(view, sentence)));
            table.row([mem::take(&mut name), said, setup, equal, mem::take(&mut so)]);
        }
    }
    let not_async = format!(
        "**Most published differences are not due to async.** In {} of {} studies the cause is ",
        causes.len(),
        studies.len()
    );
    let hosts: BTreeSet<usize> = studies.iter().flat_map(|view| view.hosts().map(|(host, _)| host)).collect();
    let hosts = fmt::plural(hosts.len(), "host", "hosts");
    format!(
        "{}\n{}\nFigures compare async with sync unless a cell says otherwise: throughput for Flight, else time. Ranges are over up to [{hosts}]({EVIDENCE}MACHINES.md). *Equal work* has the same libraries, buffers, prefetching, builds and cores. *Unclear*: the runs allow either answer.\n",
        around(&not_async, prose(&fmt::listed(&causes)), ".\n"),
        table.render()
    )
}

/// The second one: for each study why it is so, and where the difference matters.
pub fn why(studies: &[StudyView]) -> String {
    let of_study = |view: &StudyView| {
        let (Document { url, year, author, .. }, answer) = (view.page.document.as_ref()?, view.page.answer.as_ref()?);
        let (name, author) = (link(view, &answer.name), prose(author));
        let why = prose(&filled(view, &answer.why));
        Some(format!("- **{name}** ([{author}, {year}]({url})): {why}\n"))
    };
    studies.iter().filter_map(of_study).collect()
}

fn link(view: &StudyView, name: &str) -> String {
    format!("[{}]({REPORT}#{})", cell(name), anchor(&view.judged.study, ""))
}

/// Stands in a sentence for a figure that nobody measured.
const UNKNOWN: char = '\u{fffc}';

/// A sentence with its figures, without the parentheses and clauses whose figure nobody measured; one of which nothing is left reads *not tested*.
pub fn filled(view: &StudyView, sentence: &Sentence) -> String {
    let said = |piece: &Piece| match piece {
        Piece::Words(words) => Some(words.clone()),
        Piece::Figure { claim, form, of, what } => figure(view, (claim, *form), of.as_ref(), *what),
        Piece::Crossing { map, crossing } => {
            view.maps.iter().find(|judged| judged.map.id == *map).and_then(|map| map.range_of(crossing))
        }
    };
    let said: String = sentence.pieces.iter().map(|piece| said(piece).unwrap_or_else(|| UNKNOWN.into())).collect();
    let closed = |part: &str| match part.rfind(" (") {
        Some(at) if part[at..].contains(UNKNOWN) => part[..at].to_owned(),
        _ => part.to_owned(),
    };
    let said: String = said.split_inclusive(')').map(closed).collect();
    let clauses = said.split_inclusive("; ").flat_map(|clause| clause.split_inclusive(". "));
    let known: String = clauses.filter(|clause| !clause.contains(UNKNOWN)).collect();
    let known = known.trim_end_matches([';', ' ']);
    if known.is_empty() { Verdict::NotTested.to_string() } else { known.to_owned() }
}

/// The figure of a place in a sentence; `None` if it is not known.
fn figure(view: &StudyView, (id, form): (&str, Form), of: Option<&String>, what: What) -> Option<String> {
    let settings = if of.is_some() { view.settings(id, form) } else { view.deciding_settings(id, form) };
    // Of those that most hosts were asked the first: the newest round alone may have been asked more.
    let meant = settings.iter().filter(|rows| of.is_none_or(|of| rows[0].is_of(of)));
    let rows = meant.rev().max_by_key(|rows| rows.len())?;
    match what {
        What::Range => {
            let range = figures::range(rows)?;
            let Over { verdict, decided, .. } = view.over(id, form);
            Some(if decided > 0 { range } else { format!("{range}, {verdict}") })
        }
        What::Theirs => {
            let alike = view.mirrors(id, form).filter(|mirror| of.is_none_or(|of| mirror.scenario == *of));
            let points: Vec<f64> = alike.map(|mirror| mirror.theirs.point).collect();
            figures::range_of(&rows[0].scale, &points)
        }
    }
}

/// What is quoted of each study, what became of it and what to do, and what a handoff costs: a screen.
pub fn in_text(studies: &[StudyView]) -> String {
    let mut text = String::new();
    for view in studies {
        let Some(answer) = &view.page.answer else { continue };
        let _ = writeln!(text, "{}", view.page.title);
        let rows = answer.said.iter().zip(&answer.setup).zip(&answer.equal);
        let rows =
            rows.flat_map(|((said, setup), equal)| [("They said", said), ("As published", setup), ("Fair", equal)]);
        for (name, sentence) in rows.chain([("What to do", &answer.so)]) {
            let words = filled(view, sentence).replace(['`', '*'], "");
            let lines = fmt::lines(words.split_whitespace(), " ", |line| line.chars().count() <= WIDTH);
            let _ = writeln!(text, "  {name:<14}{}", lines.join(&format!("\n{:16}", "")));
        }
    }
    text + &prices::in_text(studies, true)
}

/// The goals of all studies for a terminal, those that were measured.
pub fn goals_in_text(studies: &[StudyView]) -> String {
    let line = |goal: &JudgedGoal, row: &Row| {
        let figure = or_nothing(row.estimate, |_| figures::estimate(row));
        format!("  {}: {}, {}: {figure} ({}), aim {}\n", goal.id, goal.text, row.scenario, row.verdict, goal.bound)
    };
    let of_study = |view: &StudyView| {
        let rows = view.judged.goals.iter().flat_map(|goal| goal.rows.iter().map(move |row| line(goal, row)));
        format!("{}\n{}", view.page.title, rows.collect::<String>())
    };
    studies.iter().map(of_study).collect()
}

pub fn goals(view: &StudyView) -> String {
    let mut table = Table::new(" | Goal | >Aim | Scenario | Ours | Medians | Host | Result");
    let (measured, others): (Vec<_>, Vec<_>) = view.judged.goals.iter().partition(|goal| !goal.rows.is_empty());
    for goal in measured {
        let bound = goal.bound.replace("<=", "≤").replace(">=", "≥");
        let mut said = [cell(&goal.id), cell(&goal.text), text(&bound)];
        let mut verdict = match goal.verdict {
            Verdict::Holds | Verdict::NotTested => goal.verdict.to_string(),
            verdict => format!("**{verdict}**"),
        };
        for row in &goal.rows {
            let size = row.estimate.map(|of| format!("{}, {}", figures::estimate(row), figures::sample_size(&of)));
            let (medians, host) = (text(&figures::named_sides(row)), cell(view.host_name(row.at.host)));
            let figures = [code(&row.scenario), known(size), some(medians), host];
            // Goal and result are said once.
            table.row([&mem::take(&mut said)[..], &figures, &[mem::take(&mut verdict)]].concat());
        }
    }
    let others = others.iter().map(|goal| code(&goal.id)).collect::<Vec<_>>().join(", ");
    (table.below("") + &around("Not tested: ", others, ".")).trim_end().to_owned() + "\n"
}
