//! What is to be produced, and what producers note while they wait: how late their timers were, and how many threads it took.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// What one request wants.
#[derive(Debug, Clone)]
pub struct Order {
    /// How many.
    pub batches: usize,
    /// What each takes to come.
    pub delay: Duration,
    /// How many are worked on ahead of the one that is asked for; all of them if it is that many.
    pub prefetch: usize,
    /// Where it is noted how it was waited.
    pub waiting: Arc<Waiting>,
}

/// A request under way.
pub(super) struct Task {
    pub(super) order: Order,
    /// When there was a place for each of its batches.
    pub(super) demand: mpsc::UnboundedReceiver<Instant>,
    /// Where their numbers go.
    pub(super) done: mpsc::UnboundedSender<usize>,
}

/// Why a request is not served.
#[derive(Debug, thiserror::Error)]
pub enum ProduceError {
    /// There is no thread for it.
    #[error("no thread can be started for this request: {0}")]
    Thread(#[source] std::io::Error),
    /// The pool has ended.
    #[error("the pool of threads has ended")]
    PoolEnded,
}

/// Counts over all batches of a server.
#[derive(Debug, Default)]
pub struct Waiting {
    timers: AtomicU64,
    late_ns: AtomicU64,
    latest_ns: AtomicU64,
    threads: AtomicUsize,
    most_threads: AtomicUsize,
}

/// What was counted. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// Timers that were waited for.
    pub timers: u64,
    /// How late they were on average.
    pub mean_lateness_ns: u64,
    /// How late the latest was.
    pub most_lateness_ns: u64,
    /// Most threads that waited for batches at once.
    pub most_waiting_threads: usize,
}

impl Waiting {
    /// A timer for `due`, which was waited for since `begun`, has just fired. One that was due already is no timer's fault.
    pub fn note(&self, due: Instant, begun: Instant) {
        if due <= begun {
            return;
        }
        let late = u64::try_from(due.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.timers.fetch_add(1, Ordering::Relaxed);
        self.late_ns.fetch_add(late, Ordering::Relaxed);
        self.latest_ns.fetch_max(late, Ordering::Relaxed);
    }

    /// Counts the calling thread for as long as what is returned lives.
    pub(super) fn thread(&self) -> impl Drop + '_ {
        struct Counted<'a>(&'a AtomicUsize);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let now = self.threads.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_threads.fetch_max(now, Ordering::Relaxed);
        Counted(&self.threads)
    }

    /// What was counted so far.
    pub fn so_far(&self) -> Waited {
        let timers = self.timers.load(Ordering::Relaxed);
        Waited {
            timers,
            mean_lateness_ns: self.late_ns.load(Ordering::Relaxed) / timers.max(1),
            most_lateness_ns: self.latest_ns.load(Ordering::Relaxed),
            most_waiting_threads: self.most_threads.load(Ordering::Relaxed),
        }
    }
}
