//! The scenarios and the test cases of each profile.

use study_kit::error::unknown;

use super::arms::input::Shape;
use super::arms::{Arm, Drive};
use super::data::Kind;
use super::many::ManyArm;
use super::target::Place;
use super::{Case, Profile, StudyError};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// What a scenario does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// One archive after another, so many of them per sample.
    Archive {
        /// What is in it.
        shape: Shape,
        /// Where it goes.
        place: Place,
        /// Archives per sample.
        rounds: u32,
    },
    /// Several archives at once or one after another, files in memory.
    Many {
        /// What is in each.
        shape: Shape,
        /// How many.
        archives: usize,
        /// How often per sample.
        rounds: u32,
    },
    /// Several archives at once beside a task that wants to run every millisecond.
    Ticker {
        /// What is in each.
        shape: Shape,
        /// How many.
        archives: usize,
    },
    /// The reader on archives that were tampered with.
    Hostile {
        /// How many.
        archives: u64,
    },
}

/// A named setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub work: Work,
    /// How it is built.
    pub build: &'static str,
}

const fn archive(name: &'static str, shape: Shape, place: Place, rounds: u32) -> Scenario {
    Scenario { name, work: Work::Archive { shape, place, rounds }, build: "release" }
}

const fn streamed(name: &'static str, units: u64, entries: u64) -> Scenario {
    let shape = Shape { kind: Kind::Pattern, unit_bytes: 64 * KIB, call_bytes: 64 * KIB, repeat: units, entries };
    archive(name, shape, Place::Tmpfs, 1)
}

/// One entry of log text, in calls of 256 KiB; repeats lie further apart than Deflate looks back.
const fn large(units: u64) -> Shape {
    Shape { kind: Kind::Log, unit_bytes: 2 * MIB, call_bytes: 256 * KIB, repeat: units, entries: 1 }
}

const fn miniz(name: &'static str, of: Scenario) -> Scenario {
    Scenario { name, build: "variant-miniz", ..of }
}

const ENTRY_5M: Scenario = archive("entry_5m", Shape::entry(Kind::Pattern, 5 * MIB), Place::Tmpfs, 1);
const ENTRIES_50: Scenario = archive("entries_50", Shape::entries(Kind::Pattern, 10 * KIB, 50), Place::Tmpfs, 1);
const MEMORY_100K: Scenario = archive("memory_100k", Shape::entry(Kind::Pattern, 100 * KIB), Place::Memory, 4);
const MEMORY_5M: Scenario = archive("memory_5m", Shape::entry(Kind::Pattern, 5 * MIB), Place::Memory, 1);

