//! The command line.

fn main() -> std::process::ExitCode {
    sqrt_tasks::cli::main()
}
