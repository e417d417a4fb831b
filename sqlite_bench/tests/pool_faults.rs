//! What must not spread: a failing disk, a failing write, a careless job, a caller who does not come back.

use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rusqlite::Connection;
use sqlite_bench::pool::{Error, Pool, Work};

#[path = "pool_faults/bounds.rs"]
mod bounds;
mod common;
#[path = "pool_faults/disk.rs"]
mod disk;
#[path = "pool_faults/leftovers.rs"]
mod leftovers;
#[path = "pool_faults/log.rs"]
mod log;
#[path = "pool_faults/opening.rs"]
mod opening;

use bounds::{given_up, saying};
use common::{ONE, SAFETY, behind, beside, file, held_up, ids, insert, integrity, opened, options};

/// Two good writes with `work` between them, which wait until all can share a commit.
fn between_two_good(pool: &Pool, work: impl Work<usize>) -> [Result<usize, Error>; 3] {
    let release = held_up(pool);
    let writes = [behind(pool, insert(1)), behind(pool, work), behind(pool, insert(2))];
    drop(release);
    writes.map(|write| write.join().unwrap())
}

/// The same in a database of its own, again if the machine was so slow that the three did not share a commit.
fn in_one_commit(work: impl Work<usize> + Copy) -> (tempfile::TempDir, Pool, [Result<usize, Error>; 3]) {
    for _ in 0..20 {
        let (folder, pool) = opened(&options());
        let all = between_two_good(&pool, work);
        if all[0].is_err() {
            return (folder, pool, all);
        }
    }
    panic!("the first write never noticed the second");
}

/// What is done with the pool, and comes to its end: it must not, by hanging, keep the tests from theirs.
#[track_caller]
fn ends<T: Send + 'static>(pool: &Pool, work: impl FnOnce(Pool) -> T + Send + 'static) -> T {
    let (done, end) = mpsc::channel();
    beside(pool, move |pool| drop(done.send(work(pool))));
    end.recv_timeout(SAFETY).expect("it panicked or never ended")
}

