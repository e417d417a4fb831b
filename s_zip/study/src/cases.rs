//! Every arm, and every scenario with the arms that run in it.

use std::time::Duration;

use strum::{EnumString, IntoStaticStr, VariantArray};
use study_kit::{Arms, Scenario, always, full, measured, originals, quick, smoke, smoke_full, smoke_quick};

use crate::data::DataKind::{self, Csv, Letter, Log, Pattern, Random};
use crate::input::Shape;
use crate::place::Place::{self, Disk, Memory, Tmpfs};
use crate::prices::Price;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// One way to write an archive; README.md says what each is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Arm {
    OriginalSync,
    OriginalAsync,
    LaterSync,
    LaterAsync,
    Sync,
    Async,
    AsyncCurrentThread,
    AsyncBuffered,
    AsyncBufferedInPlace,
    SyncBuffered,
    SyncReused,
    AsyncStatic,
    #[strum(serialize = "sync_buffer_8k")]
    SyncBuffer8k,
    #[strum(serialize = "sync_buffer_32k")]
    SyncBuffer32k,
    Disguised,
    PollOnly,
    PollRuntime,
    BestSync,
    BestAtOnce,
    BestAsync,
    BestAsyncInPlace,
    BestAsyncOffload,
    BestParallel,
    BestConcurrent,
    ZipCrate,
    Rawzip,
    AsyncZip,
}

/// Who calls an arm's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drive {
    Sync,
    MultiThread,
    CurrentThread,
    /// A task of tokio's multi-thread runtime.
    Task,
    /// A loop that polls until done.
    Loop,
}

impl Arm {
    pub fn drive(self) -> Drive {
        match self {
            Arm::AsyncCurrentThread => Drive::CurrentThread,
            Arm::PollOnly => Drive::Loop,
            Arm::PollRuntime => Drive::Task,
            Arm::OriginalAsync
            | Arm::LaterAsync
            | Arm::Async
            | Arm::AsyncBuffered
            | Arm::AsyncBufferedInPlace
            | Arm::AsyncStatic
            | Arm::Disguised
            | Arm::BestAsync
            | Arm::BestAsyncInPlace
            | Arm::BestAsyncOffload
            | Arm::AsyncZip => Drive::MultiThread,
            _ => Drive::Sync,
        }
    }
}

