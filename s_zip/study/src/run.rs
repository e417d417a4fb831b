//! One sample of a case, or one side of a duet, checked before it counts.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use study_kit::{Observation, Scenario, Span, Study, TestCase, Turn, Turns, usage};
use tempfile::TempDir;

use crate::cases::{Arm, Drive, SCENARIOS, Setting, Work, in_one_call};
use crate::input::{Input, Shape};
use crate::many;
use crate::place::Place;
use crate::prices;
use crate::write::{self, Driver, Product};

type Case<'a> = TestCase<'a, Setting>;

pub struct SZip;

impl Study for SZip {
    type Setting = Setting;
    const NAME: &'static str = "s_zip";
    const SCENARIOS: &'static [Scenario<Setting>] = SCENARIOS;
    const PAGE: &'static str = include_str!("../page.toml");
    const ORIGINAL: &'static str = include_str!("../original.toml");

    /// Fewer where one takes tens of milliseconds, more where it takes less than two. More than these make no interval narrower: processes differ by
    /// more than their pairs do.
    fn pairs(&Setting { shape, miniz, .. }: &Setting, arm: &str) -> usize {
        const MIB: u64 = 1 << 20;
        let buffered = arm.contains("buffered") || arm.starts_with("best");
        match shape {
            Shape { call_bytes: 1, .. } => 10,
            Shape { entries: 50.., .. } if miniz => 6,
            shape if miniz && shape.bytes() >= MIB => 10,
            shape if buffered && shape.bytes() < MIB => 60,
            shape if buffered && shape.bytes() <= 5 * MIB => 30,
            Shape { entries: 50.., .. } => 10,
            _ => 20,
        }
    }

    fn observe(case: &Case<'_>) -> Result<Observation> {
        usage::settle_allocator();
        match case.setting.work {
            // What the memory of the others is compared with.
            Work::Archive { .. } if case.arm == "empty" => Ok(Observation::new("", Span::start().end().metrics())),
            Work::Archive { rounds, .. } => archive(case, rounds),
            Work::Many { archives, rounds } => several(case, archives, rounds),
            Work::Ticker { archives } => beside_a_ticker(case, archives),
            Work::Writes => prices::in_writes(case.arm, &Input::new(&case.setting.shape, case.seed)),
            Work::Price(price) => prices::observe(price, case.arm, &Input::new(&case.setting.shape, case.seed)),
        }
    }

    fn turns<'a>(case: &'a Case<'_>) -> Result<Turns<'a>> {
        usage::settle_allocator();
        let bench = Bench::new(case)?;
        Ok(Box::new(move || {
            let span = Span::start();
            let product = bench.pass()?;
            case.stretch(&span);
            let seconds = span.elapsed().as_secs_f64();
            let content = product.archive.check(&bench.input)?;
            Ok(Turn { seconds, metrics: content.metrics().into(), digest: content.digest })
        }))
    }
}

/// An arm, its input and its place, ready to be worked on.
struct Bench {
    arm: Arm,
    input: Arc<Input>,
    place: Place,
    rounds: u32,
    driver: Driver,
    path: PathBuf,
    _folder: TempDir,
}

impl Bench {
    fn new(case: &Case<'_>) -> Result<Self> {
        let Work::Archive { place, rounds } = case.setting.work else { bail!("it is not about one archive") };
        let (arm, shape) = in_one_call(case.arm, case.setting.shape);
        let arm: Arm = arm.parse()?;
        let folder = place.folder()?;
        Ok(Bench {
            arm,
            input: Input::new(&shape, case.seed),
            place,
            rounds,
            driver: Driver::new(arm.drive())?,
            path: folder.path().join("0.zip"),
            _folder: folder,
        })
    }

    /// The work itself: as many archives as a sample has, each in the place of the one before.
    fn pass(&self) -> Result<Product> {
        let write = || write::write(self.arm, &self.input, self.place, &self.path, &self.driver);
        let mut product = write()?;
        for _ in 1..self.rounds {
            product = write()?;
        }
        Ok(product)
    }
}

fn archive(case: &Case<'_>, rounds: u32) -> Result<Observation> {
    let bench = Bench::new(case)?;
    let calls_before = write_calls();
    let span = Span::start();
    let product = bench.pass()?;
    case.stretch(&span);
    let cost = span.end();
    let calls = write_calls().zip(calls_before).map(|(after, before)| (after - before) as f64 / f64::from(rounds));
    let mut metrics = cost.metrics();
    let (operations, rounds) = (product.operations, f64::from(rounds));
    let content = product.archive.check(&bench.input)?;
    metrics.extend([
        ("archives_count", rounds),
        ("archive_us", cost.wall.as_secs_f64() * 1e6 / rounds),
        ("data_bytes", case.setting.shape.bytes() as f64),
        ("sink_writes_count", operations.writes as f64),
        // Creating and removing the file are operations, too.
        ("file_operations_count", (operations.writes + operations.seeks + 2) as f64),
    ]);
    metrics.extend(content.metrics());
    metrics.put("write_calls_count", calls);
    Ok(Observation::new(content.digest, metrics))
}

fn several(case: &Case<'_>, archives: usize, rounds: u32) -> Result<Observation> {
    let (arm, together) = many::parse(case.arm)?;
    let driver = Driver::new(arm.drive())?;
    let input = Input::new(&case.setting.shape, case.seed);
    let (_folder, files) = files(archives)?;
    let span = Span::start();
    let mut products = Vec::new();
    for _ in 0..rounds {
        products = many::execute((arm, together), &input, &files, &driver)?;
    }
    let mut metrics = span.end().metrics();
    metrics.put("archives_count", archives as f64 * f64::from(rounds));
    Ok(Observation::new(check_all(products, archives, &input)?, metrics))
}

fn beside_a_ticker(case: &Case<'_>, archives: usize) -> Result<Observation> {
    let arm: Option<Arm> = (case.arm != "idle").then(|| case.arm.parse()).transpose()?;
    let driver = Driver::new(arm.map_or(Drive::MultiThread, Arm::drive))?;
    let input = Input::new(&case.setting.shape, case.seed);
    let (_folder, files) = files(archives)?;
    let span = Span::start();
    let (late_ns, products) = many::beside_a_ticker(arm, &input, &files, &driver)?;
    let mut metrics = span.end().metrics();
    let quantile_us = |share| late_ns.value_at_quantile(share) as f64 / 1e3;
    metrics.extend([
        ("ticks_count", late_ns.len() as f64),
        ("ticker_p50_us", quantile_us(0.5)),
        ("ticker_p99_us", quantile_us(0.99)),
        ("ticker_max_us", quantile_us(1.0)),
    ]);
    let digest = if arm.is_some() { check_all(products, archives, &input)? } else { String::new() };
    Ok(Observation::new(digest, metrics))
}

/// So many files in memory, and their folder.
fn files(count: usize) -> Result<(TempDir, Vec<PathBuf>)> {
    let folder = Place::Tmpfs.folder()?;
    let files = (0..count).map(|index| folder.path().join(format!("{index}.zip"))).collect();
    Ok((folder, files))
}

/// Checks every archive; their common fingerprint.
fn check_all(products: Vec<Product>, archives: usize, input: &Input) -> Result<String> {
    ensure!(products.len() == archives, "wrong answer: {} archives, expected {archives}", products.len());
    let mut digest = String::new();
    for product in products {
        digest = product.archive.check(input)?.digest;
    }
    Ok(digest)
}

/// Write calls into the kernel that this process made so far; `None` where there is no `/proc`.
fn write_calls() -> Option<u64> {
    Some(procfs::process::Process::myself().ok()?.io().ok()?.syscw)
}
