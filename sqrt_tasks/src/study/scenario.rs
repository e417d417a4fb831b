//! Scenarios and the arms that run in them.

use std::num::NonZero;

use study_kit::error::unknown;
use study_kit::{Case, Error, Profile};

use crate::cpu::Cores;
use crate::executor::Executor;
use crate::mirror::PUBLISHED_LEN;
use crate::work::Work;

/// A named setting: so many tasks of so many roots.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// Tasks of a run.
    pub tasks: usize,
    /// Roots that each task finds.
    pub len: usize,
    /// How often all tasks are run, on new threads each time.
    pub rounds: usize,
    /// `release` or `dev`.
    build: &'static str,
    kind: Kind,
    profiles: &'static [Profile],
}

/// Which arms a scenario compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The published table.
    Published,
    /// Arms of the published table that alternate in one process.
    Duets(&'static [&'static str]),
    /// Of the published table, system threads on one thread and on all cores.
    Pair,
    /// The published table, and the controls that take its work apart.
    Controlled,
    /// What an expert would run.
    Best,
    /// Executors whose tasks do nothing, or little.
    Executors { thread_per_task: bool },
    /// Kernels on one thread.
    Kernels,
    /// `cargo run` against the program itself.
    Cargo,
}

/// An arm: what runs, on how many threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Tasks in this process.
    Tasks {
        /// What runs them.
        executor: Executor,
        /// What they do.
        work: Work,
        /// On how many threads.
        threads: Threads,
    },
    /// A program of its own, started by cargo or directly.
    Program {
        /// By cargo.
        cargo: bool,
    },
}

/// How many threads an arm has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// So many.
    Fixed(NonZero<usize>),
    /// One per core that the machine shows.
    Cores,
    /// As the published ten on six cores of two hardware threads each: five for three cores.
    Oversubscribed,
}

impl Threads {
    const ONE: Threads = Threads::Fixed(NonZero::<usize>::MIN);
    const FOUR: Threads = Threads::Fixed(NonZero::new(4).unwrap());
    const TEN: Threads = Threads::Fixed(NonZero::new(10).unwrap());

    /// The number on this machine.
    #[must_use]
    pub fn count(self) -> NonZero<usize> {
        let count = match self {
            Threads::Fixed(count) => return count,
            Threads::Cores => Cores::here().physical,
            Threads::Oversubscribed => (Cores::here().physical * 5).div_ceil(3),
        };
        NonZero::new(count).unwrap_or(NonZero::<usize>::MIN)
    }
}

const SMOKE: &[Profile] = &[Profile::Smoke];
const QUICK: &[Profile] = &[Profile::Quick];
const SMOKE_AND_QUICK: &[Profile] = &[Profile::Smoke, Profile::Quick];
const FULL: &[Profile] = &[Profile::Full];
const MEASURED: &[Profile] = &[Profile::Quick, Profile::Full];
const ALL: &[Profile] = &Profile::ALL;

/// Alternations of a duet.
pub const PAIRS: usize = 6;
/// Roots of a whole sweep run, whatever the size of its tasks.
const SWEEP_ROOTS: usize = 100_000_000;

const fn published(
    name: &'static str,
    tasks: usize,
    build: &'static str,
    kind: Kind,
    profiles: &'static [Profile],
) -> Scenario {
    Scenario { name, tasks, len: PUBLISHED_LEN, rounds: 1, build, kind, profiles }
}

const fn sweep(name: &'static str, len: usize, profiles: &'static [Profile]) -> Scenario {
    // A thread per task of a few microseconds would take minutes.
    let kind = Kind::Executors { thread_per_task: len >= 10_000 };
    Scenario { name, tasks: SWEEP_ROOTS / len, len, rounds: 1, build: "release", kind, profiles }
}

/// Tasks that do nothing, in rounds: with all of them at once, most of the time would be page faults of their memory.
const fn null(name: &'static str, tasks: usize, thread_per_task: bool, profiles: &'static [Profile]) -> Scenario {
    Scenario { name, tasks, len: 0, rounds: 10, build: "release", kind: Kind::Executors { thread_per_task }, profiles }
}

/// On one thread, as duets.
const ALONE: Kind = Kind::Duets(&[
    "async_await~sys_thread_1",
    "tokio_1~sys_thread_1",
    "sys_thread_1~sys_thread_1@aa",
    "sys_thread_1@slow~sys_thread_1",
]);