/// Every scenario.
pub const ALL: &[Scenario] = &[
    ENTRY_5M,
    archive("entry_5m_disk", Shape::entry(Kind::Pattern, 5 * MIB), Place::Disk, 1),
    archive("entry_20m", Shape::entry(Kind::Pattern, 20 * MIB), Place::Tmpfs, 1),
    ENTRIES_50,
    archive("entries_50_disk", Shape::entries(Kind::Pattern, 10 * KIB, 50), Place::Disk, 1),
    MEMORY_100K,
    MEMORY_5M,
    archive("memory_50", Shape::entries(Kind::Pattern, 10 * KIB, 50), Place::Memory, 1),
    miniz("entry_5m_miniz", ENTRY_5M),
    miniz("entries_50_miniz", ENTRIES_50),
    miniz("memory_100k_miniz", MEMORY_100K),
    archive("perf_10k", Shape::entry(Kind::Pattern, 10 * KIB), Place::Tmpfs, 100),
    archive("perf_100k", Shape::entry(Kind::Pattern, 100 * KIB), Place::Tmpfs, 100),
    archive("perf_1m", Shape::entry(Kind::Pattern, MIB), Place::Tmpfs, 80),
    archive("perf_5m", Shape::entries(Kind::Pattern, MIB, 5), Place::Tmpfs, 45),
    archive("perf_10m", Shape::entries(Kind::Pattern, MIB, 10), Place::Tmpfs, 24),
    archive("perf_20m", Shape::entries(Kind::Pattern, MIB, 20), Place::Tmpfs, 11),
    streamed("rss_5m", 80, 1),
    streamed("rss_10m", 160, 1),
    streamed("rss_100m", 1_600, 1),
    // In one entry the published shape, without ZIP64, could not say its size.
    streamed("rss_10g", 40_000, 4),
    archive("calls_1", Shape::calls(Kind::Pattern, 4 * KIB, 1), Place::Tmpfs, 1),
    archive("calls_8k", Shape::calls(Kind::Pattern, 4 * MIB, 8 * KIB), Place::Tmpfs, 1),
    archive("calls_64k", Shape::calls(Kind::Pattern, 4 * MIB, 64 * KIB), Place::Tmpfs, 1),
    archive("calls_1m", Shape::calls(Kind::Pattern, 4 * MIB, MIB), Place::Tmpfs, 1),
    archive("data_pattern", Shape::calls(Kind::Pattern, 4 * MIB, 64 * KIB), Place::Tmpfs, 1),
    archive("data_log", Shape::calls(Kind::Log, 256 * KIB, 64 * KIB), Place::Tmpfs, 1),
    archive("data_csv", Shape::calls(Kind::Csv, 256 * KIB, 64 * KIB), Place::Tmpfs, 1),
    archive("data_random", Shape::calls(Kind::Random, 256 * KIB, 64 * KIB), Place::Tmpfs, 1),
    archive("cores_entries", Shape::entries(Kind::Log, 100 * KIB, 200), Place::Tmpfs, 1),
    archive("cores_30m", large(15), Place::Tmpfs, 1),
    archive("cores_200m", large(100), Place::Tmpfs, 1),
    archive("pipe_random", Shape::calls(Kind::Random, 4 * MIB, 64 * KIB), Place::Pipe, 1),
    archive("slow_random", Shape::calls(Kind::Random, 4 * MIB, 64 * KIB), Place::Slow(2), 1),
    archive(
        "zip64_5g",
        Shape { kind: Kind::Pattern, unit_bytes: MIB, call_bytes: MIB, repeat: 5 * 1024, entries: 1 },
        Place::Ends,
        1,
    ),
    archive(
        "zip64_5g_disk",
        Shape { kind: Kind::Random, unit_bytes: MIB, call_bytes: MIB, repeat: 5 * 1024, entries: 1 },
        Place::Disk,
        1,
    ),
    Scenario {
        name: "many_10",
        work: Work::Many { shape: Shape::entry(Kind::Pattern, 5 * MIB), archives: 10, rounds: 10 },
        build: "release",
    },
    Scenario {
        name: "ticker",
        work: Work::Ticker {
            shape: Shape { kind: Kind::Log, unit_bytes: 2 * MIB, call_bytes: 64 * KIB, repeat: 14, entries: 1 },
            archives: 4,
        },
        build: "release",
    },
    Scenario { name: "hostile", work: Work::Hostile { archives: 1_000_000 }, build: "release" },
];

/// The scenario called `name`.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<Scenario, StudyError> {
    let found = ALL.iter().find(|scenario| scenario.name == name).copied();
    found.ok_or_else(|| unknown("scenario", name, ALL.iter().map(|scenario| scenario.name)).into())
}

/// Checks the name: inputs are made in the process, before the timed span.
///
/// # Errors
/// If there is no such scenario.
pub fn prepare(scenario: &str, _seed: u64) -> Result<(), StudyError> {
    find(scenario).map(|_| ())
}

const SIZES: [&str; 6] = ["perf_10k", "perf_100k", "perf_1m", "perf_5m", "perf_10m", "perf_20m"];
const CALLS: [&str; 4] = ["calls_1", "calls_8k", "calls_64k", "calls_1m"];
const DATA: [&str; 4] = ["data_pattern", "data_log", "data_csv", "data_random"];
const MANY: [ManyArm; 6] = ManyArm::ALL;
const TICKERS: [&str; 7] =
    ["idle", "async", "async_buffered", "best_async", "best_async_in_place", "best_async_offload", "async_zip"];

/// Alternations of a duet: fewer where an arm needs tens of milliseconds.
#[must_use]
pub fn pairs(shape: &Shape) -> usize {
    if shape.entries >= 50 || shape.call_bytes == 1 { 10 } else { 20 }
}

/// The test cases of `profile`.
#[must_use]
pub fn cases(profile: Profile) -> Vec<Case> {
    let mut cases = Cases(Vec::new());
    // A bare loop cannot wait for a file.
    let every: Vec<&str> = Arm::ALL.iter().filter(|arm| arm.drive() != Drive::Loop).map(|arm| arm.name()).collect();
    if profile == Profile::Smoke {
        cases.add_smoke(&every);
    } else {
        cases.add_archives(&every);
        cases.add_series(profile == Profile::Full);
    }
    cases.0
}

