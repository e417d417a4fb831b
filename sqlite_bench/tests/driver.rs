//! The load driver: what it schedules, what it counts, and that it does not hide a system that stands still.

#![cfg(feature = "cli")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlite_bench::design::{AccessError, Answer, Design};
use sqlite_bench::driver::{self, Tally, Times};
use sqlite_bench::schema::{Block, Inspection, Row};
use sqlite_bench::workload::{Loop, Workload, Writes};

const FREEZE: Duration = Duration::from_secs(1);

/// A system that answers at once, but for the second in which it stands still.
struct Freezing {
    start: Instant,
    frozen_after: Duration,
}

impl Freezing {
    fn after(frozen_after: Duration) -> Self {
        Freezing { start: Instant::now(), frozen_after }
    }

    async fn answer(&self) {
        let thaw = self.start + self.frozen_after + FREEZE;
        if self.start.elapsed() >= self.frozen_after && Instant::now() < thaw {
            tokio::time::sleep_until(thaw.into()).await;
        }
    }
}

impl Design for Freezing {
    fn read(&self, _: usize, _: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(async {
            self.answer().await;
            Ok(Vec::new())
        })
    }

    fn write(&self, _: usize, _: Block, hold: Duration) -> Answer<'_, ()> {
        Box::pin(async move {
            tokio::time::sleep(hold).await;
            Ok(())
        })
    }

    fn inspect(&self, _: usize) -> Answer<'_, Inspection> {
        unimplemented!("nothing of it is kept")
    }
}

/// A system whose every third read fails, whose every tenth never answers, and whose writes are all refused.
#[derive(Default)]
struct Failing {
    reads: AtomicU64,
}

impl Design for Failing {
    fn read(&self, _: usize, _: u64) -> Answer<'_, Vec<Row>> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            match number {
                number if number % 10 == 9 => std::future::pending().await,
                number if number % 3 == 0 => Err(AccessError::Failed("out of order".to_owned())),
                _ => Ok(Vec::new()),
            }
        })
    }

    fn write(&self, _: usize, _: Block, _: Duration) -> Answer<'_, ()> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Err(AccessError::Busy("held by another".to_owned()))
        })
    }

    fn inspect(&self, _: usize) -> Answer<'_, Inspection> {
        unimplemented!("nothing of it is kept")
    }
}

fn workload(window: Duration, reads: Loop) -> Workload {
    Workload { databases: 4, reads, writes: Writes::Never, ..Workload::published(Duration::from_millis(5), window) }
}

fn drive(design: impl Design + 'static, workload: &Workload) -> Tally {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let design: Arc<dyn Design> = Arc::new(design);
    let tally = driver::drive(&runtime, &design, workload, 0, &|_| {}).unwrap();
    runtime.shutdown_background();
    tally
}

/// How one loop sees a system that stands still for a second.
#[derive(Debug)]
struct Seen {
    p99_ms: f64,
    late: u64,
    /// Slower than a quarter of a second: what the second does, and a busy machine hardly ever.
    slow: u64,
}

impl Seen {
    fn of(times: &Times, late: u64) -> Self {
        Seen { p99_ms: times.quantile_ms(0.99).unwrap(), late, slow: times.count_above(Duration::from_millis(250)) }
    }
}

fn freeze() -> (Seen, Seen) {
    let window = Duration::from_secs(20);
    let frozen_after = Duration::from_secs(8);
    // Both wait most of the time, so that they do not disturb each other.
    let open = std::thread::spawn(move || {
        drive(Freezing::after(frozen_after), &workload(window, Loop::Open { reads_per_s: 50.0 }))
    });
    let closed = std::thread::spawn(move || drive(Freezing::after(frozen_after), &workload(window, Loop::Closed)));
    let (open, closed) = (open.join().unwrap(), closed.join().unwrap());
    assert_eq!(open.reads.answered, 4_000, "{:?}", open.reads.first_error);
    (Seen::of(&open.reads.response, open.reads.late), Seen::of(&closed.reads.service, closed.reads.late))
}

#[test]
fn a_system_that_stands_still_for_a_second_shows_in_the_open_loop_and_not_in_the_closed_one() {
    // A machine that stands still itself for so long adds to both; it rarely does so three times.
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (open, closed) = freeze();
        // 4 databases at 50 reads a second each are due in that second, 150 of them before its last quarter. The 12 readers of the closed
        // loop are hit once each, and what they did not ask meanwhile nobody counts: coordinated omission.
        let open_tells = open.p99_ms >= 700.0 && open.late >= 180 && (140..=190).contains(&open.slow);
        let closed_hides = closed.p99_ms < 100.0 && closed.slow <= 24;
        if open_tells && closed_hides {
            return;
        }
        seen.push(format!("open loop: {open:?}; closed loop: {closed:?}"));
    }
    panic!("{}", seen.join("\n"));
}

#[test]
fn nothing_that_went_wrong_is_counted_as_answered() {
    let workload = workload(Duration::from_millis(600), Loop::Open { reads_per_s: 100.0 });
    assert_eq!(workload.scheduled_reads(), 240);
    let tally = drive(Failing::default(), &Workload { writes: Writes::Steady, hold: Duration::ZERO, ..workload });
    let reads = &tally.reads;
    assert_eq!(reads.unanswered, 24);
    // Every third, less those that never answered.
    assert_eq!(reads.failed, 80 - 8);
    assert_eq!(reads.answered, 240 - 24 - 72);
    assert_eq!(reads.service.count(), reads.answered);
    assert_eq!(reads.failures(), 24 + 72);
    assert_eq!(reads.first_error.as_deref(), Some("out of order"));
    assert_eq!(tally.writes.answered, 0);
    assert!(tally.writes.busy > 0);
    assert!(tally.acknowledged.iter().all(|known| known.blocks.is_empty() && !known.failed.is_empty()));
}

#[test]
fn a_single_sync_of_every_database_ends_the_window() {
    let workload = Workload {
        writes: Writes::Once,
        hold: Duration::from_millis(300),
        ..workload(Duration::from_millis(50), Loop::Closed)
    };
    let tally = drive(Freezing::after(Duration::from_mins(1)), &workload);
    assert_eq!(tally.writes.answered, 4);
    assert!(tally.acknowledged.iter().all(|known| known.blocks.len() == 1 && known.failed.is_empty()));
    assert!(tally.writing >= Duration::from_millis(300));
    assert!(tally.reads.answered > 100, "readers go on until the last write is done: {}", tally.reads.answered);
}
