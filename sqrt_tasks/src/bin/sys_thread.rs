//! The published program `sys_thread`: system threads that take tasks from a queue.

use std::process::ExitCode;

fn main() -> ExitCode {
    sqrt_tasks::cli::published(sqrt_tasks::Executor::SysThread)
}
