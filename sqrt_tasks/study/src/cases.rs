//! What is run: the arms, and the scenarios they take part in.

use std::num::NonZero;

use sqrt_tasks::work::PUBLISHED_LEN;
use sqrt_tasks::{Executor, Work as Plain};
use study_kit::price::Table;
use study_kit::{Scenario, always, full, measured, originals, quick, smoke, smoke_quick};

use Grows::{Never, ToCores, ToThreads, WithCores};

use crate::job::{COLLECT, VECTOR, Work};
use crate::prices;

#[derive(Debug, Clone, Copy)]
pub enum Setting {
    Tasks(Tasks),
    /// A program of its own that runs published tasks on one thread, through cargo or directly.
    Program,
    Price(Table),
}

/// Tasks in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tasks {
    /// How many at once, on two cores.
    pub count: usize,
    pub grows: Grows,
    /// Roots that each finds, or steps that stand for them.
    pub len: usize,
    /// How often all are run, on new threads each time; with more than one, after an unrecorded one.
    pub rounds: usize,
    /// What tasks do whose arm names only who runs them.
    pub work: Work,
    /// Whether a root is counted in cycles.
    pub clock: bool,
    pub alone: bool,
}

/// How many tasks there are on more cores than two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grows {
    /// As many: what was published, and what one thread does.
    Never,
    /// The next multiple of the cores: none of them is idle while others end the last tasks.
    ToCores,
    /// The next multiple of the threads that are [`over`] them.
    ToThreads,
    /// As many per core: the time on all cores stays the same.
    WithCores,
}

impl Tasks {
    /// Those of so many cores.
    #[must_use]
    pub fn on(self, cores: usize) -> Tasks {
        let count = match self.grows {
            Never => self.count,
            ToCores => self.count.next_multiple_of(cores),
            ToThreads => self.count.next_multiple_of(over(cores)),
            WithCores => (self.count * cores).div_ceil(2).min(MOST_TASKS).max(self.count),
        };
        Tasks { count, ..self }
    }

    /// How many of `threads`, or cores, have a task on average from the first to the last.
    pub fn keep_busy(self, threads: usize) -> f64 {
        self.count as f64 / self.count.div_ceil(threads) as f64
    }
}

/// Tasks of a runtime that are there at once take some 200 bytes each.
pub const MOST_TASKS: usize = 1_000_000;

pub type Arm = (Executor, Work, NonZero<usize>);

/// What an arm's name begins with: the published executors, and on the published threads another work, which are controls.
const METHODS: &[(&str, Executor, Work)] = &[
    ("sys_thread", Executor::SysThread, COLLECT),
    ("tokio", Executor::Tokio, COLLECT),
    // Enough additions to take longer than a root does.
    ("add", Executor::SysThread, Work::Add(16)),
    ("sum", Executor::SysThread, Work::Plain(Plain::Sum)),
    ("vector", Executor::SysThread, VECTOR),
    ("reuse_small", Executor::SysThread, Work::ReuseSmall),
    ("reuse_large", Executor::SysThread, Work::ReuseLarge),
    ("kept", Executor::SysThread, Work::Kept),
    ("huge_pages", Executor::SysThread, Work::HugePages),
    ("mimalloc", Executor::SysThread, Work::Mimalloc),
];
/// As oversubscribed as the published ten were on six cores of two hardware threads each, five for three cores.
pub const fn over(cores: usize) -> usize {
    (cores * 5).div_ceil(3)
}
/// What it ends in, and how many threads that is on so many cores: one, one per core, the published 4 and 10, and more than cores.
type Threads = fn(usize) -> usize;
const THREADS: &[(&str, Threads)] =
    &[("_1", |_| 1), ("_cores", |cores| cores), ("_4", |_| 4), ("_10", |_| 10), ("_over", over)];
/// Arms on one thread that are no such combination: the published async function, and kernels.
const OTHERS: &[(&str, Executor, Work)] = &[
    ("async_await", Executor::AsyncAwait, COLLECT),
    ("collect", Executor::StaticSplit, COLLECT),
    ("sum", Executor::StaticSplit, Work::Plain(Plain::Sum)),
    ("vector", Executor::StaticSplit, VECTOR),
];

/// What `arm` of `tasks` stands for on so many cores; the name of an executor alone is that executor on all. `None` for programs.
pub fn arm(tasks: &Tasks, arm: &str, cores: usize) -> Option<Arm> {
    let other = OTHERS.iter().find(|(name, ..)| *name == arm).map(|&(_, executor, work)| (executor, work, 1));
    let combined = |&(method, executor, work): &(&str, Executor, Work)| {
        let ending = arm.strip_prefix(method)?;
        let (_, threads) = THREADS.iter().find(|(name, _)| *name == ending)?;
        Some((executor, work, threads(cores)))
    };
    let named = other.or_else(|| METHODS.iter().find_map(combined));
    let (executor, work, threads) = named.or_else(|| Some((arm.parse().ok()?, tasks.work, cores)))?;
    Some((executor, work, NonZero::new(threads)?))
}

