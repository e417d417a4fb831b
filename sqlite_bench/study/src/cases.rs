//! What is run: the arms, and the scenarios they take part in.

use std::sync::Arc;
use std::time::Duration;

use sqlite_bench::design::{self, Arm, OnThread, in_memory};
use sqlite_bench::workload::{Loop, Workload, Writes};
use study_kit::{Arms, Scenario, always, full, measured, originals, smoke};

use crate::designs::{AwaitedLock, FairLock, LockedByTask};
use crate::map::Callers::{self, One, Scheduled};
use crate::map::{Asking, Statement};
use crate::prices::Price;

/// The crate's arms and those that exist only to be compared.
pub fn arms() -> Vec<&'static Arm> {
    design::ARMS.iter().chain(&ARMS).collect()
}

#[rustfmt::skip]
pub static ARMS: [Arm; 3] = [
    Arm { must_give_way: true, ..Arm::new("control", "direct_async_lock",
        "direct under tokio's mutex: waiting no longer blocks a worker, SQLite still does",
        |setup| in_memory(setup, |connection| AwaitedLock(connection.into()))) },
    Arm::new("control", "sb_fair", "spawn_blocking under parking_lot's fair mutex",
        |setup| in_memory(setup, |connection| OnThread(Arc::new(FairLock(connection.into()))))),
    Arm::new("control", "sb_tokio_mutex", "spawn_blocking under tokio's mutex, taken before the thread",
        |setup| in_memory(setup, |connection| LockedByTask(Arc::new(connection.into())))),
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// Reads and writes through a design.
    Access(Workload),
    /// Many writes at once on disk, alone or in one commit.
    Commits { window: Duration },
    /// Nothing but the recording of samples.
    Record { samples: u32 },
    /// Statements of some length, a point of a map.
    Map(Asking),
    /// Handoffs, one arm of `prices` at a time.
    Price(Price),
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Reads per second and database in the open loop: enough for a p99 of two seconds, and so few that a thread per database could serve them all.
const READS_PER_S: f64 = 100.0;

const fn closed(hold: Duration, window: Duration) -> Setting {
    Setting::Access(Workload::published(hold, window))
}

const fn open(hold: Duration, window: Duration) -> Setting {
    let reads = Loop::Open { reads_per_s: READS_PER_S };
    Setting::Access(Workload { reads, rest: ms(5), ..Workload::published(hold, window) })
}

/// As long as the authors' program is run here, with readers that pause as its own do.
const fn pausing(think: Duration, hold: Duration) -> Setting {
    Setting::Access(Workload { think, ..Workload::published(hold, ms(12_000)) })
}

/// One sync of each of 40 databases, readers meanwhile.
const fn forty(hold: Duration, think: Duration, window: Duration) -> Setting {
    Setting::Access(Workload { databases: 40, think, writes: Writes::Once, ..Workload::published(hold, window) })
}

const fn map(
    name: &'static str,
    statement: Statement,
    callers: Callers,
    window: u64,
    arms: &'static [Arms],
) -> Scenario<Setting> {
    Scenario::new(name, Setting::Map(Asking { statement, callers, window: ms(window) }), arms)
}

const fn join(outer: i64, inner: i64) -> Statement {
    Statement::Join { outer, inner }
}

const ASKING: &str = "in_place spawn_blocking tokio_rusqlite deadpool pool";
const ALONE: &[Arms] = &[measured(0.13, ASKING)];
const BESIDE: &[Arms] = &[measured(0.31, ASKING)];

const READS: &[Arms] = &[always(0.28, "in_place spawn_blocking tokio_rusqlite pool")];
const PUBLISHED: &str = "direct spawn_blocking tokio_rusqlite";
const WITH_COPY: &str = "direct spawn_blocking tokio_rusqlite tokio_rusqlite@aa";
const LOCKS: &str = "direct spawn_blocking tokio_rusqlite tokio_rusqlite@aa tokio_rusqlite@slow sb_fair sb_tokio_mutex";
const OPEN: &str = "direct spawn_blocking tokio_rusqlite wal_threads wal_threads_idle";

/// Every scenario. Seconds are those of EPYC 25/1.
#[rustfmt::skip]
pub const SCENARIOS: &[Scenario<Setting>] = &[
    // Of two seconds a p99 of spawn_blocking came out as two holds once in three times, and as three in all runs of three.
    Scenario::new("hold_100ms", closed(ms(100), ms(3_000)), &[measured(3.22, LOCKS), measured(3.22, "wal_threads")]),
    Scenario::new("hold_1s", closed(ms(1_000), ms(6_000)), &[measured(6.7, PUBLISHED), measured(6.7, "sb_fair wal_threads")]),
    Scenario::new("no_hold", closed(ms(0), ms(1_000)), &[measured(1.1, "direct tokio_rusqlite")]),
    Scenario::new("open_100ms", open(ms(100), ms(2_000)), &[measured(2.2, OPEN), measured(2.2, "wal_threads_40")]),
    Scenario::new("open_1s", open(ms(1_000), ms(3_000)), &[measured(3.6, OPEN)]),
    // The published hold and think time at a hundredth: a worker that syncs forty of them takes turns with readers for twenty holds.
    Scenario::new("forty_300ms", forty(ms(300), Duration::from_micros(50), ms(600)),
        &[measured(5.1, "direct"), measured(1.15, "tokio_rusqlite wal_threads")]),
    Scenario::new("commit_disk", Setting::Commits { window: ms(1_000) }, &[measured(1.1, "single_commit group_commit")]),
    Scenario::new("recorder", Setting::Record { samples: 1_000_000 }, &[always(0.05, "recorder")]),
    // The published holds, for a part of the published two minutes: windows of 200, 30 and 6 holds.
    Scenario::new("full_100ms", closed(ms(100), ms(20_000)),
        &[full(20.0, WITH_COPY), full(20.0, "direct_async_lock sb_fair sb_tokio_mutex")]),
    Scenario::new("full_1s", closed(ms(1_000), ms(30_000)), &[full(31.0, WITH_COPY)]),
    Scenario::new("full_10s", closed(ms(10_000), ms(60_000)), &[full(70.0, WITH_COPY)]),
    // Two holds, which are enough where no read waits for one.
    Scenario::new("open_10s_wal", open(ms(10_000), ms(20_000)), &[full(21.0, "wal_threads")]),
    // Beside the authors' program, which runs its three designs one after the other.
    Scenario::new("pause_1ms_100ms", pausing(ms(1), ms(100)), &[originals(12.2, PUBLISHED), originals(37.0, "original")]),
    Scenario::new("pause_1ms_1s", pausing(ms(1), ms(1_000)), &[originals(12.7, PUBLISHED), originals(39.0, "original")]),
    Scenario::new("smoke", closed(ms(20), ms(300)), &[smoke(0.46, LOCKS), smoke(0.46, "direct_async_lock wal_threads")]),
    Scenario::new("smoke_open", open(ms(20), ms(300)), &[smoke(0.46, "direct wal_threads wal_threads_idle wal_threads_40")]),
    Scenario::new("smoke_forty", forty(ms(20), Duration::from_micros(167), ms(100)), &[smoke(0.26, "tokio_rusqlite")]),
    Scenario::new("smoke_commit", Setting::Commits { window: ms(100) }, &[smoke(0.2, "single_commit group_commit")]),
    Scenario::new("price_lock_free", Setting::Price(Price::Lock { callers: 1 }), &[always(0.25, "std parking_lot tokio")]),
    Scenario::new("price_lock_contended", Setting::Price(Price::Lock { callers: 2 }),
        &[always(0.28, "std parking_lot parking_lot_fair tokio")]),
    Scenario::new("price_read_alone", Setting::Price(Price::Read { callers: 1 }), READS),
    Scenario::new("price_read_16", Setting::Price(Price::Read { callers: 16 }), READS),
    // Some 75 ns a row on the slower of our machines, for a twelfth of a second or longer.
    map("map_point", Statement::Point, One, 80, ALONE),
    map("map_insert", Statement::Insert, One, 80, &[full(0.13, ASKING)]),
    map("map_50us", join(1, 600), One, 80, ALONE),
    map("map_100us", join(2, 650), One, 80, &[full(0.13, ASKING)]),
    map("map_200us", join(4, 650), One, 80, ALONE),
    map("map_500us", join(8, 800), One, 80, &[full(0.13, ASKING)]),
    map("map_1ms", join(13, 1_000), One, 80, &[full(0.13, ASKING)]),
    map("map_3ms", join(40, 1_000), One, 80, ALONE),
    map("map_10ms", join(130, 1_000), One, 1_000, &[full(1.1, ASKING)]),
    map("map_100ms", join(1_000, 1_000), One, 1_000, &[full(1.3, ASKING)]),
    map("map_point_open", Statement::Point, Scheduled(1_000), 250, &[always(0.31, ASKING)]),
    map("map_insert_open", Statement::Insert, Scheduled(1_000), 250, &[full(0.31, ASKING)]),
    map("map_50us_open", join(1, 600), Scheduled(1_000), 250, &[full(0.31, ASKING)]),
    map("map_200us_open", join(4, 650), Scheduled(1_000), 250, BESIDE),
    map("map_500us_open", join(8, 800), Scheduled(500), 250, BESIDE),
    map("map_1ms_open", join(13, 1_000), Scheduled(250), 250, &[full(0.31, ASKING)]),
    map("map_3ms_open", join(40, 1_000), Scheduled(80), 250, BESIDE),
    // As many calls as of 3 ms.
    map("map_10ms_open", join(130, 1_000), Scheduled(25), 800, &[full(0.9, ASKING)]),
];
