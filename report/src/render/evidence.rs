//! The evidence of a study: its tables and charts, and each claim with both sides, the authors' code and what was tested for a cause.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{Table, breakable, bullets, cell, code, headed, prose, text};
use super::parts::{elsewhere, link, original, some, supplements};
use super::{GENERATED, parts, table};
use crate::claims::{Form, Further};
use crate::figures::{self, NOTHING, or_nothing};
use crate::fmt::{self, anchor};
use crate::judged::{Cause, Judged, JudgedClaim, JudgedForm, Row, Scale, Verdict};
use crate::page::Chart;
use crate::rounds::letter;
use crate::view::StudyView;

/// The page of a study.
pub fn page(view: &StudyView) -> String {
    let (name, page) = (&view.judged.study, &view.page);
    let (title, here, trust) = (prose(&page.title), anchor(name, ""), anchor(name, "trust"));
    let (runs, spent) = (fmt::plural(view.judged.runs, "run", "runs"), fmt::duration(view.judged.measured_s));
    let (profile, samples) = (code(&view.judged.profile), code(&format!("results/{}", view.judged.folder)));
    let mut out = format!(
        "{GENERATED}\n# {title}: the evidence\n\nIts conclusions are in [REPORT.md](../../REPORT.md#{here}), whether it can be trusted in \
         [TRUST.md](TRUST.md#{trust}), what it was measured on in [MACHINES.md](MACHINES.md), and what the words mean in the [glossary](../GLOSSARY.md).\n\n\
         Profile {profile}, {runs}, {spent} inside them; samples in {samples}.\n\n"
    );
    out.push_str(&elsewhere(view));
    out.push_str(&supplements(view));
    out.push_str(&headed("**What we kept**", &bullets(&page.kept)));
    out.push_str(&headed("**What we changed**", &bullets(&page.changed)));
    let ids: Vec<String> = view.judged.claims.iter().map(|claim| link(name, &claim.id, "")).collect();
    if !ids.is_empty() {
        let _ = write!(out, "## Claims\n\n{}\n\n", ids.join(" · "));
    }
    out.extend(view.judged.claims.iter().map(|claim| self::claim(view, claim)));
    let tables: Vec<String> = page.table.iter().map(|layout| table::render(view, layout)).collect();
    out.push_str(&headed("## Tables", &tables.concat()));
    out.push_str(&headed("## Charts", &charts(view)));
    out
}

fn charts(view: &StudyView) -> String {
    let (drawn, empty): (Vec<&Chart>, Vec<_>) = view.page.chart.iter().partition(|chart| view.can_draw(chart));
    let mut out = String::new();
    for chart in drawn {
        // Brackets would end the alternative text early.
        let title = prose(&chart.title).replace(['[', ']', '`'], "");
        let _ = write!(out, "![{title}](../../charts/{})\n\n", chart.file_name(&view.judged.study));
    }
    if !empty.is_empty() {
        let titles: Vec<String> = empty.iter().map(|chart| prose(&chart.title)).collect();
        let _ = write!(out, "Not drawn, because none or a single point of it was run: {}.\n\n", titles.join("; "));
    }
    out
}

fn claim(view: &StudyView, claim: &JudgedClaim) -> String {
    let (study, id) = (&view.judged.study, &claim.id);
    let mut out = format!("<a id=\"{}\"></a>\n\n", anchor(study, id));
    let _ = write!(out, "### {}: {}\n\n", prose(id), prose(claim.text.trim_end_matches('.')));
    let _ = write!(out, "Published: {}.", original(claim).trim_end_matches('.'));
    for form in Form::VARIANTS {
        let _ = write!(out, " {}: {}.", fmt::capitalised(form.in_words()), verdict(claim.form(*form)));
    }
    let _ = write!(out, " To measure it again: `make claim-{id}`.\n\n");
    let of_further = |test: &Further<JudgedForm>| {
        let text = prose(test.text.trim_end_matches('.'));
        format!("- Further test {}, not counted: {text}. {}.\n", prose(&test.id), verdict(&test.form))
    };
    let mut remarks: Vec<String> = claim.further.iter().map(of_further).collect();
    let further = claim.further.iter().filter_map(|test| Some((test.id.as_str(), test.form.judged()?)));
    let judged: Vec<(&str, &Judged)> =
        claim.forms().map(|(form, found)| (form.in_words(), found)).chain(further).collect();
    let has_figure = judged.iter().any(|(_, found)| found.rows.iter().any(Row::has_figure));
    if has_figure {
        let of_part =
            |(label, found): &(&str, &Judged)| Some(format!("- {}: {}.\n", prose(label), prose(only_part(found)?)));
        remarks.extend(judged.iter().filter_map(of_part));
    }
    if !remarks.is_empty() {
        let _ = writeln!(out, "{}", remarks.concat());
    }
    if has_figure {
        let _ = writeln!(out, "{}", rows(&judged));
    }
    for (label, found) in &judged {
        out.push_str(&mirrors(view, claim, label, found));
    }
    for (label, found) in judged {
        // A further test explains a form: it is not asked for a cause of its own.
        let is_further = claim.further.iter().any(|test| test.id == label);
        if !is_further || !found.causes.is_empty() {
            out.push_str(&causes(label, found));
        }
    }
    out
}

