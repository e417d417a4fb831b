//! What async is for: does a task that wants to run every millisecond get its turn?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::times::Times;

/// How often the task wants to run.
const PERIOD: Duration = Duration::from_millis(1);
/// Longer than this without a turn, and the runtime counts as blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(50);

/// How the ticks came.
#[derive(Debug, Clone, Default)]
pub struct Ticks {
    /// How late they were.
    pub late: Times,
    /// How long the runtime was blocked: the sum of all times of over 50 ms between two turns.
    pub blocked: Duration,
}

/// Ticks until it is `done`. Every tick has its intended time, and one that comes late does not shift the next: a delay is counted by all the ticks it hits.
pub(super) async fn tick(done: Arc<AtomicBool>) -> Ticks {
    let mut ticks = Ticks::default();
    let mut intended = Instant::now();
    let mut turn = intended;
    while !done.load(Ordering::Relaxed) {
        intended += PERIOD;
        tokio::time::sleep_until(intended).await;
        let now = Instant::now();
        ticks.late.record(now.saturating_duration_since(intended));
        let gap = now.saturating_duration_since(turn);
        if gap > BLOCKED_AFTER {
            ticks.blocked += gap;
        }
        turn = now;
    }
    ticks
}
