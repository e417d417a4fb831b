//! Who asks a design and keeps the time.
//!
//! Every operation has two times. The **service time** runs from when its task first runs, as the published program measured it. The
//! **response time** runs from when the operation was due: in the closed loop the end of the pause before it, in the open loop its place
//! in the schedule. What a request waits for a worker is in the second alone: leaving it out is coordinated omission.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::design::{AccessError, Design};
use crate::workload::{Loop, Workload, Writes};

mod closed;
mod history;
mod open;
mod operations;
mod run;
mod threads;
mod ticks;
mod times;
mod writer;

pub use history::{Acknowledged, HISTORY_WRITES, READ_SKIP, replay, verify, warm_up};
pub use operations::{LATE_AFTER, Operations, Recorder};
pub use ticks::Ticks;
pub use times::Times;

use run::{Run, broken};

/// The thread that drives, and the one that samples.
const DRIVER_THREADS: u64 = 2;

/// What was counted in a run.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Reads.
    pub reads: Operations,
    /// Writes.
    pub writes: Operations,
    /// A task that wants to run every millisecond.
    pub ticks: Ticks,
    /// Most threads of the process at a time beyond the driver's and the runtime's workers; `None` where they cannot be counted.
    pub threads: Option<u64>,
    /// From the begin to the end of the last write.
    pub writing: Duration,
    /// Blocks whose write succeeded, and those whose write failed, by database.
    pub acknowledged: Vec<Acknowledged>,
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
) -> Result<Tally, AccessError> {
    let readers = match workload.reads {
        Loop::Closed => workload.databases * workload.readers,
        Loop::Open { .. } => workload.databases,
    };
    let writers = if workload.writes == Writes::Never { 0 } else { workload.databases };
    // Made before the clock starts: they take as long as some reads.
    let records = |count| (0..count).map(|_| Operations::default()).collect();
    let (read_records, write_records) = (records(readers), records(writers));
    let run = Arc::new(Run {
        design: Arc::clone(design),
        workload: *workload,
        seed,
        start: Instant::now(),
        writers_left: AtomicUsize::new(writers),
    });
    let ticker = ticks::start(runtime);
    let threads = threads::Sampler::default();
    let driven = std::thread::scope(|scope| {
        scope.spawn(|| threads.run(run.start, progress));
        let driven = drive_all(runtime, &run, read_records, write_records);
        threads.stop();
        driven
    });
    let (reads, written) = driven?;
    let mut tally = Tally {
        reads,
        writes: Operations::default(),
        ticks: runtime.block_on(ticker.stop())?,
        threads: threads.peak().map(|peak| peak.saturating_sub(DRIVER_THREADS + workload.workers as u64)),
        writing: Duration::ZERO,
        acknowledged: vec![Acknowledged::default(); workload.databases],
    };
    for written in written {
        tally.writes.add(&written.operations);
        tally.writing = tally.writing.max(written.end.saturating_duration_since(run.start));
        tally.acknowledged[written.database] = written.acknowledged;
    }
    Ok(tally)
}

/// Readers and writers, from begin to end.
fn drive_all(
    runtime: &Runtime,
    run: &Arc<Run>,
    reads: Vec<Operations>,
    writes: Vec<Operations>,
) -> Result<(Operations, Vec<writer::Written>), AccessError> {
    let mut tasks = JoinSet::new();
    for (database, operations) in writes.into_iter().enumerate() {
        tasks.spawn_on(writer::write(Arc::clone(run), database, operations), runtime.handle());
    }
    let reads = match run.workload.reads {
        Loop::Closed => runtime.block_on(closed::read_all(run, reads))?,
        Loop::Open { reads_per_s } => open::read_all(runtime, run, reads_per_s, reads),
    };
    let written = runtime.block_on(async {
        let mut written = Vec::with_capacity(run.workload.databases);
        while let Some(joined) = tasks.join_next().await {
            written.push(joined.map_err(broken)?);
        }
        Ok::<_, AccessError>(written)
    })?;
    Ok((reads, written))
}