/// What `ARM_whole` is: the arm, given each entry in one call, whatever the scenario has.
pub fn in_one_call(arm: &str, shape: Shape) -> (&str, Shape) {
    match arm.strip_suffix("_whole") {
        Some(arm) => (arm, Shape { call_bytes: shape.unit_bytes, ..shape }),
        None => (arm, shape),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    pub shape: Shape,
    pub work: Work,
    /// Whether the compressor is the published one, which takes ten times as long.
    pub miniz: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// One archive after another in `place`, so many `rounds` per sample.
    Archive { place: Place, rounds: u32 },
    /// Several archives at once or one after another, files in memory; so many times per sample.
    Many { archives: usize, rounds: u32 },
    /// Several archives at once, files in memory, beside a task that wants to run every millisecond.
    Ticker { archives: usize },
    /// An entry to a file in memory without an archive around it, each call a write of its own.
    Writes,
    /// Handoffs, one arm of [`prices`](crate::prices) at a time.
    Price(Price),
}

const fn scenario(name: &'static str, shape: Shape, work: Work, arms: &'static [Arms]) -> Scenario<Setting> {
    Scenario { name, build: "release", setting: Setting { shape, work, miniz: false }, arms }
}

const fn archive(
    name: &'static str,
    (place, rounds): (Place, u32),
    shape: Shape,
    arms: &'static [Arms],
) -> Scenario<Setting> {
    scenario(name, shape, Work::Archive { place, rounds }, arms)
}

/// As published: one archive per sample, to a file in memory.
const fn file(name: &'static str, shape: Shape, arms: &'static [Arms]) -> Scenario<Setting> {
    archive(name, (Tmpfs, 1), shape, arms)
}

/// The same with the published compressor.
const fn miniz(scenario: Scenario<Setting>) -> Scenario<Setting> {
    let setting = Setting { miniz: true, ..scenario.setting };
    Scenario { build: "variant-miniz", setting, ..scenario }
}

/// Trips of so many callers; one alone compresses for so many microseconds before each.
const fn trips(name: &'static str, callers: u64, between_us: u64, arms: &'static [Arms]) -> Scenario<Setting> {
    let between = Duration::from_micros(between_us);
    scenario(name, entry(Pattern, 10 * KIB), Work::Price(Price::Trip { callers, between }), arms)
}

const fn writes(name: &'static str, bytes: usize, arms: &'static [Arms]) -> Scenario<Setting> {
    scenario(name, entry(Pattern, bytes), Work::Price(Price::Write), arms)
}

/// A point of a map: so many writes of so many bytes, up to a buffer's size as many as fill the buffer of 64 KiB several times.
const fn map_writes(name: &'static str, bytes: usize, writes: u64, arms: &'static [Arms]) -> Scenario<Setting> {
    scenario(name, entry(Pattern, bytes).times(writes), Work::Writes, arms)
}

/// One entry in one call.
const fn entry(kind: DataKind, bytes: usize) -> Shape {
    Shape::entries(kind, bytes, 1)
}

/// Entries of so many pieces of 64 KiB.
const fn streamed(pieces: u64, entries: u64) -> Shape {
    Shape::entries(Pattern, 64 * KIB, entries).times(pieces)
}

/// One entry of so many times the same 2 MiB of log text; repeats lie further apart than Deflate looks back.
const fn large(repeat: u64, call_bytes: usize) -> Shape {
    Shape::calls(Log, 2 * MIB, call_bytes).times(repeat)
}

const ENTRY_5M: Shape = entry(Pattern, 5 * MIB);
const ENTRY_20M: Shape = entry(Pattern, 20 * MIB);
const ENTRIES_50: Shape = Shape::entries(Pattern, 10 * KIB, 50);
const ENTRY_100K: Shape = entry(Pattern, 100 * KIB);
const LOG_200: Shape = Shape::entries(Log, 100 * KIB, 200);

// Who runs: first the arms of one scenario each, then those of several.
const ARMS_ENTRY_5M: &[Arms] = &[
    full(0.22, "async~sync"),
    measured(0.24, "async_buffered~sync_buffered async_buffered~async_buffered_in_place"),
    measured(0.15, "sync~sync@aa sync@slow~sync"),
    full(0.2, "best_async~best_sync best_async_in_place~best_sync"),
    quick(0.02, "async sync"),
];
const ARMS_ENTRY_5M_MINIZ: &[Arms] = &[
    measured(0.5, "async~sync async~async_buffered original_async~original_sync sync~sync@aa"),
    measured(0.03, "async"),
];
const ARMS_ENTRIES_50: &[Arms] = &[
    smoke_quick(0.03, "sync async_buffered async_buffered_in_place sync_buffered sync_reused"),
    smoke_quick(0.03, "sync_buffer_8k sync_buffer_32k"),
    always(0.03, "best_sync best_async"),
    smoke_quick(0.03, "best_at_once best_async_in_place best_async_offload best_parallel zip_crate async_zip"),
    smoke(0.03, "rawzip"),
    smoke_quick(0.08, "async async_current_thread async_static"),
    smoke_full(0.68, "async~sync"),
    always(0.06, "sync~sync@aa"),
    smoke(0.13, "sync@slow~sync"),
    measured(0.22, "async_buffered~sync_buffered async_buffered~async_buffered_in_place"),
    full(0.2, "best_sync~zip_crate best_at_once~zip_crate best_sync~rawzip"),
    full(0.2, "best_async~best_sync best_async_in_place~best_sync"),
];
const ARMS_ENTRIES_50_MINIZ: &[Arms] = &[
    measured(0.64, "async~sync async~async_buffered original_async~original_sync"),
    full(1.5, "async~async_current_thread"),
    measured(0.17, "later_async~later_sync"),
    measured(0.09, "sync~sync@aa"),
    measured(0.05, "sync async"),
    originals(0.32, "async~sync original_async~original_sync"),
];
const ARMS_MEMORY_100K: &[Arms] = &[
    measured(0.02, "sync~async sync_buffer_8k~async sync_buffer_32k~sync_buffer_8k"),
    measured(0.02, "sync~sync@aa"),
    quick(0.02, "sync async"),
    full(0.03, "best_async~best_sync"),
];
const ARMS_MEMORY_MINIZ: &[Arms] = &[
    smoke(0.02, "original_sync original_async later_sync later_async"),
    measured(0.05, "sync~async original_sync~original_async"),
    measured(0.06, "sync~sync@aa"),
];
const ARMS_MEMORY_5M: &[Arms] = &[
    smoke(0.02, "disguised poll_only poll_runtime"),
    measured(0.15, "poll_runtime~poll_only poll_only~sync_buffer_8k"),
    measured(0.14, "async~async_static async_static~disguised sync_buffer_8k~sync_buffer_8k@aa"),
];
const ARMS_PERF_5M: &[Arms] =
    &[smoke(0.37, "sync async sync@aa sync@slow"), measured(0.09, "async_buffered sync_buffered sync_buffered@aa")];
const ARMS_PERF_10M: &[Arms] = &[measured(0.07, "async_buffered sync_buffered sync_buffered@aa")];
const ARMS_PERF_20M: &[Arms] =
    &[measured(0.1, "sync async_buffered sync_buffered sync_buffered@aa sync@aa sync@slow"), measured(0.57, "async")];
const ARMS_RSS_10M: &[Arms] = &[always(0.02, "empty sync async best_sync best_async"), measured(0.02, "sync@aa")];
const ARMS_CALLS_1: &[Arms] = &[
    measured(0.45, "async~sync sync~sync@aa"),
    measured(0.02, "best_async~best_async_whole best_async_whole~best_async_whole@aa"),
];
const ARMS_CALLS_1_MINIZ: &[Arms] = &[
    measured(0.36, "async~async_whole"),
    measured(0.6, "async~async@aa"),
    full(0.34, "original_async~original_async_whole"),
    originals(0.3, "async~async_whole original_async~original_async_whole"),
];
const ARMS_MANY: &[Arms] = &[
    smoke(0.2, "sync_sequential async_sequential sync_threads async_concurrent"),
    always(0.15, "best_sync_pool best_sync_threads best_async_concurrent"),
    measured(0.15, "best_async_concurrent@aa"),
];
const ARMS_MANY_MINIZ: &[Arms] = &[
    measured(0.41, "sync_sequential async_sequential original_async_sequential"),
    measured(0.23, "sync_threads async_concurrent async_concurrent@aa original_async_concurrent"),
];
const ARMS_TICKER: &[Arms] = &[
    smoke_quick(1.1, "idle"),
    smoke_quick(0.92, "async async_buffered best_async best_async_in_place async_zip"),
    always(0.92, "best_async_offload"),
];
const SIZES: &[Arms] = &[measured(0.07, "async_buffered sync_buffered")];
const PERF_TEST: &[Arms] = &[
    measured(0.14, "sync"),
    measured(0.27, "async"),
    full(0.14, "original_sync"),
    full(0.27, "original_async"),
    originals(0.14, "sync original_sync"),
    originals(0.17, "async original_async"),
];
/// Of the sizes of Z4, too.
const PERF_TEST_LARGE: &[Arms] = &[
    measured(0.14, "sync sync@aa async_buffered"),
    measured(0.27, "async"),
    full(0.14, "original_sync"),
    full(0.27, "original_async"),
    originals(0.14, "sync original_sync"),
    originals(0.17, "async original_async"),
];
const ASYNC: &[Arms] = &[measured(0.04, "async sync")];
const STREAMED: &[Arms] = &[measured(0.04, "empty sync async best_sync best_async")];
const WRITES: &[Arms] = &[always(0.16, "std tokio_file std_buffered tokio_buffered")];
const MAP_WRITES: &[Arms] = &[always(0.07, "std std_buffered tokio_file tokio_buffered")];
const MAP_WRITES_FULL: &[Arms] = &[full(0.07, "std std_buffered tokio_file tokio_buffered")];
const MAP_ENTRIES: &[Arms] = &[always(0.06, "sync sync_buffered async async_buffered")];
const MAP_ENTRIES_FULL: &[Arms] = &[full(0.1, "sync sync_buffered async async_buffered")];
const MAP_ENTRIES_LONG: &[Arms] = &[full(0.4, "sync sync_buffered async async_buffered")];
const DATA: &[Arms] = &[smoke_full(0.02, "best_sync zip_crate"), full(0.5, "best_sync~zip_crate async_zip~best_async")];
const DATA_LOG: &[Arms] = &[
    smoke_full(0.02, "best_sync zip_crate"),
    full(0.5, "best_sync~zip_crate best_at_once~zip_crate best_sync~rawzip async_zip~best_async"),
];

/// Every scenario. The seconds are those of an EPYC 25/1.
pub const SCENARIOS: &[Scenario<Setting>] = &[
    file("entry_5m", ENTRY_5M, ARMS_ENTRY_5M),
    archive("entry_5m_disk", (Disk, 1), ENTRY_5M, &[full(0.25, "async~sync")]),
    miniz(file("entry_5m_miniz", ENTRY_5M, ARMS_ENTRY_5M_MINIZ)),
    file(
        "entry_20m",
        ENTRY_20M,
        &[
            full(0.46, "best_async~best_sync best_async_in_place~best_sync"),
            full(0.4, "async_buffered~sync_buffered async_buffered~async_buffered_in_place sync~sync@aa"),
        ],
    ),
    miniz(file("entry_20m_miniz", ENTRY_20M, &[full(2.9, "async~sync sync~sync@aa")])),
    file("entries_50", ENTRIES_50, ARMS_ENTRIES_50),
    archive("entries_50_disk", (Disk, 1), ENTRIES_50, &[full(0.7, "async~sync")]),
    miniz(file("entries_50_miniz", ENTRIES_50, ARMS_ENTRIES_50_MINIZ)),
    archive("memory_100k", (Memory, 4), ENTRY_100K, ARMS_MEMORY_100K),
    miniz(archive("memory_100k_miniz", (Memory, 4), ENTRY_100K, ARMS_MEMORY_MINIZ)),
    archive("memory_5m", (Memory, 1), ENTRY_5M, ARMS_MEMORY_5M),
    archive("memory_50", (Memory, 1), ENTRIES_50, &[full(0.13, "async_zip~best_async")]),
    archive("perf_10k", (Tmpfs, 100), entry(Pattern, 10 * KIB), SIZES),
    archive("perf_100k", (Tmpfs, 100), ENTRY_100K, SIZES),
    archive("perf_1m", (Tmpfs, 80), entry(Pattern, MIB), SIZES),
    archive("perf_5m", (Tmpfs, 45), Shape::entries(Pattern, MIB, 5), ARMS_PERF_5M),
    archive("perf_10m", (Tmpfs, 24), Shape::entries(Pattern, MIB, 10), ARMS_PERF_10M),
    archive("perf_20m", (Tmpfs, 11), Shape::entries(Pattern, MIB, 20), ARMS_PERF_20M),
    // The published `perf_test`: its data, its compressor.
    miniz(archive("perf_10k_miniz", (Tmpfs, 100), entry(Letter, 10 * KIB), PERF_TEST)),
    miniz(archive("perf_100k_miniz", (Tmpfs, 100), entry(Letter, 100 * KIB), PERF_TEST)),
    miniz(archive("perf_1m_miniz", (Tmpfs, 40), entry(Letter, MIB), PERF_TEST)),
    miniz(archive("perf_5m_miniz", (Tmpfs, 7), Shape::entries(Letter, MIB, 5), PERF_TEST_LARGE)),
    miniz(archive("perf_10m_miniz", (Tmpfs, 4), Shape::entries(Letter, MIB, 10), PERF_TEST_LARGE)),
    miniz(archive("perf_20m_miniz", (Tmpfs, 2), Shape::entries(Letter, MIB, 20), PERF_TEST_LARGE)),
    file("rss_5m", streamed(80, 1), STREAMED),
    file("rss_10m", streamed(160, 1), ARMS_RSS_10M),
    file("rss_100m", streamed(1_600, 1), STREAMED),
    // In one entry the published shape, without ZIP64, could not say its size.
    file("rss_10g", streamed(40_000, 4), &[full(0.02, "empty"), full(3.7, "sync async best_sync best_async")]),
    miniz(file("rss_5m_miniz", streamed(80, 1), ASYNC)),
    miniz(file("rss_10m_miniz", streamed(160, 1), ASYNC)),
    miniz(file("rss_100m_miniz", streamed(1_600, 1), &[measured(0.4, "async sync")])),
    miniz(file("rss_500m_miniz", streamed(8_000, 1), &[measured(2.0, "async sync")])),
    miniz(file("rss_10g_miniz", streamed(40_000, 4), &[full(8.0, "async sync")])),
    file("calls_1", Shape::calls(Pattern, 4 * KIB, 1), ARMS_CALLS_1),
    miniz(file("calls_1_miniz", Shape::calls(Pattern, 4 * KIB, 1), ARMS_CALLS_1_MINIZ)),
    file("calls_1m", Shape::calls(Pattern, 4 * MIB, MIB), &[measured(0.2, "async~sync sync~sync@aa")]),
    file("data_pattern", Shape::calls(Pattern, 4 * MIB, 64 * KIB), DATA),
    file("data_log", Shape::calls(Log, 256 * KIB, 64 * KIB), DATA_LOG),
    file("data_csv", Shape::calls(Csv, 256 * KIB, 64 * KIB), DATA),
    file("data_random", Shape::calls(Random, 256 * KIB, 64 * KIB), DATA),
    file("cores_entries", LOG_200, &[smoke_full(0.34, "best_sync"), smoke_full(0.21, "best_parallel best_concurrent")]),
    file("cores_200m", large(100, 256 * KIB), &[full(3.0, "best_sync"), full(1.6, "best_parallel")]),
    scenario("many_10", ENTRY_5M, Work::Many { archives: 10, rounds: 10 }, ARMS_MANY),
    miniz(scenario("many_10_miniz", ENTRY_5M, Work::Many { archives: 10, rounds: 2 }, ARMS_MANY_MINIZ)),
    scenario("ticker", large(14, 64 * KIB), Work::Ticker { archives: 4 }, ARMS_TICKER),
    trips("price_trip_idle", 1, 0, &[always(0.16, "call task block_on current_thread block_in_place")]),
    trips("price_trip_working", 1, 20, &[always(0.16, "task block_on current_thread")]),
    trips("price_trip_working_100", 1, 100, &[always(0.16, "block_on")]),
    trips("price_trip_working_1000", 1, 1000, &[always(0.2, "block_on")]),
    trips("price_trip_64", 64, 0, &[always(0.16, "task")]),
    writes("price_write_30", 30, WRITES),
    writes("price_write_4k", 4 * KIB, WRITES),
    writes("price_write_64k", 64 * KIB, &[always(0.16, "std tokio_file")]),
    map_writes("map_write_30", 30, 2 * 2_184, MAP_WRITES),
    map_writes("map_write_100", 100, 4 * 655, MAP_WRITES_FULL),
    map_writes("map_write_300", 300, 10 * 218, MAP_WRITES),
    map_writes("map_write_1k", KIB, 32 * 64, MAP_WRITES_FULL),
    map_writes("map_write_4k", 4 * KIB, 128 * 16, MAP_WRITES),
    map_writes("map_write_16k", 16 * KIB, 256 * 4, MAP_WRITES),
    map_writes("map_write_64k", 64 * KIB, 512, MAP_WRITES),
    map_writes("map_write_256k", 256 * KIB, 128, MAP_WRITES),
    map_writes("map_write_1m", MIB, 32, MAP_WRITES),
    archive("map_entry_100", (Tmpfs, 40), entry(Pattern, 100), MAP_ENTRIES),
    archive("map_entry_1k", (Tmpfs, 40), entry(Pattern, KIB), MAP_ENTRIES_FULL),
    archive("map_entry_10k", (Tmpfs, 40), entry(Pattern, 10 * KIB), MAP_ENTRIES),
    archive("map_entry_100k", (Tmpfs, 40), ENTRY_100K, MAP_ENTRIES),
    archive("map_entry_1m", (Tmpfs, 20), entry(Pattern, MIB), MAP_ENTRIES),
    archive("map_entry_10m", (Tmpfs, 10), entry(Pattern, MIB).times(10), MAP_ENTRIES),
    archive("map_entry_30m", (Tmpfs, 4), entry(Pattern, MIB).times(30), MAP_ENTRIES),
    archive("map_entry_100m", (Tmpfs, 3), entry(Pattern, MIB).times(100), MAP_ENTRIES),
    archive("map_log_1k", (Tmpfs, 30), entry(Log, KIB), MAP_ENTRIES_FULL),
    archive("map_log_10k", (Tmpfs, 30), entry(Log, 10 * KIB), MAP_ENTRIES_FULL),
    archive("map_log_100k", (Tmpfs, 20), entry(Log, 100 * KIB), MAP_ENTRIES_FULL),
    archive("map_log_1m", (Tmpfs, 4), entry(Log, MIB), MAP_ENTRIES_FULL),
    archive("map_log_10m", (Tmpfs, 1), entry(Log, MIB).times(10), MAP_ENTRIES_LONG),
    archive("map_noise_1k", (Tmpfs, 30), entry(Random, KIB), MAP_ENTRIES_FULL),
    archive("map_noise_10k", (Tmpfs, 30), entry(Random, 10 * KIB), MAP_ENTRIES_FULL),
    archive("map_noise_100k", (Tmpfs, 20), entry(Random, 100 * KIB), MAP_ENTRIES_FULL),
    archive("map_noise_1m", (Tmpfs, 4), entry(Random, MIB), MAP_ENTRIES_FULL),
    archive("map_noise_10m", (Tmpfs, 1), entry(Random, MIB).times(10), MAP_ENTRIES_LONG),
];
