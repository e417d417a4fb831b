//! The machines: what hosts there are, and what one answers otherwise if its idle cores poll.

use std::collections::BTreeMap;

use strum::VariantArray as _;

use super::GENERATED;
use super::markdown::{Table, around, cell, code, link, text};
use crate::claims::Form;
use crate::fmt;
use crate::folder::host;
use crate::folder::machine::Machine;
use crate::judge::{figures, round};
use crate::page::view::StudyView;
use crate::stats;

/// The machines that samples come from; nothing of them if none is known.
pub fn page(studies: &[StudyView]) -> String {
    let sources = || studies.iter().flat_map(|view| &view.rounds);
    // The first source of a host says what it is: but for the probes they are all the same.
    let hosts: BTreeMap<usize, &Machine> = sources().rev().map(|source| (source.host, &source.machine)).collect();
    let name = |host: usize| cell(studies[0].host_name(host));
    let distances = |host: usize| {
        let own = sources().filter(|source| source.host == host);
        around(". ", core_to_core(&own.flat_map(|source| source.core_to_core_ns.clone()).collect::<Vec<_>>()), "")
    };
    let listed = hosts
        .iter()
        .map(|(host, machine)| format!("- {}: {}{}\n", name(*host), cell(&host::in_words(machine)), distances(*host)));
    let rule = "\nA host is processor, cores, kernel, hypervisor, how long idle cores poll, how far apart cores are in most runs, and four probes of half a second: arithmetic agrees within 10 %; memory and a \
        switch of threads, which depend on the machine's neighbors, within a factor of two, and a trip to another thread within three. Only rounds of one host \
        are compared; of each question the newest decides.";
    let machines = around("", listed.collect::<String>(), rule);
    format!("{GENERATED}\n# Machines\n\n{machines}\n{}", around("\n", sleeping_cores(studies, &hosts), ""))
}

/// "From core to core: 61 ns, in 3.2 % of the runs farther (240 ns)"; empty if no run said so.
fn core_to_core(all: &[f64]) -> String {
    let Some(usual) = round::usual(all) else { return String::new() };
    let elsewhere = |word: &str, is: fn(f64, f64) -> bool| {
        let moved: Vec<f64> =
            all.iter().copied().filter(|ns| round::is_elsewhere(*ns, usual) && is(*ns, usual)).collect();
        let share = fmt::percent(moved.len() as f64 / all.len() as f64);
        stats::median(moved).map(|ns| format!(", in {share} of the runs {word} ({})", fmt::rough([ns; 2], "ns")))
    };
    let moved = [elsewhere("nearer", |ns, usual| ns < usual), elsewhere("farther", |ns, usual| ns > usual)];
    format!("From core to core: {}{}", fmt::rough([usual; 2], "ns"), moved.into_iter().flatten().collect::<String>())
}

/// What a machine whose idle cores poll answers otherwise than the same machine whose cores sleep, beyond the confidence intervals of both.
fn sleeping_cores(studies: &[StudyView], hosts: &BTreeMap<usize, &Machine>) -> String {
    let (polling, sleeping): (Vec<_>, Vec<_>) =
        hosts.iter().partition(|(_, machine)| host::idle_poll_ns(machine).is_some());
    let twins = polling.iter().flat_map(|(polls, machine)| {
        let same = sleeping.iter().filter(|(_, other)| host::is_same(machine, other, true));
        same.map(|(sleeps, _)| (**sleeps, **polls))
    });
    let twins: Vec<(usize, usize)> = twins.collect();
    let mut table = Table::new("Claim | Form | Scenario | >Idle cores sleep | >They poll");
    let mut compared = 0;
    let asked = studies.iter().flat_map(|view| {
        let forms = view.judged.claims.iter().flat_map(|claim| Form::VARIANTS.iter().map(move |form| (claim, *form)));
        forms.map(move |(claim, form)| (view, claim, form))
    });
    for (view, claim, form) in asked {
        for rows in view.settings(&claim.id, form) {
            for (sleeps, polls) in &twins {
                let row = |host: &usize| rows.iter().find(|row| row.at.host == *host);
                let Some((sleeps, polls)) = row(sleeps).zip(row(polls)) else { continue };
                let Some((a, b)) = sleeps.estimate.zip(polls.estimate) else { continue };
                compared += 1;
                if a.lo <= b.hi && b.lo <= a.hi {
                    continue;
                }
                let id = link(&view.judged.study, &claim.id, "")
                    + &around(" ", cell(sleeps.part_in_words(figures::LONGEST_PART)), "");
                let figures = [sleeps, polls].map(|row| text(&figures::estimate(row)));
                table.row([&[id, form.in_words().to_owned(), code(&sleeps.scenario)][..], &figures].concat());
            }
        }
    }
    table.below(&format!(
        "## Idle cores that sleep, or poll\n\nOf {compared} figures of one machine in both states, these differ beyond both confidence intervals; \
            [METHODOLOGY](../METHODOLOGY.md#small-virtual-machines) says how it was set.\n\n"
    ))
}
