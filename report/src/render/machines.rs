//! The machines: what hosts there are, and everything that is known of the machine of each study's newest round.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::GENERATED;
use super::markdown::{Table, around, cell, code, some};
use crate::fmt;
use crate::folder::host;
use crate::folder::machine::Machine;
use crate::page::view::StudyView;

pub fn page(studies: &[StudyView]) -> String {
    let names: BTreeSet<&String> = studies.iter().flat_map(|view| view.machine.values.keys()).collect();
    let (mut same, mut differing) = (Table::new(" | Value"), Table::new(" | Study | Value"));
    for name in names {
        let shown = |view: &StudyView| printed(&view.machine, name);
        let unit = fmt::unit_of(name);
        let stem = if matches!(unit, "kib" | "bytes" | "percent") { name.trim_end_matches(unit) } else { name };
        let mut label = cell(&stem.trim_end_matches('_').replace('_', " "));
        if studies.iter().all(|view| shown(view) == shown(&studies[0])) {
            same.row([label, shown(&studies[0])]);
            continue;
        }
        // A study without a build has no value of it.
        for view in studies.iter().filter(|view| view.machine.values.contains_key(name)) {
            differing.row([std::mem::take(&mut label), code(&view.judged.study), shown(view)]);
        }
    }
    let differing = differing.below("What differs from study to study:\n\n");
    let known = format!("## What is known of the newest rounds\n\n{}{differing}", same.below(""));
    format!("{GENERATED}\n# Machines\n\n{}{known}", hosts(studies))
}

/// A value as a cell; what could not be read gives its reason.
fn printed(machine: &Machine, name: &str) -> String {
    match machine.value(name) {
        None => format!("*not read: {}*", cell(machine.reasons.get(name).map_or("no reason recorded", String::as_str))),
        Some(Value::String(text)) => some(cell(text)),
        Some(number) => match (number.as_f64(), fmt::unit_of(name)) {
            (None, _) => cell(&number.to_string()),
            (Some(x), unit @ ("kib" | "bytes" | "percent" | "s" | "ms" | "us" | "ns")) => fmt::value(x, unit),
            (Some(x), _) => fmt::plain(x),
        },
    }
}

/// The machines that samples come from; nothing if it is not known.
fn hosts(studies: &[StudyView]) -> String {
    let sources = studies.iter().flat_map(|view| &view.origin.rounds);
    // The first source of a host says what it is: but for the probes they are all the same.
    let hosts: BTreeMap<usize, &Machine> = sources.rev().map(|source| (source.host, &source.machine)).collect();
    let name = |host: usize| cell(studies[0].origin.name(host));
    let listed = hosts.iter().map(|(host, machine)| format!("- {}: {}\n", name(*host), cell(&host::in_words(machine))));
    let rule = "\nA host is processor, cores, kernel, hypervisor and four probes of half a second: arithmetic agrees within 10 %; memory, a switch of threads and a trip \
        to another thread, which depend on the machine's neighbors, within a factor of two. Only rounds of one host are compared; of each question the newest \
        decides.\n\n";
    around("", listed.collect::<String>(), rule)
}
