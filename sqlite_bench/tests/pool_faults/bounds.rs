//! What a job may do and for how long, and what its caller knows when it was stopped.

use std::path::Path;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sqlite_bench::pool::{self, Access, Pool, Work};

use super::common::{ONE, SAFETY, behind, beside, file, held_up, ids, insert, opened, options};
use super::disk::read_only;
use super::ends;

const SHORT: Duration = Duration::from_millis(50);
/// Statements that never end.
const ENDLESS_READ: &str =
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n WHERE x < 0";
const ENDLESS_WRITE: &str = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
    INSERT INTO entries (id) SELECT 10 FROM n WHERE x < 0";

fn endless_read(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row(ENDLESS_READ, [], |row| row.get(0))
}

fn endless_write(db: &Connection) -> rusqlite::Result<usize> {
    insert(1)(db)?;
    db.execute(ENDLESS_WRITE, [])
}

/// Does its work once it has said that it runs.
pub fn saying<T>(reached: mpsc::Sender<()>, work: impl Work<T>) -> impl Work<T> {
    move |db: &Connection| {
        reached.send(()).unwrap();
        work(db)
    }
}

/// Begins an operation, and drops its future once its job runs.
pub fn given_up<F: Future>(begin: impl FnOnce(mpsc::Sender<()>) -> F) {
    let (reached, reach) = mpsc::channel();
    let mut future = pin!(begin(reached));
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    reach.recv_timeout(SAFETY).unwrap();
    // So that it is in the middle of a statement.
    std::thread::sleep(SHORT);
}

#[test]
fn a_job_that_asks_its_own_pool_is_told_so_instead_of_waiting_for_itself() {
    let (folder, pool) = opened(&options().readers(ONE));
    let asking =
        |pool: Pool| move |_: &Connection| Ok((pool.write_blocking(insert(1)), pollster::block_on(pool.try_read(ids))));
    let answers =
        ends(&pool, move |own| [own.write_blocking(asking(own.clone())), own.read_blocking(asking(own.clone()))]);
    for answer in answers {
        assert!(matches!(answer, Ok((Err(pool::Error::Nested), Err(pool::Error::Nested)))), "{answer:?}");
    }
    // Another pool on the same file is another matter.
    let other = Pool::open_blocking(file(&folder), &options()).unwrap();
    assert_eq!(pool.read_blocking(move |_| Ok(other.write_blocking(insert(2)))).unwrap().unwrap(), 1);
}

#[test]
fn what_would_outlast_a_job_is_denied_by_name_and_the_connection_serves_the_next_one() {
    let (folder, pool) = opened(&options().readers(ONE));
    let other = folder.path().join("other.db").to_str().unwrap().to_owned();
    for (statement, name) in [
        ("PRAGMA query_only = ON", "PRAGMA query_only = ON"),
        ("PRAGMA query_only(1)", "PRAGMA query_only = 1"),
        ("PRAGMA main.Locking_Mode = EXCLUSIVE", "PRAGMA Locking_Mode = EXCLUSIVE"),
        ("PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = DELETE"),
        ("PRAGMA wal_autocheckpoint = 1", "PRAGMA wal_autocheckpoint = 1"),
        ("PRAGMA busy_timeout = 0", "PRAGMA busy_timeout = 0"),
        ("PRAGMA main.WAL_checkpoint", "PRAGMA WAL_checkpoint"),
        ("PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint = PASSIVE"),
        ("PRAGMA writable_schema = ON", "PRAGMA writable_schema = ON"),
        ("ATTACH ':memory:' AS other", "ATTACH ':memory:'"),
        ("ATTACH ?1 AS other", "ATTACH;"),
        ("DETACH main", "DETACH main"),
    ] {
        let own = other.clone();
        let job = move |db: &Connection| {
            let mut statement = db.prepare(statement)?;
            if statement.parameter_count() > 0 {
                statement.raw_bind_parameter(1, own)?;
            }
            statement.raw_query().next().map(drop)
        };
        for said in [pool.write_blocking(job.clone()), pool.read_blocking(job)] {
            let error = said.unwrap_err();
            assert!(matches!(error, pool::Error::Denied(_)), "{statement}: {error:?}");
            assert!(error.to_string().contains(name), "{statement}: {error}");
        }
        pool.write_blocking(|db| db.execute("INSERT INTO entries (value) VALUES (1)", [])).unwrap();
        pool.read_blocking(ids).unwrap();
    }
    // What ends with the job, or belongs to the database, is allowed.
    pool.write_blocking(|db| {
        db.execute_batch("SAVEPOINT a; DELETE FROM entries; ROLLBACK TO a; RELEASE a")?;
        db.execute_batch("PRAGMA user_version = 7; PRAGMA defer_foreign_keys = ON")?;
        db.execute_batch("SELECT * FROM pragma_table_info('entries')")
    })
    .unwrap();
    assert_eq!(pool.read_blocking(ids).unwrap().len(), 12);
    let version = |db: &Connection| db.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    assert_eq!(pool.read_blocking(version).unwrap(), 7);
}

