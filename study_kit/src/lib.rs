//! What the program of every study does the same way, by docs/FORMAT.md: a study is a [`Study`], its program is [`main`].

pub mod case;
mod cores;
pub mod data;
pub mod layout;
mod line;
mod original;
mod output;
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
pub use program::main;
pub use record::{Metrics, Observation};
pub use study::{Study, Turn, Turns};
pub use usage::Span;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
