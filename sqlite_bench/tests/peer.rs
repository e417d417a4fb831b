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

#[test]
fn another_program_reads_the_log_of_an_open_pool_and_the_file_of_a_closed_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("numbers.db");
    let pool = Pool::open_blocking(&file, &Options::default()).unwrap();
    pool.write_blocking(|db| db.execute_batch("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")).unwrap();
    for number in 1..=1_000 {
        pool.write_blocking(move |db| db.execute("INSERT INTO numbers VALUES (?1)", [number])).unwrap();
    }
    let python_reads = || match Command::new("python3").arg("-c").arg(SCRIPT).arg(&file).output() {
        Ok(output) if output.status.success() => {
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "ok 1000 500500 wal\n");
        }
        other => {
            assert!(std::env::var("CI").is_err(), "in CI a missing peer is a failure: {other:?}");
            eprintln!("skipped: there is no python3 with sqlite3 here: {other:?}");
        }
    };
    python_reads();
    pool.close_blocking().unwrap();
    python_reads();
}
