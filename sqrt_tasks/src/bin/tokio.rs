//! The published program `tokio`: tokio's multi-thread runtime.

use std::process::ExitCode;

use sqrt_tasks::{Executor, mirror};

fn main() -> ExitCode {
    mirror::main("tokio", Executor::Tokio)
}
