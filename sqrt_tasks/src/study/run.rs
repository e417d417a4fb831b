//! `run`: one process, one sample of one test case, checked before it counts.

use std::collections::BTreeMap;

use study_kit::error::one_line;
use study_kit::usage::{Span, kib, peak_rss_kib, settle_allocator};
use study_kit::{Error, Observation, Record, RunRequest, Suffix, duet};

use super::cargo;
use super::scenario::{self, PAIRS, Scenario, Subject, Threads};
use crate::cpu::{self, Cores};
use crate::executor::Executor;
use crate::kernel;
use crate::mirror::Failure;
use crate::work::{Job, Work};

/// How much longer `ARM@slow` takes: twice the smallest margin that whole runs are judged by.
const PLANTED: f64 = 1.10;

/// Runs the test case once.
///
/// The record holds the sample, or the failure if a task failed or returned something wrong; what keeps the case from starting at all
/// is an error.
///
/// # Errors
/// If the names mean nothing.
pub fn run(request: &RunRequest) -> Result<Record, Error> {
    let scenario = scenario::find(&request.scenario)?;
    let side = |arm: &str| -> Result<(Subject, Suffix), Error> {
        let (name, suffix) = Suffix::split(arm)?;
        Ok((scenario.subject(name)?, suffix))
    };
    let (subject, suffix) = side(&request.arm)?;
    let versus = request.versus.as_deref().map(side).transpose()?;
    let result = match (subject, versus) {
        (Subject::Tasks { executor, work, threads }, None) => {
            tasks(scenario, executor, work, threads, suffix).map_err(|failure| one_line(&failure))
        }
        (Subject::Program { cargo }, None) => program(scenario, cargo).map_err(|error| one_line(&error)),
        (a @ Subject::Tasks { .. }, Some((b @ Subject::Tasks { .. }, other))) => {
            alternate(scenario, (a, suffix), (b, other), request).map_err(|failure| one_line(&failure))
        }
        (_, Some(_)) => {
            let arm = format!("{}~{}", request.arm, request.versus.as_deref().unwrap_or_default());
            return Err(Error::Mismatch { arm, scenario: scenario.name.to_owned() });
        }
    };
    Ok(Record::new(env!("CARGO_PKG_NAME"), request, result))
}

fn tasks(
    scenario: &Scenario,
    executor: Executor,
    work: Work,
    threads: Threads,
    suffix: Suffix,
) -> Result<Observation, Failure> {
    let (count, threads) = (scenario.tasks, threads.count());
    let job = Job::new(work, scenario.len, threads.get());
    let round = || job.run_all(executor, threads, count);
    if scenario.warm_up_rounds() > 0 {
        settle_allocator();
    }
    for _ in 0..scenario.warm_up_rounds() {
        round()?;
    }
    let span = Span::start();
    let mut results = Vec::new();
    for _ in 0..scenario.rounds {
        results.push(round()?);
    }
    if suffix == Suffix::Slow {
        span.spin(PLANTED);
    }
    let cost = span.end();
    results.iter().try_for_each(|results| verify(scenario, &job, results))?;
    let mut metrics = cost.metrics();
    let work_s = cost.wall.as_secs_f64();
    let tasks = number(count * scenario.rounds);
    let roots = tasks * number(scenario.len);
    let threads = if executor == Executor::AsyncAwait { 1 } else { threads.get() };
    let cores = Cores::here();
    metrics.extend([
        ("tasks_count", tasks),
        ("task_roots_count", number(scenario.len)),
        ("threads_count", number(threads)),
        ("task_ns", work_s * 1e9 / tasks),
        // What the work took from all of its threads, or cores: one thread's time over this is the efficiency.
        ("thread_s", work_s * number(threads)),
        ("core_s", work_s * number(threads.min(cores.physical))),
    ]);
    if cores.shows_smt() {
        metrics.insert("smt_thread_s", work_s * number(threads));
    }
    if let Some(cpu_s) = metrics.get("cpu_s").copied() {
        metrics.insert("root_cpu_ns", cpu_s * 1e9 / roots.max(1.0));
    }
    if scenario.measures_clock() {
        clock(&mut metrics, work_s * number(threads.min(cores.physical)) / roots, threads.min(cores.physical));
    }
    metrics.extend(peak_rss_kib().map(|peak| ("process_peak_rss_kib", kib(peak))));
    Ok(Observation { digest: digest(scenario), metrics, ..Observation::default() })
}

/// Two arms in turns in one process.
fn alternate(
    scenario: &Scenario,
    a: (Subject, Suffix),
    b: (Subject, Suffix),
    request: &RunRequest,
) -> Result<Observation, Failure> {
    let pass = |(subject, suffix): (Subject, Suffix)| -> Result<f64, Failure> {
        let Subject::Tasks { executor, work, threads } = subject else {
            return Err(Failure::WrongAnswer("a program of its own does not alternate".to_owned()));
        };
        let threads = threads.count();
        let job = Job::new(work, scenario.len, threads.get());
        let span = Span::start();
        let results = job.run_all(executor, threads, scenario.tasks)?;
        if suffix == Suffix::Slow {
            span.spin(PLANTED);
        }
        let seconds = span.elapsed().as_secs_f64();
        verify(scenario, &job, &results)?;
        Ok(seconds)
    };
    // Once unrecorded: the first pass pays for code and memory that later ones find ready.
    pass(a)?;
    pass(b)?;
    let pairs = duet::alternate(PAIRS, request.seed, request.block, || pass(a), || pass(b))?;
    let mut metrics = BTreeMap::new();
    if let Some(peak) = peak_rss_kib() {
        metrics.extend([("peak_rss_kib", kib(peak)), ("process_peak_rss_kib", kib(peak))]);
    }
    Ok(Observation { digest: digest(scenario), metrics, pairs: Some(pairs), ..Observation::default() })
}

/// Every task is there and returned what it had to.
fn verify(scenario: &Scenario, job: &Job, results: &[f64]) -> Result<(), Failure> {
    if results.len() != scenario.tasks {
        return Err(Failure::WrongAnswer(format!("{} results of {} tasks", results.len(), scenario.tasks)));
    }
    job.check(results).map_err(Failure::WrongAnswer)
}

/// What a root took in cycles, and which share of that the divider needs.
fn clock(metrics: &mut BTreeMap<&'static str, f64>, root_s: f64, threads: usize) {
    let Some(hz) = cpu::frequency_hz(threads) else {
        return;
    };
    metrics.insert("clock_per_s", hz);
    metrics.insert("root_cycles_count", root_s * hz);
    if let Some(bound) = cpu::cycles_per_root() {
        metrics.insert("divider_percent", 100.0 * bound / (root_s * hz));
        metrics.insert("bound_ratio", root_s * hz / bound);
    }
}

fn program(scenario: &Scenario, through_cargo: bool) -> Result<Observation, Error> {
    let span = Span::start();
    cargo::run(through_cargo, scenario.tasks, scenario.len)?;
    // Time and memory of the process are those of the one that waits here.
    let metrics = BTreeMap::from([("work_s", span.elapsed().as_secs_f64())]);
    Ok(Observation { digest: digest(scenario), metrics, ..Observation::default() })
}

/// What all arms agree on: every task returned the checksum that follows from this sum of the roots. Vectors round differently and the
/// checksums of blocks are others, so that each was compared with its own by [`Job::check`].
fn digest(scenario: &Scenario) -> String {
    format!("{}x{:.9e}", scenario.tasks, kernel::expected_sum(scenario.len))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of tasks and roots stay far below 2^53")]
fn number(count: usize) -> f64 {
    count as f64
}
