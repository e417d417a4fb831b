//! Section 4: each study with its tables, claims, causes, goals and charts.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{Table, bullets, cell, code, prose, text};
use super::parts::{elsewhere, original, reason, some, supplements};
use super::{markdown, table};
use crate::anchor::anchor;
use crate::claims::Form;
use crate::figures::{self, NOTHING, or_nothing};
use crate::fmt;
use crate::judged::{Cause, Judged, JudgedClaim, JudgedForm, Row, Scale, Verdict};
use crate::rounds::letter;
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
    for claim in &view.judged.claims {
        out.push_str(&self::claim(view, claim));
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

fn claim(view: &StudyView, claim: &JudgedClaim) -> String {
    let mut out = format!("<a id=\"{}\"></a>\n\n", anchor(&view.judged.study, &claim.id));
    let _ = write!(out, "**{}: {}.** ", prose(&claim.id), prose(claim.text.trim_end_matches('.')));
    let _ = write!(out, "Published: {}.", original(claim).trim_end_matches('.'));
    let tests: Vec<(String, &JudgedForm)> = Form::VARIANTS
        .iter()
        .map(|form| (form.in_words().to_owned(), claim.form(*form)))
        .chain(claim.further.iter().map(|test| (test.id.clone(), &test.form)))
        .collect();
    for form in Form::VARIANTS {
        let said = form.in_words();
        let _ = write!(out, " {}{}: {}.", said[..1].to_uppercase(), &said[1..], verdict(claim.form(*form)));
    }
    out.push_str("\n\n");
    for test in &claim.further {
        let text = prose(test.text.trim_end_matches('.'));
        let _ = writeln!(out, "- Further test {}, not counted: {text}. {}.", prose(&test.id), verdict(&test.form));
    }
    if !claim.further.is_empty() {
        out.push('\n');
    }
    let judged: Vec<(&str, &Judged)> =
        tests.iter().filter_map(|(label, form)| Some((label.as_str(), form.judged()?))).collect();
    if judged.iter().any(|(_, found)| found.rows.iter().any(Row::has_figure)) {
        out.push_str(&rows(&judged));
        out.push('\n');
    }
    for (label, found) in &judged {
        out.push_str(&mirrors(view, claim, label, found));
    }
    for (label, found) in judged {
        out.push_str(&causes(label, found));
    }
    out
}

/// The published figure, that of the authors' own code here, and that of its mirror.
fn mirrors(view: &StudyView, claim: &JudgedClaim, label: &str, found: &Judged) -> String {
    if found.mirrors.is_empty() {
        return String::new();
    }
    let mut table = Table::new(
        "Scenario | Published | Their code here | Our mirror here | Theirs ÷ ours | >Blocks | Where | Do they agree?",
    );
    for mirror in &found.mirrors {
        let host = mirror.at.as_ref().map_or(view.origin.host, |(_, host)| *host);
        let scenario = code(&mirror.scenario);
        let scenario = if mirror.but.is_empty() { scenario } else { format!("{scenario}, {}", cell(&mirror.but)) };
        table.row([
            if mirror.part.is_empty() { scenario } else { format!("{}: {scenario}", cell(&mirror.part)) },
            original(claim),
            text(&figures::times(&mirror.theirs)),
            text(&figures::times(&mirror.ours)),
            text(&figures::times(&mirror.apart)),
            mirror.apart.n.to_string(),
            mirror.at.as_ref().map_or_else(
                || format!("host {}", letter(host)),
                |(folder, _)| format!("host {}, {}", letter(host), code(&format!("results/{folder}"))),
            ),
            mirror.state.into_str().to_owned(),
        ]);
    }
    format!("The authors' own code ({}), by the same measure:\n\n{}\n", prose(label), table.render())
}

/// "**holds**", with the reason where there is one; of an absent form the reason alone.
fn verdict(form: &JudgedForm) -> String {
    match form {
        JudgedForm::Absent(reason) => format!("absent, {}", prose(reason.trim_end_matches('.'))),
        JudgedForm::Judged(found) => match reason(found) {
            reason if reason.is_empty() => format!("**{}**", found.verdict),
            reason => format!("**{}** ({})", found.verdict, prose(&reason)),
        },
    }
}

/// The evidence, each row with the form or further test that it belongs to.
fn rows(judged: &[(&str, &Judged)]) -> String {
    let mut table =
        Table::new("Test | Scenario | What | Ours | Blocks | >Interval covers | Medians | >Floor | Verdict");
    for (label, found) in judged {
        for row in &found.rows {
            table.row([
                if row.part.is_empty() { cell(label) } else { cell(&format!("{label}: {}", row.part)) },
                code(&row.scenario),
                text(&figures::what(&row.scale)),
                marked(text(&figures::estimate(row)), found.mark),
                blocks(row),
                figures::coverage(row),
                some(text(&figures::named_sides(row))),
                figures::floor(row),
                // A figure of a partial measurement is not judged.
                if found.mark.is_empty() { row.verdict.into_str() } else { NOTHING }.to_owned(),
            ]);
        }
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

fn causes(label: &str, found: &Judged) -> String {
    if found.causes.is_empty() {
        return if figures::form_cause(found) == NOTHING {
            String::new()
        } else {
            format!("The cause ({}) is unknown: nothing was measured that could show it.\n\n", prose(label))
        };
    }
    let lead = if found.is_decided() { "" } else { ", which say nothing of an effect that is undecided" };
    let causes: String = found.causes.iter().map(|cause| evidence(cause, found.is_decided())).collect();
    format!("Causes that were tested, {}{lead}:\n\n{causes}\n", prose(label))
}

/// "- **Not the cause**: second core. A sentence. Evidence (`s`): a ÷ b 1.01 [..], n = 12; (`t`): 1.02 .." A sentence that ends with a colon
/// leads to the figures.
fn evidence(cause: &Cause, is_stated: bool) -> String {
    let standing = if is_stated { cause.standing.in_words() } else { Verdict::Undecided.into_str() };
    let (first, rest) = standing.split_at(1);
    let standing = first.to_uppercase() + rest;
    let sentence = prose(cause.text.trim());
    let leads = sentence.ends_with(':');
    let stop = if leads || sentence.is_empty() || sentence.ends_with(['.', '!', '?']) { "" } else { "." };
    let figures: Vec<String> = cause.evidence.iter().filter_map(|row| figure_of(row, leads)).collect();
    let evidence = match (figures.is_empty(), leads) {
        (true, true) => "not measured".to_owned(),
        (true, false) => "Evidence: not measured".to_owned(),
        (false, true) => figures.join("; "),
        (false, false) => format!("Evidence {}", figures.join("; ")),
    };
    format!("- **{standing}**: {}. {sentence}{stop} {evidence}.\n", prose(&cause.short))
}

/// The figure of a row of evidence with what it is of, before it or, where a sentence leads to the figure, behind; `None` without one.
fn figure_of(row: &Row, leads: bool) -> Option<String> {
    let figure = Some(figures::figure(row)).filter(|figure| figure != NOTHING)?;
    let scenario = code(&row.scenario);
    // The figure of a ratio names its arms already, that of a share its claim.
    let of = match &row.scale {
        Scale::Ratio { metric, .. } => format!("{}, {scenario}", text(&fmt::metric_in_words(metric))),
        Scale::Share { .. } => scenario,
        other => format!("{}, {scenario}", text(&figures::what(other))),
    };
    Some(if leads { format!("{} ({of})", text(&figure)) } else { format!("({of}): {}", text(&figure)) })
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