#[test]
fn what_runs_when_its_future_is_dropped_is_undone_and_frees_its_connection() {
    // In one statement, in many, in many that are compiled once, and after the last.
    let endless: [fn(&Connection) -> rusqlite::Result<usize>; 4] = [
        endless_write,
        |db| loop {
            db.execute("INSERT INTO entries (value) VALUES (1)", [])?;
        },
        |db| loop {
            db.prepare_cached("INSERT INTO entries (value) VALUES (1)")?.execute([])?;
        },
        |db| {
            insert(1)(db)?;
            std::thread::sleep(4 * SHORT);
            Ok(1)
        },
    ];
    for work in endless {
        let (_folder, pool) = opened(&options().readers(ONE));
        given_up(|reached| pool.write(saying(reached, work)));
        given_up(|reached| pool.read(saying(reached, endless_read)));
        ends(&pool, |pool| pool.write_blocking(insert(2))).unwrap();
        assert_eq!(ends(&pool, |pool| pool.read_blocking(ids)).unwrap(), [2]);
    }
}

#[test]
fn who_shared_a_commit_with_an_interrupted_write_may_try_again() {
    let (_folder, pool) = opened(&options());
    let release = held_up(&pool);
    let good = behind(&pool, insert(3));
    given_up(|reached| {
        let before = pool.stats().waiting_writes;
        // Queued by the first poll, which comes after this: the two then begin together.
        beside(&pool, move |pool| {
            while pool.stats().waiting_writes == before {
                std::thread::yield_now();
            }
            drop(release);
        });
        pool.write(saying(reached, endless_write))
    });
    // On a slow machine its commit was over before the other began.
    if let Err(error) = ends(&pool, |_| good.join().unwrap()) {
        assert!(matches!(error, pool::Error::Undone(_)) && error.is_retryable(), "{error}");
        pool.write_blocking(insert(3)).unwrap();
    }
    assert_eq!(pool.read_blocking(ids).unwrap(), [3]);
}

#[test]
fn an_operation_whose_turn_does_not_come_says_so_and_never_runs() {
    let (folder, pool) = opened(&options().acquire_timeout(SHORT).queue(ONE));
    let release = held_up(&pool);
    // The first waits in the queue, the second for room in it.
    for id in [1, 2] {
        let error = pool.write_blocking(insert(id)).unwrap_err();
        assert!(matches!(error, pool::Error::Waited(SHORT)) && error.is_retryable(), "{error}");
    }
    drop(release);
    // Without a bound of its own, which the machine might miss.
    let other = Pool::open_blocking(file(&folder), &options()).unwrap();
    other.write_blocking(insert(3)).unwrap();
    pool.close_blocking().unwrap();
    assert_eq!(other.read_blocking(ids).unwrap(), [3]);
}

