//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    sqlite_bench::cli::run(&sqlite_bench::design::ARMS.each_ref(), std::env::args_os())
}
