//! SQLite from async Rust: a pool that keeps reads at a millisecond while a write holds the database, and a study of what other designs
//! cost.
//!
//! [`pool`] is for use: one writer thread with group commit, reader threads, a write-ahead log that is checkpointed off the write path, and
//! back-pressure. The rest (feature `study`) compares: `design` has the ways to reach a database from async code, `workload` what is
//! asked of them, `driver` who asks and keeps the time, `study` the verbs of the measurement.

#[cfg(feature = "study")]
pub mod design;
#[cfg(feature = "study")]
pub mod driver;
pub mod pool;
#[cfg(feature = "study")]
pub mod schema;
#[cfg(feature = "study")]
pub mod study;
#[cfg(feature = "study")]
pub mod workload;
