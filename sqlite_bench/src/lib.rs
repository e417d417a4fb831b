#![cfg_attr(doc, doc = include_str!("../README.md"))]

// `pool` is for use. The rest (feature `cli`, on by default) compares, and is no interface but for the measurement.

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
