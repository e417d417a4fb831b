//! What a pool has done so far.

use std::sync::{Mutex, PoisonError};

/// What a pool has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Reads that ran.
    pub reads: u64,
    /// Writes that were committed.
    pub writes: u64,
    /// Writes that ran and are not in the database.
    pub failed_writes: u64,
    /// Commits, each of one write or more.
    pub commits: u64,
    /// Checkpoints beside the writer.
    pub checkpoints: u64,
    /// Checkpoints for which the writer waited, because the log had reached its limit.
    pub forced_checkpoints: u64,
    /// Pages in the log after the last commit.
    pub wal_pages: u64,
    /// Reads that wait.
    pub waiting_reads: usize,
    /// Writes that wait.
    pub waiting_writes: usize,
}

/// The same, counted by several threads.
pub(super) type Counters = Mutex<Stats>;

/// Counts something; it takes nanoseconds, beside the microseconds of the operation that is counted.
pub(super) fn count(counters: &Counters, add: impl FnOnce(&mut Stats)) {
    add(&mut counters.lock().unwrap_or_else(PoisonError::into_inner));
}
