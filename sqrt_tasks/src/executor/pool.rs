//! Executors of rayon.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Guard, Results, Task, TaskError};

pub(super) fn split(threads: usize, tasks: usize, guard: &Guard<impl Task>) -> Results {
    let pool = pool(threads)?;
    Ok(pool.install(|| (0..tasks).into_par_iter().with_max_len(1).map(|task| guard.call(task)).collect()))
}

pub(super) fn spawned(threads: usize, tasks: usize, guard: &Guard<impl Task>) -> Results {
    let slots: Vec<AtomicU64> = (0..tasks).map(|_| AtomicU64::new(0)).collect();
    pool(threads)?.scope(|scope| {
        for (task, slot) in slots.iter().enumerate() {
            // The scope's end is what hands the results over.
            scope.spawn(move |_| slot.store(guard.call(task).to_bits(), Ordering::Relaxed));
        }
    });
    Ok(slots.into_iter().map(|slot| f64::from_bits(slot.into_inner())).collect())
}

fn pool(threads: usize) -> Result<ThreadPool, TaskError> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| TaskError::Threads(io::Error::other(error)))
}
