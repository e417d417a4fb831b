//! Every executor runs every task exactly once, for any number of tasks and threads, also when tasks panic.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use sqrt_tasks::executor::MOST_THREADS;
use sqrt_tasks::{Executor, TaskError};
use strum::VariantArray;

/// Runs tasks that count themselves; those for which `panics` is true panic.
fn counted(
    executor: Executor,
    threads: usize,
    tasks: usize,
    panics: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> (Vec<u32>, Result<Vec<f64>, TaskError>) {
    let counts: Arc<Vec<AtomicU32>> = Arc::new((0..tasks).map(|_| AtomicU32::new(0)).collect());
    let result = {
        let counts = Arc::clone(&counts);
        executor.run(NonZero::new(threads).unwrap(), tasks, move |task| {
            counts[task].fetch_add(1, Ordering::SeqCst);
            assert!(!panics(task), "task {task} gives up");
            f64::from(u32::try_from(task).unwrap()) + 0.5
        })
    };
    (counts.iter().map(|count| count.load(Ordering::SeqCst)).collect(), result)
}

fn numbered(tasks: usize) -> Vec<f64> {
    (0..tasks).map(|task| f64::from(u32::try_from(task).unwrap()) + 0.5).collect()
}

fn any_executor() -> impl Strategy<Value = Executor> {
    proptest::sample::select(Executor::VARIANTS)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_task_runs_once_and_results_keep_their_order(
        executor in any_executor(), threads in 1..9_usize, tasks in 0..300_usize,
    ) {
        let (counts, results) = counted(executor, threads, tasks, |_| false);
        prop_assert!(counts.iter().all(|&count| count == 1), "{:?}", counts);
        prop_assert_eq!(results.unwrap(), numbered(tasks));
    }

    #[test]
    fn a_panic_is_reported_and_all_others_run(
        executor in any_executor(), threads in 1..5_usize, tasks in 1..60_usize, every in 1..20_usize,
    ) {
        let (counts, result) = counted(executor, threads, tasks, move |task| task % every == 0);
        prop_assert!(counts.iter().all(|&count| count == 1), "{:?}", counts);
        match result {
            Err(TaskError::Panicked { count, task, message }) => {
                prop_assert_eq!(count, tasks.div_ceil(every));
                prop_assert_eq!(task % every, 0);
                prop_assert_eq!(message, format!("task {task} gives up"));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn more_tasks_than_threads_may_live_at_once() {
    for &executor in Executor::VARIANTS {
        let tasks = MOST_THREADS + 500;
        let (counts, results) = counted(executor, 3, tasks, |_| false);
        assert!(counts.iter().all(|&count| count == 1), "{executor}");
        assert_eq!(results.unwrap(), numbered(tasks), "{executor}");
    }
}

#[test]
fn a_thread_per_task_is_enough_for_all_of_many_cores() {
    let cores = 3 * MOST_THREADS;
    let there = Arc::new(AtomicUsize::new(0));
    let end = Instant::now() + Duration::from_mins(1);
    let wait_for_all = move |_| {
        there.fetch_add(1, Ordering::Relaxed);
        while there.load(Ordering::Relaxed) < cores && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        there.load(Ordering::Relaxed) as f64
    };
    let results = Executor::ThreadPerTask.run(NonZero::new(cores).unwrap(), cores, wait_for_all).unwrap();
    assert_eq!(results, vec![cores as f64; cores]);
}
