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
    pub mode: String,
    /// Streams in flight.
    pub streams: usize,
    pub most_streams: usize,
    pub begun_streams: usize,
    pub timers: u64,
    pub mean_lateness_ns: u64,
    pub most_lateness_ns: u64,
    /// Most threads that waited for batches at once.
    pub most_waiting_threads: usize,
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
    pub user_s: Option<f64>,
    pub system_s: Option<f64>,
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
            // Not `ru_maxrss`: a process inherits that from the one that started it.
            #[cfg(target_os = "linux")]
            peak_rss_kib: procfs::process::Process::myself()
                .and_then(|own| own.status())
                .ok()
                .and_then(|own| own.vmhwm),
            #[cfg(not(target_os = "linux"))]
            peak_rss_kib: None,
        }
    }
}
