//! Files in, accounts out, by the way that a [`Setup`] describes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, Builder, ScopedJoinHandle};

use tokio::runtime::Handle;

use crate::accounts::Books;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, ErrorLog, joined};
use crate::input::Input;
use crate::ledger::Ledger;
use crate::parse::{Parser, Reading};
use crate::row::{Entry, Row};
use crate::session::Session;
use crate::setup::{Runner, Setup};
use crate::{accounts, usage};

mod pipeline;
mod threads;
mod workers;

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    pub books: Arc<dyn Books>,
    pub errors: ErrorLog,
    pub accepted: u64,
    /// Messages that went through a channel.
    pub messages: u64,
    /// Threads of the process once all had started, where several files have threads or tasks of their own and the system tells.
    pub threads: Option<u64>,
}

impl Outcome {
    pub fn accounts_csv(&self) -> Vec<u8> {
        accounts::to_csv(&self.books.accounts())
    }
}

/// Processes `paths` by `setup`, on top of `session`.
///
/// One file is applied in its order. Several are applied as the runner does it: on one core and on all cores one after another, by all
/// others at the same time, so that the answer is defined only if the files share no client and no transaction id.
///
/// Fails if a file cannot be read or its header is not usable, or a thread dies or cannot be started. Row errors are counted in the outcome.
/// Blocks its thread, within an async runtime too.
pub fn process_files(setup: Setup, paths: &[PathBuf], session: Session) -> Result<Outcome, Error> {
    process_costly(setup, paths, session, || ())
}

/// The same of rows that cost more, on shared maps: `work` is done when a row is read, and when it is applied.
#[doc(hidden)]
pub fn process_costly(setup: Setup, paths: &[PathBuf], session: Session, work: impl Work) -> Result<Outcome, Error> {
    let inputs = paths.iter().map(|path| Input::open(path)).collect::<Result<Vec<_>, _>>()?;
    let reading = setup.reading;
    let (books, tally) = match setup.runner {
        Runner::ThreadPerFile => threads::run(Engine::resume(session), inputs, reading, work),
        Runner::OneCore => workers::run(Ledger::resume(session), inputs, reading, 1),
        Runner::AllCores => {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            workers::run(Ledger::resume(session), inputs, reading, cores)
        }
        _ => {
            let run = || pipeline::run(Engine::resume(session), inputs, setup, work);
            // tokio panics if a runtime is entered or dropped within another, and if it can start no thread.
            let ran = if Handle::try_current().is_ok() {
                let ended = thread::scope(|scope| Builder::new().spawn_scoped(scope, run).map(ScopedJoinHandle::join));
                ended.map_err(Error::Thread)?
            } else {
                catch_unwind(AssertUnwindSafe(run))
            };
            joined(ran).flatten()
        }
    }?;
    let Tally { accepted, errors, messages, threads } = tally;
    Ok(Outcome { books, errors, accepted, messages, threads })
}

#[doc(hidden)]
pub trait Work: Fn() + Copy + Send + Sync + 'static {}
impl<W: Fn() + Copy + Send + Sync + 'static> Work for W {}

/// Where the rows went, and what was counted.
type Done = Result<(Arc<dyn Books>, Tally), Error>;

#[derive(Debug, Default)]
struct Tally {
    accepted: u64,
    errors: ErrorLog,
    messages: u64,
    threads: Option<u64>,
}

impl Tally {
    /// One without rows, taken when all who work on so many `files` have started.
    fn begun(files: usize) -> Self {
        let process = if files > 1 { usage::of_this_process() } else { None };
        Tally { threads: process.map(|process| process.threads), ..Tally::default() }
    }

    /// Applies `entry` by `process` and counts what comes of it.
    #[inline]
    fn take(&mut self, entry: &Entry, process: impl FnOnce(&Row) -> Result<(), ErrorKind>) {
        match entry.row.as_ref().map_err(|&kind| kind).and_then(process) {
            Ok(()) => self.accepted += 1,
            Err(kind) => self.errors.add(entry.line, kind),
        }
    }

    /// Adds what another consumer counted in rows that come after these.
    fn append(&mut self, other: Tally) {
        self.accepted += other.accepted;
        self.messages += other.messages;
        self.errors.append(other.errors);
    }
}

/// Hands every entry of `input` to `sink`, until it returns false, each after some `work`.
#[doc(hidden)]
pub fn read_entries(
    mut input: Input,
    reading: Reading,
    work: impl Fn(),
    mut sink: impl FnMut(Entry) -> bool,
) -> Result<(), Error> {
    let mut parser = Parser::new(input.columns, reading);
    let mut line = input.next_line;
    let mut block = Vec::new();
    let mut wanted = true;
    while wanted && input.next_block(&mut block)? {
        line = parser.read_block(&block, line, |entry| {
            work();
            wanted = sink(entry);
            wanted
        });
    }
    Ok(())
}
