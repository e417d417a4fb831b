//! Executors of the standard library's threads alone.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle, scope};

use super::{Guard, Results, Task, TaskError};

/// Runs the tasks on so many threads, each of which takes `next` until there is none.
fn taken(threads: usize, tasks: usize, guard: &Guard<impl Task>, next: impl Fn() -> Option<usize> + Sync) -> Results {
    let slots: Vec<AtomicU64> = (0..tasks).map(|_| AtomicU64::new(0)).collect();
    let work = &|| {
        while let Some(task) = next() {
            // The scope's end is what hands the results over.
            slots[task].store(guard.call(task).to_bits(), Ordering::Relaxed);
        }
    };
    scope(|scope| {
        for _ in 0..threads {
            // The scope waits for those that were started, also after an error.
            Builder::new().spawn_scoped(scope, work).map_err(TaskError::Threads)?;
        }
        Ok(())
    })?;
    Ok(slots.into_iter().map(|slot| f64::from_bits(slot.into_inner())).collect())
}

pub(super) fn from_queue(threads: usize, tasks: usize, guard: &Guard<impl Task>) -> Results {
    let queue = Mutex::new((0..tasks).collect::<VecDeque<usize>>());
    taken(threads, tasks, guard, || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front())
}

pub(super) fn from_counter(threads: usize, tasks: usize, guard: &Guard<impl Task>) -> Results {
    let counter = AtomicUsize::new(0);
    taken(threads, tasks, guard, || {
        let task = counter.fetch_add(1, Ordering::Relaxed);
        (task < tasks).then_some(task)
    })
}

pub(super) fn static_split(threads: usize, tasks: usize, guard: &Guard<impl Task>) -> Results {
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

pub(super) fn per_task(at_once: usize, tasks: usize, guard: &Guard<impl Task>) -> Results {
    // A guarded task does not panic, so that every thread returns.
    let join = |task, handle: ScopedJoinHandle<'_, f64>| handle.join().map_err(|_| TaskError::Lost(task));
    let mut results = Vec::with_capacity(tasks);
    scope(|scope| {
        let mut running = VecDeque::with_capacity(tasks.min(at_once));
        for task in 0..tasks {
            if running.len() == at_once
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

/// Starts so many threads, which are there at once, and ends them.
pub(super) fn start_at_once(threads: usize) -> Result<(), TaskError> {
    let gate = Mutex::new(());
    scope(|scope| {
        let _closed = gate.lock();
        (0..threads).try_for_each(|_| Builder::new().spawn_scoped(scope, || drop(gate.lock())).map(drop))
    })
    .map_err(TaskError::Threads)
}
