//! The command line: see [`s_zip::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    s_zip::cli::run(std::env::args_os())
}
