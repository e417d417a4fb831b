//! Who asks a design and keeps the time.
//!
//! Every operation has two times. The **service time** runs from when its task first runs, as the published program measured it. The
//! **response time** runs from when the operation was due: in the closed loop the end of the pause before it, in the open loop its place
//! in the schedule. What a request waits for a worker is in the second alone: leaving it out is coordinated omission.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::design::{AccessError, Design};
use crate::schema::{Block, SEED_BLOCKS};
use crate::workload::{Load, Workload, Writes};

mod closed;
mod history;
mod open;
mod recorder;
mod threads;
mod ticker;

pub use history::{Acknowledged, HISTORY_WRITES, READ_SKIP, replay, verify, warm_up};
pub use recorder::{LATE_AFTER, Operations, Recorder};
pub use ticker::Ticks;

/// How long the driver waits for answers after the last operation has begun, beyond four holds.
const GRACE: Duration = Duration::from_secs(5);

/// The thread that drives, and the one that samples.
const DRIVER_THREADS: u64 = 2;

/// What a run came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Reads.
    pub reads: Operations,
    /// Writes.
    pub writes: Operations,
    /// Writes that would fit.
    pub expected_writes: u64,
    /// Reads of the schedule; none in the closed loop.
    pub scheduled_reads: u64,
    /// A task that wants to run every millisecond.
    pub ticks: Ticks,
    /// Most threads of the process at a time beyond the driver's and the runtime's workers; `None` where they cannot be counted.
    pub threads: Option<u64>,
    /// How long operations were begun.
    pub window: Duration,
    /// From the begin to the last answer.
    pub elapsed: Duration,
    /// From the begin to the end of the last write.
    pub writing: Duration,
    /// Blocks whose write succeeded, and those whose write failed, by database.
    pub acknowledged: Vec<Acknowledged>,
}

/// What all tasks of a run share.
struct Run {
    design: Arc<dyn Design>,
    workload: Workload,
    seed: u64,
    start: Instant,
    writers_left: AtomicUsize,
}

impl Run {
    /// Whether operations are still begun at `now`.
    fn is_open(&self, now: Instant) -> bool {
        let waits_for_writers = self.workload.writes == Writes::Once && self.writers_left.load(Ordering::Acquire) > 0;
        now < self.start + self.workload.window || waits_for_writers
    }

    /// Whether an operation that ended then counts as done within the window, which is later by `offset` for whom it began later.
    fn in_window(&self, end: Instant, offset: Duration) -> bool {
        end <= self.start + self.workload.window + offset || self.workload.writes == Writes::Once
    }
}

/// Drives `design`, whose databases hold the history already, as `workload` says. `progress` is called some times a second with how long
/// the run has taken.
///
/// # Errors
/// If a task of the driver itself breaks off; failed operations are counted, not returned.
pub fn drive(
    runtime: &Runtime,
    design: &Arc<dyn Design>,
    workload: &Workload,
    seed: u64,
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Outcome, AccessError> {
    // Made before the clock starts: they take as long as some reads.
    let readers = readers_of(workload);
    let writing_tasks = if workload.writes == Writes::Never { 0 } else { workload.databases };
    let records = Records {
        reads: (0..readers).map(|_| Operations::new()).collect(),
        writes: (0..writing_tasks).map(|_| Operations::new()).collect(),
    };
    let run = Arc::new(Run {
        design: Arc::clone(design),
        workload: *workload,
        seed,
        start: Instant::now(),
        writers_left: AtomicUsize::new(writing_tasks),
    });
    let ticker = ticker::start(runtime);
    let threads = threads::Sampler::start(run.start, progress);
    let (reads, written) = std::thread::scope(|scope| {
        let sampler = scope.spawn(|| threads.run());
        let result = drive_all(runtime, &run, records);
        threads.stop();
        let _ = sampler.join();
        result
    })?;
    let elapsed = run.start.elapsed();
    let mut writes = Operations::new();
    let mut acknowledged = vec![Acknowledged::default(); workload.databases];
    let mut writing = Duration::ZERO;
    for (database, operations, blocks, end) in written {
        writes.add(&operations);
        acknowledged[database] = blocks;
        writing = writing.max(end.saturating_duration_since(run.start));
    }
    Ok(Outcome {
        reads,
        writes,
        expected_writes: workload.expected_writes(),
        scheduled_reads: workload.scheduled_reads(),
        ticks: runtime.block_on(ticker.stop())?,
        threads: threads.peak().map(|peak| peak.saturating_sub(DRIVER_THREADS + workload.workers as u64)),
        window: if workload.writes == Writes::Once { elapsed } else { workload.window },
        elapsed,
        writing,
        acknowledged,
    })
}

type Written = (usize, Operations, Acknowledged, Instant);

/// What is counted into: one for each reader of the closed loop or database of the open one, and one for each writer.
struct Records {
    reads: Vec<Operations>,
    writes: Vec<Operations>,
}

fn readers_of(workload: &Workload) -> usize {
    match workload.load {
        Load::Closed => workload.databases * workload.readers,
        Load::Open { .. } => workload.databases,
    }
}

/// Readers and writers, from begin to end.
fn drive_all(runtime: &Runtime, run: &Arc<Run>, records: Records) -> Result<(Operations, Vec<Written>), AccessError> {
    let mut writers = JoinSet::new();
    for (database, operations) in records.writes.into_iter().enumerate() {
        writers.spawn_on(write(Arc::clone(run), database, operations), runtime.handle());
    }
    let reads = match run.workload.load {
        Load::Closed => runtime.block_on(closed::read_all(run, records.reads))?,
        Load::Open { reads_per_s } => open::read_all(runtime, run, reads_per_s, records.reads),
    };
    let written = runtime.block_on(async {
        let mut written = Vec::with_capacity(run.workload.databases);
        while let Some(joined) = writers.join_next().await {
            written.push(joined.map_err(broken)?);
        }
        Ok::<_, AccessError>(written)
    })?;
    Ok((reads, written))
}

/// The writer of a database: a block, a pause, the next block.
async fn write(run: Arc<Run>, database: usize, mut operations: Operations) -> Written {
    let Workload { hold, rest, writes, .. } = run.workload;
    let mut acknowledged = Acknowledged::default();
    let offset = run.workload.first_write(database);
    let mut due = run.start + offset;
    let mut end = run.start;
    let mut number = SEED_BLOCKS + HISTORY_WRITES;
    if !offset.is_zero() {
        tokio::time::sleep_until(due.into()).await;
    }
    while run.is_open(Instant::now()) {
        let begin = Instant::now();
        let result = run.design.write(database, Block::written(number, run.seed), hold).await;
        end = Instant::now();
        match result {
            Ok(()) => acknowledged.blocks.push(number),
            Err(_) => acknowledged.failed.push(number),
        }
        operations.record(result.map(drop), due, begin, end, run.in_window(end, offset));
        number += 1;
        if writes == Writes::Once {
            break;
        }
        due = end + rest;
        // Even a pause of nothing would take a step of the timer.
        if !rest.is_zero() {
            tokio::time::sleep(rest).await;
        }
    }
    operations.close(run.start, end);
    run.writers_left.fetch_sub(1, Ordering::AcqRel);
    (database, operations, acknowledged, end)
}

/// How long after the window answers are waited for: whoever has not answered by then never does.
fn grace(workload: &Workload) -> Duration {
    workload.hold * 4 + GRACE
}

fn broken(error: impl std::fmt::Display) -> AccessError {
    AccessError::Failed(format!("a task of the driver broke off: {error}"))
}
