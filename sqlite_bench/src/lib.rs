#![cfg_attr(doc, doc = include_str!("../README.md"))]

// `pool` is for use. The rest (feature `cli`, on by default) compares, and is no interface but for the measurement: `design` has the ways to
// reach a database from async code, `workload` what is asked of them, `driver` one run from an empty folder to the checked answer,
// `metrics` its numbers, `compare` the document's tables, `cli` the command line.

pub mod pool;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod compare;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod design;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod driver;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod metrics;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod schema;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod workload;
