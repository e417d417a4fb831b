//! Sections 1 and 2: one screen of verdicts, and what to do about them.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{self, Table, bullets, cell, prose, text};
use super::parts::{elsewhere, link, original, supplements};
use crate::anchor::anchor;
use crate::figures::{self, or_nothing};
use crate::fmt;
use crate::judged::{JudgedClaim, Verdict};
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
    let mut table = Table::new("Verdict | >Claims | Which");
    for verdict in Verdict::VARIANTS {
        let which = counted.iter().filter(|(_, claim)| claim.verdict == *verdict);
        let which: Vec<String> = which.map(|(study, claim)| link(study, &claim.id, page)).collect();
        if !which.is_empty() {
            table.row([format!("**{verdict}**"), which.len().to_string(), which.join(", ")]);
        }
    }
    let claims = fmt::plural(counted.len(), "claim", "claims");
    format!("{claims} of {}:\n\n{}", fmt::plural(studies.len(), "study", "studies"), table.render())
}

/// The table of verdicts on the claims that `is_shown`; `page` is the document that the links lead to, empty for this one.
pub fn verdicts(studies: &[StudyView], page: &str, is_shown: impl Fn(&JudgedClaim) -> bool) -> String {
    let mut out = String::new();
    for view in studies {
        if studies.len() > 1 {
            let _ = write!(out, "\n**[{}]({page}#{})**\n\n", prose(&view.page.title), anchor(&view.judged.study, ""));
        }
        let mut table = Table::new("| Claim | Original | Ours | >Floor | Verdict | Cause");
        for (claim, beside) in view.claims().into_iter().filter(|(claim, _)| is_shown(claim)) {
            table.row(verdict_row(view, claim, beside, page));
        }
        out.push_str(&table.render());
        if !view.origin.is_first_host() {
            let _ = writeln!(out, "\n{}", elsewhere(view).trim_end());
        }
        if view.judged.claims.iter().any(|claim| is_shown(claim) && !claim.mark.is_empty()) {
            let _ = writeln!(out, "\n{}", supplements(view).trim_end());
        }
    }
    if studies.is_empty() {
        out.push_str("Nothing has been measured yet.\n");
    }
    out.trim_start_matches('\n').to_owned()
}

fn verdict_row(view: &StudyView, claim: &JudgedClaim, beside: bool, page: &str) -> [String; 7] {
    // A plain space would let the arrow and the id fall on two lines.
    let arrow = if beside { "↳&nbsp;" } else { "" };
    [
        format!("{arrow}{}", link(&view.judged.study, &claim.id, page)),
        cell(&claim.text),
        original(claim),
        // "n = 12" stays on one line.
        text(&figures::claim_figure(claim)).replace("n = ", "n&nbsp;=&nbsp;"),
        or_nothing(claim.deciding_row(), figures::floor),
        format!("**{}**", claim.verdict),
        cell(&figures::claim_cause(claim)),
    ]
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
        let mut claims = view.judged.claims.iter();
        claims.any(|claim| claim.id == when.claim && when.verdicts.contains(&claim.verdict))
    };
    advice.when.as_ref().is_none_or(holds)
}
