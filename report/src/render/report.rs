//! REPORT.md as a whole: what is in it, the studies, threats to every measurement here, and how to rebuild the file.

use super::markdown::{Table, bullets, code};
use super::{GENERATED, prices, rule, study};
use crate::fmt::anchor;
use crate::page::view::StudyView;

/// Limits of every measurement here, whatever the study.
const THREATS: [&str; 4] = [
    "Other guests of a virtual machine take processor time, caches, memory bandwidth and disk. What the controls cannot tell from them is *unclear*.",
    "Few cores understate what more win: threads and tasks take turns that would run side by side elsewhere.",
    "The code is rewritten: a difference may come from that.",
    "Inputs are generated from two or three seeds. They have the published shape, not the variety of real data.",
];

/// The report over the studies that have been measured, in the order given.
pub fn page(studies: &[StudyView]) -> String {
    let mut sections = vec![GENERATED.to_owned(), head(studies)];
    sections
        .extend([prices::section(studies), rule::section(studies)].into_iter().filter(|section| !section.is_empty()));
    sections.extend(studies.iter().map(study::section));
    sections.push(format!("## Threats to all of them\n\n{}{}", bullets(THREATS), commands(studies)));
    sections.join("\n")
}

/// Title, contents, and how to read the tables.
fn head(studies: &[StudyView]) -> String {
    let of_study = |view: &StudyView| format!("[{}](#{})", view.page.title, anchor(&view.judged.study, ""));
    let prices = studies.iter().any(|view| !view.prices.is_empty()).then(|| "[Prices](#prices)".to_owned());
    let contents = bullets(prices.into_iter().chain(studies.iter().map(of_study)));
    format!(
        "# Async or not: five published comparisons, measured again\n\n{contents}\
         *As published* is the authors' set-up with its flaws, *fair* is equal work on equal resources. A figure is the range over hosts in the authors' unit, and \
         beneath it stands the [verdict](docs/METHODOLOGY.md#verdicts). *Here* is the newest host's figure with its confidence interval: the fair one, if there is one. *Outside* marks a \
         published figure outside of the range. Read on: [how we measure](docs/METHODOLOGY.md), [controls](docs/evidence/TRUST.md), [machines](docs/evidence/MACHINES.md).\n"
    )
}

/// As many digits of a hash as tell two plans apart; `report verdicts --json` has all.
const HASH_DIGITS: usize = 12;

/// The commands, and the newest raw data that they read.
fn commands(studies: &[StudyView]) -> String {
    let mut table = Table::new("Newest raw samples | Hash of the plan");
    for StudyView { judged, .. } in studies {
        let hash = judged.plan_hash.get(..HASH_DIGITS).unwrap_or(&judged.plan_hash);
        let [samples, hash] = [&format!("results/{}", judged.folder), hash].map(code);
        table.row([samples, hash]);
    }
    let how = "## Rebuild this file\n\n`make report` makes the same bytes from the raw samples, without measuring.\n\n";
    how.to_owned() + &table.render()
}
