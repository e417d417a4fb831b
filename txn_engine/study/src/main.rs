//! The measurement of `txn_engine`: see [`txn_engine_study`].

use std::process::ExitCode;

fn main() -> ExitCode {
    study_kit::main::<txn_engine_study::TxnEngine>()
}
