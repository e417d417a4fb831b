//! An Arrow Flight service whose batches take a while to come, and the load that thousands of real streams put on it.

pub mod budget;
#[cfg(feature = "cli")]
pub mod cli;
pub mod direct;
pub mod encoded;
pub mod load;
#[cfg(feature = "plot")]
pub mod plot;
pub mod produce;
#[cfg(feature = "cli")]
pub mod results;
pub mod serve;
pub mod service;
pub mod stats;
pub mod table;
pub mod ticket;
pub mod uncopied;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
