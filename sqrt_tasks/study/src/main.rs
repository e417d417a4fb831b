fn main() -> std::process::ExitCode {
    study_kit::main::<sqrt_tasks_study::SqrtTasks>()
}
