//! The measurement of `sqrt_tasks`: [`cases`] says what is run, [`sample`] runs it once.

use std::process::ExitCode;

fn main() -> ExitCode {
    study_kit::main::<sqrt_tasks_study::SqrtTasks>()
}
