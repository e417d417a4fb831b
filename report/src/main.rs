//! The command line: parse, dispatch, print the error once.

use std::process::ExitCode;

use clap::Parser;
use report::{cli::Cli, commands};

fn main() -> ExitCode {
    match commands::run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => commands::report(&error),
    }
}
