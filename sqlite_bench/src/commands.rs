//! What each command does: files and streams at the edge, the library for the rest.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::{Context, Error};

use sqlite_bench::study::compare::Comparison;
use sqlite_bench::study::{self, overview};

use crate::cli::Command;

/// Ran, and found failures.
const FOUND_FAILURES: u8 = 1;
/// Could not run.
const COULD_NOT_RUN: u8 = 2;

/// Carries out `command`.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Compare(comparison) => return compare(comparison),
        Command::Describe => print(&overview::arms())?,
        Command::Arms(profile) => {
            let lines: Vec<String> = study::cases(profile).iter().map(ToString::to_string).collect();
            print(&(lines.join("\n") + "\n"))?;
        }
        Command::Prepare { scenario } => study::prepare(&scenario)?,
        Command::Run(request, file) => {
            let (record, succeeded) = study::run(&request)?;
            record.write(file.as_deref())?;
            return Ok(code(succeeded));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(comparison: Comparison) -> Result<ExitCode, Error> {
    let comparison = comparison.checked()?;
    let rows = overview::measure(&comparison)?;
    print(&comparison.tables(&rows))?;
    Ok(code(rows.iter().all(|row| row.fault.is_none())))
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
    // If nobody listens there, nothing can be done about it.
    let _ = writeln!(io::stderr(), "error: {}", format!("{error:#}").replace('\n', " "));
    ExitCode::from(COULD_NOT_RUN)
}

fn code(succeeded: bool) -> ExitCode {
    if succeeded { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAILURES) }
}

/// Prints `text` to standard output and makes sure that all of it arrived.
fn print(text: &str) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}