#[test]
fn closing_does_not_wait_for_a_future_that_nobody_polls() {
    let (_folder, pool) = opened(&options().queue(ONE));
    let release = held_up(&pool);
    let queued = behind(&pool, insert(1));
    let asking = pool.clone();
    let mut stuck = pin!(asking.write(insert(2)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(stuck.as_mut().poll(&mut context).is_pending(), "the queue is full");
    drop(release);
    queued.join().unwrap().unwrap();
    ends(&pool, Pool::close_blocking).unwrap();
    // It had its place in the queue.
    let Poll::Ready(written) = stuck.as_mut().poll(&mut context) else { panic!("it was never answered") };
    assert_eq!(written.unwrap(), 1);
}

#[test]
fn a_pool_may_be_closed_or_dropped_from_within_its_own_jobs() {
    for close in [true, false] {
        let (_folder, pool) = opened(&options());
        let after = ends(&pool, move |pool| {
            let own = pool.clone();
            let read = pool.read_blocking(move |_| {
                let closed = if close { own.close_blocking() } else { Ok(()) };
                Ok(closed.is_ok())
            });
            assert!(read.unwrap());
            let own = pool.clone();
            pool.write_blocking(move |_| {
                drop(own);
                Ok(())
            })
        });
        assert_eq!(after.is_ok(), !close, "{after:?}");
    }
}

#[test]
fn a_job_cannot_end_the_transaction_and_its_neighbours_do_not_notice() {
    for ending in
        ["COMMIT", "ROLLBACK", "END", "BEGIN", "RELEASE pool_job", "ROLLBACK TO Pool_Job", "SAVEPOINT pool_job"]
    {
        let (_folder, pool) = opened(&options());
        let [one, own, two] = between_two_good(&pool, move |db| {
            insert(3)(db)?;
            db.execute_batch(ending)?;
            insert(4)(db)
        });
        assert!(one.is_ok() && two.is_ok(), "{ending}: {one:?} {two:?}");
        let error = own.unwrap_err();
        assert!(error.to_string().contains("not authorized"), "{ending}: {error}");
        // Not even if it goes on.
        let failed = pool.write_blocking(move |db| {
            insert(3)(db)?;
            let _ = db.execute_batch(ending);
            Err::<(), _>(rusqlite::Error::QueryReturnedNoRows)
        });
        assert!(matches!(failed, Err(Error::Sqlite(_))), "{ending}: {failed:?}");
        assert_eq!(pool.read_blocking(ids).unwrap(), [1, 2], "{ending}");
    }
}

#[test]
fn a_write_that_makes_sqlite_roll_back_is_named_and_the_others_may_try_again() {
    for goes_on in [false, true] {
        let (_folder, pool, [one, own, two]) = in_one_commit(move |db| {
            let failed = db.execute("INSERT OR ROLLBACK INTO entries (id) VALUES (3), (3)", []);
            // Outside of any transaction now, where a statement would commit by itself.
            if goes_on { insert(4)(db).or(Ok(0)) } else { failed }
        });
        let is_named =
            if goes_on { matches!(own, Err(Error::TransactionEnded)) } else { matches!(own, Err(Error::Sqlite(_))) };
        assert!(is_named, "{own:?}");
        assert!(matches!(&one, Err(error @ Error::Undone(_)) if error.is_retryable()), "{one:?}");
        two.unwrap();
        pool.write_blocking(insert(1)).unwrap();
        assert_eq!(pool.read_blocking(ids).unwrap(), [1, 2], "only what was acknowledged is there");
    }
}

#[test]
fn a_transaction_that_a_savepoint_begins_after_a_rollback_is_not_kept() {
    let (_folder, pool) = opened(&options());
    // The first time no job has compiled a savepoint yet, and the job is alone in its transaction.
    for _ in 0..2 {
        let written = pool.write_blocking(|db| {
            insert(1)(db)?;
            let _ = db.execute("INSERT OR ROLLBACK INTO entries (id) VALUES (1)", []);
            db.execute_batch("SAVEPOINT own")?;
            insert(2)(db)
        });
        assert!(matches!(written, Err(Error::TransactionEnded)), "{written:?}");
        assert!(pool.read_blocking(ids).unwrap().is_empty());
    }
    pool.write_blocking(insert(3)).unwrap();
    assert_eq!(pool.read_blocking(ids).unwrap(), [3]);
}

#[test]
fn a_deferred_foreign_key_fails_its_own_write_once_those_of_its_commit_are_tried_again() {
    fn orphan(db: &Connection) -> rusqlite::Result<usize> {
        db.execute("INSERT INTO entries (id, parent) VALUES (3, 99)", [])
    }
    let (_folder, pool, [one, own, two]) = in_one_commit(orphan);
    assert!(matches!(&one, Err(error @ Error::Undone(_)) if error.is_retryable()), "{one:?}");
    assert!(own.is_err());
    for (id, written) in [(1, one), (2, two)] {
        written.or_else(|_| pool.write_blocking(insert(id))).unwrap();
    }
    let error = pool.write_blocking(orphan).unwrap_err();
    assert!(matches!(error, Error::Sqlite(_)) && error.to_string().contains("FOREIGN KEY"), "{error}");
    assert_eq!(pool.read_blocking(ids).unwrap(), [1, 2]);
}

#[test]
fn a_job_that_fails_first_in_its_commit_is_undone_and_those_behind_it_are_kept() {
    let failing: [fn(&Connection) -> rusqlite::Result<usize>; 4] = [
        |_| Err(rusqlite::Error::InvalidQuery),
        |db| db.execute("INSERT INTO entries (value) VALUES (NULL)", []),
        |db| db.execute("INSERT OR ROLLBACK INTO entries (id) VALUES (3)", []),
        |_| panic!("a bug of the caller"),
    ];
    for fails in failing {
        let (_folder, pool) = opened(&options());
        let job = move |db: &Connection| {
            insert(3)(db)?;
            fails(db)
        };
        pool.write_blocking(job).unwrap_err();
        let release = held_up(&pool);
        let writes = [behind(&pool, job), behind(&pool, insert(1)), behind(&pool, job), behind(&pool, insert(2))];
        drop(release);
        let [first, one, second, two] = writes.map(|write| write.join().unwrap());
        assert!(matches!(first, Err(Error::Sqlite(_) | Error::Panicked(_))), "{first:?}");
        second.unwrap_err();
        // The conflict undoes the whole commit.
        one.or_else(|_| pool.write_blocking(insert(1))).unwrap();
        two.unwrap();
        assert_eq!(pool.read_blocking(ids).unwrap(), [1, 2]);
    }
}

#[test]
fn two_pools_share_a_file() {
    let (folder, pool) = opened(&options());
    let pools = [pool, Pool::open_blocking(file(&folder), &options()).unwrap()];
    std::thread::scope(|scope| {
        for (thread, pool) in (0..8).zip(pools.iter().cycle()) {
            scope.spawn(move || {
                for id in 0..50 {
                    pool.write_blocking(insert(thread * 1_000 + id)).unwrap();
                }
            });
        }
    });
    for pool in pools {
        assert_eq!(pool.read_blocking(ids).unwrap().len(), 400);
        assert_eq!(pool.read_blocking(integrity).unwrap(), "ok");
        pool.close_blocking().unwrap();
    }
}

/// Panics when it is dropped, as nothing should.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a bug of the caller");
    }
}

