//! The scenarios and the test cases of each profile.

use std::time::Duration;

use study_kit::error::unknown;

use super::{Case, Profile, StudyError};
use crate::design::{Arm, Place};
use crate::workload::{Load, Workload, Writes};

/// What a scenario does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work {
    /// Reads and writes through a design.
    Access {
        /// How.
        workload: Workload,
        /// Where databases lie that are files.
        place: Place,
    },
    /// Many writes at once on disk, alone or in one commit.
    Commits {
        /// For how long.
        window: Duration,
    },
    /// Nothing but the recording of samples.
    Record {
        /// How many.
        samples: u32,
    },
}

/// A named setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub work: Work,
    /// How it is built.
    pub build: &'static str,
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Reads per second and database in the open loop: so many that 99 % of them are known after two seconds, and so few that a single
/// thread per database could serve them all.
const READS_PER_S: f64 = 100.0;

const fn closed(name: &'static str, workload: Workload) -> Scenario {
    Scenario { name, work: Work::Access { workload, place: Place::Memory }, build: "release" }
}

const fn open(name: &'static str, hold: Duration, window: Duration, place: Place) -> Scenario {
    let workload =
        Workload { load: Load::Open { reads_per_s: READS_PER_S }, rest: ms(5), ..Workload::published(hold, window) };
    Scenario { name, work: Work::Access { workload, place }, build: "release" }
}

/// One sync of each of 40 databases, readers meanwhile.
const fn forty(name: &'static str, hold: Duration, think: Duration, window: Duration) -> Scenario {
    closed(name, Workload { databases: 40, think, writes: Writes::Once, ..Workload::published(hold, window) })
}

const HOLD_100MS: Scenario = closed("hold_100ms", Workload::published(ms(100), ms(2_000)));

/// Every scenario.
pub const ALL: &[Scenario] = &[
    HOLD_100MS,
    Scenario { name: "hold_100ms_tuned", build: "variant-tuned", ..HOLD_100MS },
    closed("hold_1s", Workload::published(ms(1_000), ms(6_000))),
    closed("no_hold", Workload::published(ms(0), ms(1_000))),
    open("open_100ms", ms(100), ms(2_000), Place::Memory),
    open("open_100ms_disk", ms(100), ms(2_000), Place::Disk),
    open("open_1s", ms(1_000), ms(3_000), Place::Memory),
    // The published think time at a thirtieth, as the hold.
    forty("forty", ms(1_000), Duration::from_micros(167), ms(2_000)),
    // A worker that syncs forty of them takes turns with readers for twenty holds: a hundredth is what quick has time for.
    forty("forty_300ms", ms(300), Duration::from_micros(50), ms(600)),
    Scenario { name: "commit_disk", work: Work::Commits { window: ms(1_000) }, build: "release" },
    Scenario { name: "recorder", work: Work::Record { samples: 1_000_000 }, build: "release" },
    closed("full_100ms", Workload::published(ms(100), ms(120_000))),
    closed("full_1s", Workload::published(ms(1_000), ms(120_000))),
    closed("full_10s", Workload::published(ms(10_000), ms(120_000))),
    open("open_10s", ms(10_000), ms(120_000), Place::Memory),
    forty("forty_30s", ms(30_000), ms(5), ms(60_000)),
    closed("smoke", Workload::published(ms(20), ms(300))),
    open("smoke_open", ms(20), ms(300), Place::Disk),
    forty("smoke_forty", ms(20), Duration::from_micros(167), ms(100)),
    Scenario { name: "smoke_commit", work: Work::Commits { window: ms(100) }, build: "release" },
];

/// The scenario called `name`.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Scenario, StudyError> {
    let found = ALL.iter().find(|scenario| scenario.name == name);
    found.ok_or_else(|| unknown("scenario", name, ALL.iter().map(|scenario| scenario.name)).into())
}

/// Makes the input of a scenario: every run makes its own databases, so that there is nothing to do but to know the name.
///
/// # Errors
/// If there is no such scenario.
pub fn prepare(name: &str) -> Result<(), StudyError> {
    find(name).map(drop)
}

