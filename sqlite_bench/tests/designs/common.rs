//! What designs have in common, whoever tests them: the crate its own, the measurement those that it adds. What their databases should hold
//! is said by sorting lists.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use sqlite_bench::design::{Arm, Design, Setup};
use sqlite_bench::schema::{Block, READ_ROWS, Row, SEED_BLOCKS, SEED_TRANSACTIONS, WRITE_TRANSACTIONS};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub const SEED: u64 = 11;
pub const DATABASES: usize = 2;

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A design with databases in a folder of their own; the runtime must have been entered, and be so still when the design is dropped.
pub fn open(arm: &Arm) -> (TempDir, Setup, Arc<dyn Design>) {
    // In memory where there is such a folder: what a test waits for is not the disk.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let setup = Setup { databases: DATABASES, readers: 2, seed: SEED, folder: folder.path().to_owned() };
    let design = (arm.open)(&setup).unwrap_or_else(|error| panic!("{}: {error}", arm.name));
    (folder, setup, design)
}

/// A database as somebody would write it who knows no SQL.
#[derive(Default)]
struct Oracle {
    /// Number and number of transactions.
    blocks: Vec<(u64, u64)>,
    rows: Vec<Row>,
}

impl Oracle {
    /// With the blocks of the start.
    fn new() -> Self {
        let mut oracle = Oracle::default();
        for number in 0..SEED_BLOCKS {
            oracle.insert(number, SEED_TRANSACTIONS);
        }
        oracle
    }

    fn insert(&mut self, number: u64, transactions: u64) {
        self.blocks.push((number, transactions));
        for index in 0..transactions {
            let random = mix(SEED ^ (number << 16) ^ index);
            self.rows.push((
                self.rows.iter().map(|row| row.0).max().unwrap_or(0) + 1,
                i64::try_from(number).unwrap(),
                format!("{:016x}{:016x}", mix(number ^ SEED), mix(number + SEED)),
                format!("account_{:04}", random % 1000),
                format!("account_{:04}", (random >> 20) % 1000),
                i64::try_from((random >> 40) % 1_000_000).unwrap(),
            ));
        }
    }

    /// The newest transactions of blocks after the one of number `after`.
    fn read(&self, after: u64) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows.iter().filter(|row| row.1.unsigned_abs() > after).cloned().collect();
        rows.sort_by_key(|row| Reverse((row.1, row.0)));
        rows.truncate(usize::try_from(READ_ROWS).unwrap());
        rows
    }
}

/// SplitMix64.
fn mix(value: u64) -> u64 {
    let a = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let b = (a ^ (a >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let c = (b ^ (b >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    c ^ (c >> 31)
}

/// A step of a history: in a database, a read after so many blocks, or else a write.
pub type Step = (usize, Option<u64>);

/// Writes and reads in any order.
pub fn history() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((0..DATABASES, proptest::option::of(0..130_u64)), 0..50)
}

/// Runs a history: every read returns what it should, and so does a last one of each database.
async fn run(arm: &Arm, design: &dyn Design, history: &[Step]) {
    let mut oracles: Vec<Oracle> = (0..DATABASES).map(|_| Oracle::new()).collect();
    let mut next = [SEED_BLOCKS; DATABASES];
    let last = (0..DATABASES).map(|database| (database, Some(50)));
    for (database, read) in history.iter().copied().chain(last) {
        if let Some(after) = read {
            let rows = design.read(database, after).await.unwrap();
            assert_eq!(rows, oracles[database].read(after), "{}: {after} of {database}", arm.name);
        } else {
            design.write(database, Block::written(next[database], SEED), Duration::ZERO).await.unwrap();
            oracles[database].insert(next[database], WRITE_TRANSACTIONS);
            next[database] += 1;
        }
    }
    for (database, oracle) in oracles.iter().enumerate() {
        let found = design.inspect(database).await.unwrap();
        assert_eq!((&found.blocks, found.integrity.as_str()), (&oracle.blocks, "ok"), "{}", arm.name);
    }
}

pub fn arms_return_the_rows_of(history: &[Step], arms: impl Iterator<Item = &'static Arm>) {
    let runtime = runtime();
    let _entered = runtime.enter();
    for arm in arms {
        let (_folder, _, design) = open(arm);
        runtime.block_on(run(arm, &*design, history));
    }
}
