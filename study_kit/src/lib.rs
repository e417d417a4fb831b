//! What the program of every study does the same way, by docs/FORMAT.md: a study is a [`Study`], its program is [`main`].
//!
//! | module | what it is for |
//! |---|---|
//! | [`study`] | what a study says of itself |
//! | `program` | its program: the verbs |
//! | [`case`] | scenarios with their arms, as one table; a test case of them |
//! | [`run`] | one process, one sample or one duet |
//! | [`record`], `line` | the line of JSON that a run appends |
//! | `metrics` | what was observed, by name |
//! | [`usage`] | what a span cost: time, faults, switches, memory |
//! | [`price`] | what one handoff costs |
//! | [`probe`] | how fast the machine is just now |
//! | [`server`] | a server in a process of its own, which ends with this one |
//! | `original` | the authors' own program as an arm |
//! | [`data`] | where inputs and scratch files lie |
//! | `output` | what is printed arrives |
//! | `page`, `overview` | the document's tables from one run of each case |

pub mod case;
pub mod data;
mod error;
mod line;
mod metrics;
mod original;
mod output;
mod overview;
mod page;
pub mod price;
pub mod probe;
mod program;
pub mod record;
pub mod run;
pub mod server;
pub mod study;
pub mod usage;

pub use case::{
    Arms, Profile, Scenario, TestCase, always, full, measured, originals, quick, smoke, smoke_full, smoke_quick,
};
pub use metrics::Metrics;
pub use program::main;
pub use record::Observation;
pub use study::{Study, Turn, Turns};
pub use usage::Span;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
