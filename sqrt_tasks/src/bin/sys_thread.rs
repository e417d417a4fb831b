//! The published program `sys_thread`: system threads that take tasks from a queue.

use std::process::ExitCode;

use sqrt_tasks::{Executor, mirror};

fn main() -> ExitCode {
    mirror::main("sys_thread", Executor::SysThread)
}
