//! `run`: one process, one sample of one test case, checked before it counts.

use std::collections::BTreeMap;
use std::io;
use std::str::FromStr;
use std::sync::Arc;

use study_kit::error::one_line;
use study_kit::usage::settle_allocator;
use study_kit::{Observation, Record, RunRequest, Suffix, duet};

use super::arms::input::{Input, Shape};
use super::arms::{self, Arm, Driver, Product};
use super::many::{self, ManyArm};
use super::scenario::{self, Work};
use super::target::{Content, Folder, Place, Target};
use super::usage::{self, Cost, Span};
use super::{StudyError, hostile, ticker};

/// How much longer `ARM@slow` takes in a process of its own: twice the smallest margin judged in that form.
pub const PLANTED_PROCESS: f64 = 1.10;
/// How much longer `ARM@slow` takes in a duet.
pub const PLANTED_DUET: f64 = 1.04;
/// Memory that the reader may need for tampered archives of a few kilobytes, in KiB.
const HOSTILE_PEAK_KIB: u64 = 64 * 1024;

/// Why a run that started is a failure.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error("cannot write the archive: {0}")]
    Write(#[from] io::Error),
    #[error("wrong answer: {0}")]
    WrongAnswer(String),
}

/// What a case is about, and whether it is handicapped.
#[derive(Debug, Clone, Copy)]
struct Subject<T> {
    what: T,
    slow: bool,
}

impl<T: FromStr<Err = StudyError>> FromStr for Subject<T> {
    type Err = StudyError;

    fn from_str(text: &str) -> Result<Self, StudyError> {
        let (name, suffix) = Suffix::split(text)?;
        Ok(Subject { what: name.parse()?, slow: suffix == Suffix::Slow })
    }
}

/// Runs the test case once.
///
/// The record holds the sample, or the failure if the answer is wrong or the work broke off; what keeps the case from starting at
/// all is an error.
///
/// # Errors
/// If the names mean nothing.
pub fn run(request: &RunRequest) -> Result<Record, StudyError> {
    let scenario = scenario::find(&request.scenario)?;
    settle_allocator();
    let mismatch = || StudyError::Mismatch { arm: request.arm.clone(), scenario: request.scenario.clone() };
    let result = match (scenario.work, request.versus.as_deref()) {
        (Work::Archive { .. }, None) if request.arm == "empty" => Ok(empty()),
        (Work::Archive { shape, place, rounds }, None) => {
            ArchiveBench::new(&shape, place, rounds, request.seed)?.single(request.arm.parse()?)
        }
        (Work::Archive { shape, place, rounds }, Some(versus)) => {
            ArchiveBench::new(&shape, place, rounds, request.seed)?.duet(request.arm.parse()?, versus.parse()?, request)
        }
        (Work::Many { shape, archives, rounds }, None) => {
            write_many(request.arm.parse::<ManyArm>()?, &shape, archives, rounds, request.seed)
        }
        (Work::Ticker { shape, archives }, None) => {
            let arm = (request.arm != "idle").then(|| request.arm.parse::<Arm>()).transpose()?;
            watch_ticker(arm, &shape, archives, request.seed)
        }
        (Work::Hostile { archives }, None) if request.arm == "reader" => read_hostile(archives, request.seed),
        _ => return Err(mismatch()),
    };
    Ok(Record::new(env!("CARGO_PKG_NAME"), request, result.map_err(|error| one_line(&error))))
}

/// The input and place of a scenario, ready to be worked on.
struct ArchiveBench {
    shape: Shape,
    input: Input,
    folder: Folder,
    place: Place,
    rounds: u32,
}

impl ArchiveBench {
    fn new(shape: &Shape, place: Place, rounds: u32, seed: u64) -> Result<Self, StudyError> {
        Ok(ArchiveBench { shape: *shape, input: Input::new(shape, seed), folder: Folder::new(place)?, place, rounds })
    }

