//! The arms: who reads, who applies, and how rows get from the one to the other.

use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::thread;

use tokio::runtime::Runtime;

use crate::accounts;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, ErrorLog};
use crate::input::Input;
use crate::ledger::Ledger;
use crate::parse::{Parser, Reading};
use crate::row::{Entry, Row};
use crate::rules::Account;
use crate::session::Session;
use crate::usage;

mod best;
mod pipeline;
mod sync;

/// A variant under comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arm {
    /// Mirror: one thread per file reads and applies, on shared `DashMap`s.
    Sync,
    /// Mirror: per file a blocking reader, an unbounded channel with one message per row, and a consuming task. The runtime is
    /// the published one: multi-thread for one file (its `main`), current-thread for several (its test).
    Async,
    /// Control: the same pipeline on two std threads per file, without a runtime.
    SyncPipelined,
    /// Control: `Async` with 16 rows per message.
    AsyncBatched16,
    /// Control: `Async` with 256 rows per message.
    AsyncBatched256,
    /// Control: `Async` with 4,096 rows per message.
    AsyncBatched4096,
    /// Control: `SyncPipelined` with 16 rows per message.
    SyncBatched16,
    /// Control: `SyncPipelined` with 256 rows per message.
    SyncBatched256,
    /// Control: `SyncPipelined` with 4,096 rows per message.
    SyncBatched4096,
    /// Control: `Async` on a current-thread runtime.
    AsyncCurrentThread,
    /// Control: `Async` on a multi-thread runtime.
    AsyncMultiThread,
    /// Control: `Sync` with an engine of its own for each file, so that threads share nothing.
    SyncUnshared,
    /// Control: `Sync`, every row error formatted and kept.
    SyncFormatted,
    /// Control: `Async`, every row error formatted and kept.
    AsyncFormatted,
    /// Mirror: `Sync` with the published cost per row: a deserialiser with cloned header, owned strings, errors formatted and kept.
    SyncAsPublished,
    /// Mirror: `Async` with the published cost per row.
    AsyncAsPublished,
    /// Control: `SyncPipelined` with the published cost per row.
    SyncPipelinedAsPublished,
    /// Best on one core: one thread, tables without locks.
    BestOneCore,
    /// Best on all cores: blocks are read in parallel and applied in the order of the file.
    BestAllCores,
}

impl Arm {
    /// Every arm.
    pub const ALL: [Arm; 19] = [
        Arm::Sync,
        Arm::Async,
        Arm::SyncPipelined,
        Arm::AsyncBatched16,
        Arm::AsyncBatched256,
        Arm::AsyncBatched4096,
        Arm::SyncBatched16,
        Arm::SyncBatched256,
        Arm::SyncBatched4096,
        Arm::AsyncCurrentThread,
        Arm::AsyncMultiThread,
        Arm::SyncUnshared,
        Arm::SyncFormatted,
        Arm::AsyncFormatted,
        Arm::SyncAsPublished,
        Arm::AsyncAsPublished,
        Arm::SyncPipelinedAsPublished,
        Arm::BestOneCore,
        Arm::BestAllCores,
    ];

