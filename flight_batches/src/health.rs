//! What `do_action("health")` answers.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use study_kit::usage::{peak_rss_kib, processor_s};

/// Counts of a server, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// `serving`.
    pub status: String,
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
    /// How late they were on average, in nanoseconds.
    pub mean_lateness_ns: u64,
    /// The latest, in nanoseconds.
    pub most_lateness_ns: u64,
    /// Most threads that waited for batches at once.
    pub most_waiting_threads: usize,
    /// What the process has used.
    pub process: Process,
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
    #[must_use]
    pub fn now(start: Instant) -> Self {
        let (user_s, system_s) = processor_s().unzip();
        Process { up_s: start.elapsed().as_secs_f64(), user_s, system_s, peak_rss_kib: peak_rss_kib() }
    }
}
