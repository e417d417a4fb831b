//! Section 4: each study with its tables, claims, causes, goals and charts.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::markdown::{Table, bullets, cell, code, prose, text};
use super::parts::{elsewhere, original, supplements};
use super::{markdown, table};
use crate::anchor::anchor;
use crate::figures::{self, NOTHING, or_nothing};
use crate::fmt;
use crate::judged::{Cause, JudgedClaim, Row, Scale};
use crate::view::StudyView;

/// Section 4 over all studies.
pub fn section(studies: &[StudyView]) -> String {
    let text: Vec<String> = studies.iter().map(study).collect();
    let none = "None has been measured yet.";
    markdown::section("The studies", if text.is_empty() { none.to_owned() } else { text.join("\n") }.as_str())
}

fn study(view: &StudyView) -> String {
    let name = &view.judged.study;
    let page = &view.page;
    let mut out = format!("<a id=\"{}\"></a>\n\n### {}\n\n", anchor(name, ""), prose(&page.title));
    let runs = fmt::plural(view.judged.runs, "run", "runs");
    let _ = write!(
        out,
        "{}\n\nProfile {}, {runs}, {} inside them; samples in {}.\n\n",
        prose(&page.question),
        code(&view.judged.profile),
        fmt::duration(view.judged.measured_s),
        code(&format!("results/{}", view.judged.folder)),
    );
    out.push_str(&elsewhere(view));
    out.push_str(&supplements(view));
    for (title, items) in [
        ("What the original really measured", &page.measured),
        ("What we kept", &page.kept),
        ("What we changed", &page.changed),
    ] {
        if !items.is_empty() {
            let _ = write!(out, "**{title}**\n\n{}", bullets(items));
        }
    }
    for layout in &page.table {
        out.push_str(&table::render(view, layout));
    }
    for chart in &page.chart {
        let file = chart.file_name(name);
        // Brackets would end the alternative text early.
        let title = prose(&chart.title).replace(['[', ']', '`'], "");
        let _ = write!(out, "![{title}](charts/{file})\n\n");
    }
    if !view.judged.claims.is_empty() {
        out.push_str("#### Claims, with both sides and the evidence for causes\n\n");
    }
    for (claim, beside) in view.claims() {
        out.push_str(&self::claim(view, claim, beside));
    }
    if !view.judged.goals.is_empty() {
        let _ = write!(
            out,
            "#### Our own goals: {}\n\nAims of this crate; no verdict rests on them.\n\n{}\n",
            code(name),
            goals(view)
        );
    }
    out
}

fn claim(view: &StudyView, claim: &JudgedClaim, beside: bool) -> String {
    let mut out = format!("<a id=\"{}\"></a>\n\n", anchor(&view.judged.study, &claim.id));
    let arrow = if beside { "↳ " } else { "" };
    let _ = write!(out, "**{arrow}{}: {}.** ", prose(&claim.id), prose(claim.text.trim_end_matches('.')));
    let _ = write!(out, "Original: {}. Verdict: **{}**", original(claim).trim_end_matches('.'), claim.verdict);
    if let Some(parent) = claim.beside.as_deref().filter(|_| beside) {
        let _ = write!(out, "; stands beside {} and is not counted", prose(parent));
    }
    let reason = reason(claim);
    if !reason.is_empty() {
        let _ = write!(out, " ({})", prose(&reason));
    }
    out.push_str(".\n\n");
    if claim.rows.iter().any(Row::has_figure) {
        out.push_str(&rows(claim));
        out.push('\n');
    }
    out.push_str(&causes(claim));
    out
}

/// Why the verdict is what it is; "not measured (quick)" beside "not measured" is only "quick".
fn reason(claim: &JudgedClaim) -> String {
    let whole = claim.reason.trim().trim_end_matches('.');
    let rest =
        whole.strip_prefix(claim.verdict.into_str()).map_or(whole, |rest| rest.trim_start_matches([':', ',']).trim());
    rest.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(rest).to_owned()
}

