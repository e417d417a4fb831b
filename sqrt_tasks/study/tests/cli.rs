//! The study as the measuring layer calls it.

use std::collections::BTreeSet;

use assert_cmd::Command;
use predicates::str::contains;
use serde_json::Value;

fn study(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqrt_tasks_study"));
    command.args(arguments.split_whitespace());
    command
}

fn record(arguments: &str) -> Value {
    let output = study(arguments).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn a_run_records_what_the_contract_asks_for() {
    let record = record("run --scenario null_1k --arm rayon --seed 2 --block 5 --run x-7");
    for (field, value) in [("run", "x-7"), ("study", "sqrt_tasks"), ("arm", "rayon")] {
        assert_eq!(record[field], value);
    }
    assert_eq!((&record["schema"], &record["seed"], &record["block"]), (&2.into(), &2.into(), &5.into()));
    let times = ["work_s", "user_s", "system_s", "task_ns", "core_s"];
    let counts = ["peak_rss_kib", "minor_faults_count", "voluntary_switches_count"];
    for metric in times.iter().chain(&counts) {
        assert!(record["metrics"][metric].is_number(), "{metric}");
    }
    assert_eq!(record["metrics"]["tasks_count"], 10_000.0);
}

#[test]
fn a_task_of_the_map_is_timed_alone_once() {
    let metrics = |arm: &str| record(&format!("run --scenario map_10k --arm {arm}"))["metrics"].clone();
    let of = metrics("static_split");
    let (alone, all) = (of["task_alone_us"].as_f64().unwrap(), of["work_s"].as_f64().unwrap() * 1e6);
    // Of thousands of tasks.
    assert!(0.0 < alone && alone * 100.0 < all, "{alone} of {all} us");
    assert!(metrics("rayon")["task_alone_us"].is_null());
}

#[test]
fn a_duet_records_its_pairs() {
    let record = record("run --scenario half_1 --arm sys_thread_1 --versus sys_thread_1@aa --block 1");
    assert_eq!((&record["arm"], &record["versus"]), (&"sys_thread_1".into(), &"sys_thread_1@aa".into()));
    let pairs = record["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 6);
    for pair in pairs {
        assert!(pair["order"] == "ab" || pair["order"] == "ba");
        assert!(pair["a_s"].as_f64().unwrap() > 0.0 && pair["b_s"].as_f64().unwrap() > 0.0);
    }
    assert!(record["metrics"]["work_s"].is_null());
}

#[test]
fn all_executors_of_a_scenario_agree_on_the_answer() {
    let arms =
        "sys_thread tokio tokio_inside tokio_outside spawn_blocking rayon rayon_spawn static_split atomic_counter";
    let digest = |arm| record(&format!("run --scenario null_1k --arm {arm}"))["digest"].to_string();
    let digests: BTreeSet<String> = arms.split(' ').map(digest).collect();
    assert_eq!(digests.len(), 1, "{digests:?}");
    assert!(!digests.contains("\"\""));
}

#[test]
fn what_cannot_be_run_says_why() {
    for (arguments, why) in [
        ("arms --profile all", "choose one of smoke, quick, full"),
        ("run --scenario n_9 --arm tokio_1", "choose one of half_1, half_4, dev_part_1"),
        ("run --scenario null_1k --arm tokio_1", "does not run in null_1k"),
        ("run --scenario null_1k --arm rayon@fast", "does not run in null_1k"),
        ("run --scenario cargo --arm program --versus cargo_run", "program~cargo_run"),
        ("run --scenario half_1 --arm tokio_1 --versus rayon", "does not run in half_1"),
        ("run --scenario null_1k --arm static_split --record /nowhere/file", "/nowhere/file"),
        ("prepare --scenario n_9", "unknown scenario 'n_9'"),
    ] {
        study(arguments).assert().code(2).stderr(contains(why));
    }
    study("prepare --scenario n_8 --seed 1").assert().success();
}

#[test]
fn each_arm_of_a_price_makes_handoffs_and_says_what_one_took() {
    let listed = study("arms --profile smoke").assert().success().get_output().stdout.clone();
    let listed = String::from_utf8(listed).unwrap();
    let cases: Vec<_> = listed.lines().filter(|line| line.starts_with("price_")).collect();
    assert!(cases.len() > 10, "{cases:?}");
    for case in cases {
        let record = record(case.rsplit('\t').next().unwrap());
        for metric in ["work_s", "handoff_ns", "handoff_cpu_ns", "handoffs_count"] {
            assert!(record["metrics"][metric].as_f64().is_some_and(|figure| figure > 0.0), "{metric}: {record}");
        }
        let at_once = if case.starts_with("price_start_64") { 64.0 } else { 1.0 };
        let counted = record["metrics"]["handoffs_count"].as_f64().unwrap();
        assert!(counted % at_once < 0.5, "{record}");
    }
}
