//! What async is for: does a task that wants to run every millisecond get its turn while archives are written?

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::arms::input::Input;
use super::arms::{Arm, Driver, Product};
use super::many;
use super::target::Target;

/// How often the task wants to run.
const PERIOD: Duration = Duration::from_millis(1);
/// How long it runs when nothing else does.
const IDLE: Duration = Duration::from_secs(1);

/// How late the ticks were, in microseconds, and the archives written meanwhile.
pub struct Ticks {
    late_us: Vec<f64>,
    /// The archives.
    pub products: Vec<Product>,
}

impl Ticks {
    /// The lateness that this share of the ticks did not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.late_us.len().saturating_sub(1);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index between zero and some thousands"
        )]
        let index = (last as f64 * share).ceil() as usize;
        self.late_us.get(index).copied().unwrap_or(0.0)
    }

    /// How many ticks there were.
    #[must_use]
    pub fn count(&self) -> usize {
        self.late_us.len()
    }
}

/// Ticks while `arm` writes an archive to each target; without an arm, ticks for a second.
///
/// Every tick has its intended time, and one that comes late does not shift the next: a delay is counted by all the ticks it hits.
///
/// # Errors
/// If an archive cannot be written.
pub fn run(arm: Option<Arm>, input: &Arc<Input>, targets: &[Target], driver: &Driver) -> io::Result<Ticks> {
    let runtime = driver.runtime().ok_or_else(|| io::Error::other("there is no runtime"))?;
    runtime.block_on(async {
        let done = Arc::new(AtomicBool::new(false));
        let ticker = tokio::spawn(tick(Arc::clone(&done)));
        let mut products = Vec::new();
        match arm {
            None => tokio::time::sleep(IDLE).await,
            Some(arm) => {
                let mut tasks = many::start(arm, input, targets, runtime);
                while let Some(product) = tasks.join_next().await {
                    products.push(product.map_err(io::Error::other)??);
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        let mut late_us = ticker.await.map_err(io::Error::other)?;
        late_us.sort_by(f64::total_cmp);
        Ok(Ticks { late_us, products })
    })
}

async fn tick(done: Arc<AtomicBool>) -> Vec<f64> {
    let mut late_us = Vec::with_capacity(16 * 1024);
    let mut intended = Instant::now();
    while !done.load(Ordering::Relaxed) {
        intended += PERIOD;
        tokio::time::sleep_until(intended).await;
        late_us.push(intended.elapsed().as_secs_f64() * 1e6);
    }
    late_us
}
