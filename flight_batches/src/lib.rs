//! An Arrow Flight service whose batches take a while to come, and the load that thousands of real streams put on it.
//!
//! | module | what it is for |
//! |---|---|
//! | [`table`] | the published table: seeded integers, cut into batches without copying |
//! | [`ticket`] | what a client asks for, and why it is refused |
//! | [`produce`] | when the next batch is due, and ways to wait for it: in async, on threads, on a pool |
//! | [`budget`] | what messages take until they are sent, slow readers included, and batches cut into as many as that bounds |
//! | [`encoded`] | batches as messages, encoded once and shared by all requests |
//! | [`service`], [`stats`] | the Flight service, and what it counts |
//! | [`direct`] | batches as messages for each request anew, sent from where their values are |
//! | [`uncopied`] | messages that go out without a copy of their values |
//! | [`serve`] | a server that listens, and drains when told to |
//! | [`load`] | the client: so many real streams, counted and checked |
//! | `cli` | the command line over all of it and the published grid, with the feature `cli` |
//! | `results` | the file of the grid, with the feature `cli` |
//! | `plot` | its pictures, with the feature `plot` |

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
