//! The published program `async_await`: futures joined on one thread.

fn main() -> std::process::ExitCode {
    sqrt_tasks::cli::published(sqrt_tasks::Executor::AsyncAwait)
}