/// Every scenario.
pub const SCENARIOS: [Scenario; 20] = [
    published("duet_1", 1, "release", ALONE, ALL),
    published("duet_4", 4, "release", Kind::Duets(&["tokio_cores~sys_thread_cores"]), ALL),
    published("n_2", 2, "release", Kind::Controlled, SMOKE),
    published("n_8", 8, "release", Kind::Controlled, QUICK),
    published("n_40", 40, "release", Kind::Pair, QUICK),
    published("n_200", 200, "release", Kind::Controlled, FULL),
    published("n_1000", 1000, "release", Kind::Published, FULL),
    published("dev_2", 2, "dev", Kind::Controlled, SMOKE_AND_QUICK),
    published("dev_200", 200, "dev", Kind::Controlled, FULL),
    published("dev_1000", 1000, "dev", Kind::Published, FULL),
    published("best_200", 200, "release", Kind::Best, ALL),
    published("kernel", 8, "release", Kind::Kernels, ALL),
    published("cargo", 4, "dev", Kind::Cargo, ALL),
    null("null_1k", 1000, true, ALL),
    null("null_50k", 50_000, false, MEASURED),
    sweep("sweep_100", 100, MEASURED),
    sweep("sweep_1k", 1000, MEASURED),
    sweep("sweep_10k", 10_000, ALL),
    sweep("sweep_100k", 100_000, MEASURED),
    sweep("sweep_10m", 10_000_000, MEASURED),
];

/// The works of the controls, each on one thread and on all cores.
const CONTROLS: [Work; 8] = [
    Work::Add,
    Work::Sum,
    Work::Vector,
    Work::ReuseSmall,
    Work::ReuseLarge,
    Work::Kept,
    Work::HugePages,
    Work::Mimalloc,
];

impl Scenario {
    /// The arms by name, without twins and handicapped copies.
    #[must_use]
    pub fn arms(&self) -> Vec<(String, Subject)> {
        let on = |executor, work, threads| Subject::Tasks { executor, work, threads };
        let named = |name: &str, subject| (name.to_owned(), subject);
        match self.kind {
            Kind::Published | Kind::Duets(_) => published_arms(),
            Kind::Pair => {
                let mut arms = published_arms();
                arms.retain(|(name, _)| name == "sys_thread_1" || name == "sys_thread_cores");
                arms
            }
            Kind::Controlled => {
                let mut arms = published_arms();
                for work in CONTROLS {
                    for (suffix, threads) in [("1", Threads::ONE), ("cores", Threads::Cores)] {
                        arms.push((format!("{}_{suffix}", work.name()), on(Executor::SysThread, work, threads)));
                    }
                }
                arms
            }
            Kind::Best => [Executor::Rayon, Executor::StaticSplit, Executor::TokioInside]
                .into_iter()
                .map(|executor| named(executor.name(), on(executor, Work::Vector, Threads::Cores)))
                .collect(),
            Kind::Executors { thread_per_task } => Executor::ALL
                .into_iter()
                .filter(|&executor| {
                    executor != Executor::AsyncAwait && (thread_per_task || executor != Executor::ThreadPerTask)
                })
                .map(|executor| {
                    let work = if self.len == 0 { Work::Null } else { Work::Vector };
                    named(executor.name(), on(executor, work, Threads::Cores))
                })
                .collect(),
            Kind::Kernels => [Work::Collect, Work::Sum, Work::Vector]
                .into_iter()
                .map(|work| named(work.name(), on(Executor::StaticSplit, work, Threads::ONE)))
                .collect(),
            Kind::Cargo => vec![
                named("cargo_run", Subject::Program { cargo: true }),
                named("program", Subject::Program { cargo: false }),
            ],
        }
    }

    /// Rounds before the span, by which memory and code are what they are in a program that has run for a while.
    #[must_use]
    pub fn warm_up_rounds(&self) -> usize {
        usize::from(self.rounds > 1)
    }

    /// Whether a root is counted in cycles.
    #[must_use]
    pub fn measures_clock(&self) -> bool {
        matches!(self.kind, Kind::Best | Kind::Kernels)
    }

    /// What `arm` stands for.
    ///
    /// # Errors
    /// If the scenario has no such arm.
    pub fn subject(&self, arm: &str) -> Result<Subject, Error> {
        let mismatch = || Error::Mismatch { arm: arm.to_owned(), scenario: self.name.to_owned() };
        self.arms().into_iter().find(|(name, _)| name == arm).map(|(_, subject)| subject).ok_or_else(mismatch)
    }

