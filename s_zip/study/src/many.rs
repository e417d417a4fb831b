//! Several archives: one after another, on a thread each, on a thread per core, or as a task each; and what async is for: does a task that
//! wants to run every millisecond get its turn meanwhile?

use std::iter;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};
use hdrhistogram::Histogram;
use strum::EnumString;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::cases::{Arm, Drive};
use crate::input::Input;
use crate::place::{Archive, Place};
use crate::sinks::Counted;
use crate::write::{Driver, Product, async_arm, write};

#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Together {
    Sequential,
    Threads,
    /// As many threads as a runtime has workers, started anew each time; each takes the next archive when it is done with one.
    Pool,
    Concurrent,
}

/// The arm and the way that a name like `best_sync_threads` stands for.
pub fn parse(name: &str) -> Result<(Arm, Together)> {
    let (arm, together) =
        name.rsplit_once('_').ok_or_else(|| anyhow!("{name} does not say how archives are written"))?;
    Ok((arm.parse()?, together.parse()?))
}

/// Writes an archive to each file.
pub fn execute(
    (arm, together): (Arm, Together),
    input: &Arc<Input>,
    files: &[PathBuf],
    driver: &Driver,
) -> Result<Vec<Product>> {
    let write = |file: &PathBuf| write(arm, input, Place::Tmpfs, file, driver);
    match together {
        // In tasks, too, so that one after another and all at once differ in nothing else.
        Together::Sequential if arm.drive() != Drive::Sync => driver.run(in_tasks(arm, input, files, 1)),
        Together::Sequential => files.iter().map(write).collect(),
        Together::Threads => on_threads(files.iter().map(|file| move || write(file))),
        Together::Pool => {
            let next = Mutex::new(files.iter());
            let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let work = || iter::from_fn(take).map(write).collect::<Result<Vec<_>>>();
            // A thread without an archive would only cost its start.
            let threads = thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
            Ok(on_threads(iter::repeat_n(work, threads))?.into_iter().flatten().collect())
        }
        Together::Concurrent => driver.run(in_tasks(arm, input, files, files.len())),
    }
}

/// Does each piece of work on a thread of its own.
pub fn on_threads<T: Send>(work: impl Iterator<Item = impl FnOnce() -> Result<T> + Send>) -> Result<Vec<T>> {
    thread::scope(|scope| {
        let threads: Vec<_> = work.map(|work| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread died"))?).collect()
    })
}

/// Writes an archive to each file in a task of its own, so many at once.
async fn in_tasks(arm: Arm, input: &Arc<Input>, files: &[PathBuf], at_once: usize) -> Result<Vec<Product>> {
    let mut products = Vec::with_capacity(files.len());
    for files in files.chunks(at_once.max(1)) {
        let mut tasks = JoinSet::new();
        for path in files {
            let (input, path) = (Arc::clone(input), path.clone());
            tasks.spawn(async move {
                let file = Counted::new(tokio::fs::File::create(&path).await?);
                let operations = async_arm(arm, &input, file).await?.operations;
                anyhow::Ok(Product { archive: Archive::File(path), operations })
            });
        }
        for product in tasks.join_all().await {
            products.push(product?);
        }
    }
    Ok(products)
}

/// How often the task wants to run.
const PERIOD: Duration = Duration::from_millis(1);
/// How long it runs when nothing else does.
const IDLE: Duration = Duration::from_secs(1);
/// Lateness that is told apart, in nanoseconds: up to an hour, to three digits.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// How late the ticks were, in nanoseconds, while `arm` wrote an archive to each file; without an arm, in a second of nothing else. And the
/// archives.
///
/// Every tick has its intended time, and one that comes late does not shift the next: a delay is counted by all the ticks it hits.
pub fn beside_a_ticker(
    arm: Option<Arm>,
    input: &Arc<Input>,
    files: &[PathBuf],
    driver: &Driver,
) -> Result<(Histogram<u64>, Vec<Product>)> {
    driver.run(async {
        let done = Arc::new(AtomicBool::new(false));
        let ticker = tokio::spawn(tick(Arc::clone(&done)));
        let products = match arm {
            None => {
                tokio::time::sleep(IDLE).await;
                Vec::new()
            }
            Some(arm) => in_tasks(arm, input, files, files.len()).await?,
        };
        done.store(true, Ordering::Relaxed);
        Ok((ticker.await??, products))
    })
}

async fn tick(done: Arc<AtomicBool>) -> Result<Histogram<u64>> {
    let mut late_ns = Histogram::new_with_bounds(1, LONGEST_NS, 3)?;
    let mut intended = Instant::now();
    while !done.load(Ordering::Relaxed) {
        intended += PERIOD;
        tokio::time::sleep_until(intended).await;
        late_ns.saturating_record(u64::try_from(intended.elapsed().as_nanos())?);
    }
    Ok(late_ns)
}
