//! Files through an engine: a sample of one pass in a process of its own, or the turns of a duet, each checked before it counts.

use std::path::Path;
use std::slice;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use study_kit::usage::{kib, peak_rss_kib};
use study_kit::{Metrics, Observation, Span, TestCase, Turn, Turns};
use tokio::runtime::Runtime;
use txn_engine::{Options, Outcome, Setup, process_files};

use crate::cases::{ENGINES, Files, Setting};
use crate::inputs::{self, Expected, Set};

/// Memory of the process before its first transaction, by which the memory per transaction is reduced.
const BASE_BYTES: f64 = 10e6;

/// One pass in a process of its own.
pub fn observe(case: &TestCase<'_, Setting>, files: &Files) -> Result<Observation> {
    let bench = Bench::new(case, files)?;
    let memory_before = peak_rss_kib();
    #[cfg(feature = "allocations")]
    let region = stats_alloc::Region::new(&stats_alloc::INSTRUMENTED_SYSTEM);
    let span = Span::start();
    let answer = bench.pass(None)?;
    case.stretch(&span);
    let mut metrics = span.end().metrics();
    #[cfg(feature = "allocations")]
    {
        let made = region.change();
        metrics.put("allocations_count", (made.allocations + made.reallocations) as f64);
        metrics.put("allocated_bytes", made.bytes_allocated as f64);
    }
    put_growth(&mut metrics, memory_before);
    metrics.put("rows_count", bench.set.total_rows() as f64);
    if let Answer::Accounts(outcome) = &answer {
        put_outcome(&mut metrics, outcome);
    }
    Ok(Observation::new(bench.check(&answer)?, metrics))
}

/// Passes of one arm of a duet, which share a runtime.
pub fn turns<'a>(case: &'a TestCase<'_, Setting>, files: &Files) -> Result<Turns<'a>> {
    let bench = Bench::new(case, files)?;
    let runtime = bench.engine.map_or(Ok(None), |setup| setup.runner.runtime(bench.set.paths().len()))?;
    Ok(Box::new(move || {
        let span = Span::start();
        let answer = bench.pass(runtime.clone())?;
        case.stretch(&span);
        let seconds = span.elapsed().as_secs_f64();
        Ok(Turn { seconds, digest: bench.check(&answer)?, ..Turn::default() })
    }))
}

/// What one pass came to.
enum Answer {
    Accounts(Box<Outcome>),
    /// Records seen.
    Records(u64),
}

/// An arm and its input, ready to be worked on.
struct Bench {
    /// None for the bare scan.
    engine: Option<Setup>,
    set: Set,
    expected: Expected,
    whole_test: bool,
}

impl Bench {
    fn new(case: &TestCase<'_, Setting>, files: &Files) -> Result<Self> {
        let engine = ENGINES.into_iter().find(|(name, _)| *name == case.arm).map(|(_, setup)| setup);
        ensure!(engine.is_some() || case.arm == "csv_scan", "no engine is called {}", case.arm);
        let set = Set::new(files, case.seed);
        let expected = set.expected().with_context(|| {
            let name = case.scenario.name;
            format!("run `prepare --scenario {name} --seed {}` first", case.seed)
        })?;
        Ok(Bench { engine, set, expected, whole_test: files.whole_test })
    }

    /// The work itself.
    fn pass(&self, runtime: Option<Arc<Runtime>>) -> Result<Answer> {
        let paths = self.set.paths();
        let options = Options { runtime, count_threads: paths.len() > 1, ..Options::default() };
        Ok(match self.engine {
            None => Answer::Records(csv_scan(&paths[0])?),
            Some(engine) if self.whole_test => Answer::Accounts(Box::new(self.whole_test(engine)?)),
            Some(engine) => Answer::Accounts(Box::new(process_files(engine, &paths, options)?)),
        })
    }

    /// The published test as a whole: write the files, process them one after another, then all at once, and compare.
    fn whole_test(&self, engine: Setup) -> Result<Outcome> {
        let folder = tempfile::tempdir_in(inputs::folder()?).context("cannot create a folder for the files")?;
        let paths = self.set.write_files(folder.path())?;
        let mut session = Options::default();
        for path in &paths {
            let done = process_files(engine, slice::from_ref(path), session)?;
            session = Options { session: done.books.session(), ..Options::default() };
        }
        let at_once = process_files(engine, &paths, Options::default())?;
        let equal = at_once.books.accounts() == session.session.accounts;
        ensure!(equal, "wrong answer: the files at once and one by one differ");
        Ok(at_once)
    }

    /// Compares the answer with the expected one; its fingerprint.
    fn check(&self, answer: &Answer) -> Result<String> {
        match answer {
            Answer::Accounts(outcome) => {
                let (got, expected) = (Expected::of(outcome), &self.expected);
                ensure!(got == *expected, "wrong answer: {got:?}, expected {expected:?}");
                Ok(got.digest)
            }
            Answer::Records(seen) => {
                let expected = self.set.total_rows();
                ensure!(*seen == expected, "wrong answer: {seen} records, expected {expected}");
                Ok(String::new())
            }
        }
    }
}

/// By how much the peak has grown since it was `before`.
pub fn put_growth(metrics: &mut Metrics, before: Option<u64>) {
    let growth = metrics.get("peak_rss_kib").zip(before);
    metrics.put("peak_rss_growth_kib", growth.map(|(peak, before)| (peak - kib(before)).max(0.0)));
}

fn put_outcome(metrics: &mut Metrics, outcome: &Outcome) {
    let stored = outcome.books.stored_transactions() as f64;
    let peak = metrics.get("peak_rss_kib").filter(|_| stored > 0.0);
    metrics.extend([
        ("accepted_count", outcome.accepted as f64),
        ("errors_count", outcome.errors.total() as f64),
        ("messages_count", outcome.messages as f64),
        ("table_bytes", outcome.books.table_bytes() as f64),
        ("stored_count", stored),
    ]);
    metrics.put("stored_transaction_bytes", peak.map(|peak| (peak * 1024.0 - BASE_BYTES) / stored));
    metrics.put("threads_count", outcome.threads.map(|threads| threads as f64));
}

/// Counts the records of a file as csv's byte-record reader sees them, header not included.
fn csv_scan(path: &Path) -> Result<u64> {
    let mut reader = csv::Reader::from_path(path)?;
    let mut record = csv::ByteRecord::new();
    let mut records = 0;
    while reader.read_byte_record(&mut record)? {
        records += 1;
    }
    Ok(records)
}