const PUBLISHED: Tasks =
    Tasks { count: 200, grows: Never, len: PUBLISHED_LEN, rounds: 1, work: COLLECT, clock: false, alone: false };

/// Published tasks, so many on two cores.
const fn tasks(count: usize, grows: Grows) -> Setting {
    Setting::Tasks(Tasks { count, grows, ..PUBLISHED })
}

/// A part of the published roots each, for duets, which tell more by many short turns than by few long ones: half of them, of which starting threads or
/// a runtime takes less than a hundredth. In a debug build, whose roots take longer, a tenth is enough.
const fn parts(count: usize, part: usize, grows: Grows) -> Setting {
    Setting::Tasks(Tasks { count, grows, len: PUBLISHED_LEN / part, ..PUBLISHED })
}

const fn cycles(count: usize) -> Setting {
    Setting::Tasks(Tasks { count, work: VECTOR, clock: true, ..PUBLISHED })
}

/// Tasks that do nothing, in rounds: with all of them at once, most of the time would be page faults of their memory.
const fn null(count: usize) -> Setting {
    Setting::Tasks(Tasks { count, len: 0, rounds: 10, work: Work::Plain(Plain::Null), ..PUBLISHED })
}

/// Tasks of so many steps; all but the ends take as long together. Of more cores each has as many: starting their threads would be most of a shorter run.
/// A step is two additions. Roots would compare the divider's rhythms, 8 % apart on Zen 5: the executor's code decides which of them its tasks fall into.
const fn map(count: usize, len: usize) -> Setting {
    Setting::Tasks(Tasks { count, grows: WithCores, len, work: Work::Add(2), alone: true, ..PUBLISHED })
}

// Arms that take as long: on one thread, on several, controls, executors.
const ONE: &str = "sys_thread_1 tokio_1 async_await";
const ONE_CONTROLLED: &str = "sys_thread_1@aa sys_thread_1@slow sys_thread_1 tokio_1 async_await";
const MORE: &str = "sys_thread_cores tokio_cores sys_thread_4 tokio_4 sys_thread_10 tokio_10 sys_thread_over";
const LIGHT_ONE: &str = "add_1 vector_1";
const LIGHT_CORES: &str = "add_cores vector_cores";
const HEAVY_ONE: &str = "sum_1 reuse_small_1 reuse_large_1 kept_1 huge_pages_1 mimalloc_1";
const HEAVY_CORES: &str = "sum_cores reuse_small_cores reuse_large_cores kept_cores huge_pages_cores mimalloc_cores";
const THREADED: &str = "sys_thread static_split atomic_counter rayon_spawn";
/// Without those that a short task would make wait.
const MAPPED: &str = "static_split rayon tokio_inside tokio_outside";
/// On one thread, as duets.
const ALONE: &str = "async_await~sys_thread_1 tokio_1~sys_thread_1 sys_thread_1~sys_thread_1@aa";

