//! The published concurrency test, with a comparison that can fail: three files at once against the oracle's sequential answer.
//!
//! 100,000 rows per file; `TXN_ENGINE_TEST_ROWS=1000000` makes them the published size.

use std::fs;

use tempfile::TempDir;
use txn_engine::generate::{self, Shape};
use txn_engine::oracle::Oracle;
use txn_engine::setup::Runner::{EnginePerFile, MultiThread, ThreadPerFile, TwoThreads};
use txn_engine::{Options, Setup, process_files};

/// Rows per file, unless the environment says otherwise.
const ROWS: u64 = 100_000;

fn rows() -> u64 {
    let given = std::env::var("TXN_ENGINE_TEST_ROWS");
    given.map_or(ROWS, |rows| rows.parse().expect("TXN_ENGINE_TEST_ROWS is a number of rows"))
}

/// Three files without common clients or ids give the same accounts whether they are applied at once or one after another.
fn files_at_once_give_the_sequential_accounts(setups: &[Setup]) {
    let folder = TempDir::new().expect("a folder for the files");
    let mut oracle = Oracle::default();
    let mut paths = Vec::new();
    for (index, clients) in [1..=10, 200..=300, 400..=500].into_iter().enumerate() {
        let seed = index as u64;
        let tx_base = u32::try_from(index).expect("three files") * 10_000_000;
        let mut bytes = Vec::new();
        generate::write(&Shape::Regression { clients, tx_base }, rows(), seed, &mut bytes).expect("a vector takes all");
        oracle.feed(&bytes).expect("the header is there");
        let path = folder.path().join(format!("{index}.csv"));
        fs::write(&path, &bytes).expect("the file can be written");
        paths.push(path);
    }
    let expected = String::from_utf8(oracle.finish().accounts_csv).expect("accounts are text");
    assert_eq!(expected.lines().count(), 1 + 10 + 101 + 101, "every client has an account");
    for &setup in setups {
        let outcome = process_files(setup, &paths, Options::default()).expect("the files can be processed");
        let accounts = String::from_utf8(outcome.accounts_csv()).expect("accounts are text");
        assert!(accounts == expected, "{setup:?} gives other accounts");
    }
}

#[test]
fn reg_test_engine_consistency_with_concurrent_processing() {
    files_at_once_give_the_sequential_accounts(
        &[ThreadPerFile, EnginePerFile, TwoThreads].map(|runner| Setup { runner, ..Setup::SYNC }),
    );
}

#[test]
fn reg_test_engine_consistency_with_concurrent_processing_async() {
    let multi_thread = Setup { runner: MultiThread, ..Setup::ASYNC };
    let batched = Setup { batch: 4096, ..Setup::ASYNC };
    files_at_once_give_the_sequential_accounts(&[Setup::ASYNC, multi_thread, batched]);
}
