//! The scenarios and the test cases of each profile.

use std::time::Duration;

use super::{Case, Profile, StudyError, inputs};
use crate::arms::Arm;
use crate::error::Error;
use crate::generate::Shape;

/// What a scenario works on.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// One file.
    File {
        /// What its rows look like.
        shape: Shape,
        /// How many.
        rows: u64,
    },
    /// The three files of the published concurrency test, at once.
    ThreeFiles {
        /// Rows of each.
        rows: u64,
        /// Whether the span takes in writing the files and the sequential pass, as the published test's does.
        whole_test: bool,
    },
    /// Messages through a channel that do nothing.
    Messages {
        /// How many.
        count: u64,
    },
    /// Clients of one process, without sockets, all there at once.
    Clients {
        /// How many.
        count: usize,
    },
    /// Connections to a server in a process of its own.
    Tcp(Tcp),
}

/// A load on a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Tcp {
    /// Connections.
    pub connections: usize,
    /// Rows per second over all of them.
    pub rate: f64,
    /// For how long rows count.
    pub window: Duration,
    /// Rows of the state that the server begins with.
    pub state_rows: u64,
}

/// A named setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it works on.
    pub work: Work,
    /// How it is built.
    pub build: &'static str,
}

/// The published sizes, 100 to 2,000,100, as scenario and rows.
const SIZES: [(&str, u64); 21] = [
    ("rows_100", 100),
    ("rows_100100", 100_100),
    ("rows_200100", 200_100),
    ("rows_300100", 300_100),
    ("rows_400100", 400_100),
    ("rows_500100", 500_100),
    ("rows_600100", 600_100),
    ("rows_700100", 700_100),
    ("rows_800100", 800_100),
    ("rows_900100", 900_100),
    ("rows_1000100", 1_000_100),
    ("rows_1100100", 1_100_100),
    ("rows_1200100", 1_200_100),
    ("rows_1300100", 1_300_100),
    ("rows_1400100", 1_400_100),
    ("rows_1500100", 1_500_100),
    ("rows_1600100", 1_600_100),
    ("rows_1700100", 1_700_100),
    ("rows_1800100", 1_800_100),
    ("rows_1900100", 1_900_100),
    ("rows_2000100", LARGE),
];

/// The published largest size.
const LARGE: u64 = 2_000_100;

/// The sizes above the first that the quick profile runs.
const QUICK_SIZES: [&str; 5] = ["rows_100100", "rows_300100", "rows_600100", "rows_1000100", "rows_1500100"];

/// Clients without sockets.
const SPAWNS: [(&str, usize); 3] = [("clients_10000", 10_000), ("clients_16000", 16_000), ("clients_19000", 19_000)];

/// Rows that count are sent for so long.
const WINDOW: Duration = Duration::from_secs(1);

/// Connections, rows per second over all of them, and rows of the state before.
const CONNECTIONS: [(&str, usize, f64, u64); 10] = [
    ("tcp_100_large", 100, RATE, 500_000),
    ("tcp_100", 100, RATE, 0),
    ("tcp_1000", 1_000, RATE, 0),
    ("tcp_4000", 4_000, RATE, 0),
    ("tcp_10000", 10_000, RATE, 0),
    ("tcp_16000", 16_000, RATE, 0),
    ("tcp_19000", 19_000, RATE, 0),
    ("tcp_10000_2k", 10_000, 2_000.0, 0),
    ("tcp_10000_20k", 10_000, 20_000.0, 0),
    ("tcp_10000_40k", 10_000, 40_000.0, 0),
];

/// Rows per second that both can carry.
const RATE: f64 = 10_000.0;

