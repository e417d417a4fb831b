//! Runs as on machines of 1 to 64 cores.

use std::cell::Cell;

use study_kit::case::find;
use study_kit::{Observation, TestCase};

use super::*;

/// What `arm` comes to, were these the cores.
fn observed(name: &str, arm: &str, threads: usize, physical: usize) -> Observation {
    let scenario = find(SCENARIOS, name).unwrap();
    let case = TestCase { scenario, setting: &scenario.setting, arm, handicap: 1.0, seed: 0 };
    Bench::new(&case, Cores { threads, physical }).unwrap().sample(&case).unwrap()
}

#[test]
fn every_executor_has_the_answer_on_any_number_of_cores() {
    let arms = "sys_thread static_split atomic_counter tokio_inside tokio_outside rayon rayon_spawn tokio \
                spawn_blocking thread_per_task";
    for arm in arms.split_whitespace() {
        let digests = [1, 2, 4, 16, 64].map(|cores| {
            let Observation { digest, metrics, .. } = observed("null_1k", arm, cores, cores);
            assert_eq!(metrics.get("threads_count"), Some(cores as f64), "{arm}");
            digest
        });
        assert!(digests.iter().all(|digest| *digest == digests[0]), "{arm}: {digests:?}");
    }
}

#[test]
fn a_core_without_a_task_is_no_loss_of_the_others() {
    for (cores, busy) in [(1, 1.0), (2, 2.0), (4, 4.0), (16, 1000.0 / 63.0), (64, 62.5)] {
        let metrics = observed("null_1k", "rayon", cores, cores).metrics;
        let of_cores = metrics.get("core_s").unwrap() / metrics.get("work_s").unwrap();
        assert!((of_cores - busy).abs() < 1e-9, "{of_cores} of {cores}");
    }
}

#[test]
fn efficiency_of_hardware_threads_is_told_where_cores_have_several() {
    let of_threads = |threads, physical| {
        let metrics = observed("null_1k", "rayon", threads, physical).metrics;
        metrics.get("smt_thread_s").map(|seconds| seconds / metrics.get("work_s").unwrap())
    };
    assert_eq!(of_threads(4, 4), None);
    assert!((of_threads(8, 4).unwrap() - 4.0).abs() < 1e-9);
}

#[test]
fn the_duration_of_a_task_alone_does_not_depend_on_how_many_tasks_and_threads_there_are() {
    let Setting::Tasks(tasks) = find(SCENARIOS, "map_1k").unwrap().setting else { panic!("no tasks") };
    let alone = |count, threads: usize| {
        let tasks = Tasks { count, ..tasks };
        let job = Job::new(tasks.work, tasks.len, threads);
        let threads = NonZero::new(threads).unwrap();
        let ticks = Cell::new(0);
        let now = || {
            ticks.set(ticks.get() + 1);
            Duration::from_millis(ticks.get() * 8)
        };
        Bench { tasks, executor: Executor::StaticSplit, threads, cores: Cores { threads: 2, physical: 2 }, job }
            .alone_s(now)
            .unwrap()
    };
    for (count, threads) in [(1, 1), (4, 1), (4, 64), (100, 64)] {
        assert!((alone(count, threads) - 0.008).abs() < 1e-9, "{count} tasks on {threads} threads");
    }
}
