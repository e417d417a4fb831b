//! What a server has done and spent.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

use super::Shared;

/// Counts over all connections.
#[derive(Debug, Default)]
pub(super) struct Counts {
    connections: AtomicU64,
    refused: AtomicU64,
    accepted: AtomicU64,
    rejected: AtomicU64,
}

impl Counts {
    pub(super) fn connection(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn accepted(&self, rows: u64) {
        self.accepted.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn rejected(&self, rows: u64) {
        self.rejected.fetch_add(rows, Ordering::Relaxed);
    }
}

/// What was done and spent so far. Values that this machine does not tell are zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Connections that are open.
    pub open: u64,
    /// Connections that were taken.
    pub connections: u64,
    /// Connections that were refused.
    pub refused: u64,
    /// Rows that were applied.
    pub accepted: u64,
    /// Rows that were not.
    pub rejected: u64,
    /// Processor time in the program, in seconds.
    pub user_s: f64,
    /// Processor time in the kernel, in seconds.
    pub system_s: f64,
    /// Times a thread gave the processor up.
    pub voluntary_switches: u64,
    /// Times a thread was made to give the processor up.
    pub involuntary_switches: u64,
    /// Resident memory, in KiB.
    pub rss_kib: u64,
    /// Highest resident memory, in KiB.
    pub peak_rss_kib: u64,
    /// Threads.
    pub threads: u64,
    /// Memory maps.
    pub maps: u64,
}

impl fmt::Display for Stats {
    /// One line of JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Stats {
    /// Of this process, without the counts.
    #[must_use]
    pub fn of_this_process() -> Self {
        let mut here = Stats::default();
        if let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) {
            let count = |count: i64| u64::try_from(count).unwrap_or(0);
            here.voluntary_switches = count(usage.voluntary_context_switches());
            here.involuntary_switches = count(usage.involuntary_context_switches());
        }
        if let Some((user_s, system_s)) = study_kit::usage::processor_s() {
            (here.user_s, here.system_s) = (user_s, system_s);
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let value = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        here.rss_kib = value("VmRSS:");
        here.peak_rss_kib = value("VmHWM:");
        here.threads = value("Threads:");
        let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
        here.maps = memchr::memchr_iter(b'\n', &maps).count() as u64;
        here
    }
}

impl Shared {
    pub(super) fn stats(&self) -> Stats {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Stats {
            open: self.live.count() as u64,
            connections: load(&self.counts.connections),
            refused: load(&self.counts.refused),
            accepted: load(&self.counts.accepted),
            rejected: load(&self.counts.rejected),
            ..Stats::of_this_process()
        }
    }
}
