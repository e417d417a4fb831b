//! Producers that wait on threads.

use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::order::{Order, ProduceError};
use crate::pace::Pace;

/// A producer needs little; two thousand of them should not need 4 GiB of address space.
const STACK_BYTES: usize = 256 * 1024;
/// A thread notices after so long that its client has gone.
const LONGEST_NAP: Duration = Duration::from_millis(100);

/// A thread for this request alone.
pub(super) fn per_request(
    order: Order,
    demand: mpsc::UnboundedReceiver<Instant>,
    done: mpsc::UnboundedSender<usize>,
) -> Result<(), ProduceError> {
    let work = move || work(&order, demand, &done);
    let thread = Builder::new().name("producer".to_owned()).stack_size(STACK_BYTES).spawn(work);
    thread.map(drop).map_err(ProduceError::Thread)
}

/// Produces on this thread until all batches were made or nobody wants them.
pub(super) fn work(order: &Order, mut demand: mpsc::UnboundedReceiver<Instant>, done: &mpsc::UnboundedSender<usize>) {
    let _counted = order.waiting.thread();
    let mut pace = Pace::new(order.delay, Instant::now());
    for number in 0..order.batches {
        let Some(free) = demand.blocking_recv() else { return };
        if !order.delay.is_zero() {
            let (due, begun) = (pace.next(free), Instant::now());
            if !sleep_until(due, || done.is_closed()) {
                return;
            }
            order.waiting.note(due, begun);
        }
        if done.send(number).is_err() {
            return;
        }
    }
}

/// Sleeps until `due`; false if it was `cancelled` before.
fn sleep_until(due: Instant, cancelled: impl Fn() -> bool) -> bool {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        if cancelled() {
            return false;
        }
        thread::sleep(left.min(LONGEST_NAP));
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// So many threads, which serve requests in the order of their arrival.
pub struct Pool {
    jobs: std_mpsc::Sender<Job>,
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// If they cannot be started.
    pub fn new(threads: usize) -> Result<Self, ProduceError> {
        let (jobs, queue) = std_mpsc::channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..threads {
            let queue = Arc::clone(&queue);
            let serve = move || {
                loop {
                    // The lock is held while waiting, not while working: one thread waits for a job, the others for the lock.
                    let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(job) = job else { return };
                    job();
                }
            };
            Builder::new()
                .name("pool".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(serve)
                .map_err(ProduceError::Thread)?;
        }
        Ok(Pool { jobs })
    }

    pub(super) fn run(
        &self,
        order: Order,
        demand: mpsc::UnboundedReceiver<Instant>,
        done: mpsc::UnboundedSender<usize>,
    ) -> Result<(), ProduceError> {
        let job = Box::new(move || work(&order, demand, &done));
        self.jobs.send(job).map_err(|_| ProduceError::PoolEnded)
    }
}
