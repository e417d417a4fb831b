//! What exists only to be compared does the same work as the crate's designs, and keeps it.

#[path = "../../tests/designs/common.rs"]
mod common;

use std::time::Duration;

use proptest::prelude::*;
use rusqlite::Connection;
use sqlite_bench::design::{AccessError, Arm, find};
use sqlite_bench::driver;
use sqlite_bench::schema::{self, Block};
use sqlite_bench::workload::Loop;
use sqlite_bench_study::cases::{ARMS, arms};

use common::oracle::history;
use common::{NEXT, Opened, SEED, open_with_history, runtime, workload};

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

#[test]
fn every_arm_replays_the_history_alike() {
    common::arms_replay_the_history_alike(ARMS.iter());
}

#[test]
fn every_arm_keeps_what_it_acknowledged() {
    common::arms_keep_what_they_acknowledged(ARMS.iter());
}

#[test]
fn a_write_waits_for_another_connection_that_holds_the_database() {
    ["wal_blocking", "deadpool", "rollback"]
        .into_iter()
        .map(arm)
        .for_each(common::a_write_waits_for_another_connection);
}

#[test]
fn a_write_that_waited_in_vain_says_that_the_database_is_locked() {
    common::writes_that_waited_in_vain_say_so(["wal_blocking", "deadpool", "rollback"].map(arm).into_iter());
}

#[test]
fn reads_beside_a_write_ahead_log_go_on_during_a_write_and_see_what_was_before_it() {
    ["wal_blocking", "wal_inline", "deadpool"].into_iter().map(arm).for_each(common::reads_go_on_during_a_write);
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
    let opened = open_with_history(&runtime, arm("shared_cache"));
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
    let opened = open_with_history(&runtime, arm("shared_cache"));
    let sharer = sharer(&opened);
    sharer.execute_batch("BEGIN IMMEDIATE").unwrap();
    schema::insert(&sharer, Block::written(NEXT, SEED)).unwrap();
    let tally = driver::drive(&runtime, &opened.design, &workload(Loop::Closed), SEED, &|_| ()).unwrap();
    sharer.execute_batch("ROLLBACK").unwrap();
    // The first database refuses everything, the second next to nothing.
    for (operations, kind) in [(&tally.reads, "reads"), (&tally.writes, "writes")] {
        assert!(operations.answered > 0 && operations.busy > 0, "{kind}: {operations:?}");
        assert_eq!(operations.failures(), operations.busy, "{kind}: {:?}", operations.first_error);
        assert!(operations.first_error.as_ref().unwrap().contains("locked"), "{:?}", operations.first_error);
    }
    let [first, second] = &tally.acknowledged[..] else { panic!("{:?}", tally.acknowledged) };
    assert!(first.blocks.is_empty() && !first.failed.is_empty() && !second.blocks.is_empty());
    let verdict = driver::verify(&*opened.design, &tally.acknowledged, false, false);
    assert_eq!(runtime.block_on(verdict).unwrap(), None);
}
