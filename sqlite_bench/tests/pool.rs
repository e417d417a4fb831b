//! The pool as its users rely on it: what is acknowledged is there, what fails is not, reads do not wait, nothing grows without bound.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rusqlite::Connection;
use sqlite_bench::pool::{Error, Options, Pool};

mod common;

use common::{Mounted, Written, behind, file, held_up, ids, insert, integrity, mount, opened, options};

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
fn writes_that_wait_share_a_commit() {
    let (_folder, pool) = opened(&options());
    let before = pool.stats();
    let release = held_up(&pool);
    let threads = waiting(&pool, 0..64);
    drop(release);
    join(threads);
    let after = pool.stats();
    assert_eq!(after.writes - before.writes, 65);
    assert!(after.commits - before.commits <= 32, "{after:?}");
    assert_eq!(pool.read_blocking(count).unwrap(), 64);
}

#[test]
fn a_batch_of_one_commits_each_write_alone() {
    let (_folder, pool) = opened(&options().batch(NonZero::<usize>::MIN));
    let release = held_up(&pool);
    let threads = waiting(&pool, 0..10);
    drop(release);
    join(threads);
    let stats = pool.stats();
    assert_eq!((stats.writes, stats.commits), (12, 12));
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
    match panicking.join().unwrap() {
        Err(Error::Panicked(message)) => assert_eq!(message, "a bug of the caller"),
        other => panic!("{other:?}"),
    }
    assert_eq!(pool.read_blocking(count).unwrap(), 5, "nothing of the two is there");
    assert_eq!(pool.stats().failed_writes, 2);
    pool.write_blocking(insert(6)).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_go_on_while_a_write_holds_the_database_and_see_what_was_before_it() {
    let (_folder, pool) = opened(&options());
    pool.write(insert(1)).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let slow = tokio::spawn({
        let (pool, done) = (pool.clone(), Arc::clone(&done));
        async move {
            let written = pool
                .write(|db| {
                    db.execute("INSERT INTO entries (id, value) VALUES (2, 2)", [])?;
                    std::thread::sleep(Duration::from_millis(500));
                    Ok(())
                })
                .await;
            done.store(true, Ordering::SeqCst);
            written
        }
    });
    let mut before_it = 0;
    while !done.load(Ordering::SeqCst) {
        if pool.read(count).await.unwrap() == 1 {
            before_it += 1;
        }
    }
    slow.await.unwrap().unwrap();
    assert!(before_it > 10, "only {before_it} reads were answered from before the write while it lasted");
    assert_eq!(pool.read(count).await.unwrap(), 2, "a read after the answer sees the write");
}

#[tokio::test]
async fn a_full_queue_refuses_who_cannot_wait_and_holds_up_who_can() {
    let (_folder, pool) = opened(&options().queue(NonZero::new(2).unwrap()));
    let release = held_up(&pool);
    let waiting = waiting(&pool, 0..2);
    let error = pool.try_write(insert(5)).await.unwrap_err();
    assert!(matches!(error, Error::Full(2)), "{error}");
    assert!(error.is_retryable());
    // Whoever waits does so until there is room, and no longer.
    let patient = tokio::time::timeout(Duration::from_millis(50), pool.write(insert(6))).await;
    assert!(patient.is_err(), "the write should have waited");
    drop(release);
    join(waiting);
    pool.try_write(insert(7)).await.unwrap();
    assert_eq!(pool.read(ids).await.unwrap(), [0, 1, 7], "what was refused or given up is not there");
}

#[tokio::test]
async fn a_write_whose_future_is_dropped_before_its_turn_is_skipped() {
    let (_folder, pool) = opened(&options());
    let release = held_up(&pool);
    let given_up = tokio::time::timeout(Duration::from_millis(50), pool.write(insert(1))).await;
    assert!(given_up.is_err());
    drop(release);
    pool.write(insert(2)).await.unwrap();
    assert_eq!(pool.read(count).await.unwrap(), 1);
}

#[test]
fn a_read_cannot_write_and_leaves_no_transaction_behind() {
    let (_folder, pool) = opened(&options().readers(NonZero::<usize>::MIN));
    assert!(matches!(pool.read_blocking(insert(1)), Err(Error::ReadOnly(_))));
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
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (pool, done) = (pool.clone(), Arc::clone(&done));
            std::thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    pool.read_blocking(count).unwrap();
                }
            })
        })
        .collect();
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
fn closing_finishes_what_waits_and_refuses_the_rest() {
    let (folder, pool) = opened(&options());
    let release = held_up(&pool);
    let threads = waiting(&pool, 0..20);
    let closing = std::thread::spawn({
        let pool = pool.clone();
        move || pool.close_blocking()
    });
    std::thread::sleep(Duration::from_millis(50));
    drop(release);
    join(threads);
    closing.join().unwrap().unwrap();
    assert!(matches!(pool.write_blocking(insert(99)), Err(Error::Closed)));
    assert!(matches!(pool.read_blocking(count), Err(Error::Closed)));
    assert_eq!(count(&Connection::open(file(&folder)).unwrap()).unwrap(), 20);
}

