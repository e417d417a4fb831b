//! What a stretch of work cost the process: time, faults, context switches, memory.

pub use study_kit::usage::{Cost, Counters, Span, kib, peak_rss_kib};

/// Write calls into the kernel that this process made so far; `None` where there is no `/proc`.
#[must_use]
pub fn write_calls() -> Option<u64> {
    let io = std::fs::read_to_string("/proc/self/io").ok()?;
    io.lines().find_map(|line| line.strip_prefix("syscw: "))?.parse().ok()
}
