//! The program: parse, dispatch, print the error once.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Error;
use clap::Parser;

use args::Command;

mod args;
mod create;
mod out;
mod plan;
mod read;
mod signals;
mod terminal;

fn exit(found_failures: bool) -> ExitCode {
    ExitCode::from(u8::from(found_failures))
}

const COULD_NOT_RUN: u8 = 2;

/// Does what was typed, the program's name first, and says how to exit: 0 done, 1 ran and found failures, 2 could not run.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Command::try_parse_from(arguments) {
        Ok(command) => command,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(COULD_NOT_RUN);
            return terminal::explain(&error).map_or_else(|error| report(&error), |()| ExitCode::from(code));
        }
    };
    let result = match command {
        Command::Create(request) => signals::watch().and_then(|()| create::create(&request)),
        Command::List(archive) => read::list(&archive).map(|()| ExitCode::SUCCESS),
        Command::Test { archive, skip_bad } => read::test(&archive, skip_bad),
        Command::Extract { archive, into, skip_bad, jobs } => {
            signals::watch().and_then(|()| read::extract(&archive, &into, skip_bad, jobs))
        }
    };
    result.unwrap_or_else(|error| report(&error))
}

/// Prints `error` with its causes in one line and says how to exit.
fn report(error: &Error) -> ExitCode {
    terminal::complain(&format!("{error:#}"));
    ExitCode::from(COULD_NOT_RUN)
}
