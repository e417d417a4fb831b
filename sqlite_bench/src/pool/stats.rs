//! What a pool has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

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
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) reads: AtomicU64,
    pub(super) writes: AtomicU64,
    pub(super) failed_writes: AtomicU64,
    pub(super) commits: AtomicU64,
    pub(super) checkpoints: AtomicU64,
    pub(super) forced_checkpoints: AtomicU64,
    pub(super) wal_pages: AtomicU64,
}

impl Counters {
    pub(super) fn snapshot(&self, waiting_reads: usize, waiting_writes: usize) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            reads: read(&self.reads),
            writes: read(&self.writes),
            failed_writes: read(&self.failed_writes),
            commits: read(&self.commits),
            checkpoints: read(&self.checkpoints),
            forced_checkpoints: read(&self.forced_checkpoints),
            wal_pages: read(&self.wal_pages),
            waiting_reads,
            waiting_writes,
        }
    }
}

/// Adds one.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
