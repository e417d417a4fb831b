//! The measurement of `sqrt_tasks`: `cases` says what is run, `sample` runs it once.

fn main() -> std::process::ExitCode {
    study_kit::main::<sqrt_tasks_study::SqrtTasks>()
}
