//! The published program `tokio`: tokio's multi-thread runtime.

use std::process::ExitCode;

fn main() -> ExitCode {
    sqrt_tasks::cli::published(sqrt_tasks::Executor::Tokio)
}
