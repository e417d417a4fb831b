//! Names that mean nothing, and how a program says that it failed.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;

pub const FOUND_FAILURES: u8 = 1;
pub const COULD_NOT_RUN: u8 = 2;

/// A name of which there is none, and those there are.
pub fn unknown<'a>(what: &str, given: &str, choices: impl IntoIterator<Item = &'a str>) -> anyhow::Error {
    anyhow!("unknown {what} '{given}': choose one of {}", choices.into_iter().collect::<Vec<_>>().join(", "))
}

/// An error with its causes in one line.
pub fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").replace(['\n', '\r'], " ")
}

/// Prints `error` with its causes in one line and says how to exit.
pub fn report(error: &anyhow::Error) -> ExitCode {
    let is_gone = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    // Whoever reads our output has had enough of it: that is no failure of ours.
    if error.chain().any(|cause| cause.downcast_ref().is_some_and(is_gone)) {
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