/// The arms of each scenario of a profile.
const MIRROR: &[&str] = &["direct", "spawn_blocking", "tokio_rusqlite"];
const QUICK: &[(&str, &[&str])] = &[
    (
        "hold_100ms",
        &[
            "direct",
            "spawn_blocking",
            "tokio_rusqlite",
            "tokio_rusqlite@aa",
            "tokio_rusqlite@slow",
            "sb_fair",
            "direct_async_lock",
            "sb_parking_lot",
            "sb_tokio_mutex",
            "sb_hold_outside",
            "sb_hold_in_txn",
            "sb_indexed",
            "sb_constant",
            "wal_threads",
            "wal_blocking",
            "wal_inline",
            "deadpool",
            "memdb",
            "shared_cache",
            "rollback",
        ],
    ),
    ("hold_100ms_tuned", &["spawn_blocking", "tokio_rusqlite"]),
    ("hold_1s", &["direct", "spawn_blocking", "tokio_rusqlite", "sb_fair", "wal_threads"]),
    ("no_hold", MIRROR),
    (
        "open_100ms",
        &[
            "direct",
            "spawn_blocking",
            "tokio_rusqlite",
            "wal_threads",
            "wal_threads_40",
            "wal_blocking",
            "wal_inline",
            "deadpool",
        ],
    ),
    ("open_100ms_disk", &["wal_threads"]),
    ("open_1s", &["direct", "spawn_blocking", "tokio_rusqlite", "wal_threads", "wal_inline"]),
    ("forty", &["direct", "tokio_rusqlite", "wal_threads"]),
    ("forty_300ms", &["direct"]),
    ("commit_disk", &["single_commit", "group_commit"]),
    ("recorder", &["recorder"]),
];
const FULL: &[(&str, &[&str])] = &[
    ("full_100ms", &["direct", "spawn_blocking", "tokio_rusqlite", "sb_fair", "wal_threads"]),
    ("full_1s", &["direct", "spawn_blocking", "tokio_rusqlite", "sb_fair", "wal_threads"]),
    ("full_10s", &["direct", "spawn_blocking", "tokio_rusqlite", "sb_fair", "wal_threads"]),
    ("open_10s", &["direct", "spawn_blocking", "tokio_rusqlite", "wal_threads"]),
    ("forty_30s", &["direct", "tokio_rusqlite", "wal_threads"]),
];

/// The test cases of a profile.
#[must_use]
pub fn cases(profile: Profile) -> Vec<Case> {
    let listed = |tables: &[&'static [(&'static str, &'static [&'static str])]]| -> Vec<Case> {
        let rows = tables.iter().copied().flatten();
        rows.flat_map(|(name, arms)| arms.iter().filter_map(|arm| case(name, arm))).collect()
    };
    match profile {
        Profile::Smoke => {
            let every = Arm::ALL.iter().filter_map(|arm| case("smoke", arm.name()));
            let open =
                ["direct", "wal_threads", "wal_threads_40"].into_iter().filter_map(|arm| case("smoke_open", arm));
            let others = [
                ("smoke", "tokio_rusqlite@aa"),
                ("smoke", "tokio_rusqlite@slow"),
                ("smoke_forty", "tokio_rusqlite"),
                ("smoke_commit", "single_commit"),
                ("smoke_commit", "group_commit"),
                ("recorder", "recorder"),
                ("hold_100ms_tuned", "tokio_rusqlite"),
            ];
            every.chain(open).chain(others.into_iter().filter_map(|(name, arm)| case(name, arm))).collect()
        }
        Profile::Quick => listed(&[QUICK]),
        Profile::Full => listed(&[QUICK, FULL]),
    }
}

fn case(name: &str, arm: &str) -> Option<Case> {
    let scenario = find(name).ok()?;
    let seconds = match scenario.work {
        // Opening, filling and checking the databases takes a tenth of a second, and the last write its hold.
        Work::Access { workload, .. } => {
            let syncs = workload.writes == Writes::Once && arm == "direct";
            // Four workers take turns with forty databases and their readers.
            let tail = if syncs { workload.hold * 19 } else { workload.hold.mul_f64(0.5) };
            (workload.window + tail + ms(150)).as_secs_f64()
        }
        Work::Commits { window } => window.as_secs_f64() + 0.1,
        Work::Record { .. } => 0.2,
    };
    let seconds = (seconds * 100.0).round() / 100.0;
    Some(Case { scenario: scenario.name, arm: arm.to_owned(), build: scenario.build, seconds })
}
