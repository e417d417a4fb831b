//! Files in, accounts out, by the way that a [`Setup`] describes.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use tokio::runtime::Runtime;

use crate::accounts;
use crate::books::Books;
use crate::engine::Engine;
use crate::error::{Error, ErrorLog};
use crate::input::Input;
use crate::ledger::Ledger;
use crate::session::Session;
use crate::setup::{Runner, Setup};

mod pipeline;
mod tally;
mod threads;
mod workers;

use tally::{Job, Tally};

/// What a run starts from.
#[derive(Debug, Default)]
pub struct Options {
    /// Accounts and transactions of an earlier run.
    pub session: Session,
    /// A runtime to use instead of building one, for setups that need one: many runs in one process share it.
    pub runtime: Option<Arc<Runtime>>,
    /// Whether to look how many threads there are once all have started.
    pub count_threads: bool,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// The accounts and transactions.
    pub books: Box<dyn Books>,
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
    /// The accounts as [`accounts::write_csv`] writes them.
    pub fn accounts_csv(&self) -> Vec<u8> {
        accounts::to_csv(&self.books.accounts())
    }
}

/// Processes `paths` by `setup`.
///
/// One file is applied in its order. Several are applied as the runner does it: on one core and on all cores one after another, by all
/// others at the same time, so that the answer is defined only if the files share no client and no transaction id.
///
/// # Errors
/// If a file cannot be read or its header is not usable, or a thread dies. Row errors are not errors of the run; they are counted in the
/// outcome.
pub fn process_files(setup: Setup, paths: &[PathBuf], options: Options) -> Result<Outcome, Error> {
    let inputs = paths.iter().map(|path| Input::open(path)).collect::<Result<Vec<_>, _>>()?;
    let Options { session, runtime, count_threads } = options;
    let job = Job { setup, count_threads };
    let (books, tally) = match setup.runner {
        Runner::ThreadPerFile => threads::thread_per_file(Engine::resume(session), inputs, job),
        Runner::EnginePerFile => threads::engine_per_file(Engine::resume(session), inputs, job),
        Runner::TwoThreads => pipeline::run(Engine::resume(session), inputs, job, None),
        Runner::CurrentThread | Runner::MultiThread => {
            let runtime = runtime.map_or_else(|| setup.runner.runtime(), |given| Ok(Some(given)))?;
            pipeline::run(Engine::resume(session), inputs, job, runtime)
        }
        Runner::OneCore => workers::run(Ledger::resume(session), inputs, job, 1),
        Runner::AllCores => {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            workers::run(Ledger::resume(session), inputs, job, cores)
        }
    }?;
    let Tally { accepted, errors, messages, threads } = tally;
    Ok(Outcome { books, errors, accepted, messages, threads })
}
