//! What is measured: the arms over the engine's description of itself, and the scenarios with the arms that run in them.

use study_kit::price::Table;
use study_kit::{Arms, Scenario, always, full, measured, originals, quick, smoke, smoke_full, smoke_quick};
use txn_engine::Setup;
use txn_engine::generate::Shape::{self, Accepted, Original};
use txn_engine::setup::Runner::{MultiThread, TwoThreads, TwoThreadsAwake};

use crate::mirror::Mirror;
use crate::prices;

use Subject::{CsvScan, Ours, Published, Reader, Unshared};

/// What processes the files of an arm.
#[derive(Clone, Copy)]
pub enum Subject {
    /// Our engine.
    Ours(Setup),
    /// Ours, one for each file.
    Unshared,
    /// A published engine as its authors wrote it, or a control of one.
    Published(Mirror),
    /// What csv's reader does alone, and ours.
    CsvScan,
    Reader,
}

const PIPELINE: Setup = Setup { runner: TwoThreads, ..Setup::SYNC };

/// The arms on files: the two published designs, controls that differ from them in one field, the best, and mirrors.
pub const ARMS: &[(&str, Subject)] = &[
    ("sync", Ours(Setup::SYNC)),
    ("async", Ours(Setup::ASYNC)),
    ("sync_pipelined", Ours(PIPELINE)),
    ("sync_pipelined_awake", Ours(Setup { runner: TwoThreadsAwake, ..PIPELINE })),
    ("async_batched_16", Ours(Setup { batch: 16, ..Setup::ASYNC })),
    ("async_batched_256", Ours(Setup { batch: 256, ..Setup::ASYNC })),
    ("async_batched_4096", Ours(Setup { batch: 4096, ..Setup::ASYNC })),
    ("sync_batched_16", Ours(Setup { batch: 16, ..PIPELINE })),
    ("sync_batched_256", Ours(Setup { batch: 256, ..PIPELINE })),
    ("sync_batched_4096", Ours(Setup { batch: 4096, ..PIPELINE })),
    ("async_multi_thread", Ours(Setup { runner: MultiThread, ..Setup::ASYNC })),
    ("async_multi_thread_batched_4096", Ours(Setup { runner: MultiThread, batch: 4096, ..Setup::ASYNC })),
    ("best_one_core", Ours(Setup::BEST_ONE_CORE)),
    ("best_all_cores", Ours(Setup::BEST_ALL_CORES)),
    ("sync_unshared", Unshared),
    ("sync_as_published", Published(Mirror::Sync)),
    ("async_as_published", Published(Mirror::Async)),
    ("sync_pipelined_as_published", Published(Mirror::SyncPipelined)),
    ("async_as_published_multi_thread", Published(Mirror::AsyncMultiThread)),
    ("async_as_published_batched_4096", Published(Mirror::AsyncBatched)),
    ("async_as_published_dashmap", Published(Mirror::AsyncDashed)),
    ("csv_scan", CsvScan),
    ("reader", Reader),
];

#[derive(Debug)]
pub enum Setting {
    Files(Files),
    Messages(u64),
    /// So many clients of one process, without sockets, all there at once.
    Clients(usize),
    Tcp(Tcp),
    Price(Table),
}

#[derive(Debug)]
pub struct Files {
    /// What the rows of the one file look like; none for the three files of the published concurrency test, at once.
    pub shape: Option<Shape>,
    pub rows: u64,
    /// Whether the span takes in writing the files and the sequential pass, as the published test's does: for mirrors only.
    pub whole_test: bool,
    pub one_core: bool,
    /// Steps of arithmetic that reading a row takes besides, and applying it, where the cost of a row is the question.
    pub steps: Option<u32>,
}

impl Files {
    /// One file, or three without a shape.
    pub const fn new(shape: Option<Shape>, rows: u64) -> Self {
        Files { shape, rows, whole_test: false, one_core: false, steps: None }
    }
}

