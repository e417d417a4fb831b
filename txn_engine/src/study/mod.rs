//! The verbs by which the measuring layer drives this study.

use crate::error::Error;

pub mod channel;
mod concurrent;
pub mod inputs;
pub mod overview;
pub mod run;
pub mod scenario;

pub use run::run;
pub use scenario::{cases, prepare};
pub use study_kit::{Case, Profile, RunRequest};

/// Why a study verb could not run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A name that stands for nothing, or the engine cannot run.
    #[error(transparent)]
    Engine(#[from] Error),
    /// A run that the overview started failed.
    #[error(transparent)]
    Kit(#[from] study_kit::Error),
    /// The scenario's input is absent.
    #[error(
        "the input of {scenario} with seed {seed} is not there: run `txn_engine prepare --scenario {scenario} --seed {seed}` first"
    )]
    NotPrepared {
        /// The scenario.
        scenario: String,
        /// The input seed.
        seed: u64,
    },
    /// A file of the study cannot be written or read.
    #[error("cannot {action} {path}")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Test data that was written is refused: a defect of the generator.
    #[error("the generated input cannot be read: {0}")]
    BadInput(String),
}
