//! Opening a database that others use at the same moment.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sqlite_bench::pool::{Access, Pool};

use super::common::{SAFETY, file, integrity, options};

#[test]
fn pools_that_open_one_new_file_at_the_same_moment_wait_for_each_other() {
    const POOLS: usize = 8;
    for _ in 0..60 {
        let folder = tempfile::tempdir().unwrap();
        let (file, start) = (file(&folder), Barrier::new(POOLS));
        let open = || {
            start.wait();
            Pool::open_blocking(&file, &options().busy_timeout(SAFETY))
        };
        std::thread::scope(|scope| {
            let pools = [(); POOLS].map(|()| scope.spawn(open)).map(|opening| opening.join().unwrap().unwrap());
            for pool in pools {
                assert_eq!(pool.read_blocking(integrity).unwrap(), "ok");
            }
        });
    }
}

/// What another connection does to a new database before a pool opens it, and until when.
const FOREIGN_LOCKS: [&str; 6] = [
    "BEGIN IMMEDIATE",
    "BEGIN EXCLUSIVE",
    "BEGIN; SELECT * FROM foreign_rows",
    "BEGIN; INSERT INTO foreign_rows VALUES (2)",
    "PRAGMA locking_mode = EXCLUSIVE; INSERT INTO foreign_rows VALUES (2); BEGIN",
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; INSERT INTO foreign_rows VALUES (2); BEGIN",
];

#[test]
fn a_lock_that_is_in_the_way_of_opening_is_waited_for_and_then_named_as_what_may_pass() {
    let timeout = Duration::from_millis(300);
    for lock in FOREIGN_LOCKS {
        let folder = tempfile::tempdir().unwrap();
        let other = Connection::open(file(&folder)).unwrap();
        other.execute_batch("CREATE TABLE foreign_rows (id INTEGER); INSERT INTO foreign_rows VALUES (1)").unwrap();
        other.execute_batch(lock).unwrap();
        let begin = Instant::now();
        let error = Pool::open_blocking(file(&folder), &options().busy_timeout(timeout)).unwrap_err();
        let took = begin.elapsed();
        assert!(took >= timeout && took < SAFETY, "{lock}: {took:?}");
        let said = error.to_string();
        assert!(error.is_retryable() && said.contains("locked for longer than the busy timeout"), "{lock}: {said}");
        std::thread::scope(|scope| {
            let patient = scope.spawn(|| Pool::open_blocking(file(&folder), &options().busy_timeout(SAFETY)));
            std::thread::sleep(timeout);
            assert!(!patient.is_finished(), "{lock}");
            drop(other);
            patient.join().unwrap().unwrap().close_blocking().unwrap();
        });
    }
}

#[test]
fn a_change_to_the_log_in_on_open_waits_too() {
    let folder = tempfile::tempdir().unwrap();
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("CREATE TABLE entries (id INTEGER); BEGIN IMMEDIATE").unwrap();
    let options = options().busy_timeout(SAFETY).on_open(|db| db.execute_batch("PRAGMA journal_mode = WAL"));
    std::thread::scope(|scope| {
        let patient = scope.spawn(|| Pool::open_blocking(file(&folder), &options));
        std::thread::sleep(Duration::from_millis(100));
        assert!(!patient.is_finished());
        drop(other);
        patient.join().unwrap().unwrap();
    });
}

#[test]
fn a_log_that_others_write_is_no_reason_to_wait() {
    let folder = tempfile::tempdir().unwrap();
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE entries (id INTEGER); BEGIN IMMEDIATE").unwrap();
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let options = options().access(access).busy_timeout(Duration::ZERO);
        Pool::open_blocking(file(&folder), &options).unwrap();
    }
}

#[test]
fn a_missing_database_or_a_wrong_one_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(file(&folder), "no database ".repeat(1_000)).unwrap();
    let begin = Instant::now();
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let error = Pool::open_blocking(file(&folder), &options().access(access).busy_timeout(SAFETY)).unwrap_err();
        assert!(!error.is_retryable(), "{error}");
    }
    assert!(begin.elapsed() < SAFETY);
}
