//! One run of one test case, checked before it counts.

use std::num::NonZero;

use anyhow::{Context, Result, ensure};
use sqrt_tasks::cpu::{self, Cores};
use sqrt_tasks::{Executor, kernel};
use study_kit::usage::settle_allocator;
use study_kit::{Metrics, Observation, Scenario, Span, Study, TestCase, Turn, Turns};

use crate::cases::{self, SCENARIOS, Setting, Tasks};
use crate::job::Job;
use crate::program;

/// The study.
pub struct SqrtTasks;

impl Study for SqrtTasks {
    type Setting = Setting;
    const NAME: &'static str = "sqrt_tasks";
    const SCENARIOS: &'static [Scenario<Setting>] = SCENARIOS;
    const PAGE: &'static str = include_str!("../page.toml");
    const ORIGINAL: &'static str = include_str!("../original.toml");
    // Its duets are judged by the margin of whole runs.
    const DUET_HANDICAP: f64 = 1.10;

    fn pairs(_: &Setting, _: &str) -> usize {
        20
    }

    /// Makes sure that `cargo run` finds nothing left to build; the other scenarios need no input.
    fn prepare(setting: &Setting, _seed: u64) -> Result<()> {
        if matches!(setting, Setting::Program { .. }) { program::prepare() } else { Ok(()) }
    }

    fn observe(case: &TestCase<'_, Setting>) -> Result<Observation> {
        if let &Setting::Program { tasks } = case.setting {
            let span = Span::start();
            program::run(case.arm == "cargo_run", tasks)?;
            // Time and memory of the process are those of the one that waits here.
            return Ok(Observation::new("", Metrics::from([("work_s", span.elapsed().as_secs_f64())])));
        }
        Bench::new(case)?.sample(case)
    }

    fn turns<'a>(case: &'a TestCase<'_, Setting>) -> Result<Turns<'a>> {
        let bench = Bench::new(case)?;
        Ok(Box::new(move || {
            let job = bench.job();
            let span = Span::start();
            let results = job.run_all(bench.executor, bench.threads, bench.tasks.count)?;
            case.stretch(&span);
            let seconds = span.elapsed().as_secs_f64();
            bench.verify(&job, &results)?;
            Ok(Turn { seconds, digest: bench.digest(), metrics: Metrics::new() })
        }))
    }
}

/// An arm on the tasks of a scenario.
struct Bench {
    tasks: Tasks,
    executor: Executor,
    work: crate::job::Work,
    threads: NonZero<usize>,
}

impl Bench {
    fn new(case: &TestCase<'_, Setting>) -> Result<Self> {
        let Setting::Tasks(tasks) = *case.setting else { anyhow::bail!("a program of its own does not alternate") };
        let (executor, work, threads) =
            cases::arm(&tasks, case.arm).with_context(|| format!("{} is no arm", case.arm))?;
        Ok(Bench { tasks, executor, work, threads: threads.count() })
    }

    fn job(&self) -> Job {
        Job::new(self.work, self.tasks.len, self.threads.get())
    }

    fn sample(&self, case: &TestCase<'_, Setting>) -> Result<Observation> {
        let Tasks { count, len, rounds, .. } = self.tasks;
        let job = self.job();
        let round = || job.run_all(self.executor, self.threads, count);
        if rounds > 1 {
            // Memory and code are then what they are in a program that has run for a while.
            settle_allocator();
            round()?;
        }
        let span = Span::start();
        let results = (0..rounds).map(|_| round()).collect::<Result<Vec<_>, _>>()?;
        case.stretch(&span);
        let cost = span.end();
        results.iter().try_for_each(|results| self.verify(&job, results))?;
        let mut metrics = cost.metrics();
        let work_s = cost.wall.as_secs_f64();
        let tasks = (count * rounds) as f64;
        let roots = tasks * len as f64;
        let threads = if self.executor == Executor::AsyncAwait { 1 } else { self.threads.get() };
        let cores = Cores::here();
        let busy = threads.min(cores.physical);
        metrics.extend([
            ("tasks_count", tasks),
            ("task_roots_count", len as f64),
            ("threads_count", threads as f64),
            ("task_ns", work_s * 1e9 / tasks),
            // What the work took from all of its threads, or cores: one thread's time over this is the efficiency.
            ("thread_s", work_s * threads as f64),
            ("core_s", work_s * busy as f64),
        ]);
        if cores.shows_smt() {
            metrics.put("smt_thread_s", work_s * threads as f64);
        }
        metrics.put("root_cpu_ns", metrics.get("cpu_s").map(|cpu_s| cpu_s * 1e9 / roots.max(1.0)));
        if self.tasks.clock {
            clock(&mut metrics, work_s * busy as f64 / roots, busy);
        }
        Ok(Observation::new(self.digest(), metrics))
    }

    /// Every task is there and returned what it had to.
    fn verify(&self, job: &Job, results: &[f64]) -> Result<()> {
        ensure!(
            results.len() == self.tasks.count,
            "wrong answer: {} results of {} tasks",
            results.len(),
            self.tasks.count
        );
        Ok(job.check(results)?)
    }

    /// What all arms agree on: every task returned the checksum that follows from this sum of the roots. Vectors round differently and the
    /// checksums of blocks are others, so that each was compared with its own by [`Job::check`].
    fn digest(&self) -> String {
        format!("{}x{:.9e}", self.tasks.count, kernel::expected_sum(self.tasks.len))
    }
}

/// What a root took in cycles, and which share of that the divider needs.
fn clock(metrics: &mut Metrics, root_s: f64, threads: usize) {
    let Some(hz) = cpu::frequency_hz(threads) else { return };
    metrics.put("clock_per_s", hz);
    metrics.put("root_cycles_count", root_s * hz);
    if let Some(bound) = cpu::cycles_per_root() {
        metrics.put("divider_percent", 100.0 * bound / (root_s * hz));
        metrics.put("bound_ratio", root_s * hz / bound);
    }
}
