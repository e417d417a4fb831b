//! What all connections share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::live::Live;
use super::stats::Stats;
use crate::engine::Engine;

/// What all connections share.
pub(super) struct Shared {
    pub(super) desk: Desk,
    pub(super) live: Arc<Live>,
    pub(super) counts: Counts,
    /// How many connections there may be, and why no more.
    pub(super) most: (usize, &'static str),
    /// Between two steps of the clock that idle connections are measured by; `None` if they may stay.
    pub(super) step: Option<Duration>,
}

/// Who answers.
pub(super) enum Desk {
    /// The engine.
    Engine(Box<Engine>),
    /// Nobody: every line is `ok`.
    Null,
}

/// Counts over all connections.
#[derive(Debug, Default)]
pub(super) struct Counts {
    connections: AtomicU64,
    refused: AtomicU64,
    accepted: AtomicU64,
    rejected: AtomicU64,
}

impl Counts {
    /// A connection was taken.
    pub(super) fn connection(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection was refused.
    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// A row was answered.
    pub(super) fn row(&self, accepted: bool) {
        let count = if accepted { &self.accepted } else { &self.rejected };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Shared {
    /// What was done and spent so far.
    pub(super) fn stats(&self) -> Stats {
        let so_far = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Stats {
            open: self.live.count() as u64,
            connections: so_far(&self.counts.connections),
            refused: so_far(&self.counts.refused),
            accepted: so_far(&self.counts.accepted),
            rejected: so_far(&self.counts.rejected),
            ..Stats::of_this_process()
        }
    }
}
