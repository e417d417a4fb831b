//! One design under one workload, from an empty folder to the checked answer: who asks it and keeps the time.
//!
//! Every operation has a **service time**, from when its task first runs, as published, and a **response time**, from when it was due: the end of
//! the pause before it, or its place in the schedule. What a request waits for a worker is in the second alone.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::design::{Arm, Design, Setup};
use crate::workload::{Loop, Workload, Writes};

mod history;
mod operations;
mod tasks;

pub use history::{Acknowledged, HISTORY_WRITES, READ_AFTER, replay, verify, warm_up};
pub use operations::{Operations, Times};
pub use tasks::Ticks;

use tasks::{Run, read, read_on_schedule, tick, write};

const BROKEN: &str = "a task of the driver broke off";
/// The thread that drives, and the one that counts threads.
const DRIVER_THREADS: u64 = 2;
const COUNT_PERIOD: Duration = Duration::from_millis(50);

#[derive(Debug, Clone)]
pub struct Tally {
    pub reads: Operations,
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

impl Tally {
    /// How many operations failed, and what the first said; `None` if all were answered.
    pub fn complaint(&self) -> Option<String> {
        let both = [(&self.reads, "reads"), (&self.writes, "writes")];
        let (of, what) = both.into_iter().find(|(of, _)| of.failures() > 0)?;
        let first = of.first_error.as_deref().unwrap_or("no answer");
        Some(format!("{} of {} {what} failed: {first}", of.failures(), of.answered + of.failures()))
    }
}

#[derive(Debug)]
pub struct Measured<C> {
    /// Of the history, before the run.
    pub digest: String,
    pub tally: Tally,
    pub cost: C,
    /// What is wrong with it: a write that is lost, operations that failed.
    pub fault: Option<String>,
}

/// Opens the databases below `parent`, drives the design, and checks that every acknowledged write is there. `start` is called when all is
/// ready, and what it returned goes to `stop` when the last operation is over.
pub fn measure<S, C>(
    arm: &Arm,
    workload: &Workload,
    parent: &Path,
    seed: u64,
    progress: &(dyn Fn(Duration) + Sync),
    start: impl FnOnce() -> S,
    stop: impl FnOnce(S) -> C,
) -> Result<Measured<C>> {
    let folder = own_folder(parent)?;
    let Workload { databases, readers, workers, .. } = *workload;
    let setup = Setup { databases, readers, seed, folder: folder.path().to_owned() };
    let runtime = runtime(workers)?;
    // Some designs start tasks when they are opened, and hand what they are made of to the runtime when they go.
    let _entered = runtime.enter();
    let measure = || -> Result<_> {
        let design = (arm.open)(&setup)?;
        let digest = runtime.block_on(replay(&*design, databases, seed))?;
        runtime.block_on(warm_up(&design, databases, readers))?;
        let span = start();
        let tally = drive(&runtime, &design, arm.must_give_way, workload, seed, progress)?;
        let cost = stop(span);
        let check = verify(arm, &*design, &tally.acknowledged);
        let fault = runtime.block_on(check)?.or_else(|| tally.complaint());
        Ok(Measured { digest, tally, cost, fault })
    };
    measure().with_context(|| format!("cannot use the databases of {}", arm.name))
}

pub fn runtime(workers: usize) -> Result<Runtime> {
    Builder::new_multi_thread().worker_threads(workers).enable_time().build().context("cannot start the async runtime")
}

/// A folder for one run in `parent`, gone with it.
pub fn own_folder(parent: &Path) -> Result<TempDir> {
    let made =
        fs::create_dir_all(parent).and_then(|()| tempfile::Builder::new().prefix("sqlite_bench-").tempdir_in(parent));
    made.with_context(|| format!("cannot create a folder in {}", parent.display()))
}

/// Drives `design`, whose databases hold the history already, as `workload` says. `progress` is called some times a second with how long
/// the run has taken. Failed operations are counted, not returned.
pub fn drive(
    runtime: &Runtime,
    design: &Arc<dyn Design>,
    must_give_way: bool,
    workload: &Workload,
    seed: u64,
    progress: &(dyn Fn(Duration) + Sync),
) -> Result<Tally> {
    let readers = match workload.reads {
        Loop::Closed => workload.databases * workload.readers,
        Loop::Open { .. } => workload.databases,
    };
    let writers = if workload.writes == Writes::Never { 0 } else { workload.databases };
    // Made before the clock starts: they take as long as some reads.
    let records = |count| (0..count).map(|_| Operations::default()).collect();
    let (of_readers, of_writers) = (records(readers), records(writers));
    let run = Arc::new(Run {
        design: Arc::clone(design),
        must_give_way,
        workload: *workload,
        seed,
        start: Instant::now(),
        writers_left: AtomicUsize::new(writers),
    });
    let done = Arc::new(AtomicBool::new(false));
    let ticks = runtime.spawn(tick(Arc::clone(&done)));
    let most_threads = AtomicU64::new(0);
    let driven = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                most_threads.fetch_max(threads().unwrap_or(0), Ordering::Relaxed);
                progress(run.start.elapsed());
                std::thread::sleep(COUNT_PERIOD);
            }
        });
        let driven = drive_all(runtime, &run, of_readers, of_writers);
        done.store(true, Ordering::Relaxed);
        driven
    });
    let (reads, written) = driven?;
    let (operations, mut acknowledged): (Vec<Operations>, Vec<_>) = written.into_iter().unzip();
    acknowledged.resize(workload.databases, Acknowledged::default());
    let most_threads = Some(most_threads.into_inner()).filter(|&most| most > 0);
    Ok(Tally {
        reads,
        writing: operations.iter().map(|of_writer| of_writer.asking).max().unwrap_or_default(),
        writes: operations.iter().fold(Operations::default(), Operations::plus),
        ticks: runtime.block_on(ticks).context(BROKEN)?,
        threads: most_threads.map(|most| most.saturating_sub(DRIVER_THREADS + workload.workers as u64)),
        acknowledged,
    })
}

fn drive_all(
    runtime: &Runtime,
    run: &Arc<Run>,
    of_readers: Vec<Operations>,
    of_writers: Vec<Operations>,
) -> Result<(Operations, Vec<(Operations, Acknowledged)>)> {
    let begin = |(database, record)| runtime.spawn(write(Arc::clone(run), database, record));
    let writers: Vec<_> = of_writers.into_iter().enumerate().map(begin).collect();
    let reads = match run.workload.reads {
        Loop::Closed => {
            let begin = |(reader, record)| runtime.spawn(read(Arc::clone(run), reader / run.workload.readers, record));
            let readers: Vec<_> = of_readers.into_iter().enumerate().map(begin).collect();
            join(runtime, readers)?.iter().fold(Operations::default(), Operations::plus)
        }
        Loop::Open { reads_per_s } => read_on_schedule(runtime, run, reads_per_s, of_readers),
    };
    Ok((reads, join(runtime, writers)?))
}

fn join<T>(runtime: &Runtime, tasks: Vec<JoinHandle<T>>) -> Result<Vec<T>> {
    tasks.into_iter().map(|task| runtime.block_on(task).context(BROKEN)).collect()
}

/// Threads of this process; `None` where they cannot be counted.
fn threads() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return u64::try_from(procfs::process::Process::myself().ok()?.stat().ok()?.num_threads).ok();
    #[cfg(not(target_os = "linux"))]
    None
}
