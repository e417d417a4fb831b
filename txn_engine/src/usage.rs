//! What a stretch of work cost the process: time, faults, context switches, memory.

pub use study_kit::usage::{Cost, Counters, Span, kib, peak_rss_kib};

/// Threads of this process now; `None` where there is no `/proc`.
#[must_use]
pub fn threads() -> Option<u64> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count() as u64)
}
