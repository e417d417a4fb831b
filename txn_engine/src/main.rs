//! The program: everything of it is in `txn_engine::cli`.

fn main() -> std::process::ExitCode {
    txn_engine::cli::run(std::env::args_os())
}
