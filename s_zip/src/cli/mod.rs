//! The program: parse, dispatch, print the error once.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use anyhow::Error;
use clap::Parser;

use args::Command;

mod args;
mod create;
mod out;
mod plan;
mod read;
mod terminal;

/// Could not run.
const COULD_NOT_RUN: u8 = 2;

/// Does what was typed, the program's name first, and says how to exit: 0 done, 1 ran and found a damaged archive, 2 could not run.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Command::try_parse_from(arguments) {
        Ok(command) => command,
        Err(error) => {
            // If nobody listens, nothing can be done about it.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(COULD_NOT_RUN));
        }
    };
    let result = match command {
        Command::Create(request) => create::create(&request).map(|()| ExitCode::SUCCESS),
        Command::List(archive) => read::list(&archive).map(|()| ExitCode::SUCCESS),
        Command::Test(archive) => read::test(&archive),
        Command::Extract { archive, into } => read::extract(&archive, &into).map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| report(&error))
}

/// Prints `error` with its causes in one line and says how to exit.
fn report(error: &Error) -> ExitCode {
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    // Whoever reads our output has had enough of it: that is no failure of ours.
    if error.chain().any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    terminal::complain(&format!("{error:#}"));
    ExitCode::from(COULD_NOT_RUN)
}
