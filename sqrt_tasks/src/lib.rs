//! Square roots on threads, async, tokio and rayon.
//!
//! | module | what it is for |
//! |---|---|
//! | [`executor`] | ways to run N tasks on T threads, each task exactly once |
//! | [`kernel`] | square roots, one by one and in vectors, chosen by what the processor can do |
//! | [`work`] | what a task does: the published square roots, their sum, nothing |
//! | [`cpu`] | cores, clock and the speed of the divider of the machine at hand |
//! | `cli` | the programs, with the feature `cli` |

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

/// The examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
