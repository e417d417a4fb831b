//! An Arrow Flight service whose batches take a while to come, and the load that thousands of real streams put on it.
//!
//! | module | what it is for |
//! |---|---|
//! | [`table`] | the published table: seeded integers, cut into batches without copying |
//! | [`ticket`] | what a client asks for, and why it is refused |
//! | [`pace`] | when the next batch is due, so that lateness does not add up |
//! | [`produce`] | ways to wait for the next batch: in async, on threads, on a pool |
//! | [`slices`] | batches cut into messages, so that memory stays bounded however many streams there are |
//! | [`budget`] | what messages take until they are sent, slow readers included |
//! | [`encoded`] | batches as messages, encoded once and shared by all requests |
//! | [`service`], [`stats`] | the Flight service, and what it counts |
//! | [`direct`] | batches as messages for each request anew, sent from where their values are |
//! | [`uncopied`] | messages that go out without a copy of their values |
//! | [`serve`] | a server that listens, and drains when told to |
//! | [`load`] | the client: so many real streams, counted and checked |
//! | `bench`, `results`, `plot` | the published grid, its file and its pictures, with the feature `cli` |
//! | `cli` | the command line over all of it, with the feature `cli` |

#[cfg(feature = "cli")]
pub mod bench;
pub mod budget;
#[cfg(feature = "cli")]
pub mod cli;
pub mod direct;
pub mod encoded;
pub mod load;
pub mod pace;
#[cfg(feature = "cli")]
pub mod plot;
pub mod produce;
#[cfg(feature = "cli")]
pub mod results;
pub mod serve;
pub mod service;
pub mod slices;
pub mod stats;
pub mod table;
pub mod ticket;
pub mod uncopied;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
