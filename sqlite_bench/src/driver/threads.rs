//! How many threads a design makes the process have, sampled; and the caller's word on progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often threads are counted.
const PERIOD: Duration = Duration::from_millis(50);

/// Counts threads until it is stopped.
#[derive(Default)]
pub(super) struct Sampler {
    stopped: AtomicBool,
    peak: AtomicU64,
}

impl Sampler {
    /// Runs until [`Sampler::stop`]; calls `progress` each time with the time since `start`.
    pub(super) fn run(&self, start: Instant, progress: &dyn Fn(Duration)) {
        while !self.stopped.load(Ordering::Relaxed) {
            if let Some(threads) = count() {
                self.peak.fetch_max(threads, Ordering::Relaxed);
            }
            progress(start.elapsed());
            std::thread::sleep(PERIOD);
        }
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Most threads at a time; `None` where they cannot be counted.
    pub(super) fn peak(&self) -> Option<u64> {
        Some(self.peak.load(Ordering::Relaxed)).filter(|&peak| peak > 0)
    }
}

/// Threads of this process.
#[cfg(target_os = "linux")]
fn count() -> Option<u64> {
    u64::try_from(procfs::process::Process::myself().ok()?.stat().ok()?.num_threads).ok()
}

#[cfg(not(target_os = "linux"))]
fn count() -> Option<u64> {
    None
}
