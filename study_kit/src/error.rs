//! Why a verb could not run.

use std::io;
use std::path::Path;

/// Why a verb could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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
    #[error("the arm {arm} does not run in {scenario}: the verb `arms` lists what does")]
    Mismatch {
        /// The arm.
        arm: String,
        /// The scenario.
        scenario: String,
    },
    /// A file cannot be written or read.
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
    #[error("{scenario} {arm} failed: {why}")]
    Sample {
        /// The scenario.
        scenario: String,
        /// The arm.
        arm: String,
        /// What it said, or how it ended.
        why: String,
    },
}

/// A file that cannot be used: `action` completes "cannot".
pub fn file_error(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::File { action, path: path.display().to_string(), source }
}

/// A name of which there is none, and those there are.
pub fn unknown<'a>(what: &'static str, given: &str, choices: impl IntoIterator<Item = &'a str>) -> Error {
    let choices: Vec<&str> = choices.into_iter().collect();
    Error::UnknownName { what, given: given.to_owned(), choices: choices.join(", ") }
}

/// An error with its causes in one line.
pub fn one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text.replace(['\n', '\r'], " ")
}
