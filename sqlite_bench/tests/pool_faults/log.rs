//! How far the log grows while a reader keeps its snapshot, and who is told.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sqlite_bench::pool::{Error, Options, Pool};

use super::common::{ONE, SAFETY, behind, beside, file, held_up, ids, insert, opened, options};

const LIMIT: u32 = 50;
const MOST: u32 = 300;
/// What one commit may add beyond a limit.
const COMMIT: u32 = 10;

fn limited() -> Options {
    options().readers(ONE).busy_timeout(Duration::from_millis(5)).checkpoint_pages(20).wal_limit_pages(LIMIT)
}

/// Writes until one is refused; how many were not, and the refusal.
fn fill(pool: &Pool) -> (i64, Error) {
    let begin = Instant::now();
    for id in 0.. {
        assert!(begin.elapsed() < SAFETY, "no write was refused: {:?}", pool.stats());
        if let Err(error) = pool.write_blocking(insert(id)) {
            return (id, error);
        }
    }
    unreachable!()
}

/// Bytes of the log's file.
fn log(folder: &tempfile::TempDir) -> u64 {
    std::fs::metadata(folder.path().join("pool.db-wal")).unwrap().len()
}

/// The log is bounded while `let_go` has not been called, the writes know why, and go on afterwards.
fn is_bounded(folder: &tempfile::TempDir, pool: &Pool, let_go: impl FnOnce()) {
    let (written, error) = fill(pool);
    let Error::LogFull(pages) = error else { panic!("{error}") };
    assert!(error.is_retryable() && error.to_string().contains("end long reads"), "{error}");
    assert!((MOST..MOST + COMMIT).contains(&pages), "{pages}");
    assert!(log(folder) < 4_200 * u64::from(MOST + COMMIT), "{} bytes", log(folder));
    let stats = pool.stats();
    assert!(stats.blocked_checkpoints >= u64::from(MOST / (LIMIT + COMMIT)), "{stats:?}");
    assert_eq!((i64::try_from(stats.writes), stats.failed_writes), (Ok(written + 1), 1), "{stats:?}");
    let_go();
    pool.write_blocking(insert(written)).unwrap();
    assert!(log(folder) < 4_200 * u64::from(LIMIT), "{} bytes", log(folder));
    assert!(pool.read_blocking(ids).unwrap().into_iter().eq(0..=written), "what was acknowledged, and nothing else");
}

#[test]
fn a_foreign_reader_that_keeps_its_snapshot_is_counted_and_at_the_last_limit_named() {
    let (folder, pool) = opened(&limited().wal_max_pages(MOST));
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("BEGIN; SELECT * FROM entries").unwrap();
    is_bounded(&folder, &pool, || drop(other));
}

#[test]
fn a_long_read_of_the_pool_is_counted_and_at_the_last_limit_named() {
    let (folder, pool) = opened(&limited().wal_max_pages(MOST));
    let (reached, reach) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let long = beside(&pool, move |pool| {
        pool.read_blocking(move |db| {
            db.execute_batch("BEGIN; SELECT * FROM entries")?;
            reached.send(()).unwrap();
            Ok(released.recv().is_err())
        })
    });
    reach.recv_timeout(SAFETY).unwrap();
    is_bounded(&folder, &pool, || {
        drop(release);
        long.join().unwrap().unwrap();
    });
}

#[test]
fn those_that_wait_at_the_last_limit_are_refused_together() {
    let (folder, pool) = opened(&limited().wal_max_pages(MOST).busy_timeout(Duration::from_millis(100)));
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("BEGIN; SELECT * FROM entries").unwrap();
    let release = held_up(&pool);
    let large =
        behind(&pool, |db| db.execute("INSERT INTO entries (data) VALUES (zeroblob(?1))", [4_096 * i64::from(MOST)]));
    drop(release);
    large.join().unwrap().unwrap();
    let before = pool.stats().blocked_checkpoints;
    let writes: Vec<_> = (0..50).map(|_| beside(&pool, |pool| pool.write_blocking(insert(1_000)))).collect();
    for write in writes {
        assert!(matches!(write.join().unwrap(), Err(Error::LogFull(_))));
    }
    assert!(pool.stats().blocked_checkpoints < before + 50, "each waited alone: {:?}", pool.stats());
}

#[test]
fn a_commit_beyond_the_last_limit_is_no_reason_to_refuse_the_next_one() {
    let (folder, pool) = opened(&limited().wal_max_pages(MOST));
    for _ in 0..5 {
        let large = "INSERT INTO entries (data) VALUES (zeroblob(?1))";
        pool.write_blocking(move |db| db.execute(large, [4_096 * i64::from(2 * MOST)])).unwrap();
        assert!(log(&folder) < 4_200 * u64::from(2 * MOST + COMMIT));
    }
    assert_eq!(pool.stats().blocked_checkpoints, 0);
}