struct Cases(Vec<Case>);

impl Cases {
    fn add(&mut self, name: &str, arms: &[&str]) {
        if let Some(scenario) = ALL.iter().find(|scenario| scenario.name == name) {
            self.0.extend(arms.iter().map(|arm| Case {
                scenario: scenario.name,
                arm: (*arm).to_owned(),
                build: scenario.build,
                seconds: expected_seconds(scenario, arm),
            }));
        }
    }

    /// Every arm and every kind of scenario once, at the smallest size; `every` are the arms that can write to a file.
    fn add_smoke(&mut self, every: &[&str]) {
        self.add("entries_50", every);
        self.add("entries_50", &["async~sync", "sync~sync@aa", "sync@slow~sync"]);
        self.add("perf_5m", &["sync", "async", "sync@aa", "sync@slow"]);
        for scenario in ["entry_5m_disk", "memory_100k", "memory_100k_miniz", "pipe_random", "slow_random"] {
            self.add(scenario, &["best_sync", "best_async"]);
        }
        for scenario in CALLS.into_iter().chain(DATA) {
            self.add(scenario, &["sync", "async", "best_sync", "best_async", "zip_crate", "async_zip"]);
        }
        self.add("memory_5m", &["poll_only", "poll_runtime"]);
        self.add("cores_entries", &["best_sync", "best_parallel"]);
        self.add("rss_10m", &["empty", "sync", "async", "best_sync", "best_async"]);
        self.add("many_10", &MANY.map(ManyArm::name));
        self.add("ticker", &TICKERS);
        self.add("zip64_5g", &["best_sync", "best_async_offload", "best_stored"]);
        self.add("hostile", &["reader"]);
    }

    /// Archives of the published kinds, most of them as duets; `every` as above.
    fn add_archives(&mut self, every: &[&str]) {
        for scenario in ["entry_5m", "entry_5m_disk", "entry_5m_miniz"] {
            self.add(scenario, &["async~sync"]);
        }
        for scenario in ["entries_50", "entries_50_disk", "entries_50_miniz"] {
            self.add(scenario, &["async~sync", "async_buffered~sync_buffered"]);
        }
        for scenario in ["memory_100k", "memory_100k_miniz"] {
            self.add(scenario, &["sync~async", "sync_buffer_32k~sync_buffer_8k"]);
        }
        self.add(
            "entry_5m",
            &[
                "async~async_buffered",
                "best_async~best_sync",
                "best_async_in_place~best_sync",
                "sync~sync@aa",
                "sync@slow~sync",
                "async",
                "sync",
            ],
        );
        self.add("entry_20m", &["best_async~best_sync", "best_async_in_place~best_sync"]);
        self.add("memory_50", &["best_async~best_sync", "async_zip~best_async"]);
        self.add(
            "entries_50",
            &[
                "async~async_buffered",
                "sync_reused~sync",
                "best_async~best_sync",
                "best_async_in_place~best_sync",
                "best_sync~zip_crate",
                "sync~sync@aa",
            ],
        );
        self.add("entries_50", every);
        self.add("memory_100k", &["best_async~best_sync", "sync~sync@aa", "sync", "async"]);
        self.add(
            "memory_5m",
            &["poll_runtime~poll_only", "poll_only~sync_buffer_8k", "async~async_static", "async_static~poll_runtime"],
        );
    }

    /// Rows of sizes, memory, calls and data, cores, and all that is more than one archive.
    fn add_series(&mut self, full: bool) {
        for scenario in SIZES {
            self.add(scenario, &["sync", "async"]);
        }
        self.add("perf_5m", &["async_buffered", "sync_buffered"]);
        self.add("perf_10m", &["async_buffered", "sync_buffered"]);
        self.add("perf_20m", &["async_buffered", "sync_buffered", "sync@aa", "sync@slow", "best_sync", "best_async"]);
        for scenario in ["rss_5m", "rss_10m", "rss_100m"] {
            self.add(scenario, &["empty", "sync", "async", "best_sync", "best_async"]);
        }
        self.add("rss_10m", &["sync@aa"]);
        if full {
            self.add("rss_10g", &["empty", "sync", "async", "best_sync", "best_async"]);
            self.add("zip64_5g", &["best_sync", "best_async_offload", "best_stored"]);
            self.add("zip64_5g_disk", &["best_stored", "best_async"]);
        }
        self.add("calls_1", &["sync_buffer_8k~sync_buffer_32k"]);
        for scenario in CALLS {
            self.add(scenario, &["async~sync", "best_async~best_sync", "sync", "async", "best_sync", "best_async"]);
        }
        for scenario in DATA {
            self.add(scenario, &["best_sync~zip_crate", "async_zip~best_async"]);
            self.add(scenario, &["best_sync", "zip_crate", "best_async", "async_zip"]);
        }
        self.add("cores_entries", &["best_sync", "best_parallel"]);
        self.add("cores_30m", &["best_sync", "best_parallel"]);
        self.add("cores_200m", &["best_sync", "best_parallel"]);
        for scenario in ["pipe_random", "slow_random"] {
            self.add(scenario, &["best_sync", "best_async"]);
        }
        self.add("many_10", &MANY.map(ManyArm::name));
        self.add("ticker", &TICKERS);
        self.add("hostile", &["reader"]);
    }
}

