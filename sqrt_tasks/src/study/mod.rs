//! The verbs by which the measuring layer drives this study.
//!
//! [`scenario`] says which arms there are, [`run`] runs one of them once.

pub mod cargo;
pub mod overview;
pub mod run;
pub mod scenario;

pub use run::run;
pub use scenario::{cases, prepare};
