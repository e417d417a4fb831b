//! The measurement of `sqlite_bench`: its arms and scenarios, and one run of one of them.

pub mod cases;
mod commits;
#[doc(hidden)]
pub mod designs;
pub mod map;
mod prices;
mod sample;

pub use sample::SqliteBench;
