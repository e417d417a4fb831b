//! The verbs by which the measuring layer drives this study.

use std::io;

use crate::design::arm::UnknownArm;
use crate::design::{AccessError, Arm};

pub mod bench;
pub mod commits;
pub mod compare;
pub mod metrics;
pub mod overview;
pub mod run;
pub mod scenario;
pub mod usage;

pub use run::run;
pub use scenario::{cases, prepare};
pub use study_kit::{Case, Profile, RunRequest};

/// Why a study verb could not run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// An arm that is none.
    #[error(transparent)]
    UnknownArm(#[from] UnknownArm),
    /// An arm that the scenario has no work for.
    #[error("the arm {arm} does not run in {scenario}: `sqlite_bench arms` lists what does")]
    Mismatch {
        /// The arm.
        arm: String,
        /// The scenario.
        scenario: String,
    },
    /// A name that stands for nothing, or a file or folder that cannot be written or read.
    #[error(transparent)]
    Kit(#[from] study_kit::Error),
    /// The runtime cannot be started.
    #[error("cannot start the async runtime")]
    Runtime(#[source] io::Error),
    /// The databases of an arm cannot be opened or filled.
    #[error("cannot use the databases of {arm}")]
    Open {
        /// The arm.
        arm: Arm,
        /// The cause.
        #[source]
        source: AccessError,
    },
}
