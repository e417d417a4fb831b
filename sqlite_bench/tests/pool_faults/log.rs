//! How far the log grows while a reader keeps its snapshot, and who is told.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sqlite_bench::pool::{Error, Options, Pool};

use super::common::{ONE, SAFETY, behind, beside, created, file, held_up, ids, insert, opened, options};

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
    size(folder, "pool.db-wal")
}

fn size(folder: &tempfile::TempDir, name: &str) -> u64 {
    std::fs::metadata(folder.path().join(name)).unwrap().len()
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

#[test]
fn the_limit_holds_for_the_log_of_an_attached_database_too_whichever_is_longer() {
    const BOTH: &str = "INSERT INTO entries (data) VALUES (zeroblob(20000)); INSERT INTO other.tiny VALUES (1)";
    const OTHER: &str = "INSERT INTO other.tiny VALUES (1)";
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.db");
    let db = Connection::open(&other).unwrap();
    db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE tiny (id)").unwrap();
    let attach = format!("ATTACH '{}' AS other", other.display());
    let pool = created(&file(&folder), &limited().on_open(move |db| db.execute_batch(&attach)));
    for statements in [BOTH, OTHER] {
        for _ in 0..200 {
            pool.write_blocking(move |db| db.execute_batch(statements)).unwrap();
            for log in ["pool.db-wal", "other.db-wal"] {
                assert!(size(&folder, log) < 4_200 * u64::from(LIMIT + COMMIT), "{log}: {:?}", pool.stats());
            }
        }
    }
    assert_eq!(pool.stats().blocked_checkpoints, 0, "{:?}", pool.stats());
}

#[test]
fn closing_says_that_a_foreign_reader_kept_the_log() {
    let (folder, pool) = opened(&limited());
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("BEGIN; SELECT * FROM entries").unwrap();
    pool.write_blocking(insert(1)).unwrap();
    let kept = pool.close_blocking();
    assert!(matches!(kept, Err(Error::LogKept)), "{kept:?}");
    assert!(log(&folder) > 0);
    // One that reads what is newest is not in the way of copying it.
    other.execute_batch("COMMIT; BEGIN; SELECT * FROM entries").unwrap();
    let pool = Pool::open_blocking(file(&folder), &limited()).unwrap();
    assert_eq!(pool.read_blocking(ids).unwrap(), [1]);
    pool.close_blocking().unwrap();
    drop(other);
    Pool::open_blocking(file(&folder), &limited()).unwrap().close_blocking().unwrap();
    assert!(!folder.path().join("pool.db-wal").exists());
}

#[test]
fn closing_waits_for_the_checkpoint_of_somebody_else() {
    let (folder, pool) = opened(&options().busy_timeout(SAFETY));
    let [reader, copier, probe] = [(); 3].map(|()| Connection::open(file(&folder)).unwrap());
    reader.execute_batch("BEGIN; SELECT * FROM entries").unwrap();
    pool.write_blocking(insert(1)).unwrap();
    // It waits for the reader, and keeps others from copying meanwhile.
    copier.busy_timeout(SAFETY).unwrap();
    let copying = std::thread::spawn(move || {
        let copy = || copier.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        while copy().unwrap() {}
    });
    let pages = || probe.query_row("PRAGMA wal_checkpoint", [], |row| row.get::<_, i64>(1)).unwrap();
    let begin = Instant::now();
    while pages() >= 0 {
        assert!(begin.elapsed() < SAFETY, "the other checkpoint never began");
    }
    let closing = beside(&pool, Pool::close_blocking);
    std::thread::sleep(Duration::from_millis(50));
    assert!(!closing.is_finished());
    drop(reader);
    closing.join().unwrap().unwrap();
    copying.join().unwrap();
}
