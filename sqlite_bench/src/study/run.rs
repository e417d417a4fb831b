//! `run`: one process, one sample of one test case, checked before it counts.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::time::{Duration, Instant};

use super::bench::{Bench, data_folder};
use super::metrics::{self, Metrics, count};
use super::scenario::{self, Work};
use super::usage::{self, Span};
use super::{StudyError, commits};
use crate::design::{Arm, Place, arm::Role};
use crate::driver::Recorder;
use crate::workload::{Load, Workload};
use study_kit::usage::settle_allocator;
use study_kit::{Observation, Record, RunRequest, Suffix};

/// How much longer a cycle of `ARM@slow` takes: twice the smallest margin judged.
pub const PLANTED: f64 = 1.10;
/// Databases of the arms whose name ends in `_40`.
const MANY_DATABASES: usize = 40;
/// Most writes in a commit of `group_commit`.
const BATCH: NonZero<usize> = NonZero::new(256).unwrap();

/// An arm as a test case names it.
#[derive(Debug, Clone, Copy)]
struct Subject {
    arm: Arm,
    /// Whether each cycle is made longer.
    slow: bool,
    /// Whether the same reads are spread over 40 databases.
    many: bool,
}

impl Subject {
    fn parse(text: &str) -> Result<Self, StudyError> {
        let (name, suffix) = Suffix::split(text)?;
        let (name, many) = name.strip_suffix("_40").map_or((name, false), |name| (name, true));
        Ok(Subject { arm: name.parse()?, slow: suffix == Suffix::Slow, many })
    }

    /// What is asked of this subject where others are asked `workload`.
    fn workload(self, mut workload: Workload) -> Workload {
        if self.slow {
            // The hold takes on what the whole cycle gets longer by.
            let cycle = workload.write_cycle();
            workload.hold += cycle.mul_f64(PLANTED).saturating_sub(cycle);
        }
        if self.many {
            #[expect(clippy::cast_precision_loss, reason = "databases are few")]
            let share = workload.databases as f64 / MANY_DATABASES as f64;
            workload.databases = MANY_DATABASES;
            if let Load::Open { reads_per_s } = &mut workload.load {
                *reads_per_s *= share;
            }
        }
        workload
    }
}

/// Runs the test case once.
///
/// The record holds the sample, or the failure if operations failed or the databases do not hold what they should; what keeps the case
/// from starting at all is an error.
///
/// # Errors
/// If the names mean nothing, or the databases cannot be opened.
pub fn run(request: &RunRequest) -> Result<Record, StudyError> {
    let scenario = scenario::find(&request.scenario)?;
    settle_allocator();
    let result = match scenario.work {
        Work::Access { workload, place } => access(Subject::parse(&request.arm)?, workload, place, request.seed)?,
        Work::Commits { window } => {
            let batch = match request.arm.as_str() {
                "single_commit" => NonZero::<usize>::MIN,
                "group_commit" => BATCH,
                _ => return Err(mismatch(request)),
            };
            let folder = Place::Disk.folder(data_folder());
            commits::run(batch, window, &folder)?.map(|metrics| observed(String::new(), metrics, BTreeMap::new()))
        }
        Work::Record { samples } if request.arm == "recorder" => Ok(record(samples)),
        Work::Record { .. } => return Err(mismatch(request)),
    };
    Ok(Record::new(env!("CARGO_PKG_NAME"), request, result))
}

fn mismatch(request: &RunRequest) -> StudyError {
    StudyError::Mismatch { arm: request.arm.clone(), scenario: request.scenario.clone() }
}

fn access(
    subject: Subject,
    workload: Workload,
    place: Place,
    seed: u64,
) -> Result<Result<Observation, String>, StudyError> {
    let hold = workload.hold;
    let bench =
        Bench { arm: subject.arm, workload: subject.workload(workload), folder: place.folder(data_folder()), seed };
    let measured = bench.measure(&|_| {})?;
    if let Some(fault) = measured.fault {
        return Ok(Err(fault));
    }
    // That operations fail is what a negative control is there to show: its failures are figures.
    if subject.arm.role() != Role::NegativeControl {
        let outcome = &measured.outcome;
        let failures =
            metrics::failures("reads", &outcome.reads).or_else(|| metrics::failures("writes", &outcome.writes));
        if let Some(failures) = failures {
            return Ok(Err(failures));
        }
    }
    // A handicapped copy is judged by what the others hold.
    let judged = Workload { hold, ..bench.workload };
    let metrics = metrics::of(&measured.outcome, &judged, &measured.cost);
    Ok(metrics::histograms(&measured.outcome)
        .map(|histograms| observed(measured.digest, metrics, histograms))
        .map_err(|error| format!("cannot compress a histogram: {error}")))
}

/// What recording a sample costs, on the way that the open loop takes: under the lock, with both times.
fn record(samples: u32) -> Observation {
    let recorder = Recorder::default();
    let due = Instant::now();
    let span = Span::start();
    for index in 0..samples {
        let begin = due + Duration::from_micros(u64::from(index % 1_000));
        recorder.record(Ok(()), due, begin, begin + Duration::from_nanos(u64::from(index) * 37), true);
    }
    let cost = span.end();
    let mut metrics = metrics::of_cost(&cost);
    metrics.insert("samples_count", f64::from(samples));
    metrics.insert("sample_ns", cost.wall.as_secs_f64() * 1e9 / f64::from(samples));
    observed(String::new(), metrics, BTreeMap::new())
}

/// The observation, with the peak of the whole process: checking the answer takes memory, too, and is what GNU time sees.
fn observed(digest: String, mut metrics: Metrics, histograms: BTreeMap<&'static str, String>) -> Observation {
    if let Some(peak) = usage::peak_rss_kib() {
        metrics.insert("process_peak_rss_kib", count(peak));
    }
    Observation { digest, metrics, histograms, pairs: None }
}
