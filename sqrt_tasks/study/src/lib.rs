//! The measurement of `sqrt_tasks`.
//!
//! | module | what it is for |
//! |---|---|
//! | `cases` | the arms and the scenarios |
//! | `sample` | one run of one of them |
//! | [`job`] | what a task does: the works of the crate, and controls that change one factor |
//! | `memory` | blocks of memory got in different ways |
//! | `prices` | what it costs to start a unit of work |
//! | `program` | `cargo run` against the program that it runs |

mod cases;
pub mod job;
mod memory;
mod prices;
mod program;
mod sample;

pub use sample::SqrtTasks;
