//! A payments engine over CSV, in every shape that the question "async or not" asks for.
//!
//! The same rows, the same rules and the same answer in all shapes; what differs is who reads, who applies, and how the rows get
//! from the one to the other. A shape is a [`Setup`], and [`process_files`] goes by it.
//!
//! Reading: [`input`] cuts a file into blocks of lines, [`parse`] makes [`row`]s of them, [`amount`] is money. Applying:
//! [`rules`] decides on one account, [`engine`] shares accounts between threads, [`ledger`] owns them alone.
//! [`setup`] says how the two meet and [`process`] does it. Around them: [`session`] (dump and go on), [`generate`] (test data),
//! [`stress`] (the published stress test) and [`cli`] (the program).
//!
//! Over TCP: [`serve`] answers lines of rows, on threads or on tokio; [`load`] sends them at a given rate from thousands of connections.
//! [`clients`] is the same question without sockets, as the document asks it.

pub mod accounts;
pub mod amount;
#[cfg(feature = "cli")]
mod arguments;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "tcp")]
pub mod clients;
pub mod engine;
pub mod error;
pub mod generate;
pub mod hash;
pub mod input;
pub mod ledger;
#[cfg(feature = "tcp")]
mod limits;
#[cfg(feature = "tcp")]
pub mod load;
pub mod parse;
pub mod process;
pub mod row;
pub mod rules;
#[cfg(feature = "tcp")]
pub mod serve;
pub mod session;
pub mod setup;
pub mod stress;
mod transactions;
pub mod usage;
mod window;

pub use error::{Error, ErrorKind, ErrorLog};
pub use process::{Outcome, process_files};
pub use session::Session;
pub use setup::Setup;

/// The code blocks of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
