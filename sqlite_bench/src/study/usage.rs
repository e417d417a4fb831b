//! What a stretch of work cost the process: time, faults, context switches, memory.

pub use study_kit::usage::{Cost, Counters, Span, kib, peak_rss_kib};