#[test]
fn a_lock_of_another_process_is_waited_for_and_then_named() {
    let (folder, pool) = opened(&options().busy_timeout(Duration::from_millis(300)));
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begin = Instant::now();
    let error = pool.write_blocking(insert(1)).unwrap_err();
    assert!(matches!(error, Error::Busy(_)) && error.is_retryable(), "{error}");
    assert!(begin.elapsed() >= Duration::from_millis(250));
    let patient = std::thread::spawn({
        let pool = pool.clone();
        move || pool.write_blocking(insert(2))
    });
    std::thread::sleep(Duration::from_millis(100));
    other.execute_batch("COMMIT").unwrap();
    patient.join().unwrap().unwrap();
    assert_eq!(pool.read_blocking(count).unwrap(), 1);
}

#[test]
fn a_full_database_says_so_and_keeps_what_it_had() {
    let on_open = |db: &Connection| db.execute_batch("PRAGMA max_page_count = 40");
    let (_folder, pool) = opened(&options().on_open(on_open));
    pool.write_blocking(|db| db.execute_batch("CREATE TABLE blobs (data BLOB)")).unwrap();
    let mut acknowledged = 0;
    let error = loop {
        match pool.write_blocking(|db| db.execute("INSERT INTO blobs VALUES (randomblob(4000))", [])) {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::DiskFull(_)), "{error}");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert!(acknowledged > 10);
    let check = |db: &Connection| {
        Ok((db.query_row("SELECT COUNT(*) FROM blobs", [], |row| row.get::<_, i64>(0))?, integrity(db)?))
    };
    assert_eq!(pool.read_blocking(check).unwrap(), (acknowledged, "ok".to_owned()));
    pool.write_blocking(|db| db.execute("DELETE FROM blobs", [])).unwrap();
}

#[test]
fn what_cannot_be_opened_is_named_with_its_path_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path| Pool::open_blocking(path, &options()).unwrap_err().to_string();
    let missing = folder.path().join("missing/pool.db");
    assert!(said(&missing).starts_with(&format!("cannot open {}", missing.display())), "{}", said(&missing));
    assert!(said(&missing).contains("must be writable"));
    let foreign = folder.path().join("foreign.db");
    std::fs::write(&foreign, "this is a text, and long enough to be taken for a header. ".repeat(100)).unwrap();
    assert!(said(&foreign).contains("not a database"), "{}", said(&foreign));
    let error = Pool::open_blocking(":memory:", &options()).unwrap_err();
    assert!(
        matches!(error, Error::NotWal { .. }) && error.to_string().contains("use a file on a local disk"),
        "{error}"
    );
}

/// Makes a folder one that nobody can write to, not even root; `None` where mounting is not allowed.
fn read_only(folder: &Path) -> Option<Mounted<'_>> {
    let mounted = mount(folder, &["--bind", folder.to_str()?]).then_some(Mounted(folder))?;
    mount(folder, &["-o", "remount,ro,bind"]).then_some(mounted)
}

#[test]
fn a_read_only_folder_is_refused_in_one_clear_line() {
    let (folder, pool) = opened(&options());
    pool.close_blocking().unwrap();
    let said = if let Some(_mounted) = read_only(folder.path()) {
        Pool::open_blocking(file(&folder), &options()).unwrap_err().to_string()
    } else {
        let mut permissions = std::fs::metadata(folder.path()).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(folder.path(), permissions).unwrap();
        if std::fs::write(folder.path().join("probe"), "").is_ok() {
            eprintln!("skipped: this user may write everywhere and may not mount");
            return;
        }
        Pool::open_blocking(file(&folder), &options()).unwrap_err().to_string()
    };
    assert!(said.contains("must be writable") && !said.contains('\n'), "{said}");
}

/// Tell this program, when it is started anew by a test, which database to write to, from which number on, and whether to go on until it is
/// killed or to drop the pool after the hundredth write and be gone.
const VICTIM: &str = "POOL_TEST_VICTIM";
const FROM: &str = "POOL_TEST_FROM";
const DROPS: &str = "POOL_TEST_DROPS";

#[test]
fn the_victim_writes_until_it_is_killed() {
    use std::io::Write as _;
    // Only when a test below has started this program for it.
    let Some(path) = std::env::var_os(VICTIM) else { return };
    let from: i64 = std::env::var(FROM).unwrap().parse().unwrap();
    let pool = Pool::open_blocking(path, &Options::default()).unwrap();
    let acknowledged = |number: i64| {
        let mut out = std::io::stdout();
        writeln!(out, "acknowledged {number}").unwrap();
        out.flush().unwrap();
    };
    if std::env::var_os(DROPS).is_some() {
        for number in from..from + 100 {
            pool.write_blocking(insert(number)).unwrap();
            acknowledged(number);
        }
        drop(pool);
        std::process::exit(0);
    }
    // Several at once, so that some share a commit.
    let next = AtomicI64::new(from);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    pool.write_blocking(insert(number)).unwrap();
                    acknowledged(number);
                }
            });
        }
    });
}

