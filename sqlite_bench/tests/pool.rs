//! The pool as its users rely on it: what is acknowledged is there, what fails is not, reads do not wait, nothing grows without bound.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rusqlite::{Connection, OptionalExtension as _};
use sqlite_bench::pool::{Error, Options, Pool};

mod common;

use common::{ONE, Written, behind, beside, file, held_up, ids, insert, integrity, opened, options};

fn count(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT COUNT(*) FROM entries", [], |row| row.get(0))
}

/// Writes that wait behind whoever holds the writer up.
fn waiting(pool: &Pool, ids: std::ops::Range<i64>) -> Vec<Written> {
    ids.map(|id| behind(pool, insert(id))).collect()
}

/// All of them succeeded.
fn join(threads: Vec<Written>) {
    for thread in threads {
        thread.join().unwrap().unwrap();
    }
}

#[test]
fn writes_that_wait_share_a_commit_unless_a_batch_is_of_one() {
    for (options, commits) in [(options(), 1..=32), (options().batch(ONE), 65..=65)] {
        let (_folder, pool) = opened(&options);
        let before = pool.stats();
        let release = held_up(&pool);
        let threads = waiting(&pool, 0..64);
        drop(release);
        join(threads);
        let after = pool.stats();
        assert_eq!(after.writes - before.writes, 65);
        assert!(commits.contains(&(after.commits - before.commits)), "{after:?}");
        assert_eq!(pool.read_blocking(count).unwrap(), 64);
    }
}

#[test]
fn a_job_that_fails_or_panics_takes_nobody_with_it() {
    let (_folder, pool) = opened(&options());
    let release = held_up(&pool);
    let good = waiting(&pool, 0..5);
    let failing = behind(&pool, |db| {
        insert(100)(db)?;
        db.execute("INSERT INTO nowhere VALUES (1)", [])
    });
    let panicking = behind(&pool, |db| {
        insert(101)(db)?;
        panic!("a bug of the caller");
    });
    drop(release);
    join(good);
    let error = failing.join().unwrap().unwrap_err();
    assert!(error.to_string().contains("no such table: nowhere"), "{error}");
    assert!(!error.is_retryable());
    let error = panicking.join().unwrap().unwrap_err();
    assert!(matches!(&error, Error::Panicked(message) if message == "a bug of the caller"), "{error}");
    assert_eq!(pool.read_blocking(count).unwrap(), 5, "nothing of the two is there");
    assert_eq!(pool.stats().failed_writes, 2);
    pool.write_blocking(insert(6)).unwrap();
}

#[test]
fn reads_go_on_while_a_write_holds_the_database_and_see_what_was_before_it() {
    let (_folder, pool) = opened(&options());
    pool.write_blocking(insert(1)).unwrap();
    let held = |db: &Connection| {
        insert(2)(db)?;
        std::thread::sleep(Duration::from_millis(500));
        Ok(())
    };
    let slow = beside(&pool, move |pool| pool.write_blocking(held));
    let mut before_it = 0;
    while !slow.is_finished() {
        before_it += i32::from(pool.read_blocking(count).unwrap() == 1);
    }
    slow.join().unwrap().unwrap();
    assert!(before_it > 10, "only {before_it} reads were answered from before the write while it lasted");
    assert_eq!(pool.read_blocking(count).unwrap(), 2, "a read after the answer sees the write");
}

#[test]
fn each_statement_of_a_read_sees_what_was_committed_before_it_and_after_begin_all_see_the_same() {
    let (folder, pool) = opened(&options());
    for (begin, id, counts) in [("", 1, (0, 1)), ("BEGIN", 2, (1, 1))] {
        let path = file(&folder);
        let counted = pool.read_blocking(move |db| {
            db.execute_batch(begin)?;
            let before = count(db)?;
            insert(id)(&Connection::open(path)?)?;
            Ok((before, count(db)?))
        });
        assert_eq!(counted.unwrap(), counts, "{begin}");
    }
    assert_eq!(pool.read_blocking(count).unwrap(), 2);
}

/// A blocked task never gets its budget back, which tokio's own channels would ask for.
#[test]
fn blocking_calls_in_a_task_are_answered_however_many_there_are() {
    use tokio::runtime::Builder;
    for runtime in [Builder::new_current_thread().build(), Builder::new_multi_thread().worker_threads(1).build()] {
        let (_folder, pool) = opened(&options());
        let (ended, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            runtime.unwrap().block_on(async move {
                for id in 0..300 {
                    pool.write_blocking(insert(id)).unwrap();
                }
                let count = pool.read_blocking(count).unwrap();
                pool.close_blocking().unwrap();
                ended.send(count).unwrap();
            });
        });
        assert_eq!(end.recv_timeout(Duration::from_mins(1)), Ok(300));
    }
}

