//! Sections 1 and 2: one screen of verdicts, and what to do about them.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{self, Table, bullets, cell, prose, text};
use super::parts::{elsewhere, link, original, reason, some, supplements};
use crate::anchor::anchor;
use crate::claims::Form;
use crate::figures::{self, NOTHING};
use crate::fmt;
use crate::judged::{Counts, JudgedClaim, JudgedForm, Verdict};
use crate::view::StudyView;

/// At most this many lines of advice are shown per study.
const ADVICE_LINES: usize = 3;

/// Section 1: the verdict of every claim and the chart of effects.
pub fn section(studies: &[StudyView]) -> String {
    let mut out = String::from("# Async or not: five published comparisons, measured again\n\n");
    if studies.is_empty() {
        out.push_str("## Verdicts\n\nNothing has been measured yet: `make all-reports` measures every study and writes this file.\n");
        return out;
    }
    out.push_str(&tally(studies, ""));
    out.push_str("\n## Verdicts\n\n");
    out.push_str(&verdicts(studies, ""));
    out.push_str(
        "\nAs published is the author's set-up with its flaws; fair is equal work and equal resources. A ratio is the first arm's metric \
         divided by the second's, with its exact interval, the number of paired blocks and both medians.\n\n",
    );
    out.push_str("![Every claim's effect with its interval and floor](charts/effects.svg)\n");
    out
}

/// How many claims have which verdict in which form, and which; `page` is the document that the links lead to, empty for this one.
pub fn tally(studies: &[StudyView], page: &str) -> String {
    let claims = || studies.iter().flat_map(|view| view.judged.claims.iter().map(move |claim| (view, claim)));
    let mut counts = Table::new("Form | >Judged | >Hold | >Do not hold | >Undecided");
    for form in Form::VARIANTS {
        let Counts { judged, holds, does_not_hold, undecided, .. } =
            Counts::of(claims().map(|(_, claim)| claim), *form);
        let numbers = [judged, holds, does_not_hold, undecided].map(|count| count.to_string());
        counts.row([&[form.in_words().to_owned()][..], &numbers].concat());
    }
    let mut table = Table::new("Counted as | Verdict | As published | Fair");
    for verdict in Verdict::VARIANTS {
        let which = |form: &Form| {
            let has = |(_, claim): &(&StudyView, &JudgedClaim)| {
                claim.form(*form).judged().is_some_and(|found| found.verdict == *verdict)
            };
            let links = claims().filter(has).map(|(view, claim)| link(&view.judged.study, &claim.id, page));
            some(links.collect::<Vec<_>>().join(", "))
        };
        let which: Vec<String> = Form::VARIANTS.iter().map(which).collect();
        if which.iter().any(|which| which != NOTHING) {
            table.row([&[verdict.count().into_str().to_owned(), format!("**{verdict}**")][..], &which].concat());
        }
    }
    let claims = fmt::plural(claims().count(), "claim", "claims");
    let studies = fmt::plural(studies.len(), "study", "studies");
    format!("{claims} of {studies}, each in two forms:\n\n{}\n{}", counts.render(), table.render())
}

/// The table of verdicts; `page` is the document that the links lead to, empty for this one.
pub fn verdicts(studies: &[StudyView], page: &str) -> String {
    let mut out = String::new();
    for view in studies {
        if studies.len() > 1 {
            let _ = write!(out, "\n**[{}]({page}#{})**\n\n", prose(&view.page.title), anchor(&view.judged.study, ""));
        }
        let mut table = Table::new("Claim | Published | As published here | Fair | Why");
        for claim in &view.judged.claims {
            let id = link(&view.judged.study, &claim.id, page);
            let text = cell(&claim.text);
            table.row([
                format!("{id}: {text}"),
                original(claim),
                found(&claim.published),
                found(&claim.fair),
                why(claim),
            ]);
        }
        out.push_str(&table.render());
        if !view.origin.is_first_host() {
            let _ = writeln!(out, "\n{}", elsewhere(view).trim_end());
        }
        if view.judged.claims.iter().flat_map(JudgedClaim::forms).any(|(_, found)| !found.mark.is_empty()) {
            let _ = writeln!(out, "\n{}", supplements(view).trim_end());
        }
    }
    if studies.is_empty() {
        out.push_str("Nothing has been measured yet.\n");
    }
    out.trim_start_matches('\n').to_owned()
}

/// A form as a cell: its verdict and the figure that decided it, or why there is none.
fn found(form: &JudgedForm) -> String {
    let found = match form {
        JudgedForm::Absent(reason) => return format!("*{}*", cell(reason)),
        JudgedForm::Judged(found) => found,
    };
    // "n = 12" stays on one line.
    let figure = text(&figures::form_figure(found)).replace("n = ", "n&nbsp;=&nbsp;");
    let said = if figure == NOTHING { String::new() } else { format!(": {figure}") };
    let reason = match reason(found) {
        reason if reason.is_empty() => reason,
        reason => format!(" ({})", cell(&reason)),
    };
    format!("**{}**{reason}{said}", found.verdict)
}

/// The causes of both forms, said once where they are the same.
fn why(claim: &JudgedClaim) -> String {
    let cause = |form: Form| claim.form(form).judged().map(figures::form_cause).filter(|cause| cause != NOTHING);
    let has_two = claim.forms().count() > 1;
    let said = match (cause(Form::Published), cause(Form::Fair)) {
        (Some(published), Some(fair)) if published == fair => fair,
        (Some(one), None) | (None, Some(one)) if !has_two => one,
        (published, fair) => {
            let forms = [(Form::Published, published), (Form::Fair, fair)];
            let said = forms.into_iter().filter_map(|(form, cause)| Some(format!("{}: {}", form.in_words(), cause?)));
            said.collect::<Vec<_>>().join("; ")
        }
    };
    some(cell(&said))
}

/// Section 2: advice that the verdicts bear out.
pub fn advice(studies: &[StudyView]) -> String {
    let mut out = String::new();
    for view in studies {
        let applying = view.page.advice.iter().filter(|advice| applies(view, advice)).take(ADVICE_LINES);
        let lines = bullets(applying.map(|advice| &advice.text));
        if !lines.is_empty() {
            let _ = write!(out, "**{}**\n\n{lines}", prose(&view.page.title));
        }
    }
    if out.is_empty() {
        out.push_str("No advice: nothing that was measured bears any out.");
    }
    markdown::section("What to do", &out)
}

fn applies(view: &StudyView, advice: &crate::page::Advice) -> bool {
    let holds = |when: &crate::page::When| {
        let claim = view.judged.claims.iter().find(|claim| claim.id == when.claim);
        let found = claim.and_then(|claim| claim.form(when.form).judged());
        found.is_some_and(|found| when.verdicts.contains(&found.verdict))
    };
    advice.when.as_ref().is_none_or(holds)
}
