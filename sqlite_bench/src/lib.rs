//! SQLite from async Rust: a pool that keeps reads at a millisecond while a write holds the database, and a comparison with the
//! published designs.
//!
//! [`pool`] is for use: one writer thread with group commit, reader threads, a write-ahead log that is checkpointed off the write path, and
//! back-pressure. The rest (feature `cli`, on by default) compares: `design` has the ways to reach a database from async code, `workload`
//! what is asked of them, `driver` who asks and keeps the time, `bench` one run from an empty folder to the checked answer, `compare` the
//! document's tables, `cli` the command line.

pub mod pool;

#[cfg(feature = "cli")]
pub mod bench;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod compare;
#[cfg(feature = "cli")]
pub mod design;
#[cfg(feature = "cli")]
pub mod driver;
#[cfg(feature = "cli")]
pub mod metrics;
#[cfg(feature = "cli")]
pub mod schema;
#[cfg(feature = "cli")]
pub mod workload;

/// Its code runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
