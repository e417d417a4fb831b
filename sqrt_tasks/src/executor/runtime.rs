//! Executors of libraries: futures polled in place, tokio, rayon.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::executor::block_on;
use futures::future::join_all;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{JoinHandle, spawn_blocking};

use super::{Guard, Results, Task, TaskError};

/// The published async tasks.
#[expect(clippy::unused_async, reason = "as published: nothing in them ever waits")]
async fn process(task: usize, guard: Arc<Guard<impl Task>>) -> f64 {
    guard.call(task)
}

pub(super) fn joined(tasks: usize, guard: &Arc<Guard<impl Task>>) -> Vec<f64> {
    block_on(join_all((0..tasks).map(|task| process(task, guard.clone()))))
}

pub(super) fn tokio_joined(threads: usize, tasks: usize, guard: &Arc<Guard<impl Task>>) -> Results {
    let runtime = multi_thread(threads)?;
    let handles = (0..tasks).map(|task| runtime.spawn(process(task, guard.clone())));
    let results = block_on(join_all(handles));
    results.into_iter().enumerate().map(|(task, result)| result.map_err(|_| TaskError::Lost(task))).collect()
}

pub(super) fn tokio_outside(threads: usize, tasks: usize, guard: &Arc<Guard<impl Task>>) -> Results {
    let runtime = multi_thread(threads)?;
    let spawn = |task| runtime.spawn(process(task, guard.clone()));
    runtime.block_on(one_by_one((0..tasks).map(spawn).collect()))
}

pub(super) fn tokio_inside(threads: usize, tasks: usize, guard: &Arc<Guard<impl Task>>) -> Results {
    let runtime = multi_thread(threads)?;
    let guard = guard.clone();
    let parent = async move {
        let handle = Handle::current();
        one_by_one((0..tasks).map(|task| handle.spawn(process(task, guard.clone()))).collect()).await
    };
    runtime.block_on(runtime.spawn(parent)).unwrap_or(Err(TaskError::Lost(0)))
}

pub(super) fn tokio_blocking(threads: usize, tasks: usize, guard: &Arc<Guard<impl Task>>) -> Results {
    let runtime = Builder::new_current_thread().max_blocking_threads(threads).build().map_err(TaskError::Threads)?;
    runtime.block_on(async {
        let spawn = |task| {
            let guard = guard.clone();
            spawn_blocking(move || guard.call(task))
        };
        one_by_one((0..tasks).map(spawn).collect()).await
    })
}

async fn one_by_one(handles: Vec<JoinHandle<f64>>) -> Results {
    let mut results = Vec::with_capacity(handles.len());
    for handle in handles {
        let task = results.len();
        results.push(handle.await.map_err(|_| TaskError::Lost(task))?);
    }
    Ok(results)
}

fn multi_thread(threads: usize) -> Result<Runtime, TaskError> {
    Builder::new_multi_thread().worker_threads(threads).build().map_err(TaskError::Threads)
}

pub(super) fn rayon_split(threads: usize, tasks: usize, guard: &Guard<impl Task>) -> Results {
    let pool = rayon_pool(threads)?;
    Ok(pool.install(|| (0..tasks).into_par_iter().with_max_len(1).map(|task| guard.call(task)).collect()))
}

pub(super) fn rayon_spawned(threads: usize, tasks: usize, guard: &Guard<impl Task>) -> Results {
    let slots: Vec<AtomicU64> = (0..tasks).map(|_| AtomicU64::new(0)).collect();
    rayon_pool(threads)?.scope(|scope| {
        for (task, slot) in slots.iter().enumerate() {
            // The scope's end is what hands the results over.
            scope.spawn(move |_| slot.store(guard.call(task).to_bits(), Ordering::Relaxed));
        }
    });
    Ok(slots.into_iter().map(|slot| f64::from_bits(slot.into_inner())).collect())
}

fn rayon_pool(threads: usize) -> Result<ThreadPool, TaskError> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| TaskError::Threads(io::Error::other(error)))
}