/// Every scenario.
#[must_use]
pub fn all() -> Vec<Scenario> {
    let file = |name, shape, rows| Scenario { name, work: Work::File { shape, rows }, build: "release" };
    let three = |name, rows, build| Scenario { name, work: Work::ThreeFiles { rows, whole_test: false }, build };
    let mut all: Vec<_> = SIZES.iter().map(|&(name, rows)| file(name, Shape::Original, rows)).collect();
    all.extend([
        file("controls_300100", Shape::Original, 300_100),
        file("accepted_2000100", Shape::Accepted, LARGE),
        file("accepted_20000100", Shape::Accepted, 20_000_100),
        file("hot_2000100", Shape::Hot, LARGE),
        file("uniform_2000100", Shape::Uniform, LARGE),
        three("three_files", 100_000, "release"),
        three("three_files_debug", 100_000, "dev"),
        three("three_files_1m", 1_000_000, "release"),
        three("three_files_1m_debug", 1_000_000, "dev"),
        three("three_files_allocations", 100_000, "variant-allocations"),
        Scenario { name: "whole_test_debug", work: Work::ThreeFiles { rows: 100_000, whole_test: true }, build: "dev" },
        Scenario { name: "messages_3m", work: Work::Messages { count: 3_000_000 }, build: "release" },
    ]);
    let clients = |(name, count)| Scenario { name, work: Work::Clients { count }, build: "release" };
    all.extend(SPAWNS.map(clients));
    let tcp = |(name, connections, rate, state_rows)| {
        let tcp = Tcp { connections, rate, window: WINDOW, state_rows };
        Scenario { name, work: Work::Tcp(tcp), build: "release" }
    };
    all.extend(CONNECTIONS.map(tcp));
    all
}

/// The scenario called `name`.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<Scenario, Error> {
    let all = all();
    all.iter().find(|scenario| scenario.name == name).cloned().ok_or_else(|| Error::UnknownName {
        what: "scenario",
        given: name.to_owned(),
        choices: all.iter().map(|scenario| scenario.name).collect::<Vec<_>>().join(", "),
    })
}

/// Writes the input and the expected answer of `scenario`, unless they are there.
///
/// # Errors
/// If there is no such scenario or the files cannot be written.
pub fn prepare(scenario: &str, seed: u64) -> Result<(), StudyError> {
    match find(scenario)?.work {
        Work::File { shape, rows } => inputs::Set::file(&shape, rows, seed).prepare(),
        Work::ThreeFiles { rows, .. } => inputs::Set::three_files(rows, seed).prepare(),
        Work::Tcp(tcp) => super::concurrent::prepare(&tcp, seed),
        Work::Messages { .. } | Work::Clients { .. } => Ok(()),
    }
}

/// The test cases of `profile`.
#[must_use]
pub fn cases(profile: Profile) -> Vec<Case> {
    let scenarios = all();
    let mut cases = Vec::new();
    let mut add = |name: &str, arms: &[&str]| {
        if let Some(scenario) = scenarios.iter().find(|scenario| scenario.name == name) {
            cases.extend(arms.iter().map(|arm| Case {
                scenario: scenario.name,
                arm: (*arm).to_owned(),
                build: scenario.build,
                seconds: expected_seconds(scenario, arm),
            }));
        }
    };
    let every_arm: Vec<&str> = Arm::ALL.iter().map(|arm| arm.name()).chain(["csv_scan"]).collect();
    let concurrent =
        ["sync", "async", "sync@aa", "sync_unshared", "async_multi_thread", "async_batched_4096", "best_all_cores"];
    let accepted = ["csv_scan", "sync", "async", "sync_pipelined", "best_one_core", "best_all_cores"];
    let duets = ["async_batched_256~sync_pipelined", "sync~sync@aa", "sync@slow~sync"];
    match profile {
        Profile::Smoke => {
            for name in ["rows_100", "rows_2000100", "accepted_2000100", "hot_2000100", "uniform_2000100"] {
                add(name, &every_arm);
            }
            add("rows_100", &["sync@aa", "sync@slow"]);
            add("rows_100100", &duets);
            add("three_files", &every_arm[..every_arm.len() - 1]);
            add("three_files_debug", &["sync", "async"]);
            add("whole_test_debug", &["sync", "async"]);
            add("clients_10000", &["spawn_threads", "spawn_tasks"]);
            add("tcp_1000", &SERVERS);
            add("tcp_100_large", &["threads", "tokio"]);
        }
        Profile::Quick | Profile::Full => {
            add("rows_100", &["sync", "async"]);
            for &(name, _) in &SIZES[1..SIZES.len() - 1] {
                if profile == Profile::Full || QUICK_SIZES.contains(&name) {
                    add(name, &["sync", "async", "sync@aa"]);
                }
            }
            add("rows_2000100", &every_arm);
            add("rows_2000100", &["sync@aa"]);
            add("controls_300100", &["sync", "sync@aa", "sync@slow"]);
            add("rows_100100", &duets);
            add("accepted_2000100", &accepted);
            if profile == Profile::Full {
                add("accepted_20000100", &["csv_scan", "sync", "best_one_core", "best_all_cores"]);
                add("three_files_1m", &concurrent);
                add("three_files_1m_debug", &concurrent);
            }
            add("three_files", &concurrent);
            add("three_files_debug", &concurrent);
            add("whole_test_debug", &["sync", "async"]);
            add("clients_10000", &["spawn_threads@aa"]);
            for (name, _) in SPAWNS {
                add(name, &["spawn_threads", "spawn_tasks"]);
            }
            add("tcp_100_large", &["threads@aa"]);
            for (name, ..) in CONNECTIONS {
                let all_modes = matches!(name, "tcp_100" | "tcp_10000");
                add(name, if all_modes { &SERVERS } else { &["threads", "tokio", "null"] });
            }
        }
    }
    add("three_files_allocations", &["sync", "async"]);
    add("messages_3m", &["channel_async", "channel_sync"]);
    cases
}

