//! The verbs by which the measuring layer drives this study.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

pub mod channel;
pub mod inputs;
pub mod overview;
pub mod record;
pub mod run;
pub mod scenario;

pub use run::{RunRequest, run};
pub use scenario::{cases, prepare};

/// How much of the study is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Every test case once.
    Smoke,
    /// What a user waits for.
    Quick,
    /// The published sizes.
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
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name).ok_or_else(|| Error::UnknownName {
            what: "profile",
            given: name.to_owned(),
            choices: Profile::ALL.map(Profile::name).join(", "),
        })
    }
}

/// Why a study verb could not run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A name that stands for nothing, or the engine cannot run.
    #[error(transparent)]
    Engine(#[from] Error),
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

/// A test case: what runs, built how, and how long it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Name of the scenario.
    pub scenario: &'static str,
    /// Name of the arm with its suffix, or of a duet.
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
        write!(f, "{scenario}\t{arm}\t{build}\t{seconds}\trun --scenario {scenario} --arm ")?;
        match arm.split_once('~') {
            Some((first, second)) => write!(f, "{first} --versus {second}"),
            None => write!(f, "{arm}"),
        }
    }
}
