//! The published program `tokio`: tokio's multi-thread runtime.

fn main() -> std::process::ExitCode {
    sqrt_tasks::cli::published(sqrt_tasks::Executor::Tokio)
}
