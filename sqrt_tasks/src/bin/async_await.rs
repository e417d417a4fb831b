//! The published program `async_await`: futures joined on one thread.

use std::process::ExitCode;

use sqrt_tasks::{Executor, mirror};

fn main() -> ExitCode {
    mirror::main("async_await", Executor::AsyncAwait)
}
