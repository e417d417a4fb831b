//! What designs have in common, whoever tests them: the crate its own, the measurement those that it adds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sqlite_bench::design::{AccessError, Arm, Design, Setup};
use sqlite_bench::driver::{self, Acknowledged, HISTORY_WRITES};
use sqlite_bench::schema::{self, Block, Row, SEED_BLOCKS};
use sqlite_bench::workload::{Loop, Workload, Writes};
use tempfile::TempDir;
use tokio::runtime::Runtime;

#[path = "oracle.rs"]
pub mod oracle;

use oracle::{Oracle, Step};

pub const SEED: u64 = 11;
pub const DATABASES: usize = 2;
/// Number of the first block after the history.
pub const NEXT: u64 = SEED_BLOCKS + HISTORY_WRITES;
/// No operation takes longer than this, be it on a machine with much else to do.
const LIMIT: Duration = Duration::from_secs(30);

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A design with databases in a folder of their own; a runtime must have been entered, and be there still when it is dropped.
pub struct Opened {
    pub design: Arc<dyn Design>,
    pub setup: Setup,
    _folder: TempDir,
}

fn open(arm: &Arm) -> Opened {
    // In memory where there is such a folder: what a test waits for is not the disk.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let setup = Setup { databases: DATABASES, readers: 2, seed: SEED, folder: folder.path().to_owned() };
    let design = (arm.open)(&setup).unwrap_or_else(|error| panic!("{}: {error}", arm.name));
    Opened { design, setup, _folder: folder }
}

/// The same with the history in it.
pub fn open_with_history(runtime: &Runtime, arm: &Arm) -> Opened {
    let opened = open(arm);
    runtime.block_on(driver::replay(&*opened.design, DATABASES, SEED)).unwrap();
    opened
}

impl Opened {
    /// Another connection to the first database, as of another process.
    pub fn stranger(&self) -> Connection {
        let connection = Connection::open(self.setup.file(0)).unwrap();
        connection.busy_timeout(LIMIT).unwrap();
        connection
    }

    /// What the check says of the first database, of which this is known.
    pub fn verdict(&self, runtime: &Runtime, blocks: &[u64], failed: &[u64], may_tear: bool) -> Option<String> {
        let known = [Acknowledged { blocks: blocks.to_vec(), failed: failed.to_vec() }];
        runtime.block_on(driver::verify(&*self.design, &known, false, may_tear)).unwrap()
    }
}

pub fn arms_return_the_rows_of(history: &[Step], arms: impl Iterator<Item = &'static Arm>) {
    let runtime = runtime();
    let _entered = runtime.enter();
    for arm in arms {
        runtime.block_on(oracle::run(arm, &*open(arm).design, history));
    }
}

pub fn arms_replay_the_history_alike(arms: impl Iterator<Item = &'static Arm>) {
    let runtime = runtime();
    let _entered = runtime.enter();
    let mut oracle = Oracle::new();
    (SEED_BLOCKS..NEXT).for_each(|number| oracle.write(number, false));
    let expected = schema::digest(&oracle.read(driver::READ_SKIP));
    for arm in arms {
        let digest = runtime.block_on(driver::replay(&*open(arm).design, DATABASES, SEED)).unwrap();
        assert_eq!(digest, expected, "{}", arm.name);
    }
}

pub fn workload(reads: Loop) -> Workload {
    Workload {
        databases: DATABASES,
        readers: 2,
        workers: 2,
        hold: Duration::from_millis(5),
        think: Duration::from_millis(1),
        rest: Duration::from_millis(1),
        window: Duration::from_millis(200),
        reads,
        writes: Writes::Steady,
    }
}

pub fn arms_keep_what_they_acknowledged(arms: impl Iterator<Item = &'static Arm>) {
    let runtime = runtime();
    let _entered = runtime.enter();
    for arm in arms {
        for reads in [Loop::Closed, Loop::Open { reads_per_s: 100.0 }] {
            let opened = open_with_history(&runtime, arm);
            let tally = driver::drive(&runtime, &opened.design, &workload(reads), SEED, &|_| ()).unwrap();
            let written: usize = tally.acknowledged.iter().map(|known| known.blocks.len()).sum();
            assert_eq!(written as u64, tally.writes.answered, "{}", arm.name);
            assert!(written > 0 && tally.reads.answered > 0, "{}: {tally:?}", arm.name);
            // Only a shared cache refuses without waiting.
            if arm.name != "shared_cache" {
                let complaints = (tally.reads.complaint("reads"), tally.writes.complaint("writes"));
                assert_eq!(complaints, (None, None), "{}", arm.name);
            }
            let Arm { keeps_its_size, commits_statements, .. } = *arm;
            let verdict = driver::verify(&*opened.design, &tally.acknowledged, keeps_its_size, commits_statements);
            assert_eq!(runtime.block_on(verdict).unwrap(), None, "{}", arm.name);
        }
    }
}

/// Another connection that holds the first database until it is dropped.
fn lock(opened: &Opened) -> Connection {
    let stranger = opened.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    stranger
}

pub fn a_write_waits_for_another_connection(arm: &Arm) {
    let runtime = runtime();
    let _entered = runtime.enter();
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
    assert!(written.is_ok(), "{}: {written:?}", arm.name);
    assert!(released.load(Ordering::Acquire), "{}: two writers at a time", arm.name);
    holder.join().unwrap();
    assert_eq!(opened.verdict(&runtime, &[NEXT], &[], false), None, "{}", arm.name);
}

/// All at once, because each takes as long as a connection waits.
pub fn writes_that_waited_in_vain_say_so(arms: impl Iterator<Item = &'static Arm>) {
    let runtime = runtime();
    let _entered = runtime.enter();
    let waits: Vec<_> = arms
        .map(|arm| {
            let opened = open_with_history(&runtime, arm);
            let held = lock(&opened);
            let design = Arc::clone(&opened.design);
            let begin = Instant::now();
            let write = runtime.spawn(async move {
                let result = design.write(0, Block::written(NEXT, SEED), Duration::ZERO).await;
                (result, begin.elapsed())
            });
            (arm.name, opened, held, write)
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

pub fn reads_go_on_during_a_write(arm: &Arm) {
    let runtime = runtime();
    let _entered = runtime.enter();
    let mut oracle = Oracle::new();
    (SEED_BLOCKS..NEXT).for_each(|number| oracle.write(number, false));
    let before = oracle.read(driver::READ_SKIP);
    oracle.write(NEXT, false);
    let after = oracle.read(driver::READ_SKIP);
    let opened = open_with_history(&runtime, arm);
    let reads: Vec<Vec<Row>> = read_during_a_write(&runtime, &opened).into_iter().map(Result::unwrap).collect();
    let old = reads.iter().take_while(|&rows| *rows == before).count();
    // The block can be seen from its commit on, which is before its writer hears of it; and then for good.
    assert!(reads[old..].iter().all(|rows| *rows == after), "{}", arm.name);
    assert!(old > 1, "{}: {old} of {} reads", arm.name, reads.len());
    assert_eq!(runtime.block_on(opened.design.read(0, driver::READ_SKIP)).unwrap(), after, "{}", arm.name);
}
