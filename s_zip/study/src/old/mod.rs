//! The verbs by which the measuring layer drives this study.

use std::io;

pub mod arms;
pub mod data;
pub mod hostile;
pub mod many;
pub mod overview;
pub mod run;
pub mod scenario;
pub mod sinks;
pub mod target;
pub mod ticker;
pub mod usage;

pub use run::run;
pub use scenario::{cases, prepare};
pub use study_kit::{Case, Profile, RunRequest};

/// Why a study verb could not run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// An arm that the scenario has no work for.
    #[error("the arm {arm} does not run in {scenario}: `s_zip arms` lists what does")]
    Mismatch {
        /// The arm.
        arm: String,
        /// The scenario.
        scenario: String,
    },
    /// A name that stands for nothing, a file that cannot be written or read, or a run of the overview that failed.
    #[error(transparent)]
    Kit(#[from] study_kit::Error),
    /// The runtime cannot be started.
    #[error("cannot start the async runtime")]
    Runtime(#[source] io::Error),
}
