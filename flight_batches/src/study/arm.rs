//! The arms: which server, with which options.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use study_kit::Error;
use study_kit::server::{Server, ServerError};

use super::scenario::Scenario;
use crate::produce::Mode;
use crate::service::Encoding;

/// Threads of the arm `pool`.
pub const POOL_THREADS: usize = 8;
/// The original's queue has no bound.
const ALL: &str = "all";

/// What serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Our server.
    Ours {
        /// Who waits for a batch.
        mode: Mode,
        /// Batches worked on ahead.
        prefetch: &'static str,
        /// How batches become messages.
        encoding: Encoding,
    },
    /// pyarrow's server, which is C++ as long as there is no delay.
    Pyarrow,
    /// No Flight at all: TCP.
    Loopback,
}

const fn ours(mode: Mode, prefetch: &'static str) -> Subject {
    Subject::Ours { mode, prefetch, encoding: Encoding::Stock }
}

/// Every arm by name.
pub const ARMS: [(&str, Subject); 16] = [
    // As published: the async server fills a queue without bound ahead of the sender, the sync one sleeps when it is asked.
    ("async", ours(Mode::Async, ALL)),
    ("sync", ours(Mode::Sync, "0")),
    ("sync_prefetch", ours(Mode::Sync, ALL)),
    ("async_p0", ours(Mode::Async, "0")),
    ("async_p1", ours(Mode::Async, "1")),
    ("async_p4", ours(Mode::Async, "4")),
    ("sync_p1", ours(Mode::Sync, "1")),
    ("sync_p4", ours(Mode::Sync, "4")),
    ("pool", ours(Mode::Pool, "0")),
    ("pool_p1", ours(Mode::Pool, "1")),
    ("spawn_blocking", ours(Mode::SpawnBlocking, "0")),
    ("sleep_in_poll", ours(Mode::SleepInPoll, "0")),
    ("stock", ours(Mode::Async, "1")),
    ("shared", Subject::Ours { mode: Mode::Async, prefetch: "1", encoding: Encoding::Shared }),
    ("pyarrow", Subject::Pyarrow),
    ("loopback", Subject::Loopback),
];

impl Subject {
    /// Starts it; `None` if the machine has no such server.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(self, scenario: &Scenario, seed: u64) -> Result<Option<Server>, ServerError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).to_string();
        match self {
            Subject::Ours { mode, prefetch, encoding } => {
                let mut arguments = words(&["serve", "--until-stdin-closes", "--addr", &address]);
                arguments.extend(words(&["--mode", mode.name(), "--encoding", encoding.name()]));
                arguments.extend(words(&["--prefetch", prefetch, "--pool", &POOL_THREADS.to_string()]));
                arguments.extend(words(&["--rows", &scenario.table_rows().to_string(), "--seed", &seed.to_string()]));
                Server::of_this_program(&arguments).map(Some)
            }
            Subject::Loopback => {
                let arguments = words(&["loopback", "--until-stdin-closes", "--addr", &address]);
                Server::of_this_program(&arguments).map(Some)
            }
            Subject::Pyarrow => {
                let Some(python) = python() else { return Ok(None) };
                let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/server.py");
                let table = super::scenario::table_file(scenario, seed).display().to_string();
                let arguments = words(&[script, "--until-stdin-closes", "--table", &table]);
                Server::start(&python, &arguments).map(Some)
            }
        }
    }
}

/// The interpreter of the repository that has pyarrow.
fn python() -> Option<PathBuf> {
    let python = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/pyarrow/bin/python"));
    python.exists().then_some(python)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// What `arm` of `scenario` stands for.
///
/// # Errors
/// If the scenario has no such arm.
pub fn find(scenario: &Scenario, arm: &str) -> Result<Subject, Error> {
    let found = ARMS.iter().find(|(name, _)| *name == arm && scenario.arms.contains(name));
    let mismatch = || Error::Mismatch { arm: arm.to_owned(), scenario: scenario.name.clone() };
    found.map(|(_, subject)| *subject).ok_or_else(mismatch)
}
