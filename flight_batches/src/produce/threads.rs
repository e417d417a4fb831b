//! Producers that wait on threads.

use std::io;
use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use super::{Pace, Task};

/// A producer needs little; two thousand of them should not need 4 GiB of address space.
const STACK_BYTES: usize = 256 * 1024;
/// A thread notices after so long that its client has gone.
const LONGEST_NAP: Duration = Duration::from_millis(100);

pub(super) fn start(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(run).map(drop)
}

/// Produces on this thread until all batches were made or nobody wants them.
pub(super) fn work(task: Task) {
    let Task { order, mut demand, done } = task;
    let _counted = order.waiting.threads.count();
    let mut pace = Pace::new(order.delay, Instant::now());
    for number in 0..order.batches {
        let Some(free) = demand.blocking_recv() else { return };
        if !order.delay.is_zero() {
            let (due, begun) = (pace.next(free), Instant::now());
            while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
                if done.is_closed() {
                    return;
                }
                thread::sleep(left.min(LONGEST_NAP));
            }
            order.waiting.note(due, begun);
        }
        if done.send(number).is_err() {
            return;
        }
    }
}

/// So many threads, which serve requests in the order of their arrival.
pub struct Pool {
    pub(super) tasks: std_mpsc::Sender<Task>,
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// If they cannot be started.
    pub fn new(threads: usize) -> io::Result<Self> {
        let (tasks, queue) = std_mpsc::channel::<Task>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..threads {
            let queue = Arc::clone(&queue);
            // The lock is held while waiting, not while working: one thread waits for a task, the others for the lock.
            let next = move || queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
            start("pool", move || std::iter::from_fn(next).for_each(work))?;
        }
        Ok(Pool { tasks })
    }
}