    /// The arm's name in commands, records and the report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Arm::Sync => "sync",
            Arm::Async => "async",
            Arm::SyncPipelined => "sync_pipelined",
            Arm::AsyncBatched16 => "async_batched_16",
            Arm::AsyncBatched256 => "async_batched_256",
            Arm::AsyncBatched4096 => "async_batched_4096",
            Arm::SyncBatched16 => "sync_batched_16",
            Arm::SyncBatched256 => "sync_batched_256",
            Arm::SyncBatched4096 => "sync_batched_4096",
            Arm::AsyncCurrentThread => "async_current_thread",
            Arm::AsyncMultiThread => "async_multi_thread",
            Arm::SyncUnshared => "sync_unshared",
            Arm::SyncFormatted => "sync_formatted",
            Arm::AsyncFormatted => "async_formatted",
            Arm::SyncAsPublished => "sync_as_published",
            Arm::AsyncAsPublished => "async_as_published",
            Arm::SyncPipelinedAsPublished => "sync_pipelined_as_published",
            Arm::BestOneCore => "best_one_core",
            Arm::BestAllCores => "best_all_cores",
        }
    }

    /// How the arm works when it is given `files` files.
    fn execution(self, files: usize) -> Execution {
        use Runner::{CurrentThread, MultiThread, Threads};
        let published_runtime = if files > 1 { CurrentThread } else { MultiThread };
        let pipeline = |runner, batch| Execution::Pipeline { runner, batch };
        match self {
            Arm::Sync | Arm::SyncFormatted | Arm::SyncAsPublished => Execution::ThreadPerFile,
            Arm::SyncUnshared => Execution::EnginePerFile,
            Arm::Async | Arm::AsyncFormatted | Arm::AsyncAsPublished => pipeline(published_runtime, 1),
            Arm::AsyncBatched16 => pipeline(published_runtime, 16),
            Arm::AsyncBatched256 => pipeline(published_runtime, 256),
            Arm::AsyncBatched4096 => pipeline(published_runtime, 4096),
            Arm::AsyncCurrentThread => pipeline(CurrentThread, 1),
            Arm::AsyncMultiThread => pipeline(MultiThread, 1),
            Arm::SyncPipelined | Arm::SyncPipelinedAsPublished => pipeline(Threads, 1),
            Arm::SyncBatched16 => pipeline(Threads, 16),
            Arm::SyncBatched256 => pipeline(Threads, 256),
            Arm::SyncBatched4096 => pipeline(Threads, 4096),
            Arm::BestOneCore => Execution::Best { workers: NonZero::<usize>::MIN },
            Arm::BestAllCores => {
                Execution::Best { workers: thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN) }
            }
        }
    }

    /// A new runtime of the kind that the arm uses for `files` files; `None` for arms without one.
    ///
    /// # Errors
    /// If the runtime cannot start its threads.
    pub fn runtime(self, files: usize) -> Result<Option<Arc<Runtime>>, Error> {
        match self.execution(files) {
            Execution::Pipeline { runner, .. } => runner.runtime(),
            _ => Ok(None),
        }
    }

    /// How the arm reads rows, and the log it writes errors to.
    fn manner(self) -> (Reading, ErrorLog) {
        match self {
            Arm::SyncAsPublished | Arm::AsyncAsPublished | Arm::SyncPipelinedAsPublished => {
                (Reading::Deserialiser, ErrorLog::with_messages())
            }
            Arm::SyncFormatted | Arm::AsyncFormatted => (Reading::Bytes, ErrorLog::with_messages()),
            _ => (Reading::Bytes, ErrorLog::default()),
        }
    }
}

impl FromStr for Arm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Arm::ALL.into_iter().find(|arm| arm.name() == name).ok_or_else(|| Error::UnknownName {
            what: "engine",
            given: name.to_owned(),
            choices: Arm::ALL.map(Arm::name).join(", "),
        })
    }
}

/// The shape of an arm.
#[derive(Debug, Clone, Copy)]
enum Execution {
    ThreadPerFile,
    EnginePerFile,
    Pipeline { runner: Runner, batch: usize },
    Best { workers: NonZero<usize> },
}

/// Who runs the two ends of a pipeline.
#[derive(Debug, Clone, Copy)]
enum Runner {
    Threads,
    CurrentThread,
    MultiThread,
}

/// What a run starts from.
#[derive(Debug, Default)]
pub struct Options {
    /// Accounts and transactions of an earlier run.
    pub session: Session,
    /// A runtime to use instead of building one, for arms that need one: many runs in one process share it.
    pub runtime: Option<Arc<Runtime>>,
    /// Whether to look how many threads there are once all have started.
    pub count_threads: bool,
}

/// Where an arm keeps accounts and transactions.
#[derive(Debug)]
enum Books {
    Shared(Engine),
    Owned(Ledger),
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    books: Books,
    /// Rows that could not be read or were rejected.
    pub errors: ErrorLog,
    /// Rows that were applied.
    pub accepted: u64,
    /// Messages that went through a channel.
    pub messages: u64,
    /// Threads of the process once all had started, if asked for and readable.
    pub threads: Option<u64>,
}

impl Outcome {
    /// The accounts, sorted by client.
    #[must_use]
    pub fn accounts(&self) -> Vec<(u16, Account)> {
        match &self.books {
            Books::Shared(engine) => engine.accounts(),
            Books::Owned(ledger) => ledger.accounts(),
        }
    }

    /// The accounts as [`accounts::write_csv`] writes them.
    #[must_use]
    pub fn accounts_csv(&self) -> Vec<u8> {
        accounts::to_csv(&self.accounts())
    }

