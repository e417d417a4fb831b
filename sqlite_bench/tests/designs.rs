//! All designs do the same work and keep it, and the check after a run notices if one does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rusqlite::Connection;
use sqlite_bench::design::{self, AccessError, Arm, Design, Place, Setup};
use sqlite_bench::driver::{self, Acknowledged, HISTORY_WRITES};
use sqlite_bench::schema::{self, Block, Row, SEED_BLOCKS};
use sqlite_bench::workload::{Load, Workload, Writes};
use tempfile::TempDir;
use tokio::runtime::Runtime;

#[path = "designs/oracle.rs"]
mod oracle;

use oracle::{Oracle, history, run};

const SEED: u64 = 11;
const DATABASES: usize = 2;
/// Number of the first block after the history.
const NEXT: u64 = SEED_BLOCKS + HISTORY_WRITES;
/// No operation takes longer than this, be it on a machine with much else to do.
const LIMIT: Duration = Duration::from_secs(30);
/// The arms whose files another process can lock, one of each kind.
const LOCKABLE: [Arm; 4] = [Arm::WalBlocking, Arm::Deadpool, Arm::WalThreads, Arm::Rollback];
/// The arms whose readers wait for nobody.
const WAL: [Arm; 4] = [Arm::WalThreads, Arm::WalBlocking, Arm::WalInline, Arm::Deadpool];

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A design with databases in a folder of their own; a runtime must have been entered, and be there still when it is dropped.
struct Opened {
    design: Arc<dyn Design>,
    setup: Setup,
    _folder: TempDir,
}

fn open(arm: Arm) -> Opened {
    let folder = tempfile::tempdir_in(Place::Memory.folder(std::env::temp_dir())).unwrap();
    let setup = Setup { databases: DATABASES, readers: 2, seed: SEED, folder: folder.path().to_owned() };
    let design = design::open(arm, &setup).unwrap_or_else(|error| panic!("{arm}: {error}"));
    Opened { design, setup, _folder: folder }
}

/// The same with the history in it.
fn open_with_history(runtime: &Runtime, arm: Arm) -> Opened {
    let opened = open(arm);
    runtime.block_on(driver::replay(&*opened.design, DATABASES, SEED)).unwrap();
    opened
}

impl Opened {
    /// Another connection to the first database, as of another process.
    fn stranger(&self) -> Connection {
        let connection = Connection::open(self.setup.file(0)).unwrap();
        connection.busy_timeout(LIMIT).unwrap();
        connection
    }

    /// What the check says of the first database, of which this is known.
    fn verdict(&self, runtime: &Runtime, blocks: &[u64], failed: &[u64], may_tear: bool) -> Option<String> {
        let known = [Acknowledged { blocks: blocks.to_vec(), failed: failed.to_vec() }];
        runtime.block_on(driver::verify(&*self.design, &known, false, may_tear)).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_arm_returns_the_same_rows_for_the_same_history(history in history()) {
        let runtime = runtime();
        let _entered = runtime.enter();
        let mut digests: Option<Vec<String>> = None;
        for &arm in Arm::ALL {
            let opened = open(arm);
            let found = runtime.block_on(run(arm, &*opened.design, &history));
            // A read of many blocks back tells apart who lets the oldest go.
            if !arm.keeps_its_size() {
                prop_assert_eq!(digests.get_or_insert_with(|| found.clone()), &found, "{}", arm);
            }
        }
    }
}

#[test]
fn every_arm_replays_the_history_alike() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let mut oracle = Oracle::new();
    (SEED_BLOCKS..NEXT).for_each(|number| oracle.write(number, false));
    let expected = schema::digest(&oracle.read(driver::READ_SKIP));
    for &arm in Arm::ALL {
        let opened = open(arm);
        let digest = runtime.block_on(driver::replay(&*opened.design, DATABASES, SEED)).unwrap();
        assert_eq!(digest, expected, "{arm}");
    }
}

fn workload(load: Load) -> Workload {
    Workload {
        databases: DATABASES,
        readers: 2,
        workers: 2,
        hold: Duration::from_millis(5),
        think: Duration::from_millis(1),
        rest: Duration::from_millis(1),
        window: Duration::from_millis(200),
        load,
        writes: Writes::Steady,
    }
}

