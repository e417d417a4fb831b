//! The open loop: reads begin on a schedule that nothing the databases do can delay.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::history::READ_SKIP;
use super::operations::{Operations, Recorder};
use super::run::Run;

/// How often the driver looks whether all answers are there.
const POLL: Duration = Duration::from_millis(5);
/// How long the driver waits for answers after the last read has begun, beyond four holds: whoever has not answered by then never does.
const GRACE: Duration = Duration::from_secs(5);

/// Begins every read of the schedule from this thread, which has nothing else to do, and waits for the answers.
///
/// The reads of a database are `1 / reads_per_s` apart; the databases take turns within that time.
pub(super) fn read_all(runtime: &Runtime, run: &Arc<Run>, reads_per_s: f64, records: Vec<Operations>) -> Operations {
    let databases = run.workload.databases;
    let scheduled = run.workload.scheduled_reads();
    let recorders: Vec<Arc<Recorder>> = records.into_iter().map(|record| Arc::new(Recorder::new(record))).collect();
    #[expect(clippy::cast_precision_loss, reason = "databases are few, requests below 2^53")]
    let step = |index: u64| Duration::from_secs_f64(index as f64 / (reads_per_s * databases as f64));
    for (index, database) in (0..scheduled).zip((0..databases).cycle()) {
        let due = run.start + step(index);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let (run, recorder) = (Arc::clone(run), Arc::clone(&recorders[database]));
        runtime.spawn(async move {
            let begin = Instant::now();
            let result = run.design.read(database, READ_SKIP).await;
            let end = Instant::now();
            recorder.record(result.map(drop), due, begin, end, run.in_window(end, Duration::ZERO));
        });
    }
    let deadline = Instant::now() + run.workload.hold * 4 + GRACE;
    let ended = || recorders.iter().map(|recorder| recorder.ended()).sum::<u64>();
    while ended() < scheduled && Instant::now() < deadline {
        std::thread::sleep(POLL);
    }
    let mut all = Operations::default();
    for recorder in &recorders {
        recorder.add_to(&mut all);
    }
    all.unanswered = scheduled - all.ended().min(scheduled);
    all
}
