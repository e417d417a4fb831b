//! Another program reads what the pool wrote: Python's sqlite3, which brings a SQLite of its own.

use std::process::Command;

use sqlite_bench::pool::{Options, Pool};

const SCRIPT: &str = "
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
(verdict,) = database.execute('PRAGMA integrity_check').fetchone()
(count, total) = database.execute('SELECT COUNT(*), SUM(number) FROM numbers').fetchone()
(mode,) = database.execute('PRAGMA journal_mode').fetchone()
print(verdict, count, total, mode)
";

/// Python finds all numbers in the file; skipped if there is no Python with sqlite3 on this machine.
fn python_reads(file: &std::path::Path) {
    let output = Command::new("python3").arg("-c").arg(SCRIPT).arg(file).output();
    match output {
        Ok(output) if output.status.success() => {
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "ok 1000 500500 wal\n");
        }
        other => {
            assert!(std::env::var("CI").is_err(), "in CI a missing peer is a failure: {other:?}");
            eprintln!("skipped: there is no python3 with sqlite3 here: {other:?}");
        }
    }
}

fn written(file: &std::path::Path) -> Pool {
    let pool = Pool::open_blocking(file, &Options::default()).unwrap();
    pool.write_blocking(|connection| connection.execute_batch("CREATE TABLE numbers (number INTEGER PRIMARY KEY)"))
        .unwrap();
    for number in 1..=1_000 {
        pool.write_blocking(move |connection| connection.execute("INSERT INTO numbers VALUES (?1)", [number])).unwrap();
    }
    pool
}

#[test]
fn another_program_reads_the_log_of_an_open_pool() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("open.db");
    let pool = written(&file);
    python_reads(&file);
    drop(pool);
}

#[test]
fn another_program_reads_a_closed_pool_whose_log_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("closed.db");
    written(&file).close_blocking().unwrap();
    python_reads(&file);
}
