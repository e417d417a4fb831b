//! Names that mean nothing, and how a program says that it failed.

use std::io::{self, Write};
use std::process::ExitCode;

/// Ran, and found failures.
pub const FOUND_FAILURES: u8 = 1;
/// Could not run.
pub const COULD_NOT_RUN: u8 = 2;

/// What was asked for does not exist.
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
    #[error("the arm {arm} does not run in {scenario}: choose one of {choices}")]
    Mismatch {
        /// The arm.
        arm: String,
        /// The scenario.
        scenario: String,
        /// The arms that do.
        choices: String,
    },
    /// The description of the authors' programs is wrong.
    #[error("{0:#}")]
    Original(anyhow::Error),
}

impl Error {
    /// A name of which there is none, and those there are.
    pub fn unknown<'a>(what: &'static str, given: &str, choices: impl IntoIterator<Item = &'a str>) -> Self {
        let choices = choices.into_iter().collect::<Vec<_>>().join(", ");
        Error::UnknownName { what, given: given.to_owned(), choices }
    }
}

/// An error with its causes in one line.
#[must_use]
pub fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").replace(['\n', '\r'], " ")
}

/// Prints `error` with its causes in one line and says how to exit.
pub fn report(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    // Whoever reads our output has had enough of it: that is no failure of ours.
    if error.chain().any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    // If nobody listens there, nothing can be done about it.
    let _ = writeln!(io::stderr(), "error: {}", one_line(error));
    ExitCode::from(COULD_NOT_RUN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_is_no_failure() {
        let code = |kind| format!("{:?}", report(&anyhow::Error::from(io::Error::from(kind)).context("cannot write")));
        assert_eq!(code(io::ErrorKind::BrokenPipe), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(code(io::ErrorKind::StorageFull), format!("{:?}", ExitCode::from(COULD_NOT_RUN)));
    }
}
