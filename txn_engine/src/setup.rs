//! How files are processed, as data: who reads, who applies, and how rows get from the one to the other.

use tokio::runtime::{Builder, Runtime};

use crate::error::Error;
use crate::parse::Reading;

/// Who reads a file and who applies its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// A thread per file does both, on `DashMap`s that all share.
    ThreadPerFile,
    /// Two std threads per file at the ends of an unbounded channel, on shared `DashMap`s.
    TwoThreads,
    /// The same, but the thread that applies looks for more a thousand times before it sleeps: a row is there sooner than a thread can fall asleep.
    TwoThreadsAwake,
    /// Per file a blocking task of tokio that reads, an unbounded channel and a task that applies, on shared `DashMap`s. All tasks that apply run
    /// on the one thread of the runtime.
    CurrentThread,
    /// The same on a runtime with a worker per core.
    MultiThread,
    /// One thread does both, file after file, on tables without locks.
    OneCore,
    /// A thread per core reads blocks, and whoever is at the turn applies them in the order of the file, on tables without locks.
    AllCores,
}

impl Runner {
    /// A new runtime of its kind; `None` for those that need none.
    pub(crate) fn runtime(self) -> Result<Option<Runtime>, Error> {
        let mut builder = match self {
            Runner::CurrentThread => Builder::new_current_thread(),
            Runner::MultiThread => Builder::new_multi_thread(),
            _ => return Ok(None),
        };
        builder.build().map(Some).map_err(Error::Runtime)
    }
}

/// A way to process files. All of them give the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    pub runner: Runner,
    /// Rows per message, where rows go through a channel.
    pub batch: usize,
    pub reading: Reading,
}

impl Setup {
    /// The design of the published sync engine: one thread per file on shared `DashMap`s.
    pub const SYNC: Setup = Setup { runner: Runner::ThreadPerFile, batch: 1, reading: Reading::Bytes };
    /// The design of the published async engine: a blocking reader, a message per row, a task that applies, on a current-thread runtime.
    pub const ASYNC: Setup = Setup { runner: Runner::CurrentThread, ..Setup::SYNC };
    pub const BEST_ONE_CORE: Setup = Setup { runner: Runner::OneCore, reading: Reading::Windows, ..Setup::SYNC };
    pub const BEST_ALL_CORES: Setup = Setup { runner: Runner::AllCores, ..Setup::BEST_ONE_CORE };

    pub const NAMED: [(&'static str, Setup); 4] = [
        ("sync", Setup::SYNC),
        ("async", Setup::ASYNC),
        ("best_one_core", Setup::BEST_ONE_CORE),
        ("best_all_cores", Setup::BEST_ALL_CORES),
    ];
}