#[test]
fn every_arm_keeps_what_it_acknowledged() {
    let runtime = runtime();
    let _entered = runtime.enter();
    for &arm in Arm::ALL {
        for load in [Load::Closed, Load::Open { reads_per_s: 100.0 }] {
            let opened = open_with_history(&runtime, arm);
            let outcome = driver::drive(&runtime, &opened.design, &workload(load), SEED, &|_| ()).unwrap();
            let written: usize = outcome.acknowledged.iter().map(|known| known.blocks.len()).sum();
            assert_eq!(written as u64, outcome.writes.answered, "{arm}");
            assert!(written > 0 && outcome.reads.answered > 0, "{arm}: {outcome:?}");
            // Only a shared cache refuses without waiting.
            if arm != Arm::SharedCache {
                let failures = (outcome.reads.failures(), outcome.writes.failures());
                assert_eq!(failures, (0, 0), "{arm}: {:?} {:?}", outcome.reads.first_error, outcome.writes.first_error);
            }
            let verdict =
                driver::verify(&*opened.design, &outcome.acknowledged, arm.keeps_its_size(), arm.commits_statements());
            assert_eq!(runtime.block_on(verdict).unwrap(), None, "{arm}");
        }
    }
}

#[test]
fn a_lost_write_is_noticed() {
    let runtime = runtime();
    let _entered = runtime.enter();
    for arm in [Arm::Direct, Arm::WalBlocking] {
        let opened = open_with_history(&runtime, arm);
        assert_eq!(opened.verdict(&runtime, &[], &[], false), None);
        let wrong = opened.verdict(&runtime, &[NEXT], &[], false).unwrap();
        assert_eq!(wrong, "database 0 lost block 104, which was acknowledged");
    }
    for lost in [0, SEED_BLOCKS - 1, SEED_BLOCKS, NEXT - 1] {
        let opened = open_with_history(&runtime, Arm::WalBlocking);
        schema::delete(&opened.stranger(), lost).unwrap();
        let wrong = opened.verdict(&runtime, &[], &[], true).unwrap();
        assert_eq!(wrong, format!("database 0 lost block {lost}, which was acknowledged"));
    }
}

#[test]
fn a_write_of_nobody_is_noticed() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let opened = open_with_history(&runtime, Arm::WalBlocking);
    schema::insert(&opened.stranger(), Block::written(NEXT, SEED)).unwrap();
    let wrong = opened.verdict(&runtime, &[], &[], true).unwrap();
    assert_eq!(wrong, "database 0 has block 104, which nobody wrote");
    assert_eq!(opened.verdict(&runtime, &[NEXT], &[], false), None);
}

#[test]
fn a_block_that_should_have_gone_is_noticed() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let opened = open_with_history(&runtime, Arm::WalBlocking);
    let known = [Acknowledged::default()];
    let wrong = runtime.block_on(driver::verify(&*opened.design, &known, true, false)).unwrap().unwrap();
    assert_eq!(wrong, "database 0 still has block 0, which should have gone");
}

#[test]
fn a_torn_write_is_noticed() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let tear = |connection: &Connection, number: u64| {
        let sql = "DELETE FROM transactions WHERE id = (SELECT MAX(id) FROM transactions WHERE block_id = ?1)";
        assert_eq!(connection.execute(sql, [i64::try_from(number).unwrap()]).unwrap(), 1);
    };
    for (torn, of) in [(SEED_BLOCKS, 3), (3, 5)] {
        let opened = open_with_history(&runtime, Arm::WalBlocking);
        tear(&opened.stranger(), torn);
        let wrong = opened.verdict(&runtime, &[], &[], true).unwrap();
        assert_eq!(wrong, format!("database 0 has {} transactions of block {torn} instead of {of}", of - 1));
    }
    // A write that failed may be there, but whole, unless each of its statements commits.
    let opened = open_with_history(&runtime, Arm::WalBlocking);
    assert_eq!(opened.verdict(&runtime, &[], &[NEXT], false), None);
    schema::insert(&opened.stranger(), Block::written(NEXT, SEED)).unwrap();
    assert_eq!(opened.verdict(&runtime, &[], &[NEXT], false), None);
    tear(&opened.stranger(), NEXT);
    let wrong = opened.verdict(&runtime, &[], &[NEXT], false).unwrap();
    assert_eq!(wrong, "database 0 has 2 transactions of block 104, whose write failed");
    assert_eq!(opened.verdict(&runtime, &[], &[NEXT], true), None);
}