#[derive(Debug)]
pub struct Tcp {
    pub connections: usize,
    /// Rows of the state that the server begins with.
    pub state_rows: u64,
}

/// A scenario without its arms: its name, how it is built, and what it sets.
struct Place(&'static str, &'static str, Setting);

impl Place {
    const fn arms(self, arms: &'static [Arms]) -> Scenario<Setting> {
        Scenario { name: self.0, build: self.1, setting: self.2, arms }
    }
}

const fn place(name: &'static str, setting: Setting) -> Place {
    Place(name, "release", setting)
}

const fn file(name: &'static str, shape: Shape, rows: u64) -> Place {
    place(name, Setting::Files(Files::new(Some(shape), rows)))
}

/// A file of the published shape.
const fn rows(name: &'static str, rows: u64) -> Place {
    file(name, Original, rows)
}

/// The arms of a size that quick takes, or full alone.
struct Size<const ROWS: u64>;

impl<const ROWS: u64> Size<ROWS> {
    const QUICK: &'static [Arms] = &[
        measured(ROWS as f64 * 1.8e-7, "sync sync@aa"),
        measured(ROWS as f64 * 3e-7, "async sync_pipelined"),
        full(ROWS as f64 * 9.2e-7, ENGINES_AS_PUBLISHED),
    ];
    const FULL: &'static [Arms] = &[
        full(ROWS as f64 * 1.5e-7, "sync sync@aa"),
        full(ROWS as f64 * 1.9e-7, "async sync_pipelined"),
        full(ROWS as f64 * 9.2e-7, ENGINES_AS_PUBLISHED),
    ];
}

const fn size<const ROWS: u64>(name: &'static str) -> Scenario<Setting> {
    rows(name, ROWS).arms(Size::<ROWS>::FULL)
}

/// A file of the published shape where one processor is all there is.
const fn one_core(name: &'static str, rows: u64, steps: Option<u32>) -> Place {
    place(name, Setting::Files(Files { one_core: true, steps, ..Files::new(Some(Original), rows) }))
}

/// A file whose rows cost so many steps of arithmetic more to read, and as many to apply.
const fn costly(name: &'static str, rows: u64, steps: u32) -> Place {
    place(name, Setting::Files(Files { steps: Some(steps), ..Files::new(Some(Original), rows) }))
}

const fn whole_test(name: &'static str, rows: u64) -> Place {
    Place(name, "dev", Setting::Files(Files { whole_test: true, ..Files::new(None, rows) }))
}

const fn tcp(name: &'static str, connections: usize, state_rows: u64) -> Place {
    place(name, Setting::Tcp(Tcp { connections, state_rows }))
}

// Arms that take as long on a file of any size.
const PIPELINES: &str = "async sync_pipelined async_multi_thread";
const BATCHED: &str =
    "async_batched_16 async_batched_256 async_batched_4096 sync_batched_16 sync_batched_256 sync_batched_4096";
const PUBLISHED: &str = "sync_as_published async_as_published sync_pipelined_as_published";
const PUBLISHED_CONTROLS: &str =
    "async_as_published_multi_thread async_as_published_batched_4096 async_as_published_dashmap";

/// Reading alone, one thread, and pipelines of two with ever more rows per message.
const COSTLY_ROWS: &str = "reader sync sync_pipelined sync_batched_16 sync_batched_256 sync_batched_4096 \
                           async async_batched_4096";
const MAP: &[Arms] = &[always(0.07, COSTLY_ROWS)];
const MAP_IN_FULL: &[Arms] = &[full(0.5, COSTLY_ROWS)];

const ENGINES_AS_PUBLISHED: &str = "sync_as_published async_as_published";
/// The authors' own program.
const THEIRS: &str = "original_sync original_async";

