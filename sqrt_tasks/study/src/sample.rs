//! One run of one test case, checked before it counts.

use std::num::NonZero;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use sqrt_tasks::cpu::{self, Cores};
use sqrt_tasks::{Executor, TaskError, kernel};
use study_kit::usage::{map_blocks, settle_allocator};
use study_kit::{Metrics, Observation, Scenario, Span, Study, TestCase, Turn, Turns, price};

use crate::cases::{self, SCENARIOS, Setting, Tasks};
use crate::job::Job;
use crate::program;

/// A task alone is timed for so long.
const ALONE: Duration = Duration::from_millis(5);

pub struct SqrtTasks;

impl Study for SqrtTasks {
    type Setting = Setting;
    const NAME: &'static str = "sqrt_tasks";
    const SCENARIOS: &'static [Scenario<Setting>] = SCENARIOS;
    const PAGE: &'static str = include_str!("../page.toml");
    const ORIGINAL: &'static str = include_str!("../original.toml");
    // Its duets are judged by the margin of whole runs.
    const DUET_HANDICAP: f64 = 1.10;

    // Processes differ as much as pairs do: many short ones tell more than few long ones.
    fn pairs(_setting: &Setting, _arm: &str) -> usize {
        6
    }

    /// Makes sure that `cargo run` finds nothing left to build; the other scenarios need no input.
    fn prepare(setting: &Setting, _seed: u64) -> Result<()> {
        if matches!(setting, Setting::Program) { program::prepare() } else { Ok(()) }
    }

    fn observe(case: &TestCase<'_, Setting>) -> Result<Observation> {
        match case.setting {
            Setting::Tasks(_) => Bench::new(case, Cores::here())?.sample(case),
            Setting::Program => {
                let span = Span::start();
                program::run(case.arm == "cargo_run")?;
                // Time and memory of the process are those of the one that waits here.
                Ok(Observation::new("", Metrics::from([("work_s", span.elapsed().as_secs_f64())])))
            }
            Setting::Price(arms) => price::observe_arm(arms, case.arm),
        }
    }

    fn turns<'a>(case: &'a TestCase<'_, Setting>) -> Result<Turns<'a>> {
        map_blocks();
        let bench = Bench::new(case, Cores::here())?;
        Ok(Box::new(move || {
            let span = Span::start();
            let results = bench.run()?;
            case.stretch(&span);
            let seconds = span.elapsed().as_secs_f64();
            bench.verify(&results)?;
            Ok(Turn { seconds, digest: bench.digest(), metrics: Metrics::default() })
        }))
    }
}

/// An arm on the tasks of a scenario.
struct Bench {
    tasks: Tasks,
    executor: Executor,
    threads: NonZero<usize>,
    cores: Cores,
    job: Job,
}

impl Bench {
    fn new(case: &TestCase<'_, Setting>, cores: Cores) -> Result<Self> {
        let Setting::Tasks(tasks) = *case.setting else { bail!("only tasks alternate") };
        let tasks = tasks.on(cores.physical);
        let arm = cases::arm(&tasks, case.arm, cores.physical);
        let (executor, work, threads) = arm.with_context(|| format!("{} is no arm", case.arm))?;
        Ok(Bench { tasks, executor, threads, cores, job: Job::new(work, tasks.len, threads.get().min(tasks.count)) })
    }

    fn run(&self) -> Result<Vec<f64>, TaskError> {
        let job = self.job.clone();
        self.executor.run(self.threads, self.tasks.count, move |task| job.run(task))
    }

    fn sample(&self, case: &TestCase<'_, Setting>) -> Result<Observation> {
        let Tasks { count, len, rounds, clock, alone, .. } = self.tasks;
        if rounds > 1 {
            // Memory and code are then what they are in a program that has run for a while.
            settle_allocator();
            self.run()?;
        }
        let span = Span::start();
        let results = (0..rounds).map(|_| self.run()).collect::<Result<Vec<_>, _>>()?;
        case.stretch(&span);
        let cost = span.end();
        results.iter().try_for_each(|results| self.verify(results))?;
        let mut metrics = cost.metrics();
        let work_s = cost.wall.as_secs_f64();
        let tasks = (count * rounds) as f64;
        let threads = self.threads.get();
        let Cores { threads: hardware_threads, physical: cores } = self.cores;
        let busy = threads.min(cores);
        // What the work took from all of its threads, or cores: one thread's time over this is the efficiency. The authors' threads all have
        // tasks; cores without one, where a number is as published and no multiple of theirs, are no loss of the others'.
        let (of_threads, of_cores) = (work_s * threads as f64, work_s * self.tasks.keep_busy(busy));
        metrics.extend([
            ("tasks_count", tasks),
            ("threads_count", threads as f64),
            ("task_ns", work_s * 1e9 / tasks),
            ("thread_s", of_threads),
            ("core_s", of_cores),
        ]);
        // The map has its x from this arm.
        if alone && self.executor == Executor::StaticSplit {
            metrics.put("task_alone_us", self.alone_s()? * 1e6);
        }
        metrics.put("smt_thread_s", (cores < hardware_threads).then_some(work_s * self.tasks.keep_busy(threads)));
        if clock && let Some(hz) = cpu::frequency_hz(busy) {
            // What a root took in cycles, and which share of that the divider needs.
            let cycles = of_cores / (tasks * len as f64) * hz;
            metrics.extend([("clock_per_s", hz), ("root_cycles_count", cycles)]);
            let bound = cpu::cycles_per_root();
            metrics.put("divider_percent", bound.map(|bound| 100.0 * bound / cycles));
            metrics.put("bound_ratio", bound.map(|bound| cycles / bound));
        }
        Ok(Observation::new(self.digest(), metrics))
    }

    /// What the work of one task takes on this thread while nothing else runs, in seconds: of so many in a row that they last.
    fn alone_s(&self) -> Result<f64> {
        let mut count = 1;
        loop {
            let begin = Instant::now();
            let results: Vec<f64> = (0..count).map(|_| self.job.run(0)).collect();
            let took = begin.elapsed();
            self.job.check(&results)?;
            if took >= ALONE {
                return Ok(took.as_secs_f64() / f64::from(count));
            }
            count *= 2;
        }
    }

    fn verify(&self, results: &[f64]) -> Result<()> {
        let (found, asked) = (results.len(), self.tasks.count);
        ensure!(found == asked, "wrong answer: {found} results of {asked} tasks");
        Ok(self.job.check(results)?)
    }

    /// What all arms agree on: every task returned its checksum, by [`Job::check`], whose roots come to this sum. Vectors round differently, the
    /// checksums of blocks are others, and additions have their number.
    fn digest(&self) -> String {
        format!("{}x{:.9e}", self.tasks.count, kernel::expected_sum(self.tasks.len))
    }
}

#[cfg(test)]
mod tests;