#[test]
fn damage_is_noticed() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let opened = open_with_history(&runtime, Arm::WalBlocking);
    // A value that the table's definition rules out, put in while the definition said otherwise.
    let define = |from: &str, to: &str| {
        let stranger = opened.stranger();
        stranger.execute_batch("PRAGMA writable_schema = ON").unwrap();
        let sql = "UPDATE sqlite_schema SET sql = replace(sql, ?1, ?2) WHERE name = 'transactions'";
        assert_eq!(stranger.execute(sql, [from, to]).unwrap(), 1);
        let version: i64 = stranger.query_row("PRAGMA schema_version", [], |row| row.get(0)).unwrap();
        stranger.pragma_update(None, "schema_version", version + 1).unwrap();
    };
    define("amount INTEGER NOT NULL", "amount INTEGER");
    opened.stranger().execute("UPDATE transactions SET amount = NULL WHERE id = 1", []).unwrap();
    define("amount INTEGER", "amount INTEGER NOT NULL");
    let wrong = opened.verdict(&runtime, &[], &[], true).unwrap();
    assert!(wrong.starts_with("database 0 is damaged: ") && wrong.contains("amount"), "{wrong}");
}

/// Another connection that holds the first database until it is dropped.
fn lock(opened: &Opened) -> Connection {
    let stranger = opened.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    stranger
}

#[test]
fn a_write_waits_for_another_connection_that_holds_the_database() {
    let runtime = runtime();
    let _entered = runtime.enter();
    for arm in LOCKABLE {
        let opened = open_with_history(&runtime, arm);
        let held = lock(&opened);
        let released = Arc::new(AtomicBool::new(false));
        let holder = {
            let released = Arc::clone(&released);
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(300));
                released.store(true, Ordering::Release);
                drop(held);
            })
        };
        let written = runtime.block_on(opened.design.write(0, Block::written(NEXT, SEED), Duration::ZERO));
        assert!(written.is_ok(), "{arm}: {written:?}");
        assert!(released.load(Ordering::Acquire), "{arm}: two writers at a time");
        holder.join().unwrap();
        assert_eq!(opened.verdict(&runtime, &[NEXT], &[], false), None, "{arm}");
    }
}

#[test]
fn a_write_that_waited_in_vain_says_that_the_database_is_locked() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let waits: Vec<_> = LOCKABLE
        .into_iter()
        .map(|arm| {
            let opened = open_with_history(&runtime, arm);
            let held = lock(&opened);
            let design = Arc::clone(&opened.design);
            let begin = Instant::now();
            let write = runtime.spawn(async move {
                let result = design.write(0, Block::written(NEXT, SEED), Duration::ZERO).await;
                (result, begin.elapsed())
            });
            (arm, opened, held, write)
        })
        .collect();
    for (arm, opened, held, write) in waits {
        let (result, took) = runtime.block_on(write).unwrap();
        assert!(matches!(result, Err(AccessError::Busy(_))), "{arm}: {result:?}");
        assert!(took < LIMIT, "{arm}: {took:?}");
        // The databases beside it and the time after it are none the worse.
        runtime.block_on(opened.design.write(1, Block::written(NEXT, SEED), Duration::ZERO)).unwrap();
        drop(held);
        runtime.block_on(opened.design.write(0, Block::written(NEXT + 1, SEED), Duration::ZERO)).unwrap();
        assert_eq!(opened.verdict(&runtime, &[NEXT + 1], &[NEXT], false), None, "{arm}");
    }
}

