//! The verbs by which the measuring layer drives this study.

use std::io;
use std::path::Path;

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
    /// A name that stands for nothing.
    #[error("unknown {what} '{given}': choose one of {choices}")]
    UnknownName {
        /// What was asked for.
        what: &'static str,
        /// What was given.
        given: String,
        /// What there is.
        choices: String,
    },
    /// An arm that the scenario has no work for.
    #[error("the arm {arm} does not run in {scenario}: `s_zip arms` lists what does")]
    Mismatch {
        /// The arm.
        arm: String,
        /// The scenario.
        scenario: String,
    },
    /// A file of the study cannot be written or read.
    #[error("cannot {action} {path}")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// A run that the overview started failed.
    #[error(transparent)]
    Kit(#[from] study_kit::Error),
    /// The runtime cannot be started.
    #[error("cannot start the async runtime")]
    Runtime(#[source] io::Error),
}

pub(crate) fn file_error(action: &'static str, path: &Path, source: io::Error) -> StudyError {
    StudyError::File { action, path: path.display().to_string(), source }
}
