//! Hosts: which measurements were made on one machine, so that their samples may be compared.

use serde_json::Value;

use crate::folder::machine::Machine;

/// Facts that are equal in all rounds of a host.
const FACTS: [&str; 8] =
    ["cpu_model", "cpu_family", "cpu_model_number", "cpu_stepping", "cpu_count", "core_count", "kernel", "hypervisor"];

/// The figures of the probe, which are alike on one host, and how many times the larger of two may be the smaller. Within an hour one machine's memory
/// moved between 9 and 17 GB/s, while arithmetic stayed within 7 %; a switch has two prices within one round, and a trip to another thread takes 5 µs in one
/// study's program and 10 in another's. And whether it changes with what idle cores do.
pub const PROBES: [(&str, f64, bool); 4] = [
    ("probe_arithmetic_ns", 1.10, false),
    ("probe_memory_mb_per_s", 2.00, false),
    ("probe_switch_us", 2.00, true),
    ("probe_hop_us", 3.00, true),
];

/// For how long at most an idle core polls for work before it sleeps, in nanoseconds; `None` if it sleeps at once, or if that was not read.
pub fn idle_poll_ns(machine: &Machine) -> Option<f64> {
    machine.number("idle_poll_ns").filter(|poll| *poll > 0.0)
}

/// Whether both machines are the same host: the same processor, cores, kernel and hypervisor, idle cores that poll for as long, and known probes that are
/// alike. Or the same `but_idle`, whatever idle cores do: arithmetic and memory do not depend on that.
pub fn is_same(one: &Machine, other: &Machine, but_idle: bool) -> bool {
    let alike = |(name, most, is_idle): &(&str, f64, bool)| match (best(one, name), best(other, name)) {
        _ if but_idle && *is_idle => true,
        (Some(a), Some(b)) => a > 0.0 && b > 0.0 && a.max(b) <= most * a.min(b),
        _ => false,
    };
    let idle_alike = but_idle || idle_poll_ns(one) == idle_poll_ns(other);
    idle_alike && FACTS.iter().all(|name| one.value(name) == other.value(name)) && PROBES.iter().all(alike)
}

/// The better reading of a probe, before or after: whoever else is on the machine only makes it slower.
fn best(machine: &Machine, probe: &str) -> Option<f64> {
    let (before, after) = (machine.number(probe)?, machine.number(&format!("{probe}_after")));
    let better = if probe.ends_with("_per_s") { f64::max } else { f64::min };
    Some(after.filter(|after| *after > 0.0).map_or(before, |after| better(before, after)))
}

/// Short names for hosts, such as "EPYC 25/1": the family of the processor with the numbers of its family and model, and "polling" if idle cores
/// do. Of several with one name the later ones have a number.
pub fn names<'a>(machines: impl Iterator<Item = &'a Machine>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for machine in machines {
        let text = |name: &str| machine.value(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| machine.number(name).map(|number| number.to_string());
        let model = text("cpu_model").replace("(R)", "");
        let is_name = |word: &&str| !["Intel", "AMD", "CPU", "Processor"].contains(word);
        let word = model.split_whitespace().find(is_name).unwrap_or("host").to_owned();
        let numbers = number("cpu_family").zip(number("cpu_model_number"));
        let mut name = numbers.map_or_else(|| word.clone(), |(family, model)| format!("{word} {family}/{model}"));
        if idle_poll_ns(machine).is_some() {
            name += " polling";
        }
        let alike = names.iter().filter(|other| **other == name || other.starts_with(&format!("{name} ("))).count();
        names.push(if alike == 0 { name } else { format!("{name} ({})", alike + 1) });
    }
    names
}

/// The host in words: "AMD EPYC (family 25, model 1, stepping 1), 2 cores, Linux 6.1, hypervisor KVM".
pub fn in_words(machine: &Machine) -> String {
    let fact = |name: &str| match machine.value(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "unknown".to_owned(),
    };
    let [name, family, model, stepping, cores, _, kernel, hypervisor] = FACTS.map(fact);
    let idle =
        idle_poll_ns(machine).map(|poll| format!(", idle cores poll for up to {} µs before they sleep", poll / 1e3));
    format!(
        "{name} (family {family}, model {model}, stepping {stepping}), {cores} cores, {kernel}, hypervisor {hypervisor}{}",
        idle.unwrap_or_default()
    )
}
