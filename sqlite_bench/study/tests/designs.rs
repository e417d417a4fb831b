//! What exists only to be compared does the same work as the crate's designs, and keeps it.

#[path = "../../tests/designs/common.rs"]
mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rusqlite::Connection;
use sqlite_bench::design::{AccessError, Arm, find};
use sqlite_bench::driver;
use sqlite_bench::schema::{self, Block, Row, SEED_BLOCKS};
use sqlite_bench_study::cases::{ARMS, arms};

use common::{LIMIT, NEXT, Opened, Oracle, SEED, history, open_with_history, runtime};

/// How long a write or a stranger holds a database.
const HOLD: Duration = Duration::from_millis(300);
/// The arms whose files another process can lock, one of each kind.
const LOCKABLE: [&str; 4] = ["wal_blocking", "deadpool", "wal_threads", "rollback"];
/// The arms whose readers wait for nobody.
const WAL: [&str; 4] = ["wal_threads", "wal_blocking", "wal_inline", "deadpool"];

fn arm(name: &str) -> &'static Arm {
    find(&arms(), name).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_arm_returns_the_rows_of_its_history(history in history()) {
        common::arms_return_the_rows_of(&history, ARMS.iter());
    }
}

impl Opened<'_> {
    /// Reads the first database.
    pub fn read(&self) -> Result<Vec<Row>, AccessError> {
        self.runtime.block_on(self.design.read(0, driver::READ_AFTER))
    }

    /// Writes a block.
    pub fn write(&self, database: usize, number: u64) -> Result<(), AccessError> {
        self.runtime.block_on(self.design.write(database, Block::written(number, SEED), Duration::ZERO))
    }
}

#[test]
fn a_write_waits_for_another_connection_that_holds_the_database_and_in_vain_says_so() {
    let runtime = runtime();
    let _entered = runtime.enter();
    // All at once, because each takes as long as a connection waits.
    let waits: Vec<_> = LOCKABLE
        .map(arm)
        .into_iter()
        .map(|arm| {
            let opened = open_with_history(&runtime, arm);
            let stranger = opened.stranger();
            stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
            let design = Arc::clone(&opened.design);
            let begin = Instant::now();
            let write = runtime.spawn(async move {
                let result = design.write(0, Block::written(NEXT, SEED), Duration::ZERO).await;
                (result, begin.elapsed())
            });
            (arm.name, opened, stranger, write)
        })
        .collect();
    for (arm, opened, stranger, write) in waits {
        let (result, took) = runtime.block_on(write).unwrap();
        assert!(matches!(result, Err(AccessError::Busy(_))), "{arm}: {result:?}");
        assert!(took < LIMIT, "{arm}: {took:?}");
        // The databases beside it and the time after it are none the worse.
        opened.write(1, NEXT).unwrap();
        let begin = Instant::now();
        let holder = std::thread::spawn(move || {
            std::thread::sleep(HOLD);
            drop(stranger);
        });
        opened.write(0, NEXT + 1).unwrap();
        assert!(begin.elapsed() >= HOLD, "{arm}: two writers at a time");
        holder.join().unwrap();
        assert_eq!(opened.verdict(&[NEXT + 1], &[NEXT]), None, "{arm}");
    }
}

#[test]
fn reads_beside_a_write_ahead_log_go_on_during_a_write_and_see_what_was_before_it() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let mut oracle = Oracle::new();
    (SEED_BLOCKS..NEXT).for_each(|number| oracle.write(number, false));
    let before = oracle.read(driver::READ_AFTER);
    oracle.write(NEXT, false);
    let after = oracle.read(driver::READ_AFTER);
    for arm in WAL.map(arm) {
        let opened = open_with_history(&runtime, arm);
        let design = Arc::clone(&opened.design);
        let write = runtime.spawn(async move { design.write(0, Block::written(NEXT, SEED), HOLD).await });
        let mut reads: Vec<Vec<Row>> = Vec::new();
        while !write.is_finished() {
            reads.push(opened.read().unwrap());
        }
        runtime.block_on(write).unwrap().unwrap();
        let old = reads.iter().take_while(|&rows| *rows == before).count();
        // The block can be seen from its commit on, which is before its writer hears of it; and then for good.
        assert!(reads[old..].iter().all(|rows| *rows == after), "{}", arm.name);
        assert!(old > 1, "{}: {old} of {} reads", arm.name, reads.len());
        assert_eq!(opened.read().unwrap(), after, "{}", arm.name);
    }
}

#[test]
fn a_shared_cache_refuses_at_once_while_a_write_is_in_its_tables() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let opened = open_with_history(&runtime, arm("shared_cache"));
    let name = opened.setup.folder.file_name().unwrap().to_string_lossy();
    let sharer = Connection::open(format!("file:{name}-0?mode=memory&cache=shared")).unwrap();
    sharer.execute_batch("BEGIN IMMEDIATE").unwrap();
    // A transaction that has written nothing yet keeps out other writers alone.
    assert!(opened.read().is_ok());
    schema::insert(&sharer, Block::written(NEXT, SEED)).unwrap();
    for refused in [opened.read().map(drop), opened.write(0, NEXT + 1)] {
        assert!(matches!(&refused, Err(AccessError::Busy(said)) if said.contains("locked")), "{refused:?}");
    }
    sharer.execute_batch("COMMIT").unwrap();
    assert!(opened.read().is_ok());
    opened.write(0, NEXT + 1).unwrap();
    assert_eq!(opened.verdict(&[NEXT, NEXT + 1], &[]), None);
}