#[tokio::test]
async fn a_full_queue_refuses_who_cannot_wait_and_holds_up_who_can() {
    let (_folder, pool) = opened(&options().queue(NonZero::new(2).unwrap()));
    let release = held_up(&pool);
    let waiting = waiting(&pool, 0..1);
    // Whoever waits does so until its turn comes, or until there is room, and no longer.
    for id in [5, 6] {
        let patient = tokio::time::timeout(Duration::from_millis(50), pool.write(insert(id))).await;
        assert!(patient.is_err(), "the write should have waited");
    }
    let error = pool.try_write(insert(4)).await.unwrap_err();
    assert!(matches!(error, Error::Full(2)) && error.is_retryable(), "{error}");
    drop(release);
    join(waiting);
    pool.try_write(insert(7)).await.unwrap();
    assert_eq!(pool.read(ids).await.unwrap(), [0, 7], "what was refused or given up is not there");
}

#[test]
fn a_read_cannot_write_and_leaves_no_transaction_behind() {
    let (_folder, pool) = opened(&options().readers(ONE));
    let error = pool.read_blocking(insert(1)).unwrap_err();
    assert!(matches!(error, Error::ReadOnly(_)) && error.to_string().contains("writes go through `write`"), "{error}");
    // A snapshot that outlived its job would show the past to the next one.
    pool.read_blocking(|db| db.execute_batch("BEGIN; SELECT * FROM entries")).unwrap();
    pool.write_blocking(insert(2)).unwrap();
    assert_eq!(pool.read_blocking(count).unwrap(), 1);
    let panicked = pool.read_blocking(|_| -> rusqlite::Result<()> { panic!("oh") });
    assert!(matches!(panicked, Err(Error::Panicked(_))));
    assert_eq!(pool.read_blocking(count).unwrap(), 1, "the only reader lives on");
}

#[test]
fn the_log_stays_bounded_under_writes_and_reads_that_never_pause() {
    let limit = 200;
    let (folder, pool) = opened(&options().checkpoint_pages(100).wal_limit_pages(limit));
    let done = Arc::new(AtomicBool::new(false));
    let readers = [(); 2].map(|()| {
        let done = Arc::clone(&done);
        beside(&pool, move |pool| {
            while !done.load(Ordering::Relaxed) {
                pool.read_blocking(count).unwrap();
            }
        })
    });
    let mut most = 0;
    for number in 0..20_000 {
        pool.write_blocking(insert(number)).unwrap();
        most = most.max(pool.stats().wal_pages);
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.join().unwrap();
    }
    assert!(most <= u64::from(limit) + 50, "the log grew to {most} pages");
    let stats = pool.stats();
    assert!(stats.checkpoints > 0, "{stats:?}");
    let log = std::fs::metadata(folder.path().join("pool.db-wal")).unwrap().len();
    assert!(log <= 4_200 * u64::from(limit + 100), "the log's file has {log} bytes");
    pool.close_blocking().unwrap();
}

#[test]
fn the_log_begins_anew_under_writes_that_never_pause_and_no_write_waits_for_it() {
    let (folder, pool) = opened(&options().checkpoint_pages(100));
    let writes = 20_000;
    for number in 0..writes {
        pool.write_blocking(insert(number)).unwrap();
    }
    let stats = pool.stats();
    assert!(stats.checkpoints > 0 && stats.forced_checkpoints == 0, "{stats:?}");
    // A page each at least, if it never did. On a busy machine a copy takes its time.
    let log = std::fs::metadata(folder.path().join("pool.db-wal")).unwrap().len();
    assert!(log < 4_096 * writes.unsigned_abs() / 2, "the log's file has {log} bytes: {stats:?}");
}

#[test]
fn the_log_is_gone_after_closing() {
    // Its connections must not close at the same moment; a hundred times they would.
    for _ in 0..100 {
        let (folder, pool) = opened(&options());
        pool.write_blocking(insert(1)).unwrap();
        pool.close_blocking().unwrap();
        assert!(!folder.path().join("pool.db-wal").exists());
    }
}

#[test]
fn what_is_synced_is_not_left_in_the_cache_of_a_disk_on_macos() {
    let (_folder, pool) = opened(&Options::default());
    let full = |db: &Connection| db.pragma_query_value(None, "fullfsync", |row| row.get::<_, bool>(0));
    assert!(pool.write_blocking(full).unwrap());
}