fn rows(claim: &JudgedClaim) -> String {
    let mut table = Table::new("Scenario | What | Ours | Blocks | >Interval covers | Medians | >Floor | Verdict");
    for row in &claim.rows {
        table.row([
            code(&row.scenario),
            text(&figures::what(&row.scale)),
            marked(text(&figures::estimate(row)), claim.mark),
            blocks(row),
            figures::coverage(row),
            some(text(&figures::named_sides(row))),
            figures::floor(row),
            // A figure of a partial measurement is not judged.
            if claim.mark.is_empty() { row.verdict.into_str() } else { NOTHING }.to_owned(),
        ]);
    }
    table.render()
}

/// A figure with its mark apart, which would otherwise read as a part of its last number.
fn marked(figure: String, mark: &str) -> String {
    if mark.is_empty() { figure } else { format!("{figure} {mark}") }
}

/// n with the failed runs among them.
fn blocks(row: &Row) -> String {
    let count = or_nothing(row.estimate.as_ref(), figures::sample_size);
    if row.failed == 0 { count } else { format!("{count}; {}", figures::failed(row.failed)) }
}

fn some(text: String) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text }
}

fn causes(claim: &JudgedClaim) -> String {
    if claim.causes.is_empty() {
        return if figures::claim_cause(claim) == NOTHING {
            String::new()
        } else {
            "The cause is unknown: nothing was measured that could show it.\n\n".to_owned()
        };
    }
    let causes: String = claim.causes.iter().map(evidence).collect();
    format!("Causes that were tested:\n\n{causes}\n")
}

/// "- **Not the cause**: second core. A sentence. Evidence: a ÷ b 1.01 [..], n = 12." A sentence that ends with a colon leads to the figure.
fn evidence(cause: &Cause) -> String {
    let (first, rest) = cause.standing.into_str().split_at(1);
    let standing = first.to_uppercase() + rest;
    let figure = figures::figure(&cause.evidence);
    let sentence = prose(cause.text.trim());
    let leads = sentence.ends_with(':');
    let stop = if leads || sentence.is_empty() || sentence.ends_with(['.', '!', '?']) { "" } else { "." };
    let scenario = code(&cause.evidence.scenario);
    // The figure of a ratio names its arms already, that of a share its claim.
    let of = match &cause.evidence.scale {
        Scale::Ratio { metric, .. } => format!("{}, {scenario}", text(&fmt::metric_in_words(metric))),
        Scale::Share { .. } => scenario,
        other => format!("{}, {scenario}", text(&figures::what(other))),
    };
    let evidence = match (figure == NOTHING, leads) {
        (true, true) => "not measured.".to_owned(),
        (true, false) => "Evidence: not measured.".to_owned(),
        (false, true) => format!("{} ({of}).", text(&figure)),
        (false, false) => format!("Evidence ({of}): {}.", text(&figure)),
    };
    format!("- **{standing}**: {}. {sentence}{stop} {evidence}\n", prose(&cause.short))
}

/// The table of a study's goals, for the report and the study's README.
fn goals(view: &StudyView) -> String {
    let mut table = Table::new("| Goal | >Aim | Scenario | Ours | Medians | Result");
    for goal in &view.judged.goals {
        let first = [cell(&goal.id), cell(&goal.text), bound(&goal.bound)];
        let standing = figures::goal_standing(goal.standing);
        let mut rows = goal.rows.iter().map(|row| {
            [code(&row.scenario), marked(text(&goal_figure(row)), goal.mark), some(text(&figures::named_sides(row)))]
        });
        let figures = rows.next().unwrap_or_else(|| [NOTHING; 3].map(str::to_owned));
        table.row([&first[..], &figures, &[standing + goal.mark]].concat());
        for figures in rows {
            table.row([&[const { String::new() }; 3][..], &figures].concat());
        }
    }
    table.render()
}

/// The table of a study's goals for another document, where the marks have to be explained again.
pub fn goals_alone(view: &StudyView) -> String {
    let is_marked = view.judged.goals.iter().any(|goal| !goal.mark.is_empty());
    let notes = if is_marked { format!("\n{}", supplements(view)) } else { String::new() };
    goals(view) + &notes
}

/// "≤ 2.5" for "<= 2.5".
fn bound(raw: &str) -> String {
    text(&raw.replace("<=", "≤").replace(">=", "≥"))
}

fn goal_figure(row: &Row) -> String {
    or_nothing(row.estimate.as_ref(), |estimate| {
        format!("{}, {}", figures::estimate(row), figures::sample_size(estimate))
    })
}