/// The published figure, that of the authors' own code here, and that of its mirror.
fn mirrors(view: &StudyView, claim: &JudgedClaim, label: &str, found: &Judged) -> String {
    if found.mirrors.is_empty() {
        return String::new();
    }
    let mut table =
        Table::new("Scenario | Their code here | Our mirror here | Theirs ÷ ours | >Blocks | Host | Do they agree?");
    for mirror in &found.mirrors {
        let here = (view.judged.folder.clone(), view.origin.host);
        let (folder, host) = mirror.at.as_ref().unwrap_or(&here);
        let scenario = code(&mirror.scenario);
        let scenario = if mirror.but.is_empty() { scenario } else { format!("{scenario}, {}", cell(&mirror.but)) };
        let is_told = only_part(found).is_some() || mirror.part.is_empty();
        let scenario = if is_told { scenario } else { format!("{}: {scenario}", cell(&mirror.part)) };
        let [theirs, ours, apart] =
            [&mirror.theirs, &mirror.ours, &mirror.apart].map(|estimate| text(&figures::times(estimate)));
        let (blocks, host) = (mirror.apart.n.to_string(), format!("[{}](../../results/{folder})", letter(*host)));
        table.row([scenario, theirs, ours, apart, blocks, host, mirror.state.into_str().to_owned()]);
    }
    let (label, published) = (prose(label), original(claim));
    let published = published.trim_end_matches('.');
    format!("The authors' own code ({label}), by the same measure; published: {published}.\n\n{}\n", table.render())
}

/// The verdict with its whole reason; of an absent form the reason alone.
fn verdict(form: &JudgedForm) -> String {
    match form {
        JudgedForm::Absent(reason) => format!("absent, {}", prose(reason.trim_end_matches('.'))),
        JudgedForm::Judged(found) => parts::verdict(found, usize::MAX),
    }
}

/// What the rows of a form are about, if all are about one thing: said once, above the table, which would be wide with it.
fn only_part(found: &Judged) -> Option<&str> {
    let first = found.rows.first().map(|row| row.part.as_str())?;
    (!first.is_empty() && found.rows.iter().all(|row| row.part == first)).then_some(first)
}

/// The evidence, each row with the form or further test that it belongs to.
fn rows(judged: &[(&str, &Judged)]) -> String {
    let mut table = Table::new("Test | Scenario | What | Ours | Blocks (coverage) | Medians | >Floor | Verdict");
    for (label, found) in judged {
        for row in &found.rows {
            let is_told = only_part(found).is_some() || row.part.is_empty();
            let test = if is_told { cell(label) } else { cell(&format!("{label}: {}", row.part)) };
            let (scenario, what) = (code(&row.scenario), breakable(&figures::what(&row.scale)));
            let ours = figures::marked(text(&figures::estimate(row)), found.mark);
            let (medians, floor) = (some(text(&figures::sides(row))), figures::floor(row));
            // A figure of a partial measurement is not judged.
            let verdict = if found.mark.is_empty() { row.verdict.into_str() } else { NOTHING };
            table.row([test, scenario, what, ours, blocks(row), medians, floor, verdict.to_owned()]);
        }
    }
    table.render()
}

/// "12 (96.1 %)", with the failed runs among them.
fn blocks(row: &Row) -> String {
    let count = or_nothing(row.estimate.as_ref(), |estimate| match figures::coverage(estimate) {
        Some(coverage) => format!("{} ({coverage})", estimate.n),
        None => figures::sample_size(estimate),
    });
    if row.failed == 0 { count } else { format!("{count}; {}", figures::failed(row.failed)) }
}

fn causes(label: &str, found: &Judged) -> String {
    if found.causes.is_empty() {
        let unknown =
            |_| format!("The cause ({}) is unknown: nothing was measured that could show it.\n\n", prose(label));
        return figures::form_cause(found).map(unknown).unwrap_or_default();
    }
    let lead = if found.is_decided() { "" } else { ", which say nothing of an effect that is undecided" };
    let causes: String = found.causes.iter().map(|cause| evidence(cause, found.is_decided())).collect();
    format!("Causes that were tested, {}{lead}:\n\n{causes}\n", prose(label))
}

/// "- **Not the cause**: second core. A sentence. Evidence (`s`): a ÷ b 1.01 [..], n = 12; (`t`): 1.02 .." A sentence that ends with a colon
/// leads to the figures.
fn evidence(cause: &Cause, is_stated: bool) -> String {
    let standing = if is_stated { cause.standing.in_words() } else { Verdict::Undecided.into_str() };
    let standing = fmt::capitalised(standing);
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
    let figure = figures::figure(row)?;
    let scenario = code(&row.scenario);
    // The figure of a ratio names its arms already, that of a share its claim.
    let of = match &row.scale {
        Scale::Ratio { metric, .. } => format!("{}, {scenario}", text(&fmt::metric_in_words(metric))),
        Scale::Share { .. } => scenario,
        other => format!("{}, {scenario}", text(&figures::what(other))),
    };
    Some(if leads { format!("{} ({of})", text(&figure)) } else { format!("({of}): {}", text(&figure)) })
}
