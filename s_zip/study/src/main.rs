//! The measurement of `s_zip`: the verbs, and without arguments the document's tables.

use std::process::ExitCode;

fn main() -> ExitCode {
    study_kit::main::<s_zip_study::SZip>()
}
