//! The command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    sqrt_tasks::cli::main()
}
