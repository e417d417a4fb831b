//! Files through an engine: one pass in a process of its own, which is checked before it counts.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{slice, thread};

use anyhow::{Context, Result, ensure};
use study_kit::price;
use study_kit::probe::stay_here;
use study_kit::usage::{kib, peak_rss_kib};
use study_kit::{Metrics, Observation, Span, TestCase};
use tokio::runtime::Runtime;
use txn_engine::input::Input;
use txn_engine::process::{process_costly, read_entries};
use txn_engine::{ErrorLog, Outcome, Session, Setup, process_files, usage};

use crate::cases::{ARMS, Files, Setting, Subject};
use crate::inputs::{self, Expected, Set};
use crate::mirror::{self, Mirror};
use crate::prices::toil;

/// Memory of the process before its first transaction, by which the memory per transaction is reduced.
const BASE_BYTES: f64 = 10e6;

pub fn observe(case: &TestCase<'_, Setting>, files: &Files) -> Result<Observation> {
    let set = Set::new(files, case.seed);
    let (scenario, seed) = (case.scenario.name, case.seed);
    let expected =
        set.expected().with_context(|| format!("run `prepare --scenario {scenario} --seed {seed}` first"))?;
    let subject = price::find(ARMS, case.arm)?;
    // The published timer starts when it is there.
    let runtime = if let Subject::Published(mirror) = subject { mirror.runtime()? } else { None };
    if files.one_core {
        stay_here().context("cannot stay on one processor")?;
    }
    let memory_before = peak_rss_kib();
    let span = Span::start();
    let answer = pass(subject, runtime.as_ref(), files, &set)?;
    case.stretch(&span);
    let mut metrics = span.end().metrics();
    // By how much the peak has grown.
    let growth = metrics.get("peak_rss_kib").zip(memory_before);
    metrics.put("peak_rss_growth_kib", growth.map(|(peak, before)| (peak - kib(before)).max(0.0)));
    metrics.put("rows_count", set.total_rows() as f64);
    let digest = answer.check(&set, &expected)?;
    if let Answer::Accounts(outcome) = answer {
        put_outcome(&mut metrics, &outcome);
    }
    Ok(Observation::new(digest, metrics))
}

enum Answer {
    Accounts(Box<Outcome>),
    Published(Box<mirror::Done>),
    /// Of the whole published test, after its engines are gone: the accounts as printed.
    Tested(Vec<u8>, mirror::Counts),
    Records(u64),
}

fn pass(subject: Subject, runtime: Option<&Runtime>, files: &Files, set: &Set) -> Result<Answer> {
    let paths = set.paths();
    Ok(match subject {
        Subject::Ours(setup) => Answer::Accounts(Box::new(match files.steps {
            Some(steps) => process_costly(setup, &paths, Session::default(), move || toil(steps)),
            None => process_files(setup, &paths, Session::default()),
        }?)),
        Subject::Unshared => Answer::Accounts(Box::new(unshared(&paths)?)),
        Subject::Published(mirror) if files.whole_test => {
            // The test harness runs it on a thread of its own, too.
            mirror::joined(thread::scope(|scope| scope.spawn(|| whole_test(mirror, runtime, set)).join()))?
        }
        Subject::Published(mirror) => Answer::Published(Box::new(mirror.process(runtime, &paths, paths.len())?)),
        Subject::CsvScan => Answer::Records(csv_scan(&paths[0])?),
        Subject::Reader => Answer::Records(reader(&paths[0], files.steps.unwrap_or(0))?),
    })
}

/// Each file on a thread and an engine of its own: what sharing costs. They have no client in common, and are joined afterwards.
fn unshared(paths: &[PathBuf]) -> Result<Outcome> {
    let run = |path| process_files(Setup::SYNC, slice::from_ref(path), Session::default());
    let (outcomes, threads) = thread::scope(|scope| {
        let workers: Vec<_> = paths.iter().map(|path| scope.spawn(move || run(path))).collect();
        let threads = usage::of_this_process().map(|process| process.threads);
        (workers.into_iter().map(|worker| mirror::joined(worker.join())).collect::<Vec<_>>(), threads)
    });
    let (mut all, mut errors, mut accepted) = (Session::default(), ErrorLog::default(), 0);
    for outcome in outcomes {
        let outcome = outcome?;
        let session = outcome.books.session();
        all.accounts.extend(session.accounts);
        all.transactions.extend(session.transactions);
        errors.append(outcome.errors);
        accepted += outcome.accepted;
    }
    let books = Arc::new(txn_engine::engine::Engine::resume(all));
    Ok(Outcome { books, errors, accepted, messages: 0, threads })
}

/// The published test as a whole: write the files, process them one after another, then all at once, and compare.
fn whole_test(mirror: Mirror, runtime: Option<&Runtime>, set: &Set) -> Result<Answer> {
    let folder = tempfile::tempdir_in(inputs::folder()?).context("cannot create a folder for the files")?;
    let paths = set.write_files(folder.path())?;
    let in_turn = mirror.process(runtime, &paths, 1)?;
    let at_once = mirror.process(runtime, &paths, paths.len())?;
    let accounts = at_once.accounts_csv();
    ensure!(accounts == in_turn.accounts_csv(), "wrong answer: the files at once and one by one differ");
    Ok(Answer::Tested(accounts, at_once.counts))
}

impl Answer {
    /// Compares the answer with the expected one; its fingerprint.
    fn check(&self, set: &Set, expected: &Expected) -> Result<String> {
        let accounts = match self {
            Answer::Accounts(outcome) => {
                Expected::new(&outcome.accounts_csv(), outcome.accepted, |kind| outcome.errors.count(kind))
            }
            Answer::Published(done) => {
                Expected::new(&done.accounts_csv(), done.counts.accepted, |kind| done.counts.rejected(kind))
            }
            Answer::Tested(accounts, counts) => Expected::new(accounts, counts.accepted, |kind| counts.rejected(kind)),
            Answer::Records(seen) => {
                let expected = set.total_rows();
                ensure!(*seen == expected, "wrong answer: {seen} records, expected {expected}");
                return Ok(String::new());
            }
        };
        ensure!(accounts == *expected, "wrong answer: {accounts:?}, expected {expected:?}");
        Ok(accounts.digest)
    }
}

fn put_outcome(metrics: &mut Metrics, outcome: &Outcome) {
    let stored = outcome.books.stored_transactions() as f64;
    let peak = metrics.get("peak_rss_kib").filter(|_| stored > 0.0);
    metrics.extend([
        ("errors_count", outcome.errors.total() as f64),
        ("messages_count", outcome.messages as f64),
        ("table_bytes", outcome.books.table_bytes() as f64),
        ("stored_count", stored),
    ]);
    metrics.put("stored_transaction_bytes", peak.map(|peak| (peak * 1024.0 - BASE_BYTES) / stored));
    metrics.put("threads_count", outcome.threads.map(|threads| threads as f64));
}

/// Counts the rows of a file by our reader alone.
fn reader(path: &Path, steps: u32) -> Result<u64> {
    let mut rows = 0;
    let count = |entry| {
        black_box(entry);
        rows += 1;
        true
    };
    read_entries(Input::open(path)?, Setup::SYNC.reading, || toil(steps), count)?;
    Ok(rows)
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
