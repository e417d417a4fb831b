//! The machines: what hosts there are.

use std::collections::BTreeMap;

use super::GENERATED;
use super::markdown::{around, cell};
use crate::folder::host;
use crate::folder::machine::Machine;
use crate::page::view::StudyView;

/// The machines that samples come from; nothing of them if none is known.
pub fn page(studies: &[StudyView]) -> String {
    let sources = studies.iter().flat_map(|view| &view.origin.rounds);
    // The first source of a host says what it is: but for the probes they are all the same.
    let hosts: BTreeMap<usize, &Machine> = sources.rev().map(|source| (source.host, &source.machine)).collect();
    let name = |host: usize| cell(studies[0].origin.name(host));
    let listed = hosts.iter().map(|(host, machine)| format!("- {}: {}\n", name(*host), cell(&host::in_words(machine))));
    let rule = "\nA host is processor, cores, kernel, hypervisor and four probes of half a second: arithmetic agrees within 10 %; memory, a switch of threads and a trip \
        to another thread, which depend on the machine's neighbors, within a factor of two. Only rounds of one host are compared; of each question the newest \
        decides.";
    format!("{GENERATED}\n# Machines\n\n{}\n", around("", listed.collect::<String>(), rule))
}
