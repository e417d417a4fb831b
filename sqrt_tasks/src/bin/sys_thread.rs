//! The published program `sys_thread`: system threads that take tasks from a queue.

fn main() -> std::process::ExitCode {
    sqrt_tasks::cli::published(sqrt_tasks::Executor::SysThread)
}
