//! What all connections share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use super::live::Live;
use super::stats::Stats;
use crate::engine::Engine;

pub(super) struct Shared {
    /// Nobody: every line is `ok`.
    pub(super) engine: Option<Engine>,
    pub(super) live: Arc<Live>,
    pub(super) counts: Counts,
    /// How many connections there may be, and why no more.
    pub(super) most: (usize, &'static str),
    /// Between two steps of the clock that idle connections are measured by; `None` if they may stay.
    pub(super) step: Option<Duration>,
}

/// Accepts no more; connections that wait for a thread are closed. Those that are served go on until what is returned is dropped.
pub(super) type Stop = Box<dyn FnOnce() -> Option<oneshot::Sender<()>> + Send>;

/// Counts over all connections.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) connections: Count,
    pub(super) refused: Count,
    accepted: Count,
    rejected: Count,
}

impl Counts {
    pub(super) fn row(&self, accepted: bool) {
        if accepted { self.accepted.up() } else { self.rejected.up() }
    }
}

#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// What was done and spent so far.
    pub(super) fn stats(&self) -> Stats {
        Stats {
            open: self.live.count() as u64,
            connections: self.counts.connections.so_far(),
            refused: self.counts.refused.so_far(),
            accepted: self.counts.accepted.so_far(),
            rejected: self.counts.rejected.so_far(),
            ..Stats::of_this_process()
        }
    }
}