    /// Bytes of the tables of accounts and transactions, from their capacity.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        match &self.books {
            Books::Shared(engine) => engine.table_bytes(),
            Books::Owned(ledger) => ledger.table_bytes(),
        }
    }

    /// How many transactions are stored.
    #[must_use]
    pub fn stored_transactions(&self) -> u64 {
        match &self.books {
            Books::Shared(engine) => engine.stored_transactions(),
            Books::Owned(ledger) => ledger.stored_transactions(),
        }
    }

    /// What a later run can go on from.
    #[must_use]
    pub fn into_session(self) -> Session {
        match self.books {
            Books::Shared(engine) => engine.into_session(),
            Books::Owned(ledger) => ledger.into_session(),
        }
    }
}

/// Processes `paths` with `arm`.
///
/// One file is applied in its order. Several are applied as the arm does it: the best arms one after another, all others at the same
/// time, so that the answer is defined only if the files share no client and no transaction id.
///
/// # Errors
/// If a file cannot be read or its header is not usable, or a thread dies. Row errors are not errors of the run; they are counted in the
/// outcome.
pub fn process_files(arm: Arm, paths: &[PathBuf], options: Options) -> Result<Outcome, Error> {
    let inputs = paths.iter().map(|path| Input::open(path)).collect::<Result<Vec<_>, _>>()?;
    process(arm, inputs, options)
}

/// Processes opened `inputs` with `arm`, as [`process_files`].
///
/// # Errors
/// As [`process_files`].
pub fn process(arm: Arm, inputs: Vec<Input>, options: Options) -> Result<Outcome, Error> {
    let (reading, log) = arm.manner();
    let job = Job { reading, log: &log, count_threads: options.count_threads };
    let (books, tally) = match arm.execution(inputs.len()) {
        Execution::ThreadPerFile => {
            let engine = Engine::resume(options.session);
            let tally = sync::thread_per_file(&engine, inputs, job)?;
            (Books::Shared(engine), tally)
        }
        Execution::EnginePerFile => {
            let (engine, tally) = sync::engine_per_file(inputs, job, options.session)?;
            (Books::Shared(engine), tally)
        }
        Execution::Pipeline { runner, batch } => {
            let engine = Engine::resume(options.session);
            let (engine, tally) = pipeline::run(engine, inputs, job, (runner, batch), options.runtime)?;
            (Books::Shared(engine), tally)
        }
        Execution::Best { workers } => {
            let ledger = Ledger::resume(options.session);
            let (ledger, tally) = best::run(ledger, inputs, workers)?;
            (Books::Owned(ledger), tally)
        }
    };
    let Tally { accepted, errors, messages, threads } = tally;
    Ok(Outcome { books, errors, accepted, messages, threads })
}

/// What every worker of a run is told.
#[derive(Debug, Clone, Copy)]
struct Job<'a> {
    reading: Reading,
    /// The kind of log to write errors to.
    log: &'a ErrorLog,
    count_threads: bool,
}

impl Job<'_> {
    /// How many threads there are, if that is asked.
    fn threads(&self) -> Option<u64> {
        if self.count_threads { usage::threads() } else { None }
    }
}

/// What one consumer counts.
#[derive(Debug, Default)]
struct Tally {
    accepted: u64,
    errors: ErrorLog,
    messages: u64,
    threads: Option<u64>,
}

impl Tally {
    fn new(log: &ErrorLog) -> Self {
        Tally { errors: log.fresh(), ..Tally::default() }
    }

    /// Applies `entry` by `process` and counts what comes of it.
    #[inline]
    fn take(&mut self, entry: &Entry, process: impl FnOnce(&Row) -> Result<(), ErrorKind>) {
        let rejection = match entry {
            Entry::Row(row) => process(row).err(),
            Entry::Unreadable { kind, .. } => Some(*kind),
        };
        match rejection {
            None => self.accepted += 1,
            Some(kind) => self.errors.add(entry.line(), kind),
        }
    }

    /// Adds what another consumer counted in rows that come after these.
    fn append(&mut self, other: Tally) {
        self.accepted += other.accepted;
        self.messages += other.messages;
        self.errors.append(other.errors);
    }
}

/// Hands every entry of `input` to `sink`, until it returns false.
fn read_entries(mut input: Input, reading: Reading, mut sink: impl FnMut(Entry) -> bool) -> Result<(), Error> {
    let mut parser = Parser::new(input.columns, reading);
    let mut line = input.blocks.next_line();
    let mut block = Vec::new();
    let mut wanted = true;
    while wanted && input.next_block(&mut block)? {
        line = parser.read_block(&block, line, |entry| {
            wanted = sink(entry);
            wanted
        });
    }
    Ok(())
}

/// What a thread panicked with, as an error of the run.
pub(crate) fn died(panic: &(dyn std::any::Any + Send)) -> Error {
    let message = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned());
    Error::Worker { message }
}
