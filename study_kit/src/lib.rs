//! What the binary of every study does the same way: the verbs of docs/FORMAT.md, without the work.
//!
//! | module | what it is for |
//! |---|---|
//! | [`profile`] | how much of a study is run: smoke, quick, full |
//! | [`case`] | a test case as `arms` lists it, and the suffixes of an arm |
//! | [`verb`] | the verbs as words of a command line, and what they do |
//! | [`request`] | the arguments of `run` |
//! | [`record`] | the line of JSON that a run appends |
//! | [`server`] | a server in a process of its own, which ends with this one |
//! | [`usage`] | what a span cost: time, faults, switches, memory |
//! | `distribution` | how long operations took, with the feature `distribution` |
//! | [`duet`] | the alternation of two arms in one process |
//! | [`overview`] | every arm once in a process of its own, with a progress bar |
//! | [`output`] | standard output that arrives whole, and errors of one line |

pub mod case;
#[cfg(feature = "distribution")]
pub mod distribution;
pub mod duet;
pub mod error;
pub mod output;
pub mod overview;
pub mod profile;
pub mod record;
pub mod request;
pub mod server;
pub mod usage;
pub mod verb;

pub use case::{Case, Suffix};
pub use error::{Error, file_error};
pub use profile::Profile;
pub use record::{Observation, Pair, Record};
pub use request::{RunArgs, RunRequest};
pub use verb::Verb;
