//! The measurement of `sqlite_bench`.
//!
//! | module | what it is for |
//! |---|---|
//! | [`cases`] | the arms and the scenarios |
//! | `sample` | one run of one of them |
//! | `designs` | designs that exist only to be compared |
//! | `commits` | what a commit costs on disk, alone and in company |

pub mod cases;
mod commits;
mod designs;
mod sample;

pub use sample::SqliteBench;
