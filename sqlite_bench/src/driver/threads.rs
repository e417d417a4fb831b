//! How many threads a design makes the process have, sampled; and the caller's word on progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often threads are counted.
const PERIOD: Duration = Duration::from_millis(50);

/// Counts threads until it is stopped.
pub(super) struct Sampler<'a> {
    start: Instant,
    progress: &'a (dyn Fn(Duration) + Sync),
    stopped: AtomicBool,
    peak: AtomicU64,
}

impl<'a> Sampler<'a> {
    pub(super) fn start(start: Instant, progress: &'a (dyn Fn(Duration) + Sync)) -> Self {
        Sampler { start, progress, stopped: AtomicBool::new(false), peak: AtomicU64::new(0) }
    }

    /// Runs until [`Sampler::stop`].
    pub(super) fn run(&self) {
        while !self.stopped.load(Ordering::Relaxed) {
            if let Some(threads) = count() {
                self.peak.fetch_max(threads, Ordering::Relaxed);
            }
            (self.progress)(self.start.elapsed());
            std::thread::sleep(PERIOD);
        }
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Most threads at a time.
    pub(super) fn peak(&self) -> Option<u64> {
        Some(self.peak.load(Ordering::Relaxed)).filter(|&peak| peak > 0)
    }
}

/// Threads of this process; `None` where there is no `/proc`.
fn count() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}