#[test]
fn closing_finishes_what_waits_and_refuses_the_rest() {
    let (folder, pool) = opened(&options());
    let release = held_up(&pool);
    let threads = waiting(&pool, 0..20);
    let closing = beside(&pool, Pool::close_blocking);
    std::thread::sleep(Duration::from_millis(50));
    drop(release);
    join(threads);
    closing.join().unwrap().unwrap();
    assert!(matches!(pool.write_blocking(insert(99)), Err(Error::Closed)));
    assert!(matches!(pool.read_blocking(count), Err(Error::Closed)));
    assert_eq!(count(&Connection::open(file(&folder)).unwrap()).unwrap(), 20);
}

#[test]
fn a_lock_of_another_process_is_waited_for_by_all_at_once_and_then_named() {
    let timeout = Duration::from_millis(300);
    let (folder, pool) = opened(&options().busy_timeout(timeout));
    // What a job sets ends with it.
    pool.write_blocking(|db| db.busy_timeout(Duration::ZERO)).unwrap();
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begin = Instant::now();
    // The first finds the lock alone; the others gather behind it and share their wait.
    let writes: Vec<_> = (0..60).map(|id| beside(&pool, move |pool| pool.write_blocking(insert(id)))).collect();
    for write in writes {
        let error = write.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Busy(_)) && error.is_retryable(), "{error}");
    }
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(250) && took < timeout * 30, "60 writes were refused after {took:?}");
    let patient = beside(&pool, |pool| pool.write_blocking(insert(100)));
    std::thread::sleep(Duration::from_millis(100));
    other.execute_batch("COMMIT").unwrap();
    patient.join().unwrap().unwrap();
    assert_eq!(pool.read_blocking(ids).unwrap(), [100], "what was refused is not there");
}

#[test]
fn what_cannot_be_opened_is_named_with_its_path_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    std::fs::write(path("foreign.db"), "a text that is long enough to be taken for a header. ".repeat(100)).unwrap();
    let on_open = |db: &Connection| db.execute_batch("PRAGMA key = 1; SELECT no_such_function()");
    for (path, options, start, part) in [
        (path("missing/pool.db"), options(), "cannot open ", "or too many files are open (`ulimit -n`)"),
        (path("foreign.db"), options(), "cannot open ", "not a database"),
        (file(&folder), options().on_open(on_open), "cannot open ", "no_such_function"),
        (
            ":memory:".into(),
            options(),
            "",
            " has the journal 'memory' instead of a write-ahead log: use a file on a local",
        ),
    ] {
        let said = Pool::open_blocking(&path, &options).unwrap_err().to_string();
        assert!(said.starts_with(&format!("{start}{}", path.display())) && said.contains(part), "{said}");
    }
}

/// Python's sqlite3, which brings a SQLite of its own.
const PEER: &str = "
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
(verdict,) = database.execute('PRAGMA integrity_check').fetchone()
(count, total) = database.execute('SELECT COUNT(*), SUM(value) FROM entries').fetchone()
(mode,) = database.execute('PRAGMA journal_mode').fetchone()
print(verdict, count, total, mode)
";

#[test]
fn another_program_reads_the_log_of_an_open_pool_and_the_file_of_a_closed_one() {
    let (folder, pool) = opened(&options());
    for number in 1..=1_000 {
        pool.write_blocking(insert(number)).unwrap();
    }
    let peer_reads = || match Command::new("python3").args(["-c", PEER]).arg(file(&folder)).output() {
        Ok(output) if output.status.success() => {
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "ok 1000 500500 wal\n");
        }
        other => {
            assert!(std::env::var("CI").is_err(), "in CI a missing peer is a failure: {other:?}");
            eprintln!("skipped: there is no python3 with sqlite3 here: {other:?}");
        }
    };
    peer_reads();
    pool.close_blocking().unwrap();
    peer_reads();
}

/// Tells this program, when it is started anew by a test, from which number on to write, before which one to drop the pool and be gone if
/// nobody kills it, and to which database.
const VICTIM: &str = "POOL_TEST_VICTIM";

#[test]
fn the_victim_writes_until_it_is_killed() {
    // Only when a test below has started this program for it.
    let Ok(order) = std::env::var(VICTIM) else { return };
    let [from, to, path] = order.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{order}") };
    let pool = Pool::open_blocking(path, &Options::default()).unwrap();
    // Several at once, so that some share a commit.
    let (next, to) = (AtomicI64::new(from.parse().unwrap()), to.parse().unwrap());
    let write = || {
        for number in std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|&number| number < to)
        {
            pool.write_blocking(insert(number)).unwrap();
            println!("acknowledged {number}");
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(write))));
    drop(pool);
    std::process::exit(0);
}

