//! What designs have in common, whoever tests them: the crate its own, the measurement those that it adds.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use sqlite_bench::design::{Arm, Design, Setup};
use sqlite_bench::driver::{self, Acknowledged, HISTORY_WRITES};
use sqlite_bench::schema::SEED_BLOCKS;
use tempfile::TempDir;
use tokio::runtime::Runtime;

#[path = "oracle.rs"]
pub mod oracle;

use oracle::Step;

pub const SEED: u64 = 11;
pub const DATABASES: usize = 2;
/// Number of the first block after the history.
pub const NEXT: u64 = SEED_BLOCKS + HISTORY_WRITES;
/// No operation takes longer than this, be it on a machine with much else to do.
pub const LIMIT: Duration = Duration::from_secs(30);

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A design with databases in a folder of their own; its runtime must have been entered, and be so still when it is dropped.
pub struct Opened<'a> {
    pub runtime: &'a Runtime,
    pub design: Arc<dyn Design>,
    pub setup: Setup,
    _folder: TempDir,
}

fn open<'a>(runtime: &'a Runtime, arm: &Arm) -> Opened<'a> {
    // In memory where there is such a folder: what a test waits for is not the disk.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let setup = Setup { databases: DATABASES, readers: 2, seed: SEED, folder: folder.path().to_owned() };
    let design = (arm.open)(&setup).unwrap_or_else(|error| panic!("{}: {error}", arm.name));
    Opened { runtime, design, setup, _folder: folder }
}

/// The same with the history in it.
pub fn open_with_history<'a>(runtime: &'a Runtime, arm: &Arm) -> Opened<'a> {
    let opened = open(runtime, arm);
    runtime.block_on(driver::replay(&*opened.design, DATABASES, SEED)).unwrap();
    opened
}

impl Opened<'_> {
    /// Another connection to the first database, as of another process.
    pub fn stranger(&self) -> Connection {
        let connection = Connection::open(self.setup.file(0)).unwrap();
        connection.busy_timeout(LIMIT).unwrap();
        connection
    }

    /// What the check says of the first database, if these blocks were acknowledged and those failed.
    pub fn verdict(&self, blocks: &[u64], failed: &[u64], (keeps_its_size, may_tear): (bool, bool)) -> Option<String> {
        let known = [Acknowledged { blocks: blocks.to_vec(), failed: failed.to_vec() }];
        self.runtime.block_on(driver::verify(&*self.design, &known, keeps_its_size, may_tear)).unwrap()
    }
}

pub fn arms_return_the_rows_of(history: &[Step], arms: impl Iterator<Item = &'static Arm>) {
    let runtime = runtime();
    let _entered = runtime.enter();
    for arm in arms {
        runtime.block_on(oracle::run(arm, &*open(&runtime, arm).design, history));
    }
}
