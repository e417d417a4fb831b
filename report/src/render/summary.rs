//! The head of the report: what is in it, the answers, and how many claims hold.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::answers;
use super::markdown::prose;
use crate::anchor::anchor;
use crate::view::StudyView;

/// Title, contents, answers, and the chart of all claims.
pub fn section(studies: &[StudyView]) -> String {
    let mut out = String::from("# Async or not: five published comparisons, measured again\n\n");
    if studies.is_empty() {
        out.push_str("Nothing has been measured yet: `make all-reports` measures every study and writes this file.\n");
        return out;
    }
    let mut contents = vec!["[Answers](#answers)".to_owned()];
    contents.extend(
        studies.iter().map(|view| format!("[{}](#{})", prose(&view.page.title), anchor(&view.judged.study, ""))),
    );
    contents.extend(
        ["[Threats to all of them](#threats-to-all-of-them)", "[Rebuild this file](#rebuild-this-file)"]
            .map(str::to_owned),
    );
    for entry in contents {
        let _ = writeln!(out, "- {entry}");
    }
    let _ = write!(
        out,
        "\nEvery claim is judged twice: [as published](docs/GLOSSARY.md), in its authors' set-up with its flaws, and [fair](docs/GLOSSARY.md), at equal work \
         and equal resources. A ratio is the first arm's figure over the second's, with its exact interval and both medians; it is that of paired runs, and need not be the ratio of the medians. How we \
         measure: [METHODOLOGY](docs/METHODOLOGY.md). Can this run be trusted: [TRUST](docs/evidence/TRUST.md). On what machines: \
         [MACHINES](docs/evidence/MACHINES.md).\n\n## Answers\n\n{}\n{}\n",
        answers::all(studies, ""),
        answers::tally(studies, ""),
    );
    out
}