/// Every scenario. The executors' ones are without a thread per task where that would take minutes. Seconds are those of EPYC 25/1; the arms of full
/// alone have those of EPYC 26/2.
#[rustfmt::skip]
pub const SCENARIOS: &[Scenario<Setting>] = &[
    // Beside the duets their arms alone, which must agree with them.
    Scenario::new("half_1", parts(1, 2, Never), &[always(0.57, ALONE), always(0.57, "sys_thread_1@slow~sys_thread_1"), full(0.04, ONE)]),
    Scenario::new("half_4", parts(4, 2, WithCores), &[
        always(1.25, "tokio_cores~sys_thread_cores"), full(0.09, "sys_thread_cores tokio_cores"),
    ]),
    Scenario::built("dev", "dev_part_1", parts(1, 10, Never), &[always(0.63, ALONE)]),
    Scenario::built("dev", "dev_part_4", parts(4, 10, WithCores), &[always(1.3, "tokio_cores~sys_thread_cores")]),
    Scenario::new("n_2", tasks(2, ToCores), &[
        smoke(0.18, ONE_CONTROLLED), smoke(0.1, MORE),
        smoke(0.07, LIGHT_ONE), smoke(0.04, LIGHT_CORES), smoke(0.054, HEAVY_ONE), smoke(0.032, HEAVY_CORES),
    ]),
    Scenario::new("n_8", tasks(8, ToThreads), &[
        quick(0.59, ONE_CONTROLLED), quick(0.32, MORE),
        quick(0.24, LIGHT_ONE), quick(0.13, LIGHT_CORES), quick(0.25, HEAVY_ONE), quick(0.15, HEAVY_CORES),
    ]),
    // Of few tasks one thread ends a task later than the other.
    Scenario::new("n_24", tasks(24, ToCores), &[
        quick(1.75, "sys_thread_1 sys_thread_1@aa"), quick(0.94, "sys_thread_cores"),
        quick(0.7, "sum_1"), quick(0.43, "reuse_large_1"), quick(0.37, "sum_cores reuse_large_cores"),
    ]),
    Scenario::new("n_200", tasks(200, Never), &[
        full(17.0, "sys_thread_1 sys_thread_1@aa sys_thread_1@slow"), full(8.5, "sys_thread_cores sys_thread_over"),
        full(4.4, "sum_1 reuse_large_1 kept_1"), full(2.2, "sum_cores reuse_large_cores kept_cores"),
    ]),
    Scenario::new("n_1000", tasks(1000, Never), &[full(85.0, "sys_thread_1"), full(43.0, "sys_thread_cores")]),
    Scenario::built("dev", "dev_2", tasks(2, ToCores), &[
        smoke_quick(0.82, "sys_thread_1 sys_thread_1@aa async_await"), smoke_quick(0.44, "sys_thread_cores tokio_cores"),
        smoke_quick(0.59, "sum_1"), smoke_quick(0.35, "sum_cores"),
    ]),
    Scenario::built("dev", "dev_20", tasks(20, Never), &[full(8.4, "sys_thread_1"), full(4.2, "sys_thread_cores")]),
    Scenario::built("dev", "dev_200", tasks(200, Never), &[
        full(84.0, "sys_thread_1 sys_thread_1@aa tokio_1 async_await"), full(42.0, "sys_thread_cores tokio_cores sys_thread_over"),
    ]),
    Scenario::built("dev", "dev_1000", tasks(1000, Never), &[originals(210.0, "sys_thread_10 tokio_10 original_sys_thread original_tokio")]),
    Scenario::new("best_200", cycles(200), &[always(0.76, "rayon"), smoke_quick(0.76, "static_split tokio_inside")]),
    Scenario::new("kernel", cycles(8), &[smoke_quick(0.69, "collect"), smoke_quick(0.27, "sum"), always(0.09, "vector")]),
    Scenario::built("dev", "cargo", Setting::Program, &[always(0.65, "cargo_run"), always(0.4, "program")]),
    Scenario::new("null_1k", null(1000), &[
        smoke(0.014, THREADED), smoke(0.02, "tokio"),
        smoke_quick(0.014, "rayon tokio_inside tokio_outside"), smoke_quick(0.02, "spawn_blocking"), always(1.2, "thread_per_task"),
    ]),
    Scenario::new("null_50k", null(50_000), &[
        quick(0.16, THREADED), measured(0.16, "rayon tokio_inside tokio_outside"), quick(0.35, "tokio"), quick(0.56, "spawn_blocking"),
    ]),
    // A step takes about half a nanosecond; all of a run 50 ms of processor time, and 10 or 200 ms at the ends.
    Scenario::new("map_100", map(200_000, 100), &[measured(0.1, MAPPED), measured(0.18, "spawn_blocking")]),
    Scenario::new("map_1k", map(100_000, 1000), &[measured(0.08, MAPPED), measured(0.13, "spawn_blocking")]),
    Scenario::new("map_3k", map(33_000, 3000), &[measured(0.06, MAPPED), measured(0.08, "spawn_blocking")]),
    Scenario::new("map_10k", map(10_000, 10_000), &[always(0.055, MAPPED), always(0.065, "spawn_blocking"), always(0.7, "thread_per_task")]),
    Scenario::new("map_30k", map(3300, 30_000), &[measured(0.055, MAPPED), measured(0.06, "spawn_blocking"), measured(0.27, "thread_per_task")]),
    Scenario::new("map_100k", map(1000, 100_000), &[measured(0.05, MAPPED), measured(0.055, "spawn_blocking"), measured(0.1, "thread_per_task")]),
    Scenario::new("map_1m", map(100, 1_000_000), &[measured(0.05, MAPPED), measured(0.05, "spawn_blocking thread_per_task")]),
    Scenario::new("map_100m", map(4, 100_000_000), &[measured(0.18, MAPPED), measured(0.18, "spawn_blocking thread_per_task")]),
    Scenario::new("map_300k", map(330, 300_000), &[full(0.048, MAPPED), full(0.048, "spawn_blocking thread_per_task")]),
    Scenario::new("map_10m", map(12, 10_000_000), &[full(0.06, MAPPED), full(0.06, "spawn_blocking thread_per_task")]),
    Scenario::new("price_start_alone", Setting::Price(prices::START_ALONE), &[
        always(0.25, "call rayon rayon_outside tokio_inside tokio_outside spawn_blocking thread"),
    ]),
    Scenario::new("price_start_64", Setting::Price(prices::START_64), &[
        always(0.25, "call rayon tokio_inside tokio_outside spawn_blocking thread"),
    ]),
];
