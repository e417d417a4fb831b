//! `run`: one process, one sample of one test case, checked before it counts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use study_kit::error::one_line;
use study_kit::usage::kib;
use study_kit::{Observation, Record, RunRequest, Suffix, duet};
use tokio::runtime::Runtime;

use super::channel::{self, Ends};
use super::inputs::{Expected, Set};
use super::scenario::{self, Work};
use super::{StudyError, concurrent, inputs};
use crate::arms::{Arm, Options, Outcome, process_files};
use crate::error::Error;
use crate::usage::{self, Cost, Span};

/// How much longer `ARM@slow` takes in a process of its own: twice the smallest margin judged in that form.
pub const PLANTED_PROCESS: f64 = 1.10;
/// How much longer `ARM@slow` takes in a duet.
pub const PLANTED_DUET: f64 = 1.04;
/// Alternations of a duet.
const PAIRS: usize = 20;
/// Memory of the process before its first transaction, by which the memory per transaction is reduced.
const BASE_BYTES: f64 = 10e6;

/// An arm of this study, and whether it is handicapped.
#[derive(Debug, Clone, Copy)]
struct Subject {
    what: What,
    slow: bool,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Engine(Arm),
    /// The bare byte-record scan that the goals are ratios to.
    CsvScan,
    Channel(Ends),
}

impl Subject {
    fn parse(text: &str) -> Result<Self, StudyError> {
        let (name, suffix) = Suffix::split(text)?;
        let what = match name {
            "csv_scan" => What::CsvScan,
            "channel_async" => What::Channel(Ends::Tokio),
            "channel_sync" => What::Channel(Ends::Threads),
            _ => What::Engine(name.parse()?),
        };
        Ok(Subject { what, slow: suffix == Suffix::Slow })
    }
}

/// What one pass of a subject came to.
enum Answer {
    Accounts(Box<Outcome>),
    /// Records or messages seen, which must be this many.
    Count {
        seen: u64,
        expected: u64,
    },
}

/// Runs the test case once.
///
/// The record holds the sample, or the failure if the answer is wrong or the work broke off; what keeps the case from starting at
/// all is an error.
///
/// # Errors
/// If the names mean nothing or the input was not prepared.
pub fn run(request: &RunRequest) -> Result<Record, StudyError> {
    let scenario = scenario::find(&request.scenario)?;
    let concurrent = match &scenario.work {
        Work::Tcp(tcp) => Some(concurrent::tcp(tcp, request)),
        Work::Clients { count } => Some(concurrent::clients(*count, request)),
        Work::File { .. } | Work::ThreeFiles { .. } | Work::Messages { .. } => None,
    };
    if let Some(result) = concurrent {
        return Ok(Record::new(env!("CARGO_PKG_NAME"), request, result));
    }
    let subject = Subject::parse(&request.arm)?;
    let versus = request.versus.as_deref().map(Subject::parse).transpose()?;
    let bench = Bench::new(&scenario.work, request)?;
    let result = match versus {
        None => bench.single(subject),
        Some(versus) => bench.duet(subject, versus, request),
    };
    Ok(Record::new(env!("CARGO_PKG_NAME"), request, result.map_err(|error| one_line(&error))))
}

/// Why a run that started is a failure.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error("wrong answer: {0}")]
    WrongAnswer(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Study(StudyError::Engine(error))
    }
}

/// The input of a scenario, ready to be worked on.
struct Bench<'a> {
    work: &'a Work,
    set: Option<(Set, Expected)>,
}

impl<'a> Bench<'a> {
    fn new(work: &'a Work, request: &RunRequest) -> Result<Self, StudyError> {
        let set = match work {
            Work::File { shape, rows } => Set::file(shape, *rows, request.seed),
            Work::ThreeFiles { rows, .. } => Set::three_files(*rows, request.seed),
            _ => return Ok(Bench { work, set: None }),
        };
        let not_prepared = || StudyError::NotPrepared { scenario: request.scenario.clone(), seed: request.seed };
        let expected = set.expected()?.ok_or_else(not_prepared)?;
        Ok(Bench { work, set: Some((set, expected)) })
    }

