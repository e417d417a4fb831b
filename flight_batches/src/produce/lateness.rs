//! How late timers were.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Sums over all batches of a server.
#[derive(Debug, Default)]
pub struct Lateness {
    count: AtomicU64,
    total_ns: AtomicU64,
    most_ns: AtomicU64,
}

impl Lateness {
    /// A timer for `due` has just fired.
    pub fn note(&self, due: Instant) {
        let late = u64::try_from(due.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.total_ns.fetch_add(late, Ordering::Relaxed);
        self.most_ns.fetch_max(late, Ordering::Relaxed);
    }

    /// Timers that fired, their mean lateness and the worst, in nanoseconds.
    #[must_use]
    pub fn summary(&self) -> (u64, u64, u64) {
        let count = self.count.load(Ordering::Relaxed);
        (count, self.total_ns.load(Ordering::Relaxed) / count.max(1), self.most_ns.load(Ordering::Relaxed))
    }
}
