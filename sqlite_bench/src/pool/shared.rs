//! What the askers and the threads of a pool share.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::error::Error;
use super::options::Options;

/// SQLite counts milliseconds in 32 bits.
const LONGEST_TIMEOUT: Duration = Duration::from_millis(i32::MAX as u64);

/// The queue adds a few places to those it is asked for.
const LONGEST_QUEUE: NonZeroUsize = NonZeroUsize::new(usize::MAX / 2).unwrap();

/// What a pool has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Reads that ran, also those that failed.
    pub reads: u64,
    /// Writes that were committed.
    pub writes: u64,
    /// Writes that failed, were undone, or found the database locked or the log full; not those that were given up while they waited.
    pub failed_writes: u64,
    /// Commits, each of one write or more.
    pub commits: u64,
    /// Checkpoints beside the writer; after one, the writer copies the little that came meanwhile.
    pub checkpoints: u64,
    /// Checkpoints for which the writer waited, because the log had reached its limit.
    pub forced_checkpoints: u64,
    /// Checkpoints at the limit that did not empty the log, because a reader kept its snapshot for longer than the busy timeout.
    pub blocked_checkpoints: u64,
    /// Pages in the log after the last commit; in the longest one if [`Options::on_open`] attaches databases.
    pub wal_pages: u64,
    /// Reads that wait.
    pub waiting_reads: usize,
    /// Writes that wait.
    pub waiting_writes: usize,
}

pub(super) struct Shared {
    pub(super) options: Options,
    stats: Mutex<Stats>,
    /// Whose turn it is to make a checkpoint: SQLite does not let one wait for another.
    pub(super) turn: Mutex<()>,
    /// A copy beside the writer has left little to copy, and the writer has not seen it yet.
    pub(super) copied: AtomicBool,
    /// Somebody closes the pool, and does not just drop it.
    pub(super) closes: AtomicBool,
}

impl Shared {
    pub(super) fn new(mut options: Options) -> Self {
        options.busy_timeout = options.busy_timeout.min(LONGEST_TIMEOUT);
        options.queue = options.queue.min(LONGEST_QUEUE);
        let [copied, closes] = [false; 2].map(AtomicBool::new);
        Shared { options, stats: Mutex::default(), turn: Mutex::default(), copied, closes }
    }

    /// Counts something; it takes nanoseconds, beside the microseconds of the operation that is counted.
    pub(super) fn count(&self, add: impl FnOnce(&mut Stats)) {
        add(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for the turn to make a checkpoint.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stats(&self) -> Stats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    Builder::new().name(name.to_owned()).spawn(work).map_err(|source| Error::Thread(Arc::new(source)))
}
