//! One pass over the arms: the tables of the published document for this machine, single figures without a verdict.

use std::fmt::Write as _;

use study_kit::overview::{Samples, cell};
use study_kit::{Error, Profile};

use super::scenario::{self, Threads};
use crate::cpu::Cores;

/// The published tables, as scenario and heading.
const TABLES: [(&str, &str); 1] = [("n_8", "N = 8 tasks")];
/// Their rows, as label, arm and published number of threads.
const ROWS: [(&str, &str, &str); 9] = [
    ("sys_thread", "sys_thread_1", "1"),
    ("sys_thread", "sys_thread_cores", "cores"),
    ("sys_thread", "sys_thread_4", "4"),
    ("sys_thread", "sys_thread_10", "10"),
    ("async_await", "async_await", "-"),
    ("tokio multithread", "tokio_1", "1"),
    ("tokio multithread", "tokio_cores", "cores"),
    ("tokio multithread", "tokio_4", "4"),
    ("tokio multithread", "tokio_10", "10"),
];
/// The controls, as label and name of the work.
const CONTROLS: [(&str, &str); 9] = [
    ("dependent additions, no divider, no memory", "add"),
    ("vector sum of roots, divider alone", "vector"),
    ("sum of roots, one by one", "sum"),
    ("256 KiB written over and over", "reuse_small"),
    ("80 MB written over and over", "reuse_large"),
    ("fresh 80 MB that malloc kept", "kept"),
    ("fresh 80 MB of mimalloc", "mimalloc"),
    ("fresh 80 MB of huge pages", "huge_pages"),
    ("fresh 80 MB, as published", "sys_thread"),
];
/// Where a task does nothing, and where it sums 100,000 roots.
const EXECUTORS: [&str; 2] = ["null_1k", "sweep_100k"];

/// Runs every case once, each in a process of its own, and returns the tables.
///
/// # Errors
/// If a case fails.
pub fn tables() -> Result<String, Error> {
    let cases = scenario::cases(Profile::Quick);
    let listed = |name: &str| name == "best_200" || name == "kernel" || EXECUTORS.contains(&name);
    let published = TABLES.map(|(scenario, _)| scenario);
    let cases = cases.iter().filter(|case| {
        let plain = !case.arm.contains('@') && !case.arm.ends_with("_over");
        plain && (listed(case.scenario) || published.contains(&case.scenario))
    });
    let samples = Samples::take(cases.map(|case| (case.scenario, case.arm.as_str())))?;
    let mut text = String::new();
    for (scenario, heading) in TABLES {
        published_table(&mut text, &samples, scenario, heading);
    }
    controls(&mut text, &samples);
    best(&mut text, &samples);
    executors(&mut text, &samples);
    text += "\nOne run each: no verdicts. `make report-sqrt_tasks` measures in blocks and judges.\n";
    Ok(text)
}

fn published_table(text: &mut String, samples: &Samples, scenario: &str, heading: &str) {
    let cores = Threads::Cores.count();
    let _ = writeln!(text, "{heading} (release build; {} cores, {} threads here)", cores, Cores::here().threads);
    let _ = writeln!(
        text,
        "{:<18} {:>7} {:>9} {:>9} {:>9} {:>12} {:>10} {:>16} {:>14}",
        "method",
        "threads",
        "real s",
        "user s",
        "system s",
        "page faults",
        "switches",
        "eff. per thread",
        "eff. per core"
    );
    for (label, arm, threads) in ROWS {
        let value = |metric| samples.value(scenario, arm, metric);
        let efficiency = |metric| {
            let alone = if arm.starts_with("tokio") { "tokio_1" } else { "sys_thread_1" };
            samples.value(scenario, alone, metric).zip(value(metric)).map(|(alone, all)| alone / all)
        };
        let switches = value("voluntary_switches_count").zip(value("involuntary_switches_count")).map(|(a, b)| a + b);
        let threads = if threads == "cores" { cores.to_string() } else { threads.to_owned() };
        let _ = writeln!(
            text,
            "{label:<18} {threads:>7} {:>9} {:>9} {:>9} {:>12} {:>10} {:>16} {:>14}",
            cell(value("work_s"), 3),
            cell(value("user_s"), 3),
            cell(value("system_s"), 3),
            cell(value("minor_faults_count"), 0),
            cell(switches, 0),
            cell(efficiency("thread_s"), 2),
            cell(efficiency("core_s"), 2),
        );
    }
    text.push('\n');
}

fn controls(text: &mut String, samples: &Samples) {
    let _ = writeln!(text, "Where the efficiency goes: eight tasks on one thread and on all cores");
    let _ = writeln!(
        text,
        "{:<46} {:>9} {:>10} {:>12} {:>14}",
        "work", "1 thread", "all cores", "page faults", "eff. per core"
    );
    for (label, work) in CONTROLS {
        let value = |threads: &str, metric| samples.value("n_8", &format!("{work}_{threads}"), metric);
        let efficiency = value("1", "core_s").zip(value("cores", "core_s")).map(|(alone, all)| alone / all);
        let _ = writeln!(
            text,
            "{label:<46} {:>9} {:>10} {:>12} {:>14}",
            cell(value("1", "work_s"), 3),
            cell(value("cores", "work_s"), 3),
            cell(value("cores", "minor_faults_count"), 0),
            cell(efficiency, 2),
        );
    }
}

fn best(text: &mut String, samples: &Samples) {
    let _ = writeln!(text, "\n200 tasks summed in vectors on all cores");
    let _ =
        writeln!(text, "{:<18} {:>9} {:>16} {:>22}", "executor", "real s", "cycles per root", "share of the divider");
    let mut row = |scenario: &str, arm: &str, label: &str| {
        let value = |metric| samples.value(scenario, arm, metric);
        let share = value("divider_percent").map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1} %"));
        let _ = writeln!(
            text,
            "{label:<18} {:>9} {:>16} {share:>22}",
            cell(value("work_s"), 3),
            cell(value("root_cycles_count"), 2)
        );
    };
    for arm in ["rayon", "static_split", "tokio_inside"] {
        row("best_200", arm, arm);
    }
    row("kernel", "vector", "8 on one thread");
}

fn executors(text: &mut String, samples: &Samples) {
    let _ =
        writeln!(text, "\n{:<18} {:>24} {:>30}", "ns per task", "1,000 that do nothing", "1,000 of 100,000 roots each");
    for (arm, _) in scenario::find(EXECUTORS[0]).map(scenario::Scenario::arms).unwrap_or_default() {
        let value = |scenario| cell(samples.value(scenario, &arm, "task_ns"), 0);
        let _ = writeln!(text, "{arm:<18} {:>24} {:>30}", value(EXECUTORS[0]), value(EXECUTORS[1]));
    }
}
