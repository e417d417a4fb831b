//! Runs as on machines of 1 to 64 cores.

use study_kit::case::find;

use super::*;

/// What `arm` comes to, were these the cores.
fn observed(name: &str, arm: &str, threads: usize, physical: usize) -> Observation {
    let scenario = find(SCENARIOS, name).unwrap();
    let case = TestCase { scenario, setting: &scenario.setting, arm, handicap: 1.0, seed: 0 };
    Bench::new(&case, Cores { threads, physical }).unwrap().sample(&case).unwrap()
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