/// Reads the first database until a write that holds it for 300 ms has ended; what each read came to.
fn read_during_a_write(runtime: &Runtime, opened: &Opened) -> Vec<Result<Vec<Row>, AccessError>> {
    let design = Arc::clone(&opened.design);
    let write = runtime.spawn(async move {
        let hold = Duration::from_millis(300);
        design.write(0, Block::written(NEXT, SEED), hold).await
    });
    let mut reads = Vec::new();
    while !write.is_finished() {
        reads.push(runtime.block_on(opened.design.read(0, driver::READ_SKIP)));
    }
    runtime.block_on(write).unwrap().unwrap();
    reads
}

#[test]
fn reads_beside_a_write_ahead_log_go_on_during_a_write_and_see_what_was_before_it() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let mut oracle = Oracle::new();
    (SEED_BLOCKS..NEXT).for_each(|number| oracle.write(number, false));
    let before = oracle.read(driver::READ_SKIP);
    oracle.write(NEXT, false);
    let after = oracle.read(driver::READ_SKIP);
    for arm in WAL {
        let opened = open_with_history(&runtime, arm);
        let reads: Vec<Vec<Row>> = read_during_a_write(&runtime, &opened).into_iter().map(Result::unwrap).collect();
        let old = reads.iter().take_while(|&rows| *rows == before).count();
        // The block can be seen from its commit on, which is before its writer hears of it; and then for good.
        assert!(reads[old..].iter().all(|rows| *rows == after), "{arm}");
        assert!(old > 1, "{arm}: {old} of {} reads", reads.len());
        assert_eq!(runtime.block_on(opened.design.read(0, driver::READ_SKIP)).unwrap(), after, "{arm}");
    }
}

/// Another connection to the first database of a shared cache.
fn sharer(opened: &Opened) -> Connection {
    let name = opened.setup.folder.file_name().unwrap().to_string_lossy();
    Connection::open(format!("file:{name}-0?mode=memory&cache=shared")).unwrap()
}

#[test]
fn a_shared_cache_refuses_at_once_while_a_write_is_in_its_tables() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let opened = open_with_history(&runtime, Arm::SharedCache);
    let sharer = sharer(&opened);
    let read = || runtime.block_on(opened.design.read(0, driver::READ_SKIP));
    let write = |number| runtime.block_on(opened.design.write(0, Block::written(number, SEED), Duration::ZERO));
    sharer.execute_batch("BEGIN IMMEDIATE").unwrap();
    // A transaction that has written nothing yet keeps out other writers alone.
    assert!(read().is_ok());
    schema::insert(&sharer, Block::written(NEXT, SEED)).unwrap();
    let refused = read();
    assert!(matches!(refused, Err(AccessError::Busy(_))), "{refused:?}");
    let refused = write(NEXT + 1);
    assert!(matches!(refused, Err(AccessError::Busy(_))), "{refused:?}");
    sharer.execute_batch("COMMIT").unwrap();
    assert!(read().is_ok());
    write(NEXT + 1).unwrap();
    assert_eq!(opened.verdict(&runtime, &[NEXT, NEXT + 1], &[], false), None);
}

#[test]
fn what_is_refused_is_counted() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let opened = open_with_history(&runtime, Arm::SharedCache);
    let sharer = sharer(&opened);
    sharer.execute_batch("BEGIN IMMEDIATE").unwrap();
    schema::insert(&sharer, Block::written(NEXT, SEED)).unwrap();
    let outcome = driver::drive(&runtime, &opened.design, &workload(Load::Closed), SEED, &|_| ()).unwrap();
    sharer.execute_batch("ROLLBACK").unwrap();
    // The first database refuses everything, the second next to nothing.
    for (operations, kind) in [(&outcome.reads, "reads"), (&outcome.writes, "writes")] {
        assert!(operations.answered > 0 && operations.busy > 0, "{kind}: {operations:?}");
        assert_eq!(operations.failures(), operations.busy, "{kind}: {:?}", operations.first_error);
        assert!(operations.first_error.as_ref().unwrap().contains("locked"), "{:?}", operations.first_error);
    }
    let [first, second] = &outcome.acknowledged[..] else { panic!("{:?}", outcome.acknowledged) };
    assert!(first.blocks.is_empty() && !first.failed.is_empty() && !second.blocks.is_empty());
    let verdict = driver::verify(&*opened.design, &outcome.acknowledged, false, false);
    assert_eq!(runtime.block_on(verdict).unwrap(), None);
}