/// What a victim acknowledged: it is killed after `kill_after` of them, or goes by itself.
fn victim(database: &Path, from: i64, kill_after: Option<usize>) -> Vec<i64> {
    use std::io::{BufRead as _, BufReader};
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["the_victim_writes_until_it_is_killed", "--exact", "--nocapture"]);
    command.env(VICTIM, database).env(FROM, from.to_string()).stdout(Stdio::piped());
    if kill_after.is_none() {
        command.env(DROPS, "");
    }
    let mut child = command.spawn().unwrap();
    let mut acknowledged = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // The harness writes its own words before the first.
        if let Some((_, number)) = line.unwrap().split_once("acknowledged ") {
            acknowledged.push(number.parse().unwrap());
        }
        if Some(acknowledged.len()) == kill_after {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    acknowledged
}

/// So many processes are killed, one after the other on one database; `POOL_TEST_KILLS` says otherwise.
const KILLS: usize = 3;

#[test]
fn a_killed_process_loses_no_acknowledged_write() {
    let kills = std::env::var("POOL_TEST_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let (folder, pool) = opened(&options());
    pool.close_blocking().unwrap();
    let mut acknowledged = BTreeSet::new();
    let mut lost = 0;
    for kill in 0..kills {
        let from = 100_000 * i64::try_from(kill).unwrap();
        // At another moment of its work each time.
        let own = victim(&file(&folder), from, Some(50 + 37 * kill % 251));
        assert!(own.len() >= 50);
        acknowledged.extend(own);
        let pool = Pool::open_blocking(file(&folder), &options()).unwrap();
        let found: BTreeSet<i64> = pool.read_blocking(ids).unwrap().into_iter().collect();
        lost += acknowledged.difference(&found).count();
        assert_eq!(pool.read_blocking(integrity).unwrap(), "ok");
        pool.close_blocking().unwrap();
    }
    println!("{kills} kills: {} acknowledged, {lost} lost", acknowledged.len());
    assert_eq!(lost, 0, "of {} acknowledged writes", acknowledged.len());
}

#[test]
fn a_process_that_drops_its_pool_and_ends_loses_no_acknowledged_write() {
    let (folder, pool) = opened(&options());
    pool.close_blocking().unwrap();
    assert_eq!(victim(&file(&folder), 0, None).len(), 100);
    assert_eq!(ids(&Connection::open(file(&folder)).unwrap()).unwrap(), (0..100).collect::<Vec<_>>());
}

/// What a thread does to the pool, with a key.
#[derive(Debug, Clone)]
enum Step {
    Set(i64),
    Remove,
    Fail,
    Panic,
    Read,
}

fn step() -> impl Strategy<Value = (i64, Step)> {
    let step = prop_oneof![
        4 => any::<i32>().prop_map(|value| Step::Set(i64::from(value))),
        2 => Just(Step::Remove),
        1 => Just(Step::Fail),
        1 => Just(Step::Panic),
        3 => Just(Step::Read),
    ];
    (0..20_i64, step)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Each thread has keys of its own, so that a map per thread knows what must be there.
    #[test]
    fn threads_that_write_fail_panic_and_read_find_what_a_map_holds(plans in prop::collection::vec(prop::collection::vec(step(), 1..30), 1..5)) {
            let (folder, pool) = opened(&options());
        let threads: Vec<_> = plans.into_iter().enumerate().map(|(thread, plan)| {
            let pool = pool.clone();
            std::thread::spawn(move || follow(&pool, i64::try_from(thread).unwrap() * 100, plan))
        }).collect();
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

fn follow(pool: &Pool, offset: i64, plan: Vec<(i64, Step)>) -> BTreeMap<i64, i64> {
    let mut map = BTreeMap::new();
    let set = "INSERT INTO entries (id, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
    for (key, step) in plan {
        let key = offset + key;
        match step {
            Step::Set(value) => {
                pool.write_blocking(move |db| db.prepare_cached(set)?.execute([key, value])).unwrap();
                map.insert(key, value);
            }
            Step::Remove => {
                pool.write_blocking(move |db| db.execute("DELETE FROM entries WHERE id = ?1", [key])).unwrap();
                map.remove(&key);
            }
            Step::Fail => {
                let failed = pool.write_blocking(move |db| {
                    db.prepare_cached(set)?.execute([key, -1])?;
                    db.execute("UPDATE entries SET value = NULL WHERE id = ?1", [key])
                });
                assert!(matches!(failed, Err(Error::Sqlite(_))), "{failed:?}");
            }
            Step::Panic => {
                let failed = pool.write_blocking(move |db| -> rusqlite::Result<()> {
                    db.prepare_cached(set)?.execute([key, -2])?;
                    panic!("planned");
                });
                assert!(matches!(failed, Err(Error::Panicked(_))), "{failed:?}");
            }
            Step::Read => {
                let found: Vec<i64> = pool
                    .read_blocking(move |db| {
                        let mut statement = db.prepare_cached("SELECT value FROM entries WHERE id = ?1")?;
                        statement.query_map([key], |row| row.get(0))?.collect()
                    })
                    .unwrap();
                assert_eq!(found.first(), map.get(&key));
            }
        }
    }
    map
}
