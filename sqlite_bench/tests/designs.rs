//! The crate's designs do the same work and keep it, and the check after a run notices if one does not.

#![cfg(feature = "cli")]

#[path = "designs/common.rs"]
mod common;

use proptest::prelude::*;
use rusqlite::Connection;
use sqlite_bench::design::{ARMS, Arm, find};
use sqlite_bench::driver::{self, Acknowledged, HISTORY_WRITES};
use sqlite_bench::schema::SEED_BLOCKS;

use common::{DATABASES, SEED, history, open, runtime};

/// Number of the first block after the history.
const NEXT: u64 = SEED_BLOCKS + HISTORY_WRITES;

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_arm_returns_the_rows_of_its_history(history in history()) {
        common::arms_return_the_rows_of(&history, ARMS.iter());
    }
}

#[test]
fn what_is_lost_torn_or_damaged_is_noticed_and_what_nobody_wrote() {
    let whole = find(&ARMS.each_ref(), "wal_threads").unwrap();
    let tearing = Arm { commits_statements: true, ..*whole };
    let none: &[u64] = &[];
    let next: &[u64] = &[NEXT];
    let (nothing, first) = (String::new(), SEED_BLOCKS);
    let delete = |block: u64| {
        format!("DELETE FROM transactions WHERE block_id = {block}; DELETE FROM blocks WHERE id = {block};")
    };
    let tear = |block: u64| {
        format!("DELETE FROM transactions WHERE id = (SELECT MAX(id) FROM transactions WHERE block_id = {block});")
    };
    // As the last block of the history.
    let insert = "INSERT INTO blocks SELECT 104, hash, parent_hash, timestamp, data FROM blocks WHERE id = 103;
        INSERT INTO transactions (block_id, from_address, to_address, amount)
        SELECT 104, from_address, to_address, amount FROM transactions WHERE block_id = 103;"
        .to_owned();
    // A value that the table's definition rules out, put in while the definition said otherwise.
    let damage = "PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'amount INTEGER NOT NULL', 'amount INTEGER') WHERE name = 'transactions';
        PRAGMA writable_schema = RESET; UPDATE transactions SET amount = NULL WHERE id = 1;
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'amount INTEGER', 'amount INTEGER NOT NULL') WHERE name = 'transactions';"
        .to_owned();
    // What somebody did to the database, which writes were acknowledged and which failed, how the arm writes, and what the check says.
    for (sql, blocks, failed, arm, said) in [
        (&nothing, none, none, whole, ""),
        (&nothing, next, none, whole, "database 0 differs in the transactions of block 104: none found, 3 expected"),
        (&delete(0), none, none, &tearing, "database 0 differs in the transactions of block 0: none found, 5 expected"),
        (
            &delete(first - 1),
            none,
            none,
            &tearing,
            "database 0 differs in the transactions of block 99: none found, 5 expected",
        ),
        (
            &delete(first),
            none,
            none,
            &tearing,
            "database 0 differs in the transactions of block 100: none found, 3 expected",
        ),
        (
            &delete(NEXT - 1),
            none,
            none,
            &tearing,
            "database 0 differs in the transactions of block 103: none found, 3 expected",
        ),
        (&insert, none, none, &tearing, "database 0 differs in the transactions of block 104: 3 found, none expected"),
        (&insert, next, none, whole, ""),
        (
            &tear(first),
            none,
            none,
            &tearing,
            "database 0 differs in the transactions of block 100: 2 found, 3 expected",
        ),
        (&tear(3), none, none, &tearing, "database 0 differs in the transactions of block 3: 4 found, 5 expected"),
        // A write that failed may be there, but whole, unless each of its statements commits.
        (&nothing, none, next, whole, ""),
        (&insert, none, next, whole, ""),
        (
            &(insert.clone() + &tear(NEXT)),
            none,
            next,
            whole,
            "database 0 differs in the transactions of block 104: 2 found, none expected",
        ),
        (&(insert.clone() + &tear(NEXT)), none, next, &tearing, ""),
        (&damage, none, none, &tearing, "database 0 is damaged: NULL value in transactions.amount"),
    ] {
        let runtime = runtime();
        let _entered = runtime.enter();
        let (_folder, setup, design) = open(arm);
        runtime.block_on(driver::replay(&*design, DATABASES, SEED)).unwrap();
        Connection::open(setup.folder.join("0.db")).unwrap().execute_batch(sql).unwrap();
        let known = [Acknowledged { blocks: blocks.to_vec(), failed: failed.to_vec() }];
        let verdict = runtime.block_on(driver::verify(arm, &*design, &known)).unwrap().unwrap_or_default();
        assert!(verdict.starts_with(said) && verdict.is_empty() == said.is_empty(), "{sql} {verdict}");
    }
}
