//! The writers from outside: any sequence of calls, sinks that fail, calls that are refused, and the format's rules.

#[path = "../common/mod.rs"]
mod common;
mod failures;
#[cfg(feature = "async")]
mod policies;
mod promises;
mod properties;
mod refusals;
mod scale;
mod whole;
