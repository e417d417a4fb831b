//! The verbs by which the measuring layer drives this study.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

use crate::design::arm::UnknownArm;
use crate::design::{AccessError, Arm};

pub mod bench;
pub mod commits;
pub mod compare;
pub mod metrics;
pub mod overview;
pub mod record;
pub mod run;
pub mod scenario;
pub mod usage;

pub use run::{RunRequest, run};
pub use scenario::{cases, prepare};

/// How much of the study is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Every test case once.
    Smoke,
    /// What a user waits for.
    Quick,
    /// The published durations.
    Full,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 3] = [Profile::Smoke, Profile::Quick, Profile::Full];

    /// The profile's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Profile::Smoke => "smoke",
            Profile::Quick => "quick",
            Profile::Full => "full",
        }
    }
}

impl FromStr for Profile {
    type Err = StudyError;

    fn from_str(name: &str) -> Result<Self, StudyError> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name).ok_or_else(|| StudyError::UnknownName {
            what: "profile",
            given: name.to_owned(),
            choices: Profile::ALL.map(Profile::name).join(", "),
        })
    }
}

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
    /// A file or folder of the study cannot be written or read.
    #[error("cannot {action} {path}")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: String,
        /// The cause.
        source: io::Error,
    },
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

pub(crate) fn file_error(action: &'static str, path: &Path, source: io::Error) -> StudyError {
    StudyError::File { action, path: path.display().to_string(), source }
}

/// A test case: what runs, built how, and how long it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Name of the scenario.
    pub scenario: &'static str,
    /// Name of the arm with its suffix.
    pub arm: String,
    /// `release`, `dev` or a variant.
    pub build: &'static str,
    /// Expected wall time on two cores, in seconds.
    pub seconds: f64,
}

impl fmt::Display for Case {
    /// The line of `arms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { scenario, arm, build, seconds } = self;
        write!(f, "{scenario}\t{arm}\t{build}\t{seconds}\trun --scenario {scenario} --arm {arm}")
    }
}