/// What a victim acknowledged that is killed after `kill_after` of them.
fn victim(database: &Path, from: i64, to: i64, kill_after: usize) -> Vec<i64> {
    use std::io::{BufRead as _, BufReader};
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["the_victim_writes_until_it_is_killed", "--exact", "--nocapture"])
        .env(VICTIM, format!("{from} {to} {}", database.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // The harness writes its own words before the first.
        if let Some((_, number)) = line.unwrap().split_once("acknowledged ") {
            acknowledged.push(number.parse().unwrap());
        }
        if acknowledged.len() == kill_after {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    acknowledged
}

/// Three processes are killed; `POOL_TEST_KILLS` says otherwise.
#[test]
fn a_process_that_is_killed_or_drops_its_pool_and_ends_loses_no_acknowledged_write() {
    let (folder, pool) = opened(&options());
    pool.close_blocking().unwrap();
    let mut acknowledged = BTreeSet::new();
    // One after the other on one database, killed at another moment of its work each time; the last one is not.
    let kills = std::env::var("POOL_TEST_KILLS").map_or(3, |kills| kills.parse().unwrap());
    let killed = (0..kills).map(|kill| (100_000 * kill, i64::MAX, 50 + usize::try_from(37 * kill % 251).unwrap()));
    for (from, to, kill_after) in killed.chain([(100_000 * kills, 100_000 * kills + 100, usize::MAX)]) {
        let own = victim(&file(&folder), from, to, kill_after);
        assert!(own.len() >= kill_after.min(100));
        acknowledged.extend(own);
        let pool = Pool::open_blocking(file(&folder), &options()).unwrap();
        let found: BTreeSet<i64> = pool.read_blocking(ids).unwrap().into_iter().collect();
        let lost = acknowledged.difference(&found).count();
        assert_eq!(lost, 0, "of {} acknowledged writes", acknowledged.len());
        // Of one that was not killed all is there, and nothing else.
        assert!(kill_after != usize::MAX || found.range(from..).copied().eq(from..to));
        assert_eq!(pool.read_blocking(integrity).unwrap(), "ok");
        pool.close_blocking().unwrap();
    }
    println!("{kills} kills: {} acknowledged, 0 lost", acknowledged.len());
}

/// How a job of a thread ends that has set a value or removed it.
#[derive(Debug, Clone, Copy)]
enum End {
    Well,
    Failing,
    Panicking,
}

/// A key, and the value that it gets, if it gets one.
fn step() -> impl Strategy<Value = (i64, Option<i64>, End)> {
    let end = prop_oneof![6 => Just(End::Well), 1 => Just(End::Failing), 1 => Just(End::Panicking)];
    (0..20_i64, prop::option::weighted(0.67, any::<i64>()), end)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Each thread has keys of its own, so that a map per thread knows what must be there.
    #[test]
    fn threads_that_write_fail_panic_and_read_find_what_a_map_holds(plans in prop::collection::vec(prop::collection::vec(step(), 1..30), 1..5)) {
        let (folder, pool) = opened(&options());
        let follow = |(offset, plan)| beside(&pool, move |pool| follow(&pool, offset, plan));
        let threads: Vec<_> = (0..).step_by(100).zip(plans).map(follow).collect();
        let mut expected = BTreeMap::new();
        for thread in threads {
            expected.extend(thread.join().unwrap());
        }
        pool.close_blocking().unwrap();
        let db = Connection::open(file(&folder)).unwrap();
        let mut statement = db.prepare("SELECT id, value FROM entries").unwrap();
        let found: BTreeMap<i64, i64> =
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(integrity(&db).unwrap(), "ok");
    }
}

fn follow(pool: &Pool, offset: i64, plan: Vec<(i64, Option<i64>, End)>) -> BTreeMap<i64, i64> {
    let mut map = BTreeMap::new();
    for (key, value, end) in plan {
        let key = offset + key;
        let written = pool.write_blocking(move |db| {
            let set = "INSERT INTO entries (id, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
            match value {
                Some(value) => db.prepare_cached(set)?.execute([key, value])?,
                None => db.execute("DELETE FROM entries WHERE id = ?1", [key])?,
            };
            match end {
                End::Well => Ok(()),
                End::Failing => db.execute_batch("INSERT INTO entries (value) VALUES (NULL)"),
                End::Panicking => panic!("planned"),
            }
        });
        match (end, written, value) {
            (End::Well, Ok(()), Some(value)) => drop(map.insert(key, value)),
            (End::Well, Ok(()), None) => drop(map.remove(&key)),
            (End::Failing, Err(Error::Sqlite(_)), _) | (End::Panicking, Err(Error::Panicked(_)), _) => {}
            (end, written, _) => panic!("{end:?}: {written:?}"),
        }
        let select = "SELECT value FROM entries WHERE id = ?1";
        let read = pool.read_blocking(move |db| db.query_row(select, [key], |row| row.get(0)).optional());
        assert_eq!(read.unwrap().as_ref(), map.get(&key));
    }
    map
}