#[test]
fn what_is_given_up_while_another_process_has_the_lock_is_no_failed_write_and_the_next_one_takes_its_turn() {
    let (folder, pool) = opened(&options().busy_timeout(SAFETY));
    let before = pool.stats();
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    {
        let mut given_up = pin!(pool.write(insert(1)));
        assert!(given_up.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        // So that it waits for the lock.
        std::thread::sleep(SHORT);
    }
    let next = behind(&pool, insert(2));
    other.execute_batch("COMMIT").unwrap();
    next.join().unwrap().unwrap();
    assert_eq!(pool.read_blocking(ids).unwrap(), [2]);
    let after = pool.stats();
    assert_eq!((after.failed_writes, after.commits - before.commits), (before.failed_writes, 1));
}

#[test]
fn a_job_that_takes_too_long_is_interrupted_and_undone() {
    let (_folder, pool) = opened(&options().job_timeout(10 * SHORT).readers(ONE));
    let answers = ends(&pool, |own| {
        let slow = own.write_blocking(|db| {
            insert(2)(db)?;
            // Nothing interrupts this, but the caller is told.
            std::thread::sleep(20 * SHORT);
            Ok(1)
        });
        [own.read_blocking(endless_read).map(drop), own.write_blocking(endless_write).map(drop), slow.map(drop)]
    });
    for answer in answers {
        assert!(matches!(answer, Err(pool::Error::TimedOut(_))), "{answer:?}");
    }
    // The time in the queue does not count.
    pool.write_blocking(insert(3)).unwrap();
    assert_eq!(pool.read_blocking(ids).unwrap(), [3]);
}

#[test]
fn a_job_that_takes_too_long_is_stopped_also_while_nobody_polls_its_future() {
    let (_folder, pool) = opened(&options().job_timeout(10 * SHORT).readers(ONE));
    let mut read = pin!(pool.read(endless_read));
    let mut write = pin!(pool.write(|db| {
        insert(1)(db)?;
        // Nothing interrupts this, but it must not count.
        std::thread::sleep(20 * SHORT);
        Ok(1)
    }));
    let mut context = Context::from_waker(Waker::noop());
    assert!(read.as_mut().poll(&mut context).is_pending() && write.as_mut().poll(&mut context).is_pending());
    ends(&pool, |pool| pool.write_blocking(insert(2))).unwrap();
    assert_eq!(ends(&pool, |pool| pool.read_blocking(ids)).unwrap(), [2]);
    let Poll::Ready(read) = read.as_mut().poll(&mut context) else { panic!("the read was never answered") };
    assert!(matches!(read, Err(pool::Error::TimedOut(_))), "{read:?}");
    let Poll::Ready(write) = write.as_mut().poll(&mut context) else { panic!("the write was never answered") };
    assert!(matches!(write, Err(pool::Error::TimedOut(_))), "{write:?}");
}

#[tokio::test]
async fn a_job_may_fail_with_an_error_of_its_own_and_is_undone() {
    type Own = Box<dyn std::error::Error + Send + Sync>;
    let (_folder, pool) = opened(&options());
    let sold_out = pool.write_and_then(|db| {
        insert(1)(db)?;
        Err::<(), Own>("sold out".into())
    });
    assert_eq!(sold_out.await.unwrap_err().to_string(), "sold out");
    let sql = pool.read_and_then(|db| -> Result<i64, Own> { Ok(db.query_row("SELECT", [], |row| row.get(0))?) });
    assert!(sql.await.unwrap_err().is::<rusqlite::Error>());
    let panicked = pool.write_and_then(|_| -> Result<(), Own> { panic!("a bug of the caller") }).await.unwrap_err();
    assert!(matches!(panicked.downcast_ref(), Some(pool::Error::Panicked(_))), "{panicked:?}");
    let kept = pool.write_and_then(|db| -> Result<_, Own> { Ok(insert(2)(db)?) }).await;
    assert_eq!(kept.unwrap(), 1);
    assert_eq!(pool.read(ids).await.unwrap(), [2]);
}

/// Cannot even be made of the pool's error.
#[derive(Debug)]
struct Explosive;

impl From<pool::Error> for Explosive {
    fn from(error: pool::Error) -> Self {
        panic!("a bug of the caller: {error}");
    }
}

#[test]
fn an_error_that_cannot_be_made_ends_no_thread_of_the_pool() {
    let (_folder, pool) = opened(&options());
    let asked = beside(&pool, |pool| {
        pollster::block_on(pool.write_and_then(|_| -> Result<(), Explosive> { panic!("another bug of the caller") }))
    });
    assert!(asked.join().is_err());
    assert_eq!(ends(&pool, |pool| pool.write_blocking(insert(1))).unwrap(), 1, "the writer lives on");
}

#[test]
fn opening_and_closing_leave_the_only_thread_of_a_runtime_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (release, released) = flume::bounded::<()>(0);
        // Waits for what only another task of this thread can do.
        let wait = move |_: &Connection| {
            released.recv_timeout(SAFETY).map_err(|_| rusqlite::Error::InvalidQuery)?;
            Ok(())
        };
        let options = options().readers(ONE).on_open(wait.clone());
        let all = async {
            // Two for writing, one for reading.
            for _ in 0..3 {
                release.send_async(()).await.unwrap();
            }
        };
        let (pool, ()) = tokio::join!(Pool::open(&path, &options), all);
        let pool = pool.expect("opening blocks");
        let own = pool.clone();
        let writing = tokio::spawn(async move { own.write(wait).await });
        tokio::task::yield_now().await;
        let (closed, sent) = tokio::join!(pool.close(), release.send_async(()));
        closed.unwrap();
        sent.unwrap();
        writing.await.unwrap().expect("closing blocks");
    });
}

