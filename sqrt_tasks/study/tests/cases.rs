//! What cases are on machines of 1 to 64 cores.

use sqrt_tasks_study::cases::Grows::{Never, ToCores, ToThreads, WithCores};
use sqrt_tasks_study::cases::{MOST_TASKS, SCENARIOS, Setting, Tasks, arm, over};
use study_kit::case::find;
use study_kit::{Profile, Scenario};

const CORES: [usize; 5] = [1, 2, 4, 16, 64];

fn setting(scenario: &str) -> Tasks {
    let found = find(SCENARIOS, scenario).expect("it is listed");
    let Setting::Tasks(tasks) = found.setting else { panic!("{scenario} has no tasks") };
    tasks
}

#[test]
fn an_arm_has_as_many_threads_as_its_name_says() {
    let threads = |name: &str| CORES.map(|cores| arm(&setting("n_8"), name, cores).expect("it is an arm").2.get());
    assert_eq!(threads("sys_thread_1"), [1; 5]);
    assert_eq!(threads("tokio_cores"), CORES);
    assert_eq!(threads("tokio"), CORES, "an executor alone");
    assert_eq!(threads("sys_thread_4"), [4; 5]);
    assert_eq!(threads("tokio_10"), [10; 5]);
    assert_eq!(threads("sys_thread_over"), [2, 4, 7, 27, 107]);
    assert_eq!(arm(&setting("n_8"), "sys_thread_over", 6).expect("it is an arm").2.get(), 10, "as published");
    assert_eq!(arm(&setting("n_8"), "sys_thread_12", 64), None);
}

#[test]
fn two_cores_have_the_tasks_that_a_scenario_names_and_more_cores_have_enough_for_each() {
    for Scenario { name, setting, .. } in SCENARIOS {
        let Setting::Tasks(tasks) = setting else { continue };
        assert_eq!(tasks.on(2).count, tasks.count, "{name}");
        for cores in 1..=128 {
            let count = tasks.on(cores).count;
            match tasks.grows {
                Never => assert_eq!(count, tasks.count, "{name}"),
                ToCores => assert_eq!(count % cores, 0, "{name} on {cores}"),
                ToThreads => assert_eq!(count % over(cores), 0, "{name} on {cores}"),
                WithCores => assert!(count >= 2 * cores || count == MOST_TASKS, "{name} on {cores}"),
            }
        }
    }
}

#[test]
fn what_is_at_once_is_bounded() {
    for scenario in SCENARIOS {
        let Setting::Tasks(tasks) = scenario.setting else { continue };
        for cores in CORES {
            let tasks = tasks.on(cores);
            assert!(tasks.count <= MOST_TASKS, "{}", scenario.name);
            // Each thread has a block of 80 MB at most.
            for (name, _) in scenario.arms_in(Profile::Full).filter(|(name, _)| !name.contains(['~', '@'])) {
                let (.., threads) = arm(&tasks, name, cores).expect("every arm of tasks is one");
                assert!(threads.get() <= over(cores).max(10), "{name} of {}", scenario.name);
            }
        }
    }
}

#[test]
fn cores_that_have_nothing_left_to_do_do_not_count_as_busy() {
    let busy = |tasks: Tasks, threads| format!("{:.2}", tasks.on(threads).keep_busy(threads));
    let n_200 = setting("n_200");
    assert_eq!(
        [1, 2, 4, 10, 16, 64].map(|cores| busy(n_200, cores)),
        ["1.00", "2.00", "4.00", "10.00", "15.38", "50.00"]
    );
    for cores in CORES {
        assert_eq!(busy(setting("n_24"), cores), format!("{cores}.00"));
    }
    assert_eq!(busy(setting("kernel"), 64), "8.00");
}
