//! Section 4: each study with its tables, claims, causes, goals and charts.

use super::markdown::{Align, Table, anchor, bullets, cell, code, prose, text};
use super::summary::{original, plural};
use super::{StudyView, figures, fmt, table};
use crate::judged::{Cause, JudgedClaim, Row, Scale};
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

/// Section 4 over all studies.
pub fn section(studies: &[StudyView]) -> String {
    let mut out = String::from("## The studies\n\n");
    if studies.is_empty() {
        out.push_str("None has been measured yet.\n");
    }
    for view in studies {
        out.push_str(&study(view));
        out.push('\n');
    }
    out.trim_end().to_owned() + "\n"
}

fn study(view: &StudyView) -> String {
    let name = &view.judged.study;
    let page = &view.page;
    let mut out = format!("<a id=\"{}\"></a>\n\n### {}\n\n", anchor(name, ""), prose(&page.title));
    let runs = plural(view.judged.runs, "run", "runs");
    let _ = write!(
        out,
        "{}\n\nProfile {}, {runs}, {} inside them; samples in {}.\n\n",
        prose(&page.question),
        code(&view.judged.profile),
        fmt::duration(view.judged.measured_s),
        code(&format!("results/{}", view.judged.folder)),
    );
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
        let file = crate::charts::file_name(name, &chart.id);
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
    if claim.rows.iter().any(|row| row.estimate.is_some() || !row.sides.is_empty()) {
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
        whole.strip_prefix(claim.verdict.name()).map_or(whole, |rest| rest.trim_start_matches([':', ',']).trim());
    rest.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(rest).to_owned()
}

fn rows(claim: &JudgedClaim) -> String {
    let mut table = Table::new(&[
        ("Scenario", Align::Left),
        ("What", Align::Left),
        ("Ours", Align::Left),
        ("Blocks", Align::Left),
        ("Interval covers", Align::Right),
        ("Medians", Align::Left),
        ("Floor", Align::Right),
        ("Verdict", Align::Left),
    ]);
    for row in &claim.rows {
        table.row(vec![
            code(&row.scenario),
            text(&figures::what(&row.scale)),
            marked(text(&figures::estimate(row)), claim.mark),
            blocks(row),
            figures::coverage(row),
            some(text(&figures::named_sides(row))),
            figures::floor(row),
            // A figure of a partial measurement is not judged.
            if claim.mark.is_empty() { row.verdict.name() } else { figures::NOTHING }.to_owned(),
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
    let count = row.estimate.as_ref().map_or_else(|| figures::NOTHING.to_owned(), figures::sample_size);
    if row.failed == 0 { count } else { format!("{count}; {}", figures::failed(row.failed)) }
}

fn some(text: String) -> String {
    if text.is_empty() { figures::NOTHING.to_owned() } else { text }
}

fn causes(claim: &JudgedClaim) -> String {
    if claim.causes.is_empty() {
        return if figures::claim_cause(claim) == figures::NOTHING {
            String::new()
        } else {
            "The cause is unknown: nothing was measured that could show it.\n\n".to_owned()
        };
    }
    let mut out = String::from("Causes that were tested:\n\n");
    for cause in &claim.causes {
        out.push_str(&evidence(cause));
    }
    out.push('\n');
    out
}

/// "- **Not the cause**: second core. A sentence. Evidence: a ÷ b 1.01 [..], n = 12." A sentence that ends with a colon leads to the figure.
fn evidence(cause: &Cause) -> String {
    let standing = figures::standing(cause);
    let mut shown = standing.chars();
    let standing: String = shown.next().map(|first| first.to_uppercase().chain(shown).collect()).unwrap_or_default();
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
    let evidence = match (figure == figures::NOTHING, leads) {
        (true, true) => "not measured.".to_owned(),
        (true, false) => "Evidence: not measured.".to_owned(),
        (false, true) => format!("{} ({of}).", text(&figure)),
        (false, false) => format!("Evidence ({of}): {}.", text(&figure)),
    };
    format!("- **{standing}**: {}. {sentence}{stop} {evidence}\n", prose(&cause.short))
}

/// The table of a study's goals, for the report and the study's README.
pub fn goals(view: &StudyView) -> String {
    let mut table = Table::new(&[
        ("", Align::Left),
        ("Goal", Align::Left),
        ("Aim", Align::Right),
        ("Scenario", Align::Left),
        ("Ours", Align::Left),
        ("Medians", Align::Left),
        ("Result", Align::Left),
    ]);
    for goal in &view.judged.goals {
        if goal.rows.is_empty() {
            table.row(vec![
                cell(&goal.id),
                cell(&goal.text),
                bound(&goal.bound),
                some(String::new()),
                some(String::new()),
                some(String::new()),
                figures::goal_standing(goal.standing),
            ]);
        }
        for (position, row) in goal.rows.iter().enumerate() {
            let first = position == 0;
            let once = |text: String| if first { text } else { String::new() };
            table.row(vec![
                once(cell(&goal.id)),
                once(cell(&goal.text)),
                once(bound(&goal.bound)),
                code(&row.scenario),
                marked(text(&goal_figure(row)), goal.mark),
                some(text(&figures::named_sides(row))),
                once(figures::goal_standing(goal.standing) + goal.mark),
            ]);
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

/// What the marks mean, one paragraph per measurement that stands in; empty without any.
pub fn supplements(view: &StudyView) -> String {
    view.supplements.iter().fold(String::new(), |mut out, supplement| {
        let failed = if supplement.failed == 0 { String::new() } else { format!(", {} failed", supplement.failed) };
        let machine = supplement.other_machine.as_ref().map(|other| format!(", {}", text(other))).unwrap_or_default();
        let _ = write!(
            out,
            "{} from {} ({}{failed}), profile {}, only {}{machine}.\n\n",
            supplement.mark(),
            code(&format!("results/{}", supplement.folder)),
            plural(supplement.runs, "run", "runs"),
            code(&supplement.profile),
            supplement.taken(code).join(", "),
        );
        out
    })
}

/// "≤ 2.5" for "<= 2.5".
fn bound(raw: &str) -> String {
    text(&raw.replace("<=", "≤").replace(">=", "≥"))
}

fn goal_figure(row: &Row) -> String {
    row.estimate.as_ref().map_or_else(
        || figures::NOTHING.to_owned(),
        |estimate| format!("{}, {}", figures::estimate(row), figures::sample_size(estimate)),
    )
}
