//! The published program `async_await`: futures joined on one thread.

use std::process::ExitCode;

fn main() -> ExitCode {
    sqrt_tasks::cli::published(sqrt_tasks::Executor::AsyncAwait)
}
