//! The measurement of `sqrt_tasks`.

pub mod cases;
pub mod job;
mod memory;
mod prices;
mod program;
mod sample;

pub use sample::SqrtTasks;