/// Wall time of one run on two cores, in seconds: for the plan and the time left only.
#[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^53")]
fn expected_seconds(scenario: &Scenario, arm: &str) -> f64 {
    let per_byte_ns = |kind: Kind| match (kind, scenario.build) {
        (Kind::Pattern, "release") => 0.35,
        (Kind::Pattern, _) => 1.2,
        (Kind::Log, _) => 14.0,
        (Kind::Csv, _) => 18.0,
        (Kind::Random, _) => 23.0,
    };
    let seconds = match scenario.work {
        Work::Archive { .. } if arm == "empty" => 0.0,
        Work::Archive { shape, rounds, .. } => {
            let parallel = if arm.contains("parallel") { 0.55 } else { 1.0 };
            let hops = |arm: &str| {
                let unbuffered = matches!(arm, "async" | "async_current_thread" | "async_static");
                if unbuffered { shape.entries as f64 * 1.1e-3 } else { shape.entries as f64 * 0.1e-3 }
            };
            let (first, second) = arm.split_once('~').unwrap_or((arm, ""));
            let arms = if second.is_empty() { 1.0 } else { 2.0 };
            // A flush per call, through a buffer that is cleared for each.
            let flushes = if shape.call_bytes == 1 { shape.unit_bytes as f64 * 3e-6 } else { 0.0 };
            let passes = f64::from(rounds) * if second.is_empty() { 1.0 } else { 1.0 + pairs(&shape) as f64 };
            let work = shape.bytes() as f64 * per_byte_ns(shape.kind) * 1e-9 * parallel + 60e-6 + flushes;
            passes * (arms * work + hops(first) + hops(second))
        }
        Work::Many { shape, archives, rounds } => {
            let both = if arm.contains("sequential") { 1.0 } else { 0.55 };
            both * shape.bytes() as f64 * archives as f64 * f64::from(rounds) * per_byte_ns(shape.kind) * 1e-9
        }
        Work::Ticker { .. } if arm == "idle" => 1.1,
        Work::Ticker { shape, archives } => shape.bytes() as f64 * archives as f64 * per_byte_ns(shape.kind) * 0.55e-9,
        Work::Hostile { archives } => archives as f64 * 2.5e-6,
    };
    ((seconds + 0.012) * 100.0).ceil() / 100.0
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
    fn every_scenario_that_a_case_names_is_there_and_every_arm_runs_in_smoke() {
        let cases = cases(Profile::Smoke);
        assert!(cases.iter().all(|case| find(case.scenario).is_ok()));
        for arm in Arm::ALL {
            assert!(cases.iter().any(|case| case.arm == arm.name()), "{}", arm.name());
        }
    }

    #[test]
    fn the_published_shape_gets_no_entry_and_no_number_of_them_that_needs_zip64() {
        let is_published =
            |arm: &str| ["sync", "async", "poll"].iter().any(|start| arm.starts_with(start)) && arm != "async_zip";
        for case in cases(Profile::Full).iter().filter(|case| is_published(&case.arm)) {
            let (Work::Archive { shape, .. } | Work::Many { shape, .. } | Work::Ticker { shape, .. }) =
                find(case.scenario).expect("it is a scenario").work
            else {
                continue;
            };
            let of_entry = shape.bytes() / shape.entries;
            assert!(u32::try_from(of_entry).is_ok(), "{} {}: {of_entry} bytes in an entry", case.scenario, case.arm);
            assert!(u16::try_from(shape.entries).is_ok(), "{} {}", case.scenario, case.arm);
        }
    }
}
