//! What async costs a ZIP writer, and what it was that cost eight times.
//!
//! | module | what it is for |
//! |---|---|
//! | [`cases`] | every arm, and every scenario with the arms that run in it |
//! | [`mirror`], [`encoders`] | the published writer's shape, and the compressors that its controls exchange |
//! | [`own`] | how this crate's writers and their peers are called |
//! | [`data`], [`input`] | what is compressed |
//! | [`sinks`], [`place`] | where archives go, and whether what arrived is right |
//! | [`write`](mod@write) | one archive by one arm: what each arm is |
//! | [`many`] | several archives, and a task that wants its turn meanwhile |
//! | [`prices`] | what one handoff costs, and a write by its size |
//! | [`run`] | one sample, or one side of a duet |

pub mod cases;
pub mod data;
pub mod encoders;
pub mod input;
pub mod many;
pub mod mirror;
pub mod own;
pub mod place;
pub mod prices;
pub mod run;
pub mod sinks;
pub mod write;

pub use run::SZip;
