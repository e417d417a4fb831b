//! The program `flight_batches`: see `flight_batches --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flight_batches::cli::run(std::env::args_os().skip(1))
}
