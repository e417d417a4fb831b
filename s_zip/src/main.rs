//! The command line: parse, dispatch, print the error once.

use std::process::ExitCode;

use clap::Parser;

mod cli;
mod commands;

fn main() -> ExitCode {
    match cli::Cli::parse().into_command().and_then(commands::run) {
        Ok(code) => code,
        Err(error) => commands::report(&error),
    }
}
