//! Sections 5 to 7: threats and limits, the machine, and how to rebuild the file.

use std::collections::BTreeSet;
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use serde_json::Value;

use super::markdown::{Table, bullets, cell, code, prose, section};
use crate::machine::Machine;
use crate::supplement::MARK;
use crate::view::StudyView;
use crate::{figures, fmt};

/// Limits of every measurement here, whatever the study.
const THREATS: [&str; 7] = [
    "The runs were made in a virtual machine: other guests take processor time (steal) and share caches, memory bandwidth and disk. Pairs of \
     neighbouring runs and the A/A floor guard against that; a verdict of *undecided* is what is left when they cannot.",
    "There are few cores. Threads and tasks that would run side by side on a larger machine take turns here, and what is won by more cores \
     is understated. The table below names the machine.",
    "It is one machine with one kernel, one compiler and one C library. Nothing here says how an effect changes with another processor.",
    "The code is written anew, so this replicates the published claims and does not reproduce the published measurements: a difference may \
     come from our code as well as from their method.",
    "Frequency scaling and hyper-threads are not under our control in a virtual machine; what could be read of them stands below.",
    "Inputs are generated, from three seeds. They have the published shape, not the variety of real data.",
    "The interval of a claim says how sure its figure is on this machine at this time. It does not cover a change of machine, input or version.",
];

/// Section 5.
pub fn threats(studies: &[StudyView]) -> String {
    let mut out = bullets(THREATS);
    for view in studies.iter().filter(|view| !view.page.limits.is_empty()) {
        let _ = write!(out, "**{}**\n\n{}", prose(&view.page.title), bullets(&view.page.limits));
    }
    section("Threats and limits", &out)
}

/// Section 6: what is the same for every study once, what differs per study.
pub fn machine(studies: &[StudyView]) -> String {
    section("Machine", &machines(studies))
}

fn machines(studies: &[StudyView]) -> String {
    let Some(first) = studies.first() else {
        return "Nothing has been recorded yet.".to_owned();
    };
    let names: BTreeSet<&String> = studies.iter().flat_map(|view| view.machine.values.keys()).collect();
    if names.is_empty() {
        return "No value was recorded.".to_owned();
    }
    let shown = |view: &StudyView, name: &str| printed(&view.machine, name);
    let is_same = |name: &&&String| studies.iter().all(|view| shown(view, name) == shown(first, name));
    let (same, differing): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| is_same(name));
    let mut out = String::new();
    if !same.is_empty() {
        let mut table = Table::new("|Value");
        for name in same {
            table.row([in_words(name), shown(first, name)]);
        }
        let _ = writeln!(out, "{}", table.render());
    }
    if !differing.is_empty() {
        let mut table = Table::new("|Study|Value");
        for name in differing {
            // A study without a build has no value of it.
            let with = studies.iter().filter(|view| view.machine.values.contains_key(name));
            for (position, view) in with.enumerate() {
                let label = if position == 0 { in_words(name) } else { String::new() };
                table.row([label, code(&view.judged.study), shown(view, name)]);
            }
        }
        let _ = write!(out, "What differs from study to study:\n\n{}", table.render());
    }
    out
}

fn in_words(name: &str) -> String {
    let unit = fmt::unit_of(name);
    let stem = if matches!(unit, "kib" | "bytes" | "percent") { name.trim_end_matches(unit) } else { name };
    cell(stem.trim_end_matches('_').replace('_', " ").as_str())
}

/// A value as a cell; what could not be read gives its reason.
fn printed(machine: &Machine, name: &str) -> String {
    match machine.values.get(name).and_then(Option::as_ref) {
        None => {
            let reason = machine.reasons.get(name).map_or("no reason recorded", String::as_str);
            format!("*not read: {}*", cell(reason))
        }
        Some(Value::String(text)) if text.trim().is_empty() => figures::NOTHING.to_owned(),
        Some(Value::String(text)) => cell(text),
        Some(number) => number.as_f64().map_or_else(|| cell(&number.to_string()), |x| number_of(name, x)),
    }
}

fn number_of(name: &str, x: f64) -> String {
    match fmt::unit_of(name) {
        unit @ ("kib" | "bytes" | "percent" | "s" | "ms" | "us" | "ns") => fmt::value(x, unit),
        _ => fmt::plain(x),
    }
}

/// Section 7: the commands, and the raw data that they read.
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