    /// One pass in a process of its own.
    fn single(&self, subject: Subject) -> Result<Observation, Failure> {
        let memory_before = usage::peak_rss_kib();
        let span = Span::start();
        let answer = self.pass(subject.what, None)?;
        if subject.slow {
            span.spin(PLANTED_PROCESS);
        }
        let cost = span.end();
        let mut metrics = cost_metrics(&cost);
        if let (Some(peak), Some(before)) = (metrics.get("peak_rss_kib").copied(), memory_before) {
            metrics.insert("peak_rss_growth_kib", (peak - kib(before)).max(0.0));
        }
        self.answer_metrics(&mut metrics, &answer);
        let digest = self.check(&answer)?;
        // Checking the answer takes memory, too: what GNU time sees is the peak of the whole process.
        if let Some(peak) = usage::peak_rss_kib() {
            metrics.insert("process_peak_rss_kib", kib(peak));
        }
        Ok(Observation { digest, metrics, ..Observation::default() })
    }

    /// Alternating passes of two arms in one process.
    fn duet(&self, a: Subject, b: Subject, request: &RunRequest) -> Result<Observation, Failure> {
        let files = self.paths().len();
        let runtime = |subject: Subject| match subject.what {
            What::Engine(arm) => arm.runtime(files),
            What::CsvScan | What::Channel(_) => Ok(None),
        };
        let runtimes = (runtime(a)?, runtime(b)?);
        let timed = |subject: Subject, runtime: &Option<Arc<Runtime>>| -> Result<(f64, String), Failure> {
            let span = Span::start();
            let answer = self.pass(subject.what, runtime.clone())?;
            if subject.slow {
                span.spin(PLANTED_DUET);
            }
            let elapsed = span.elapsed().as_secs_f64();
            Ok((elapsed, self.check(&answer)?))
        };
        // Once unrecorded: the first pass pays for memory that later ones find ready.
        timed(a, &runtimes.0)?;
        let (_, digest) = timed(b, &runtimes.1)?;
        let pairs = duet::alternate(
            PAIRS,
            request.seed,
            request.block,
            || timed(a, &runtimes.0).map(|(seconds, _)| seconds),
            || timed(b, &runtimes.1).map(|(seconds, _)| seconds),
        )?;
        let metrics = usage::peak_rss_kib().map(|peak| ("peak_rss_kib", kib(peak))).into_iter().collect();
        Ok(Observation { digest, metrics, pairs: Some(pairs), ..Observation::default() })
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.set.as_ref().map(|(set, _)| set.paths()).unwrap_or_default()
    }

    /// The work itself.
    fn pass(&self, what: What, runtime: Option<Arc<Runtime>>) -> Result<Answer, Failure> {
        match (what, self.work) {
            (What::Channel(ends), Work::Messages { count }) => {
                let expected = count * (count + 1) / 2;
                Ok(Answer::Count { seen: channel::send(ends, *count)?, expected })
            }
            (What::CsvScan, Work::File { rows, .. }) => {
                let seen = csv_scan(&self.paths()[0])?;
                Ok(Answer::Count { seen, expected: *rows })
            }
            (What::Engine(arm), Work::ThreeFiles { whole_test: true, .. }) => self.whole_test(arm, runtime),
            (What::Engine(arm), Work::File { .. } | Work::ThreeFiles { .. }) => {
                let paths = self.paths();
                let options = Options { runtime, count_threads: paths.len() > 1, ..Options::default() };
                Ok(Answer::Accounts(Box::new(process_files(arm, &paths, options)?)))
            }
            _ => Err(Failure::from(Error::UnknownName {
                what: "arm of this scenario",
                given: format!("{what:?}"),
                choices: "those that `arms` lists with it".to_owned(),
            })),
        }
    }