    /// One sample in a process of its own.
    fn single(&self, subject: Subject<Arm>) -> Result<Observation, Failure> {
        let driver = Driver::new(subject.what)?;
        let target = self.folder.target(self.place, 0);
        let calls_before = usage::write_calls();
        let span = Span::start();
        let product = self.pass(subject.what, &target, &driver)?;
        if subject.slow {
            span.spin(PLANTED_PROCESS);
        }
        let cost = span.end();
        let calls_after = usage::write_calls();
        let mut metrics = cost_metrics(&cost);
        let rounds = f64::from(self.rounds);
        let operations = product.operations;
        let content = product.archive.check(&self.input).map_err(Failure::WrongAnswer)?;
        metrics.insert("archives_count", rounds);
        metrics.insert("archive_us", cost.wall.as_secs_f64() * 1e6 / rounds);
        metrics.insert("data_bytes", number(self.input.entry_bytes() * self.input.entries));
        metrics.insert("sink_writes_count", number(operations.writes));
        // Creating and removing the file are operations, too.
        metrics.insert("file_operations_count", number(operations.writes + operations.seeks + 2));
        metrics.insert("archive_bytes", number(content.archive_bytes));
        metrics.insert("compressed_bytes", number(content.compressed_bytes));
        if let (Some(before), Some(after)) = (calls_before, calls_after) {
            metrics.insert("write_calls_count", number(after - before) / rounds);
        }
        Ok(observed(content.digest, metrics))
    }

    /// Alternating samples of two arms in one process.
    fn duet(&self, a: Subject<Arm>, b: Subject<Arm>, request: &RunRequest) -> Result<Observation, Failure> {
        let targets = (self.folder.target(self.place, 0), self.folder.target(self.place, 1));
        let drivers = (Driver::new(a.what)?, Driver::new(b.what)?);
        let timed = |subject: Subject<Arm>, target: &Target, driver: &Driver| -> Result<(f64, Content), Failure> {
            let span = Span::start();
            let product = self.pass(subject.what, target, driver)?;
            if subject.slow {
                span.spin(PLANTED_DUET);
            }
            let elapsed = span.elapsed().as_secs_f64();
            Ok((elapsed, product.archive.check(&self.input).map_err(Failure::WrongAnswer)?))
        };
        // Once unrecorded: the first pass pays for memory that later ones find ready.
        let (_, first) = timed(a, &targets.0, &drivers.0)?;
        let (_, second) = timed(b, &targets.1, &drivers.1)?;
        if first.digest != second.digest {
            return Err(Failure::WrongAnswer("the two arms wrote different content".to_owned()));
        }
        let pairs = duet::alternate(
            scenario::pairs(&self.shape),
            request.seed,
            request.block,
            || timed(a, &targets.0, &drivers.0).map(|(seconds, _)| seconds),
            || timed(b, &targets.1, &drivers.1).map(|(seconds, _)| seconds),
        )?;
        let mut metrics = BTreeMap::new();
        memory_metrics(&mut metrics);
        metrics.insert("archive_bytes", number(first.archive_bytes));
        metrics.insert("compressed_bytes", number(first.compressed_bytes));
        metrics.insert("versus_archive_bytes", number(second.archive_bytes));
        metrics.insert("versus_compressed_bytes", number(second.compressed_bytes));
        Ok(Observation { digest: first.digest, metrics, pairs: Some(pairs), ..Observation::default() })
    }

    /// The work itself: as many archives as a sample has, each in the place of the one before.
    fn pass(&self, arm: Arm, target: &Target, driver: &Driver) -> Result<Product, Failure> {
        let mut product = arms::execute(arm, &self.input, target, driver)?;
        for _ in 1..self.rounds {
            product = arms::execute(arm, &self.input, target, driver)?;
        }
        Ok(product)
    }
}

/// A process that does nothing: what the memory of the others is compared with.
fn empty() -> Observation {
    let cost = Span::start().end();
    let metrics = cost_metrics(&cost);
    observed(String::new(), metrics)
}