/// Who serves.
const SERVERS: [&str; 5] = ["threads", "pool", "tokio", "tokio_current", "null"];

/// Wall time of one run on two cores, in seconds: for the plan and the time left only.
fn expected_seconds(scenario: &Scenario, arm: &str) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "row counts stay far below 2^53")]
    let seconds = match scenario.work.clone() {
        Work::File { rows, shape } => {
            let accepted = if shape == Shape::Original { 1.0 } else { 1.9 };
            let per_row_ns = match arm {
                "csv_scan" => 62.0,
                "best_one_core" => 120.0,
                "best_all_cores" => 80.0,
                _ if arm.contains("as_published") => 750.0,
                _ if arm.contains("batched") => 130.0 * accepted,
                _ if arm.starts_with("sync_p") || arm.starts_with("async") => 175.0 * accepted,
                _ => 138.0 * accepted,
            };
            let passes = if arm.contains('~') { 42.0 } else { 1.0 };
            0.01 + rows as f64 * per_row_ns * 1e-9 * passes
        }
        Work::ThreeFiles { rows, whole_test } => {
            let per_row_ns = match scenario.build {
                "release" => 150.0,
                "dev" => 2_200.0,
                _ => 300.0,
            };
            let passes = if whole_test { 3.0 } else { 1.0 };
            0.02 + 3.0 * rows as f64 * per_row_ns * 1e-9 * passes
        }
        Work::Messages { count } => count as f64 * 110e-9,
        Work::Clients { count } => 0.05 + count as f64 * if arm == "spawn_tasks" { 3e-6 } else { 235e-6 },
        Work::Tcp(Tcp { connections, state_rows, window, .. }) => {
            // Connections that are never served are waited for, some at a time.
            let unserved = if arm == "pool" { 3.0 + connections as f64 / 128.0 * 0.05 + 3.0 } else { 0.0 };
            let connection_s = if arm.starts_with("threads") { 280e-6 } else { 120e-6 };
            0.6 + window.as_secs_f64() + connections as f64 * connection_s + state_rows as f64 * 2e-6 + unserved
        }
    };
    (seconds * 100.0).ceil() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_test_case_stands_twice_in_a_profile() {
        for profile in Profile::ALL {
            let cases = cases(profile);
            let distinct: HashSet<_> = cases.iter().map(|case| (case.scenario, &case.arm)).collect();
            assert_eq!(distinct.len(), cases.len(), "{}", profile.name());
        }
    }

    #[test]
    fn every_arm_runs_in_smoke_on_a_large_file_of_each_shape() {
        let cases = cases(Profile::Smoke);
        for scenario in ["rows_2000100", "accepted_2000100", "hot_2000100", "uniform_2000100"] {
            for arm in Arm::ALL {
                assert!(cases.iter().any(|case| case.scenario == scenario && case.arm == arm.name()));
            }
        }
    }
}
