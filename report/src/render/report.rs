//! REPORT.md as a whole: what is in it, the studies, threats to every measurement here, and how to rebuild the file.

use super::markdown::{Table, bullets, code};
use super::{GENERATED, study};
use crate::fmt::anchor;
use crate::view::StudyView;

/// Limits of every measurement here, whatever the study.
const THREATS: [&str; 6] = [
    "The runs were made in a virtual machine: other guests take processor time (steal) and share caches, memory bandwidth and disk. Pairs of \
     neighboring runs and the A/A floor guard against that; a verdict of *unclear* is what is left when they cannot.",
    "There are few cores. Threads and tasks that would run side by side on a larger machine take turns here, and what is won by more cores \
     is understated. MACHINES.md names the machine.",
    "The hosts are few, all of them virtual machines with two cores and Linux: a range over hosts says what these say. The ratio of an effect moves with \
     the host; its direction mostly does not.",
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

/// Title, contents, and how to read the tables.
fn head(studies: &[StudyView]) -> String {
    let of_study = |view: &StudyView| format!("[{}](#{})", view.page.title, anchor(&view.judged.study, ""));
    let last = ["[Threats to all of them](#threats-to-all-of-them)", "[Rebuild this file](#rebuild-this-file)"];
    let contents = bullets(studies.iter().map(of_study).chain(last.map(str::to_owned)));
    format!(
        "# Async or not: five published comparisons, measured again\n\n{contents}\
         The conclusions are in [README](README.md). Every claim is judged twice: [as published](docs/METHODOLOGY.md#words), in its authors' set-up with its flaws, and \
         [fair](docs/METHODOLOGY.md#words), at equal work and equal resources. A figure is the range over hosts, in the authors' own unit; beside it stands `here`, the host \
         of the newest round, with its confidence interval. A published figure outside of the range is marked. The seven words of verdicts: \
         [METHODOLOGY](docs/METHODOLOGY.md#verdicts). How we measure: [METHODOLOGY](docs/METHODOLOGY.md). Can these rounds be trusted: \
         [TRUST](docs/evidence/TRUST.md). On what machines: [MACHINES](docs/evidence/MACHINES.md).\n"
    )
}

/// As many digits of a hash as tell two plans apart; `report verdicts --json` has all.
const HASH_DIGITS: usize = 12;

/// The commands, and the newest raw data that they read.
fn commands(studies: &[StudyView]) -> String {
    let mut table = Table::new("Study | Newest raw samples | Profile | >Seed of the plan | Hash of the plan");
    for StudyView { judged, .. } in studies {
        let hash = judged.plan_hash.get(..HASH_DIGITS).unwrap_or(&judged.plan_hash);
        let [study, samples, profile, hash] =
            [&judged.study, &format!("results/{}", judged.folder), &judged.profile, hash].map(code);
        table.row([study, samples, profile, judged.plan_seed.to_string(), hash]);
    }
    let how = "## Rebuild this file\n\nFrom the raw samples, without measuring; the same bytes come out:\n\n```sh\nmake report\n```\n\n\
         which is\n\n```sh\n\
         cargo run --release --manifest-path report/Cargo.toml -- render results --out REPORT.md --charts charts\n```\n\n\
         To measure again on your machine (the older samples are kept): `make all-reports`.\n\n";
    how.to_owned() + &table.render()
}
