//! The crate's designs do the same work and keep it, and the check after a run notices if one does not.

#![cfg(feature = "cli")]

#[path = "designs/common.rs"]
mod common;

use proptest::prelude::*;
use rusqlite::Connection;
use sqlite_bench::design::{ARMS, Arm, find};
use sqlite_bench::driver::{self, Acknowledged};
use sqlite_bench::schema::{self, Block, SEED_BLOCKS};

use common::oracle::history;
use common::{NEXT, SEED, open_with_history, runtime};

fn arm(name: &str) -> &'static Arm {
    find(&ARMS.each_ref(), name).unwrap()
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
fn a_lost_write_is_noticed() {
    let runtime = runtime();
    let _entered = runtime.enter();
    for name in ["direct", "wal_threads"] {
        let opened = open_with_history(&runtime, arm(name));
        assert_eq!(opened.verdict(&runtime, &[], &[], false), None);
        let wrong = opened.verdict(&runtime, &[NEXT], &[], false).unwrap();
        assert_eq!(wrong, "database 0 lost block 104, which was acknowledged");
    }
    for lost in [0, SEED_BLOCKS - 1, SEED_BLOCKS, NEXT - 1] {
        let opened = open_with_history(&runtime, arm("wal_threads"));
        let sql = format!("DELETE FROM transactions WHERE block_id = {lost}; DELETE FROM blocks WHERE id = {lost}");
        opened.stranger().execute_batch(&sql).unwrap();
        let wrong = opened.verdict(&runtime, &[], &[], true).unwrap();
        assert_eq!(wrong, format!("database 0 lost block {lost}, which was acknowledged"));
    }
}

#[test]
fn a_write_of_nobody_is_noticed() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let opened = open_with_history(&runtime, arm("wal_threads"));
    schema::insert(&opened.stranger(), Block::written(NEXT, SEED)).unwrap();
    let wrong = opened.verdict(&runtime, &[], &[], true).unwrap();
    assert_eq!(wrong, "database 0 has block 104, which nobody wrote");
    assert_eq!(opened.verdict(&runtime, &[NEXT], &[], false), None);
}

#[test]
fn a_block_that_should_have_gone_is_noticed() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let opened = open_with_history(&runtime, arm("wal_threads"));
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
        let opened = open_with_history(&runtime, arm("wal_threads"));
        tear(&opened.stranger(), torn);
        let wrong = opened.verdict(&runtime, &[], &[], true).unwrap();
        assert_eq!(wrong, format!("database 0 has {} transactions of block {torn} instead of {of}", of - 1));
    }
    // A write that failed may be there, but whole, unless each of its statements commits.
    let opened = open_with_history(&runtime, arm("wal_threads"));
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
    let opened = open_with_history(&runtime, arm("wal_threads"));
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
