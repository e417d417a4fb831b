//! Square roots on threads, async, tokio and rayon.

#[cfg(feature = "cli")]
pub mod cli;
pub mod cpu;
pub mod executor;
pub mod kernel;
#[cfg(feature = "cli")]
mod output;
pub mod work;

pub use executor::{Executor, TaskError};
pub use work::Work;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
