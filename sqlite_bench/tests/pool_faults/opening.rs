//! Opening a database that others use at the same moment.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sqlite_bench::pool::{Access, Error, Pool};
use tempfile::TempDir;

use super::common::{SAFETY, file, ids, insert, integrity, opened, options};

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
fn a_panic_in_on_open_is_an_error_of_opening() {
    let folder = tempfile::tempdir().unwrap();
    let options = options().on_open(|_| panic!("a bug of the caller"));
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let options = options.clone().access(access);
        for opened in
            [Pool::open_blocking(file(&folder), &options), pollster::block_on(Pool::open(file(&folder), &options))]
        {
            assert!(matches!(&opened, Err(Error::Panicked(message)) if message == "a bug of the caller"), "{opened:?}");
        }
    }
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
fn a_busy_timeout_may_be_for_ever_and_a_queue_without_end() {
    let (_folder, pool) = opened(&options().busy_timeout(Duration::MAX).queue(NonZero::<usize>::MAX));
    pool.write_blocking(insert(1)).unwrap();
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

fn immutable(path: &Path) -> Result<Pool, Error> {
    Pool::open_blocking(path, &options().access(Access::Immutable))
}

/// It is refused, because of the file of that name, which the error says.
#[track_caller]
fn is_refused(path: &Path, log: &Path) {
    let error = immutable(path).unwrap_err();
    let Error::LogLeft { log: named, .. } = &error else { panic!("{error}") };
    assert_eq!(*named, log.canonicalize().unwrap());
    assert!(!error.is_retryable() && error.to_string().ends_with("open it once for writing and close it"), "{error}");
}

/// A copy of a database without the row 2, which is in its log.
fn snapshot_with_log() -> (TempDir, PathBuf) {
    let (source, pool) = opened(&options());
    pool.write_blocking(insert(1)).unwrap();
    pool.close_blocking().unwrap();
    let pool = Pool::open_blocking(file(&source), &options()).unwrap();
    pool.write_blocking(insert(2)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["pool.db", "pool.db-wal"] {
        std::fs::copy(source.path().join(name), folder.path().join(name)).unwrap();
    }
    let path = file(&folder);
    (folder, path)
}

/// A copy of a database in the middle of a commit: half of it is written, and the rollback journal holds what was there before.
fn snapshot_with_hot_journal() -> (TempDir, PathBuf) {
    let (source, pool) = opened(&options());
    pool.write_blocking(insert(1)).unwrap();
    pool.close_blocking().unwrap();
    let db = Connection::open(file(&source)).unwrap();
    // One page of cache: what does not fit is written before the commit.
    db.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN IMMEDIATE").unwrap();
    db.execute_batch("UPDATE entries SET id = 100").unwrap();
    for id in 2..100 {
        db.execute("INSERT INTO entries (id, data) VALUES (?1, randomblob(3000))", [id]).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["pool.db", "pool.db-journal"] {
        std::fs::copy(source.path().join(name), folder.path().join(name)).unwrap();
    }
    let path = file(&folder);
    (folder, path)
}

/// Once it has been opened for writing, as the error says, a snapshot is read whole.
#[track_caller]
fn is_read_after_recovery(path: &Path, rows: &[i64]) {
    Pool::open_blocking(path, &options()).unwrap().close_blocking().unwrap();
    assert_eq!(immutable(path).unwrap().read_blocking(ids).unwrap(), rows);
}

#[test]
fn a_snapshot_with_a_log_or_a_hot_journal_is_refused_until_it_was_opened_for_writing() {
    for ((folder, path), log, rows) in [
        (snapshot_with_log(), "pool.db-wal", [1, 2].as_slice()),
        (snapshot_with_hot_journal(), "pool.db-journal", &[1]),
    ] {
        is_refused(&path, &folder.path().join(log));
        is_read_after_recovery(&path, rows);
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_refused_because_of_the_log_beside_its_target() {
    use std::os::unix::fs::symlink;
    for ((folder, path), log) in
        [(snapshot_with_log(), "pool.db-wal"), (snapshot_with_hot_journal(), "pool.db-journal")]
    {
        let log = folder.path().join(log);
        let links = tempfile::tempdir().unwrap();
        let link = |name: &str, to: &Path| {
            let link = links.path().join(name);
            symlink(to, &link).unwrap();
            link
        };
        let first = link("first.db", &path);
        is_refused(&first, &log);
        // A link to a link, one of a relative path, and a folder that is one.
        is_refused(&link("second.db", Path::new("first.db")), &log);
        is_refused(&link("folder", folder.path()).join("pool.db"), &log);
        // What lies beside the link is not the database's.
        is_read_after_recovery(&path, &immutable_rows(&path));
        std::fs::write(links.path().join("first.db-wal"), "another file").unwrap();
        immutable(&first).unwrap();
    }
}

/// What is there after recovery.
fn immutable_rows(path: &Path) -> Vec<i64> {
    ids(&Connection::open(path).unwrap()).unwrap()
}

#[test]
fn what_a_finished_commit_leaves_beside_a_file_is_no_log() {
    let (folder, pool) = opened(&options());
    pool.write_blocking(insert(1)).unwrap();
    pool.close_blocking().unwrap();
    let path = file(&folder);
    // By SQLite itself: emptied, or overwritten with zeros.
    for (mode, is_empty) in [("TRUNCATE", true), ("PERSIST", false)] {
        let db = Connection::open(&path).unwrap();
        let mode = format!("PRAGMA journal_mode = {mode}; UPDATE entries SET value = value + 1");
        db.execute_batch(&mode).unwrap();
        drop(db);
        let journal = std::fs::metadata(folder.path().join("pool.db-journal")).unwrap();
        assert_eq!(journal.len() == 0, is_empty, "{mode}");
        assert_eq!(immutable(&path).unwrap().read_blocking(ids).unwrap(), [1]);
    }
    std::fs::write(folder.path().join("pool.db-wal"), "").unwrap();
    assert_eq!(immutable(&path).unwrap().read_blocking(ids).unwrap(), [1]);
}