fn write_many(arm: ManyArm, shape: &Shape, archives: usize, rounds: u32, seed: u64) -> Result<Observation, Failure> {
    let input = Arc::new(Input::new(shape, seed));
    let folder = Folder::new(Place::Tmpfs)?;
    let driver = Driver::new(arm.arm())?;
    let targets: Vec<_> = (0..archives).map(|index| folder.target(Place::Tmpfs, index)).collect();
    let span = Span::start();
    let mut products = Vec::new();
    for _ in 0..rounds {
        products = many::execute(arm, &input, &targets, &driver)?;
    }
    let cost = span.end();
    let mut metrics = cost_metrics(&cost);
    metrics.insert("archives_count", number(archives as u64) * f64::from(rounds));
    Ok(observed(check_all(products, archives, &input)?, metrics))
}

fn watch_ticker(arm: Option<Arm>, shape: &Shape, archives: usize, seed: u64) -> Result<Observation, Failure> {
    let input = Arc::new(Input::new(shape, seed));
    let folder = Folder::new(Place::Tmpfs)?;
    let driver = Driver::new(arm.unwrap_or(Arm::Async))?;
    let targets: Vec<_> = (0..archives).map(|index| folder.target(Place::Tmpfs, index)).collect();
    let span = Span::start();
    let ticks = ticker::run(arm, &input, &targets, &driver)?;
    let cost = span.end();
    let mut metrics = cost_metrics(&cost);
    metrics.insert("ticks_count", number(ticks.count() as u64));
    metrics.insert("ticker_p50_us", ticks.quantile(0.5));
    metrics.insert("ticker_p99_us", ticks.quantile(0.99));
    metrics.insert("ticker_max_us", ticks.quantile(1.0));
    let digest = match arm {
        None => String::new(),
        Some(_) => check_all(ticks.products, archives, &input)?,
    };
    Ok(observed(digest, metrics))
}

fn read_hostile(archives: u64, seed: u64) -> Result<Observation, Failure> {
    let span = Span::start();
    let tally = hostile::run(archives, seed);
    let cost = span.end();
    let mut metrics = cost_metrics(&cost);
    metrics.insert("archives_count", number(archives));
    metrics.insert("read_count", number(tally.read));
    metrics.insert("damaged_count", number(tally.damaged));
    metrics.insert("refused_count", number(tally.refused));
    if let Some(peak) = usage::peak_rss_kib().filter(|&peak| peak > HOSTILE_PEAK_KIB) {
        return Err(Failure::WrongAnswer(format!("the reader took {peak} KiB for archives of a few KiB")));
    }
    if tally.read == 0 || tally.refused == 0 {
        return Err(Failure::WrongAnswer(format!("{tally:?}: the mutations are too weak or too strong")));
    }
    Ok(observed(String::new(), metrics))
}

/// Checks every archive; their common fingerprint.
fn check_all(products: Vec<Product>, archives: usize, input: &Input) -> Result<String, Failure> {
    if products.len() != archives {
        return Err(Failure::WrongAnswer(format!("{} archives, expected {archives}", products.len())));
    }
    let mut digest = String::new();
    for product in products {
        digest = product.archive.check(input).map_err(Failure::WrongAnswer)?.digest;
    }
    Ok(digest)
}

fn cost_metrics(cost: &Cost) -> BTreeMap<&'static str, f64> {
    let mut metrics = cost.metrics();
    let wall_s = cost.wall.as_secs_f64();
    if let Some(cpu_s) = metrics.get("cpu_s").copied().filter(|_| wall_s > 0.0) {
        metrics.insert("cpu_percent", 100.0 * cpu_s / wall_s);
    }
    metrics
}

fn memory_metrics(metrics: &mut BTreeMap<&'static str, f64>) {
    if let Some(peak) = usage::peak_rss_kib() {
        metrics.insert("peak_rss_kib", number(peak));
    }
}

/// The observation, with the peak of the whole process: checking the answer takes memory, too, and is what GNU time sees.
fn observed(digest: String, mut metrics: BTreeMap<&'static str, f64>) -> Observation {
    if let Some(peak) = usage::peak_rss_kib() {
        metrics.insert("process_peak_rss_kib", number(peak));
    }
    Observation { digest, metrics, ..Observation::default() }
}

#[expect(clippy::cast_precision_loss, reason = "counts and sizes stay far below 2^53")]
fn number(value: u64) -> f64 {
    value as f64
}