#[test]
fn a_panic_in_a_value_that_nobody_waits_for_ends_no_thread() {
    let (_folder, pool) = opened(&options().readers(ONE));
    let (release, released) = mpsc::channel::<()>();
    // Given up while it runs: the result has no owner.
    given_up(|reached| {
        pool.read(saying(reached, move |_| {
            let _ = released.recv();
            Ok(Explosive)
        }))
    });
    {
        // Given up before its turn: the job has none.
        let captured = Explosive;
        let mut waiting = pin!(pool.read(move |_| {
            let _kept = &captured;
            Ok(())
        }));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    drop(release);
    assert_eq!(ends(&pool, |pool| pool.read_blocking(ids)).unwrap(), [0; 0], "the only reader lives on");
}

#[test]
fn a_panic_in_what_a_refused_write_captured_ends_no_thread() {
    let (folder, pool) = opened(&options().busy_timeout(Duration::from_millis(50)));
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let captured = Explosive;
    let first = beside(&pool, |pool| {
        pool.write_blocking(move |_| {
            let _kept = &captured;
            Ok(0)
        })
    });
    let second = beside(&pool, |pool| pool.write_blocking(insert(1)));
    for refused in ends(&pool, |_| [first, second].map(|write| write.join().unwrap())) {
        assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
    }
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(ends(&pool, |pool| pool.write_blocking(insert(1))).unwrap(), 1, "the writer lives on");
}

#[test]
fn what_a_job_does_to_its_own_connection_is_not_blamed_on_other_processes() {
    let (_folder, pool) = opened(&options());
    pool.write_blocking(insert(1)).unwrap();
    let error = pool
        .write_blocking(|db| {
            let mut statement = db.prepare("SELECT id FROM entries")?;
            let mut rows = statement.query([])?;
            rows.next()?;
            db.execute_batch("DROP TABLE entries")
        })
        .unwrap_err();
    assert!(matches!(error, Error::Sqlite(_)) && !error.is_retryable(), "{error}");
    assert!(error.to_string().contains("locked"), "{error}");
}

#[test]
fn a_job_that_removes_the_guards_and_commits_is_told_that_nothing_is_sure() {
    let (_folder, _pool, [one, own, two]) = in_one_commit(|db| {
        db.authorizer(None::<fn(rusqlite::hooks::AuthContext<'_>) -> rusqlite::hooks::Authorization>)?;
        db.commit_hook(None::<fn() -> bool>)?;
        insert(3)(db)?;
        db.execute_batch("COMMIT")?;
        Ok(0)
    });
    assert!(matches!(one, Err(Error::Unknown)), "{one:?}");
    assert!(matches!(own, Err(Error::Unknown)), "{own:?}");
    two.unwrap();
    // Alone, and in a transaction of its own afterwards.
    for (ending, fails) in [("COMMIT", false), ("COMMIT; BEGIN", false), ("COMMIT; BEGIN", true)] {
        let (_folder, pool) = opened(&options());
        let own = pool.write_blocking(move |db| {
            db.authorizer(None::<fn(rusqlite::hooks::AuthContext<'_>) -> rusqlite::hooks::Authorization>)?;
            db.commit_hook(None::<fn() -> bool>)?;
            insert(3)(db)?;
            db.execute_batch(ending)?;
            if fails { Err(rusqlite::Error::InvalidQuery) } else { Ok(()) }
        });
        assert!(matches!(own, Err(Error::Unknown)), "{ending}: {own:?}");
    }
}
