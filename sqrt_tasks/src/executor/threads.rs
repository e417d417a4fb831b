//! Executors of the standard library's threads alone.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle, scope};

use super::guard::Guard;
use super::{MOST_THREADS, TaskError};

/// A place per task for its result, which any thread may write.
struct Slots(Vec<AtomicU64>);

impl Slots {
    fn new(tasks: usize) -> Self {
        Slots((0..tasks).map(|_| AtomicU64::new(0)).collect())
    }

    fn set(&self, task: usize, result: f64) {
        // The scope's end is what hands the results over.
        self.0[task].store(result.to_bits(), Ordering::Relaxed);
    }

    fn into_results(self) -> Vec<f64> {
        self.0.into_iter().map(|slot| f64::from_bits(slot.into_inner())).collect()
    }
}

/// Runs `work` on so many threads and waits for all.
fn on_threads(threads: usize, work: impl Fn() + Sync) -> Result<(), TaskError> {
    scope(|scope| {
        for _ in 0..threads {
            // The scope waits for those that were started, also after an error.
            Builder::new().spawn_scoped(scope, &work).map_err(TaskError::Threads)?;
        }
        Ok(())
    })
}

pub(super) fn from_queue<F>(threads: usize, tasks: usize, guard: &Guard<F>) -> Result<Vec<f64>, TaskError>
where
    F: Fn(usize) -> f64 + Send + Sync,
{
    let queue = Mutex::new((0..tasks).collect::<VecDeque<usize>>());
    let slots = Slots::new(tasks);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    on_threads(threads, || {
        while let Some(task) = next() {
            slots.set(task, guard.call(task));
        }
    })?;
    Ok(slots.into_results())
}

pub(super) fn from_counter<F>(threads: usize, tasks: usize, guard: &Guard<F>) -> Result<Vec<f64>, TaskError>
where
    F: Fn(usize) -> f64 + Send + Sync,
{
    let counter = AtomicUsize::new(0);
    let slots = Slots::new(tasks);
    on_threads(threads, || {
        loop {
            let task = counter.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                break;
            }
            slots.set(task, guard.call(task));
        }
    })?;
    Ok(slots.into_results())
}

pub(super) fn static_split<F>(threads: usize, tasks: usize, guard: &Guard<F>) -> Result<Vec<f64>, TaskError>
where
    F: Fn(usize) -> f64 + Send + Sync,
{
    let mut results = vec![0.0; tasks];
    let share = tasks.div_ceil(threads).max(1);
    scope(|scope| {
        for (part, results) in results.chunks_mut(share).enumerate() {
            let run = move || {
                for (offset, result) in results.iter_mut().enumerate() {
                    *result = guard.call(part * share + offset);
                }
            };
            Builder::new().spawn_scoped(scope, run).map_err(TaskError::Threads)?;
        }
        Ok(())
    })?;
    Ok(results)
}

pub(super) fn per_task<F>(tasks: usize, guard: &Guard<F>) -> Result<Vec<f64>, TaskError>
where
    F: Fn(usize) -> f64 + Send + Sync,
{
    /// A guarded task does not panic, so that every thread returns.
    fn join(task: usize, handle: ScopedJoinHandle<'_, f64>) -> Result<f64, TaskError> {
        handle.join().map_err(|_| TaskError::Lost(task))
    }

    let mut results = Vec::with_capacity(tasks);
    scope(|scope| {
        let mut running = VecDeque::with_capacity(tasks.min(MOST_THREADS));
        for task in 0..tasks {
            if running.len() == MOST_THREADS
                && let Some(oldest) = running.pop_front()
            {
                results.push(join(results.len(), oldest)?);
            }
            let run = move || guard.call(task);
            running.push_back(Builder::new().spawn_scoped(scope, run).map_err(TaskError::Threads)?);
        }
        for handle in running {
            results.push(join(results.len(), handle)?);
        }
        Ok(())
    })?;
    Ok(results)
}
