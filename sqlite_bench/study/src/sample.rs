//! One run of one test case, checked before it counts.

use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use sqlite_bench::design::find;
use sqlite_bench::driver::{self, Operations};
use sqlite_bench::workload::{Loop, Workload, Writes};
use sqlite_bench::{cli, metrics};
use study_kit::usage::settle_allocator;
use study_kit::{Observation, Scenario, Span, Study, TestCase, data};

use crate::cases::{SCENARIOS, Setting, arms};
use crate::{commits, map, prices};

/// Most writes in a commit of `group_commit`.
const BATCH: NonZero<usize> = NonZero::new(256).unwrap();

pub struct SqliteBench;

impl Study for SqliteBench {
    type Setting = Setting;
    const NAME: &'static str = "sqlite_bench";
    const SCENARIOS: &'static [Scenario<Setting>] = SCENARIOS;
    const PAGE: &'static str = include_str!("../page.toml");
    const ORIGINAL: &'static str = include_str!("../original.toml");

    fn observe(case: &TestCase<'_, Setting>) -> Result<Observation> {
        settle_allocator();
        match *case.setting {
            Setting::Access(workload) => access(case, workload),
            Setting::Commits { window } => {
                let batch = if case.arm == "group_commit" { BATCH } else { NonZero::<usize>::MIN };
                Ok(Observation::new("", commits::run(batch, window, &data::folder(Self::NAME))?))
            }
            Setting::Record { samples } => Ok(record(samples)),
            Setting::Map(asking) => map::observe(&asking, case.arm, &data::memory_folder(Self::NAME), case.seed),
            Setting::Price(price) => prices::observe(price, case.arm, &data::memory_folder(Self::NAME)),
        }
    }

    /// The words of the crate's program, with all arms to choose from: `compare`, `describe`.
    fn word(arguments: &[OsString]) -> ExitCode {
        let program = OsString::from("sqlite_bench_study");
        cli::run(&arms(), [program].into_iter().chain(arguments.iter().cloned()))
    }
}

/// Drives the design of an arm.
fn access(case: &TestCase<'_, Setting>, scenario: Workload) -> Result<Observation> {
    let mut workload = scenario;
    // The hold takes on what the whole cycle gets longer by.
    let cycle = workload.write_cycle();
    workload.hold += cycle.mul_f64(case.handicap).saturating_sub(cycle);
    let mut name = case.arm;
    if let Some(stem) = name.strip_suffix("_40") {
        // The same reads, spread over more databases.
        if let Loop::Open { reads_per_s } = &mut workload.reads {
            *reads_per_s *= workload.databases as f64 / 40.0;
        }
        (name, workload.databases) = (stem, 40);
    } else if let Some(stem) = name.strip_suffix("_idle") {
        // The same reads, and nothing else.
        (name, workload.writes) = (stem, Writes::Never);
    }
    let folder = data::memory_folder(SqliteBench::NAME);
    let arm = find(&arms(), name)?;
    let measured = driver::measure(arm, &workload, &folder, case.seed, &|_| {}, Span::start, Span::end)?;
    ensure!(measured.fault.is_none(), measured.fault.unwrap_or_default());
    let mut metrics = measured.cost.metrics();
    // A handicapped copy is judged by what the others hold.
    metrics.extend(metrics::of(&measured.tally, &workload, scenario.hold));
    Ok(Observation::new(measured.digest, metrics))
}

/// What recording a sample costs, on the way that the open loop takes: under the lock, with both times.
fn record(samples: u32) -> Observation {
    let operations = Mutex::new(Operations::default());
    let due = Instant::now();
    let span = Span::start();
    for index in 0..samples {
        let begin = due + Duration::from_micros(u64::from(index % 1_000));
        let end = begin + Duration::from_nanos(u64::from(index) * 37);
        operations.lock().unwrap_or_else(PoisonError::into_inner).record(Ok(()), due, Some(begin), end, true);
    }
    let cost = span.end();
    let mut metrics = cost.metrics();
    let samples = f64::from(samples);
    metrics.extend([("samples_count", samples), ("sample_ns", cost.wall.as_secs_f64() * 1e9 / samples)]);
    Observation::new("", metrics)
}
