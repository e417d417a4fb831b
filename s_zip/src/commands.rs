//! What each command does: files and streams at the edge, the library for the rest.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::{Context, Error};
#[cfg(feature = "study")]
use s_zip::study;

use crate::cli::Command;

mod create;
mod out;
mod plan;
mod read;

/// Ran, and found failures.
const FOUND_FAILURES: u8 = 1;
/// Could not run.
const COULD_NOT_RUN: u8 = 2;

/// Carries out `command`.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Create(request) => create::create(&request)?,
        Command::List(archive) => read::list(&archive)?,
        Command::Test(archive) => return read::test(&archive),
        Command::Extract { archive, into } => read::extract(&archive, &into)?,
        #[cfg(feature = "study")]
        Command::Study(verb) => return verb.carry_out(study::cases, study::prepare, study::run),
        #[cfg(feature = "study")]
        Command::Overview => study_kit::output::print(&study::overview::tables()?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints `error` with its causes in one line and says how to exit.
pub fn report(error: &Error) -> ExitCode {
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    // Whoever reads our output has had enough of it: that is no failure of ours.
    if error.chain().any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    complain(&format!("{error:#}"));
    ExitCode::from(COULD_NOT_RUN)
}

/// One line on stderr; if nobody listens there, nothing can be done about it.
fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "s_zip: {message}");
}

/// Runs `write` on buffered standard output and makes sure that all of it arrived.
fn print(write: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush().context("cannot write to standard output")
}
