//! What all tasks of a run share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::design::{AccessError, Design};
use crate::workload::{Workload, Writes};

/// What all tasks of a run share.
pub(super) struct Run {
    pub(super) design: Arc<dyn Design>,
    pub(super) workload: Workload,
    pub(super) seed: u64,
    pub(super) start: Instant,
    pub(super) writers_left: AtomicUsize,
}

impl Run {
    /// Whether operations are still begun at `now`.
    pub(super) fn is_open(&self, now: Instant) -> bool {
        let waits_for_writers = self.workload.writes == Writes::Once && self.writers_left.load(Ordering::Acquire) > 0;
        now < self.start + self.workload.window || waits_for_writers
    }

    /// Whether an operation that ended then counts as done within the window, which is later by `offset` for whom it began later.
    pub(super) fn in_window(&self, end: Instant, offset: Duration) -> bool {
        end <= self.start + self.workload.window + offset || self.workload.writes == Writes::Once
    }
}

/// A task of the driver that is gone.
pub(super) fn broken(error: impl fmt::Display) -> AccessError {
    AccessError::Failed(format!("a task of the driver broke off: {error}"))
}