#[test]
fn dropping_a_pool_waits_for_nothing_and_closes_it() {
    let (folder, pool) = opened(&options());
    let (release, released) = mpsc::channel::<()>();
    given_up(|reached| pool.read(saying(reached, move |_| Ok(released.recv_timeout(SAFETY).is_ok()))));
    let begin = Instant::now();
    drop(pool);
    assert!(begin.elapsed() < SAFETY / 2, "it waited for the read");
    // So long that everything else has ended.
    std::thread::sleep(4 * SHORT);
    drop(release);
    let log = folder.path().join("pool.db-wal");
    while log.exists() {
        assert!(begin.elapsed() < SAFETY, "it never closed");
        std::thread::sleep(SHORT);
    }
}

#[test]
fn a_pool_for_reading_sees_what_others_write_and_writes_nothing() {
    let (folder, pool) = opened(&options());
    let reading = Pool::open_blocking(file(&folder), &options().access(Access::ReadOnly)).unwrap();
    pool.write_blocking(insert(1)).unwrap();
    assert_eq!(reading.read_blocking(ids).unwrap(), [1]);
    assert!(matches!(reading.write_blocking(insert(2)), Err(pool::Error::NoWriter)));
    assert!(matches!(reading.read_blocking(insert(2)), Err(pool::Error::ReadOnly(_))));
    reading.close_blocking().unwrap();
    for access in [Access::ReadOnly, Access::Immutable] {
        // Each reader would have a database of its own.
        for name in [":memory:", "", "file:shared?mode=memory"] {
            Pool::open_blocking(name, &options().access(access)).unwrap_err();
        }
    }
    let missing = folder.path().join("missing.db");
    for access in [Access::ReadOnly, Access::Immutable] {
        let error = Pool::open_blocking(&missing, &options().access(access)).unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot open {}", missing.display())), "{error}");
        assert!(!missing.exists());
    }
}

#[test]
fn on_a_read_only_medium_nothing_but_an_immutable_file_is_opened_and_without_anything_beside_it() {
    let (folder, pool) = opened(&options());
    pool.write_blocking(insert(1)).unwrap();
    let medium = tempfile::tempdir().unwrap();
    // What a URI would take for something else.
    let path = medium.path().join("a?b#c%41 ü.db");
    let immutable = options().access(Access::Immutable);
    let copy = |from: &str, to: &Path| std::fs::copy(folder.path().join(from), to).unwrap();
    copy("pool.db", &path);
    let log = medium.path().join("a?b#c%41 ü.db-wal");
    copy("pool.db-wal", &log);
    let error = Pool::open_blocking(&path, &immutable).unwrap_err();
    assert!(matches!(error, pool::Error::LogLeft { .. }), "{error}");
    std::fs::remove_file(log).unwrap();
    pool.close_blocking().unwrap();
    copy("pool.db", &path);
    let mounted = read_only(medium.path());
    for access in [Access::ReadWrite, Access::ReadOnly].into_iter().filter(|_| mounted.is_some()) {
        let said = Pool::open_blocking(&path, &options().access(access)).unwrap_err().to_string();
        assert!(
            said.contains("must be writable") && said.contains("Access::Immutable") && !said.contains('\n'),
            "{said}"
        );
    }
    let reading = Pool::open_blocking(&path, &immutable).unwrap();
    assert_eq!(reading.read_blocking(ids).unwrap(), [1]);
    assert_eq!(std::fs::read_dir(medium.path()).unwrap().count(), 1);
    reading.close_blocking().unwrap();
}
