//! The command line: parse, dispatch, print the error once.

use std::process::ExitCode;

use clap::Parser;
use report::{cli::Cli, commands, output};

fn main() -> ExitCode {
    let done = match Cli::try_parse() {
        Ok(cli) => commands::run(cli.command),
        Err(typed) => output::explain(&typed),
    };
    done.unwrap_or_else(|error| commands::report(&error))
}
