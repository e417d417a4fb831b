//! A payments engine over CSV, in every shape that the question "async or not" asks for.
//!
//! The same rows, the same rules and the same answer in all arms; what differs is who reads, who applies, and how the rows get
//! from the one to the other. An arm is chosen by name:
//!
//! ```no_run
//! use std::path::PathBuf;
//! use txn_engine::{Arm, Options, process_files};
//!
//! let outcome = process_files(Arm::BestAllCores, &[PathBuf::from("transactions.csv")], Options::default())?;
//! print!("{}", String::from_utf8_lossy(&outcome.accounts_csv()));
//! # Ok::<(), txn_engine::Error>(())
//! ```
//!
//! Reading: [`input`] cuts a file into blocks of lines, [`parse`] makes [`row`]s of them, [`amount`] is money. Applying:
//! [`rules`] decides on one account, [`engine`] shares accounts between threads, [`ledger`] owns them alone, with [`transactions`] by number. Around
//! them: [`session`] (dump and load), [`generate`] (test data), [`oracle`] (a naive second implementation that says what is right),
//! [`stress`] (the published stress test) and [`study`] (the verbs of the measurement).
//!
//! Over TCP: [`serve`] answers lines of rows, on threads or on tokio; [`load`] sends them at a given rate from thousands of connections.
//! [`clients`] is the same question without sockets, as the document asks it.

pub mod accounts;
#[cfg(feature = "count-allocations")]
pub mod allocations;
pub mod amount;
pub mod arms;
pub mod clients;
pub mod engine;
pub mod error;
pub mod generate;
pub mod hash;
pub mod input;
pub mod ledger;
pub mod load;
pub mod oracle;
pub mod parse;
pub mod row;
pub mod rules;
pub mod serve;
pub mod session;
pub mod stress;
pub mod study;
pub mod transactions;
pub mod usage;

pub use arms::{Arm, Options, Outcome, process_files};
pub use error::{Error, ErrorKind, ErrorLog};
