//! What `do_action("stats")` answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

/// Counts of a server, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Who waits for batches.
    pub mode: String,
    /// Streams in flight.
    pub streams: usize,
    /// Most streams that were in flight at once.
    pub most_streams: usize,
    /// Streams so far.
    pub begun_streams: usize,
    /// Timers that were waited for.
    pub timers: u64,
    /// How late they were on average.
    pub mean_lateness_ns: u64,
    /// How late the latest was.
    pub most_lateness_ns: u64,
    /// Most threads that waited for batches at once.
    pub most_waiting_threads: usize,
    /// What the process has used.
    pub process: Process,
}

/// How many of something there are at once.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) now: AtomicUsize,
    pub(crate) most: AtomicUsize,
}

/// One of them, for as long as this lives.
pub(crate) struct Counted(Arc<Gauge>);

impl Gauge {
    /// Counts one more.
    pub(crate) fn count(self: &Arc<Self>) -> Counted {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Counted(Arc::clone(self))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a process has used so far; what the machine does not tell is absent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Since it serves, in seconds.
    pub up_s: f64,
    /// Processor time in the program, in seconds.
    pub user_s: Option<f64>,
    /// Processor time in the kernel, in seconds.
    pub system_s: Option<f64>,
    /// Highest resident memory, in KiB.
    pub peak_rss_kib: Option<u64>,
}

impl Process {
    /// Of this process, which serves since `start`.
    pub fn now(start: Instant) -> Self {
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok();
        let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        Process {
            up_s: start.elapsed().as_secs_f64(),
            // Not from /proc, which counts in steps of 10 ms.
            user_s: usage.map(|usage| seconds(usage.user_time())),
            system_s: usage.map(|usage| seconds(usage.system_time())),
            peak_rss_kib: peak_rss_kib(),
        }
    }
}

/// Not `ru_maxrss`: a process inherits that from the one that started it.
fn peak_rss_kib() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return procfs::process::Process::myself().ok()?.status().ok()?.vmhwm;
    #[cfg(not(target_os = "linux"))]
    None
}
