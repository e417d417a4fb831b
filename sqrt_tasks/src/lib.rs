//! Square roots on threads, async, tokio and rayon.
//!
//! | module | what it is for |
//! |---|---|
//! | [`executor`] | ways to run N tasks on T threads, each task exactly once |
//! | [`kernel`] | square roots, one by one and in vectors, chosen by what the processor can do |
//! | [`work`] | what a task does: the published square roots, and the same with one factor changed |
//! | [`memory`] | blocks of memory got in different ways |
//! | [`cpu`] | cores, clock and the speed of the divider of the machine at hand |
//! | [`mirror`] | the three published programs |
//! | [`study`] | the verbs by which the measuring layer drives all this |

pub mod cpu;
pub mod executor;
pub mod kernel;
pub mod memory;
pub mod mirror;
pub mod study;
pub mod work;

pub use executor::{Executor, TaskError};
pub use work::{Job, Work};
