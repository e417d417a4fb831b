//! What async is for: does a task that wants to run every millisecond get its turn while archives are written?

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use hdrhistogram::Histogram;
use tokio::time::Instant;

use crate::cases::Arm;
use crate::input::Input;
use crate::many;
use crate::write::{Driver, Product};

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
pub fn run(
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
            Some(arm) => many::in_tasks(arm, input, files, files.len()).await?,
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
