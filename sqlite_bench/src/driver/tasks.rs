//! Who asks: the readers of either loop, and the writers, each with a database of its own; and a task that only wants its turn.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::history::{Acknowledged, HISTORY_WRITES, READ_AFTER};
use super::operations::{Operations, Times};
use crate::design::Design;
use crate::schema::{Block, SEED_BLOCKS};
use crate::workload::{Workload, Writes};

/// How often the open loop looks whether all answers are there.
const POLL: Duration = Duration::from_millis(5);
/// How long the open loop waits for answers after the last read has begun, beyond four holds: whoever has not answered by then never does.
const GRACE: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(1);
/// Longer than this without a turn, and the runtime counts as blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(50);

pub(super) struct Run {
    pub(super) design: Arc<dyn Design>,
    pub(super) must_give_way: bool,
    pub(super) workload: Workload,
    pub(super) seed: u64,
    pub(super) start: Instant,
    pub(super) writers_left: AtomicUsize,
}

impl Run {
    /// Whether operations are still begun at `now`.
    pub(super) fn is_open(&self, now: Instant) -> bool {
        let waits_for_writers = self.workload.writes == Writes::Once && self.writers_left.load(Ordering::Acquire) > 0;
        now < self.start + self.workload.window || waits_for_writers
    }

    /// Whether an operation that ended then counts as done within the window, which is later by `offset` for whom it began later.
    pub(super) fn in_window(&self, end: Instant, offset: Duration) -> bool {
        end <= self.start + self.workload.window + offset || self.workload.writes == Writes::Once
    }
}

/// A reader of the closed loop, until operations are no longer begun.
pub(super) async fn read(run: Arc<Run>, database: usize, mut operations: Operations) -> Operations {
    let think = run.workload.think;
    let mut due = run.start;
    let mut last = run.start;
    // By when it is due, not by when it gets its turn: a read that waited for a worker until after the window is the one to be counted.
    while run.is_open(due) {
        let begin = Some(Instant::now()).filter(|&begin| run.is_open(begin));
        let result = run.design.read(database, READ_AFTER).await;
        last = Instant::now();
        operations.record(result.map(drop), due, begin, last, run.in_window(last, Duration::ZERO));
        due = last + think;
        tokio::time::sleep(think).await;
    }
    operations.asking = last - run.start;
    operations
}

/// Begins every read of the schedule from this thread, which has nothing else to do, and waits for the answers. The databases take turns.
pub(super) fn read_on_schedule(
    runtime: &Runtime,
    run: &Arc<Run>,
    reads_per_s: f64,
    records: Vec<Operations>,
) -> Operations {
    let databases = run.workload.databases;
    let scheduled = run.workload.scheduled_reads();
    let records: Vec<Arc<Mutex<Operations>>> = records.into_iter().map(|one| Arc::new(one.into())).collect();
    let step = |index: u64| Duration::from_secs_f64(index as f64 / (reads_per_s * databases as f64));
    for (index, database) in (0..scheduled).zip((0..databases).cycle()) {
        let due = run.start + step(index);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let (run, record) = (Arc::clone(run), Arc::clone(&records[database]));
        runtime.spawn(async move {
            let begin = Instant::now();
            let result = run.design.read(database, READ_AFTER).await;
            let end = Instant::now();
            lock(&record).record(result.map(drop), due, Some(begin), end, run.in_window(end, Duration::ZERO));
        });
    }
    let ended = |of: &Operations| of.answered + of.failed;
    let deadline = Instant::now() + run.workload.hold * 4 + GRACE;
    while records.iter().map(|record| ended(&lock(record))).sum::<u64>() < scheduled && Instant::now() < deadline {
        std::thread::sleep(POLL);
    }
    let mut all = records.iter().fold(Operations::default(), |all, record| all.plus(&lock(record)));
    all.unanswered = scheduled.saturating_sub(ended(&all));
    all
}

fn lock(record: &Mutex<Operations>) -> MutexGuard<'_, Operations> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) async fn write(run: Arc<Run>, database: usize, mut operations: Operations) -> (Operations, Acknowledged) {
    let Workload { hold, rest, writes, .. } = run.workload;
    let mut acknowledged = Acknowledged::default();
    let offset = run.workload.first_write(database);
    let mut due = run.start + offset;
    let mut end = run.start;
    if !offset.is_zero() {
        tokio::time::sleep_until(due.into()).await;
    }
    for number in SEED_BLOCKS + HISTORY_WRITES.. {
        if !run.is_open(Instant::now()) {
            break;
        }
        let begin = Instant::now();
        let result = run.design.write(database, Block::written(number, run.seed), hold).await;
        end = Instant::now();
        let list = if result.is_ok() { &mut acknowledged.blocks } else { &mut acknowledged.failed };
        list.push(number);
        operations.record(result, due, Some(begin), end, run.in_window(end, offset));
        if writes == Writes::Once {
            break;
        }
        due = end + rest;
        if run.must_give_way {
            tokio::task::yield_now().await;
        }
        // Even a pause of nothing would take a step of the timer.
        if !rest.is_zero() {
            tokio::time::sleep(rest).await;
        }
    }
    operations.asking = end - run.start;
    run.writers_left.fetch_sub(1, Ordering::AcqRel);
    (operations, acknowledged)
}

/// What async is for: how a task that wants to run every millisecond got its turn.
#[derive(Debug, Clone, Default)]
pub struct Ticks {
    pub late: Times,
    /// How long the runtime was blocked: the sum of all times of over 50 ms between two turns.
    pub blocked: Duration,
}

/// Ticks until it is `done`. Every tick has its intended time, and one that comes late does not shift the next: a delay is counted by all the ticks it hits.
pub(super) async fn tick(done: Arc<AtomicBool>) -> Ticks {
    let mut ticks = Ticks::default();
    let mut intended = tokio::time::Instant::now();
    let mut turn = intended;
    while !done.load(Ordering::Relaxed) {
        intended += TICK;
        tokio::time::sleep_until(intended).await;
        let now = tokio::time::Instant::now();
        ticks.late.record(now.saturating_duration_since(intended));
        let gap = now.saturating_duration_since(turn);
        if gap > BLOCKED_AFTER {
            ticks.blocked += gap;
        }
        turn = now;
    }
    ticks
}
