//! The measurement of `sqlite_bench`: [`sqlite_bench_study::cases`] says what is run, [`sqlite_bench_study::SqliteBench`] runs it once.

use std::process::ExitCode;

fn main() -> ExitCode {
    study_kit::main::<sqlite_bench_study::SqliteBench>()
}