    /// The published test as a whole: write the files, process them one after another, then all at once, and compare.
    fn whole_test(&self, arm: Arm, runtime: Option<Arc<Runtime>>) -> Result<Answer, Failure> {
        let Some((set, _)) = &self.set else {
            return Err(Failure::WrongAnswer("a test without files".to_owned()));
        };
        let folder = tempfile::tempdir_in(inputs::folder())
            .map_err(|source| inputs::file_error("create a folder in", &inputs::folder(), source))?;
        let paths = set.write_files(folder.path())?;
        let mut session = Options::default();
        for path in &paths {
            let done = process_files(arm, std::slice::from_ref(path), session)?;
            session = Options { session: done.into_session(), ..Options::default() };
        }
        let one_by_one = session.session.accounts;
        let at_once = process_files(arm, &paths, Options { runtime, ..Options::default() })?;
        if at_once.accounts() != one_by_one {
            return Err(Failure::WrongAnswer("the files at once and one by one differ".to_owned()));
        }
        Ok(Answer::Accounts(Box::new(at_once)))
    }

    /// Compares the answer with the expected one; its fingerprint.
    fn check(&self, answer: &Answer) -> Result<String, Failure> {
        let difference = match (answer, &self.set) {
            (Answer::Accounts(outcome), Some((_, expected))) => {
                let got = Expected::of(outcome);
                match got.difference(expected) {
                    None => return Ok(got.digest),
                    Some(difference) => difference,
                }
            }
            (Answer::Accounts(_), None) => "accounts out of messages".to_owned(),
            (Answer::Count { seen, expected }, _) if seen == expected => return Ok(String::new()),
            (Answer::Count { seen, expected }, _) => format!("counted {seen}, expected {expected}"),
        };
        Err(Failure::WrongAnswer(difference))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and bytes stay far below 2^53")]
    fn answer_metrics(&self, metrics: &mut BTreeMap<&'static str, f64>, answer: &Answer) {
        match (self.work, &self.set) {
            (Work::Messages { count }, _) => {
                metrics.insert("messages_count", *count as f64);
            }
            (_, Some((set, _))) => {
                metrics.insert("rows_count", set.total_rows() as f64);
            }
            _ => {}
        }
        let Answer::Accounts(outcome) = answer else {
            return;
        };
        metrics.insert("accepted_count", outcome.accepted as f64);
        metrics.insert("errors_count", outcome.errors.total() as f64);
        metrics.insert("messages_count", outcome.messages as f64);
        metrics.insert("table_bytes", outcome.table_bytes() as f64);
        let stored = outcome.stored_transactions() as f64;
        metrics.insert("stored_count", stored);
        if let (Some(peak), true) = (metrics.get("peak_rss_kib"), stored > 0.0) {
            metrics.insert("stored_transaction_bytes", (peak * 1024.0 - BASE_BYTES) / stored);
        }
        if let Some(threads) = outcome.threads {
            metrics.insert("threads_count", threads as f64);
        }
    }
}

/// Counts the records of a file as csv's byte-record reader sees them, header not included.
fn csv_scan(path: &std::path::Path) -> Result<u64, Failure> {
    let failed = |error: csv::Error| inputs::file_error("read", path, error.into());
    let mut reader = csv::Reader::from_path(path).map_err(failed)?;
    let mut record = csv::ByteRecord::new();
    let mut records = 0;
    while reader.read_byte_record(&mut record).map_err(failed)? {
        records += 1;
    }
    Ok(records)
}

fn cost_metrics(cost: &Cost) -> BTreeMap<&'static str, f64> {
    #[cfg_attr(not(feature = "count-allocations"), expect(unused_mut, reason = "another build adds to them"))]
    let mut metrics = cost.metrics();
    #[cfg(feature = "count-allocations")]
    {
        let (count, bytes) = crate::allocations::so_far();
        #[expect(clippy::cast_precision_loss, reason = "counts and bytes stay far below 2^53")]
        metrics.extend([("allocations_count", count as f64), ("allocated_bytes", bytes as f64)]);
    }
    metrics
}
