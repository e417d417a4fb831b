//! Sections 1 and 2: one screen of verdicts, and what to do about them.

use super::markdown::{Align, Table, anchor, cell, prose, text};
use super::{StudyView, figures, study};
use crate::judged::{JudgedClaim, Verdict};
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

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
    out.push_str(&verdicts(studies, "", |_| true));
    out.push_str(
        "\nA ratio is the first arm's metric divided by the second's, with its exact interval, the number of paired blocks and \
         both medians. The floor is the smallest difference that counts here: the margin written down before measuring, or the noise of \
         this machine, whichever is larger. Rows with ↳ stand beside a claim and are not counted.\n\n",
    );
    out.push_str("![Every claim's effect with its interval and floor](charts/effects.svg)\n");
    out
}

/// How many claims have which verdict, and which; `page` is the document that the links lead to, empty for this one.
pub fn tally(studies: &[StudyView], page: &str) -> String {
    let counted: Vec<(&str, &JudgedClaim)> = studies
        .iter()
        .flat_map(|view| view.judged.claims.iter().map(|claim| (view.judged.study.as_str(), claim)))
        .filter(|(_, claim)| claim.beside.is_none())
        .collect();
    let mut table = Table::new(&[("Verdict", Align::Left), ("Claims", Align::Right), ("Which", Align::Left)]);
    for verdict in Verdict::ALL {
        let which: Vec<String> = counted
            .iter()
            .filter(|(_, claim)| claim.verdict == verdict)
            .map(|(study, claim)| format!("[{}]({page}#{})", cell(&claim.id), anchor(study, &claim.id)))
            .collect();
        if !which.is_empty() {
            table.row(vec![format!("**{verdict}**"), which.len().to_string(), which.join(", ")]);
        }
    }
    let claims = plural(counted.len(), "claim", "claims");
    format!("{claims} of {}:\n\n{}", plural(studies.len(), "study", "studies"), table.render())
}

/// "1 claim", "9 claims".
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The table of verdicts on the claims that `is_shown`; `page` is the document that the links lead to, empty for this one.
pub fn verdicts(studies: &[StudyView], page: &str, is_shown: impl Fn(&JudgedClaim) -> bool) -> String {
    let mut out = String::new();
    for view in studies {
        if studies.len() > 1 {
            let _ = write!(out, "\n**[{}]({page}#{})**\n\n", prose(&view.page.title), anchor(&view.judged.study, ""));
        }
        let mut table = Table::new(&[
            ("", Align::Left),
            ("Claim", Align::Left),
            ("Original", Align::Left),
            ("Ours", Align::Left),
            ("Floor", Align::Right),
            ("Verdict", Align::Left),
            ("Cause", Align::Left),
        ]);
        for (claim, beside) in view.claims().into_iter().filter(|(claim, _)| is_shown(claim)) {
            table.row(verdict_row(view, claim, beside, page));
        }
        out.push_str(&table.render());
        if view.judged.claims.iter().any(|claim| is_shown(claim) && !claim.mark.is_empty()) {
            let _ = writeln!(out, "\n{}", study::supplements(view).trim_end());
        }
    }
    if studies.is_empty() {
        out.push_str("Nothing has been measured yet.\n");
    }
    out.trim_start_matches('\n').to_owned()
}

fn verdict_row(view: &StudyView, claim: &JudgedClaim, beside: bool, page: &str) -> Vec<String> {
    let arrow = if beside { "↳ " } else { "" };
    let link = format!("{arrow}[{}]({page}#{})", cell(&claim.id), anchor(&view.judged.study, &claim.id));
    vec![
        // A plain space would let the arrow and the id fall on two lines.
        link.replace("↳ ", "↳&nbsp;"),
        cell(&claim.text),
        original(claim),
        // "n = 12" stays on one line.
        text(&figures::claim_figure(claim)).replace("n = ", "n&nbsp;=&nbsp;"),
        claim.deciding_row().map_or_else(|| figures::NOTHING.to_owned(), figures::floor),
        format!("**{}**", claim.verdict),
        cell(&figures::claim_cause(claim)),
    ]
}

/// The original's figure, or that it gave none.
pub fn original(claim: &JudgedClaim) -> String {
    if claim.original.trim().is_empty() { "none".to_owned() } else { cell(&claim.original) }
}

/// Section 2: advice that the verdicts bear out.
pub fn advice(studies: &[StudyView]) -> String {
    let mut out = String::from("## What to do\n\n");
    let mut any = false;
    for view in studies {
        let lines: Vec<String> = view
            .page
            .advice
            .iter()
            .filter(|advice| applies(view, advice))
            .take(ADVICE_LINES)
            .map(|advice| format!("- {}\n", prose(&advice.text)))
            .collect();
        if lines.is_empty() {
            continue;
        }
        any = true;
        let _ = write!(out, "**{}**\n\n{}\n", prose(&view.page.title), lines.concat());
    }
    if !any {
        out.push_str("No advice: nothing that was measured bears any out.\n");
    }
    out.trim_end().to_owned() + "\n"
}

fn applies(view: &StudyView, advice: &crate::page::Advice) -> bool {
    advice.when.as_ref().is_none_or(|when| {
        view.judged
            .claims
            .iter()
            .any(|claim| claim.id == when.claim && when.verdicts.iter().any(|verdict| verdict == claim.verdict.name()))
    })
}
