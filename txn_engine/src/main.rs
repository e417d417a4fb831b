//! The command line: parse, dispatch, print the error once.

use std::process::ExitCode;

use clap::Parser;
use study_kit::output;

mod cli;
mod commands;
mod network;

fn main() -> ExitCode {
    match commands::run(cli::Cli::parse().into_command()) {
        Ok(code) => code,
        Err(error) => output::report("txn_engine", error.as_ref()),
    }
}
