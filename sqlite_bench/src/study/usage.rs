//! What a stretch of work cost the process: time, faults, context switches, memory.

use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};

/// A stretch of work under way.
pub struct Span {
    usage: Option<Usage>,
    start: Instant,
}

/// What it cost. Counters that cannot be read on this machine are absent.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Wall time.
    pub wall: Duration,
    /// Time and counters of the whole process.
    pub counters: Option<Counters>,
}

/// Counters of all threads of the process.
#[derive(Debug, Clone, Copy)]
pub struct Counters {
    /// Processor time in the program, in seconds.
    pub user_s: f64,
    /// Processor time in the kernel, in seconds.
    pub system_s: f64,
    /// Page faults served without input or output.
    pub minor_faults: f64,
    /// Times a thread gave the processor up, mostly to wait.
    pub voluntary_switches: f64,
    /// Times a thread was made to give the processor up.
    pub involuntary_switches: f64,
}

impl Span {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Span { usage: getrusage(UsageWho::RUSAGE_SELF).ok(), start: Instant::now() }
    }

    /// Wall time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Ends now.
    #[must_use]
    pub fn end(self) -> Cost {
        let wall = self.start.elapsed();
        let after = getrusage(UsageWho::RUSAGE_SELF).ok();
        Cost { wall, counters: self.usage.zip(after).map(|(before, after)| Counters::between(&before, &after)) }
    }
}

impl Counters {
    #[expect(clippy::cast_precision_loss, reason = "counters of one process stay far below 2^53")]
    fn between(before: &Usage, after: &Usage) -> Self {
        let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        Counters {
            user_s: seconds(after.user_time()) - seconds(before.user_time()),
            system_s: seconds(after.system_time()) - seconds(before.system_time()),
            minor_faults: (after.minor_page_faults() - before.minor_page_faults()) as f64,
            voluntary_switches: (after.voluntary_context_switches() - before.voluntary_context_switches()) as f64,
            involuntary_switches: (after.involuntary_context_switches() - before.involuntary_context_switches()) as f64,
        }
    }
}

/// Highest resident memory of this process so far, in KiB; `None` where there is no `/proc`.
///
/// Not `ru_maxrss`: a process inherits that from the one that started it.
#[must_use]
pub fn peak_rss_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
