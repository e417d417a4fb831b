//! The verbs by which the measuring layer drives this study.
//!
//! [`scenario`] says which arms there are, [`run`] runs one of them once: the server in a process of its own, the load in this one.

mod arm;
pub mod overview;
pub mod run;
pub mod scenario;

pub use run::run;
pub use scenario::{cases, prepare};
