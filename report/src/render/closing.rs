//! The end of the report: threats to every measurement here, and how to rebuild the file.

use super::markdown::{Table, bullets, code, section};
use crate::supplement::MARK;
use crate::view::StudyView;

/// Limits of every measurement here, whatever the study.
const THREATS: [&str; 7] = [
    "The runs were made in a virtual machine: other guests take processor time (steal) and share caches, memory bandwidth and disk. Pairs of \
     neighbouring runs and the A/A floor guard against that; a verdict of *undecided* is what is left when they cannot.",
    "There are few cores. Threads and tasks that would run side by side on a larger machine take turns here, and what is won by more cores \
     is understated. MACHINES.md names the machine.",
    "The verdicts are those of one host, with one kernel, one compiler and one C library; what other hosts say of the same claims stands beside \
     them in MACHINES.md. Nothing here says how an effect changes with another processor.",
    "The code is written anew, so this replicates the published claims and does not reproduce the published measurements: a difference may \
     come from our code as well as from their method.",
    "Frequency scaling and hyper-threads are not under our control in a virtual machine; what could be read of them stands in MACHINES.md.",
    "Inputs are generated, from two or three seeds. They have the published shape, not the variety of real data.",
    "The interval of a claim says how sure its figure is on this machine at this time. It does not cover a change of machine, input or version.",
];

/// What may be wrong with all of it.
pub fn threats() -> String {
    section("Threats to all of them", &bullets(THREATS))
}

/// The commands, and the raw data that they read.
pub fn commands(studies: &[StudyView]) -> String {
    let mut table = Table::new("Study | Raw samples | Profile | >Seed of the plan | Hash of the plan (SHA-256)");
    for view in studies {
        let judged = &view.judged;
        let study = code(&judged.study);
        let raw = |folder: &str| code(&format!("results/{folder}"));
        let hash = code(&judged.plan_hash);
        table.row([study.clone(), raw(&judged.folder), code(&judged.profile), judged.plan_seed.to_string(), hash]);
        for supplement in &view.supplements {
            table.row([
                format!("{study} {MARK}"),
                raw(&supplement.folder),
                format!("{}, for what the former did not run", code(&supplement.profile)),
                supplement.plan_seed.to_string(),
                code(&supplement.plan_hash),
            ]);
        }
    }
    let table = if table.is_empty() { String::new() } else { table.render() };
    let how = "From the raw samples, without measuring; the same bytes come out:\n\n```sh\nmake report\n```\n\n\
         which is\n\n```sh\ncargo run --release --manifest-path report/Cargo.toml -- check results\n\
         cargo run --release --manifest-path report/Cargo.toml -- render results --out REPORT.md --charts charts\n```\n\n\
         To measure again on your machine (the older samples are kept): `make all-reports`.\n\n";
    section("Rebuild this file", &format!("{how}{table}"))
}