    /// Expected wall time of a run on two cores, in seconds.
    fn seconds(&self, subject: Subject) -> f64 {
        let Subject::Tasks { executor, work, threads } = subject else {
            return if subject == (Subject::Program { cargo: true }) { 1.1 } else { 0.85 };
        };
        let threads = if executor == Executor::AsyncAwait { 1 } else { threads.count().get() };
        let tasks = number(self.tasks * (self.rounds + self.warm_up_rounds()));
        let roots = tasks * number(self.len);
        let per_root_ns = match (self.build, work) {
            ("dev", Work::Vector | Work::Add) => 6.0,
            ("dev", Work::Collect) => 42.0,
            ("dev", _) => 30.0,
            (_, Work::Null) => 0.0,
            (_, Work::Vector) => 0.75,
            (_, Work::Sum | Work::ReuseSmall) => 1.6,
            (_, Work::Add) => 5.0,
            (_, Work::ReuseLarge | Work::HugePages) => 2.0,
            (_, Work::Kept | Work::Mimalloc) => 3.0,
            (_, Work::Collect) => 8.5,
        };
        let per_task_ns = match executor {
            Executor::ThreadPerTask => 20_000.0,
            Executor::SpawnBlocking => 1000.0,
            Executor::Tokio => 800.0,
            _ => 300.0,
        };
        let seconds = 0.01 + (roots * per_root_ns / number(threads.min(2)) + tasks * per_task_ns) * 1e-9;
        (seconds * 1e3).round() / 1e3
    }
}

fn published_arms() -> Vec<(String, Subject)> {
    let mut arms = Vec::new();
    for (suffix, threads) in [
        ("1", Threads::ONE),
        ("cores", Threads::Cores),
        ("4", Threads::FOUR),
        ("10", Threads::TEN),
        ("over", Threads::Oversubscribed),
    ] {
        for executor in [Executor::SysThread, Executor::Tokio] {
            let subject = Subject::Tasks { executor, work: Work::Collect, threads };
            arms.push((format!("{}_{suffix}", executor.name()), subject));
        }
    }
    let alone = Subject::Tasks { executor: Executor::AsyncAwait, work: Work::Collect, threads: Threads::ONE };
    arms.push(("async_await".to_owned(), alone));
    arms
}

/// The scenario of that name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Scenario, Error> {
    let found = SCENARIOS.iter().find(|scenario| scenario.name == name);
    found.ok_or_else(|| unknown("scenario", name, SCENARIOS.iter().map(|scenario| scenario.name)))
}

/// The test cases of a profile.
#[must_use]
pub fn cases(profile: Profile) -> Vec<Case> {
    let mut cases = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.profiles.contains(&profile)) {
        if let Kind::Duets(duets) = scenario.kind {
            let arms = scenario.arms();
            cases.extend(duets.iter().map(|duet| {
                let first = duet.split(['~', '@']).next();
                let subject = arms.iter().find(|(name, _)| Some(name.as_str()) == first).map(|(_, subject)| *subject);
                // Each arm once unrecorded, then in every pair.
                let passes = 2.0 * number(PAIRS + 1);
                let seconds = subject.map_or(1.0, |subject| passes * scenario.seconds(subject));
                let seconds = (seconds * 1e3).round() / 1e3;
                Case { scenario: scenario.name, arm: (*duet).to_owned(), build: scenario.build, seconds }
            }));
            continue;
        }
        for (arm, subject) in scenario.arms() {
            let case =
                |arm| Case { scenario: scenario.name, arm, build: scenario.build, seconds: scenario.seconds(subject) };
            if arm == "sys_thread_1" && scenario.kind == Kind::Controlled {
                cases.push(case(format!("{arm}@aa")));
                cases.push(case(format!("{arm}@slow")));
            }
            cases.push(case(arm));
        }
    }
    cases
}

/// Makes sure that `cargo run` finds nothing left to build; the other scenarios need no input.
///
/// # Errors
/// If there is no such scenario, or cargo cannot build.
pub fn prepare(name: &str) -> Result<(), Error> {
    match find(name)?.kind {
        Kind::Cargo => super::cargo::prepare(),
        _ => Ok(()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of tasks and roots stay far below 2^53")]
fn number(count: usize) -> f64 {
    count as f64
}
