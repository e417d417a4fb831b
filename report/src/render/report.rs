//! REPORT.md as a whole: what is in it, the answers, the studies, threats to every measurement here, and how to rebuild the file.

use super::markdown::{Table, bullets, code};
use super::{GENERATED, answers, study};
use crate::fmt::anchor;
use crate::supplement::{MARK, Supplement};
use crate::view::StudyView;

/// Limits of every measurement here, whatever the study.
const THREATS: [&str; 6] = [
    "The runs were made in a virtual machine: other guests take processor time (steal) and share caches, memory bandwidth and disk. Pairs of \
     neighbouring runs and the A/A floor guard against that; a verdict of *undecided* is what is left when they cannot.",
    "There are few cores. Threads and tasks that would run side by side on a larger machine take turns here, and what is won by more cores \
     is understated. MACHINES.md names the machine.",
    "The verdicts of a study are those of one host, with one kernel, one compiler and one C library; what other hosts say of the same claims stands beside \
     them in MACHINES.md. Nothing here says how an effect changes with another processor, input or version.",
    "The code is written anew, so this replicates the published claims and does not reproduce the published measurements: a difference may \
     come from our code as well as from their method.",
    "Frequency scaling and hyper-threads are not under our control in a virtual machine; what could be read of them stands in MACHINES.md.",
    "Inputs are generated, from two or three seeds. They have the published shape, not the variety of real data.",
];

/// The report over the studies that have been measured, in the order given.
pub fn page(studies: &[StudyView]) -> String {
    let mut sections = vec![GENERATED.to_owned(), head(studies)];
    sections.extend(studies.iter().map(study::section));
    sections.push(format!("## Threats to all of them\n\n{}{}", bullets(THREATS), commands(studies)));
    sections.join("\n")
}

/// Title, contents, answers, and the chart of all claims.
fn head(studies: &[StudyView]) -> String {
    let of_study = |view: &StudyView| format!("[{}](#{})", view.page.title, anchor(&view.judged.study, ""));
    let last = ["[Threats to all of them](#threats-to-all-of-them)", "[Rebuild this file](#rebuild-this-file)"];
    let contents = std::iter::once("[Answers](#answers)".to_owned()).chain(studies.iter().map(of_study));
    let contents = bullets(contents.chain(last.map(str::to_owned)));
    let (overview, answers, tally) =
        (answers::overview(studies, ""), answers::all(studies, ""), answers::tally(studies));
    format!(
        "# Async or not: five published comparisons, measured again\n\n{contents}\
         Every claim is judged twice: [as published](docs/GLOSSARY.md), in its authors' set-up with its flaws, and [fair](docs/GLOSSARY.md), at equal work \
         and equal resources. A ratio is the first arm's figure over the second's, with its exact interval and both medians; it is that of paired runs, and need not be the ratio of the medians. The crates' READMEs describe the arms. What each verdict says: [GLOSSARY](docs/GLOSSARY.md#verdicts). How we \
         measure: [METHODOLOGY](docs/METHODOLOGY.md). Can this run be trusted: [TRUST](docs/evidence/TRUST.md). On what machines: \
         [MACHINES](docs/evidence/MACHINES.md).\n\n## Answers\n\n{overview}\n{answers}\n{tally}\n"
    )
}

/// As many digits of a hash as tell two plans apart; verdicts.json has all.
const HASH_DIGITS: usize = 12;

/// The commands, and the raw data that they read.
fn commands(studies: &[StudyView]) -> String {
    let mut table = Table::new("Study | Raw samples | Profile | >Seed of the plan | Hash of the plan");
    let mut row = |study: String, folder: &str, profile: String, seed: u64, hash: &str| {
        let (samples, hash) = (code(&format!("results/{folder}")), code(hash.get(..HASH_DIGITS).unwrap_or(hash)));
        table.row([study, samples, profile, seed.to_string(), hash]);
    };
    for StudyView { judged, supplements, .. } in studies {
        let study = code(&judged.study);
        row(study.clone(), &judged.folder, code(&judged.profile), judged.plan_seed, &judged.plan_hash);
        for Supplement { folder, profile, plan_seed, plan_hash, .. } in supplements {
            let profile = format!("{}, for figures marked {MARK}", code(profile));
            row(format!("{study} {MARK}"), folder, profile, *plan_seed, plan_hash);
        }
    }
    let how = "## Rebuild this file\n\nFrom the raw samples, without measuring; the same bytes come out:\n\n```sh\nmake report\n```\n\n\
         which is\n\n```sh\ncargo run --release --manifest-path report/Cargo.toml -- check results\n\
         cargo run --release --manifest-path report/Cargo.toml -- render results --out REPORT.md --charts charts\n```\n\n\
         To measure again on your machine (the older samples are kept): `make all-reports`.\n\n";
    how.to_owned() + &table.render()
}
