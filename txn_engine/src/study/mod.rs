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
    /// A name that stands for nothing, a file that cannot be written or read, or a run of the overview that failed.
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
    /// Test data that was written is refused: a defect of the generator.
    #[error("the generated input cannot be read: {0}")]
    BadInput(String),
}