/// The seconds are those of an EPYC 25/1.
pub const SCENARIOS: &[Scenario<Setting>] = &[
    // The published sizes, 100 to 2,000,100.
    rows("rows_100", 100).arms(&[
        smoke_quick(0.02, "sync async"),
        smoke(0.02, "sync@aa sync@slow sync_unshared best_one_core best_all_cores csv_scan reader"),
        smoke(0.02, "sync_pipelined sync_pipelined_awake async_multi_thread async_multi_thread_batched_4096"),
        smoke(0.02, BATCHED),
        smoke(0.02, PUBLISHED),
        smoke(0.02, PUBLISHED_CONTROLS),
    ]),
    rows("rows_100100", 100_100).arms(&[
        measured(0.03, "sync async sync_pipelined sync@aa"),
        measured(0.11, ENGINES_AS_PUBLISHED),
        originals(0.11, ENGINES_AS_PUBLISHED),
        originals(0.3, THEIRS),
    ]),
    size::<200_100>("rows_200100"),
    rows("rows_300100", 300_100).arms(&[
        measured(0.06, "sync sync@aa"),
        measured(0.07, "async sync_pipelined"),
        measured(0.4, ENGINES_AS_PUBLISHED),
        quick(0.32, "sync_pipelined_as_published"),
        originals(0.29, ENGINES_AS_PUBLISHED),
        originals(0.6, THEIRS),
    ]),
    size::<400_100>("rows_400100"),
    size::<500_100>("rows_500100"),
    rows("rows_600100", 600_100).arms(Size::<600_100>::QUICK),
    size::<700_100>("rows_700100"),
    size::<800_100>("rows_800100"),
    size::<900_100>("rows_900100"),
    rows("rows_1000100", 1_000_100).arms(Size::<1_000_100>::QUICK),
    size::<1_100_100>("rows_1100100"),
    size::<1_200_100>("rows_1200100"),
    size::<1_300_100>("rows_1300100"),
    size::<1_400_100>("rows_1400100"),
    rows("rows_1500100", 1_500_100).arms(Size::<1_500_100>::QUICK),
    size::<1_600_100>("rows_1600100"),
    size::<1_700_100>("rows_1700100"),
    size::<1_800_100>("rows_1800100"),
    size::<1_900_100>("rows_1900100"),
    rows("rows_2000100", 2_000_100).arms(&[
        always(0.33, "sync"),
        measured(0.33, "sync@aa"),
        always(0.48, PIPELINES),
        measured(0.48, "sync_pipelined_awake"),
        always(0.3, BATCHED),
        always(2.2, PUBLISHED),
        originals(1.7, ENGINES_AS_PUBLISHED),
        originals(3.0, THEIRS),
        always(0.15, "best_one_core best_all_cores csv_scan reader"),
    ]),
    one_core("rows_600100_one_core", 600_100, None)
        .arms(&[quick(0.1, "sync sync@aa async"), quick(0.85, ENGINES_AS_PUBLISHED)]),
    one_core("rows_2000100_one_core", 2_000_100, None).arms(&[
        full(0.5, "sync sync@aa async"),
        full(2.1, ENGINES_AS_PUBLISHED),
        originals(2.1, ENGINES_AS_PUBLISHED),
        originals(3.4, THEIRS),
    ]),
    // The more a row costs, the fewer do.
    costly("map_0", 300_100, 0).arms(MAP),
    costly("map_30", 300_100, 30).arms(MAP),
    costly("map_100", 100_100, 100).arms(MAP),
    costly("map_250", 100_100, 250).arms(MAP),
    costly("map_600", 30_100, 600).arms(MAP),
    costly("map_1500", 15_100, 1_500).arms(MAP),
    costly("map_5000", 30_100, 5_000).arms(MAP_IN_FULL),
    one_core("map_0_one_core", 300_100, Some(0)).arms(MAP_IN_FULL),
    one_core("map_100_one_core", 100_100, Some(100)).arms(MAP_IN_FULL),
    one_core("map_600_one_core", 30_100, Some(600)).arms(MAP_IN_FULL),
    one_core("map_5000_one_core", 30_100, Some(5_000)).arms(MAP_IN_FULL),
    rows("controls_300100", 300_100).arms(&[measured(0.06, "sync sync@aa sync@slow")]),
    file("accepted_2000100", Accepted, 2_000_100).arms(&[
        always(0.9, "sync"),
        measured(0.9, "sync@aa"),
        always(0.8, "async sync_pipelined"),
        always(0.13, "best_all_cores csv_scan"),
    ]),
    file("accepted_20000100", Accepted, 20_000_100).arms(&[full(1.3, "csv_scan"), full(5.3, "sync")]),
    Place("files_3x50k_debug", "dev", Setting::Files(Files::new(None, 50_000)))
        .arms(&[smoke_full(0.6, "sync_as_published"), smoke_full(0.85, "async_as_published")]),
    place("files_3x300k", Setting::Files(Files::new(None, 300_000))).arms(&[
        smoke_quick(0.15, "sync async async_batched_4096 async_multi_thread sync_unshared best_all_cores"),
        quick(0.15, "sync@aa async_multi_thread_batched_4096 sync_batched_4096"),
    ]),
    place("files_3x1m", Setting::Files(Files::new(None, 1_000_000))).arms(&[
        full(0.47, "sync async sync@aa async_multi_thread async_batched_4096"),
        full(0.47, "async_multi_thread_batched_4096 sync_batched_4096"),
    ]),
    whole_test("test_3x20k_debug", 20_000).arms(&[
        smoke_quick(1.4, ENGINES_AS_PUBLISHED),
        quick(1.4, "sync_as_published@aa async_as_published_batched_4096"),
    ]),
    whole_test("test_3x1m_debug", 1_000_000).arms(&[
        full(40.0, ENGINES_AS_PUBLISHED),
        full(40.0, "sync_as_published@aa"),
        full(40.0, PUBLISHED_CONTROLS),
        originals(40.0, ENGINES_AS_PUBLISHED),
        originals(40.0, "original_sync original_async original_sync_uncached original_async_uncached"),
    ]),
    place("messages_3m", Setting::Messages(3_000_000)).arms(&[always(0.28, "channel_async channel_sync")]),
    place("clients_300000", Setting::Clients(300_000)).arms(&[measured(1.9, "spawn_tasks")]),
    place("clients_10000", Setting::Clients(10_000))
        .arms(&[smoke_full(2.4, "spawn_threads"), smoke_full(0.08, "spawn_tasks")]),
    tcp("tcp_100_large", 100, 500_000).arms(&[
        always(1.7, "threads tokio"),
        measured(1.7, "threads@aa"),
        smoke_quick(2.2, "null"),
    ]),
    tcp("tcp_10000", 10_000, 0).arms(&[
        measured(4.0, "threads"),
        measured(2.1, "tokio null"),
        quick(2.1, "tokio_current"),
        quick(13.0, "pool"),
    ]),
    tcp("tcp_19000", 19_000, 0).arms(&[full(6.9, "threads"), full(3.9, "tokio")]),
    place("price_message_1", Setting::Price(prices::MESSAGE_1)).arms(&[
        always(0.16, "call std_mpsc flume flume_unbounded"),
        always(0.16, "tokio_mpsc flume_async flume_blocking_current tokio_mpsc_current"),
    ]),
    place("price_message_1_working", Setting::Price(prices::MESSAGE_1_WORKING))
        .arms(&[always(0.16, "sender_alone flume_unbounded flume_blocking_current")]),
    place("price_message_256", Setting::Price(prices::MESSAGE_256)).arms(&[always(0.16, "call std_mpsc tokio_mpsc")]),
    place("price_message_4096", Setting::Price(prices::MESSAGE_4096)).arms(&[always(0.16, "call std_mpsc tokio_mpsc")]),
    place("price_runtime_start", Setting::Price(prices::RUNTIME_START))
        .arms(&[always(0.16, "thread current_thread multi_thread")]),
    place("price_boxed_poll", Setting::Price(prices::BOXED_POLL)).arms(&[always(0.16, "call boxed_future future")]),
];
