//! Standard output that arrives whole, and errors of one line.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::{Context, Error};

/// 0 if it succeeded, else 1: ran, and found failures.
pub(super) fn code(succeeded: bool) -> ExitCode {
    ExitCode::from(u8::from(!succeeded))
}

/// Runs `write` on buffered standard output and makes sure that all of it arrived.
pub(super) fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).context("cannot write to standard output")
}

pub(super) fn print(text: &str) -> Result<(), Error> {
    stream(|out| writeln!(out, "{text}"))
}

/// Prints `error` with its causes in one line and says how to exit: 2, could not run.
pub(super) fn report(error: &Error) -> ExitCode {
    let is_broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref().map(io::Error::kind) == Some(io::ErrorKind::BrokenPipe)
    };
    // Whoever reads our output has had enough of it: that is no failure of ours.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    // If nobody listens there, nothing can be done about it.
    let _ = writeln!(io::stderr(), "txn_engine: {}", format!("{error:#}").replace(['\n', '\r'], " "));
    ExitCode::from(2)
}
