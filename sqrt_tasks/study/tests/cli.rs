//! The study as the measuring layer calls it.

use assert_cmd::Command;
use predicates::str::contains;
use serde_json::Value;

fn study(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqrt_tasks_study"));
    command.args(arguments.split_whitespace());
    command
}

#[test]
fn cases_are_five_columns_and_every_one_can_be_run() {
    for profile in ["smoke", "quick", "full"] {
        let output = study(&format!("arms --profile {profile}")).assert().success().get_output().stdout.clone();
        for line in String::from_utf8(output).unwrap().lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns.len(), 5, "{line}");
            assert!(columns[2] == "release" || columns[2] == "dev", "{line}");
            assert!(columns[3].parse::<f64>().unwrap() > 0.0, "{line}");
            let arms = columns[1].replace('~', " --versus ");
            assert_eq!(columns[4], format!("run --scenario {} --arm {arms}", columns[0]));
        }
    }
    study("arms --profile all").assert().code(2).stderr(contains("choose one of smoke, quick, full"));
}

fn record(arguments: &str) -> Value {
    let output = study(arguments).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn a_run_records_what_the_contract_asks_for() {
    let record = record("run --scenario null_1k --arm rayon --seed 2 --block 5 --run x-7");
    for (field, value) in [
        ("schema", 2.into()),
        ("run", "x-7".into()),
        ("study", "sqrt_tasks".into()),
        ("seed", 2.into()),
        ("block", Value::from(5)),
    ] {
        assert_eq!(record[field], value);
    }
    for metric in [
        "work_s",
        "user_s",
        "system_s",
        "peak_rss_kib",
        "minor_faults_count",
        "voluntary_switches_count",
        "task_ns",
        "core_s",
    ] {
        assert!(record["metrics"][metric].is_number(), "{metric}");
    }
    assert_eq!(record["metrics"]["tasks_count"], 10_000.0);
}

#[test]
fn a_duet_records_its_pairs() {
    let record = record("run --scenario duet_1 --arm sys_thread_1 --versus sys_thread_1@aa --block 1");
    assert_eq!((&record["arm"], &record["versus"]), (&"sys_thread_1".into(), &"sys_thread_1@aa".into()));
    let pairs = record["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 20);
    for pair in pairs {
        assert!(pair["order"] == "ab" || pair["order"] == "ba");
        assert!(pair["a_s"].as_f64().unwrap() > 0.0 && pair["b_s"].as_f64().unwrap() > 0.0);
    }
    assert!(record["metrics"]["work_s"].is_null());
}

#[test]
fn all_executors_of_a_scenario_agree_on_the_answer() {
    let digest = |arm: &str| record(&format!("run --scenario null_1k --arm {arm}"))["digest"].clone();
    let first = digest("sys_thread");
    assert_ne!(first, "");
    for arm in [
        "tokio",
        "tokio_inside",
        "tokio_outside",
        "spawn_blocking",
        "rayon",
        "rayon_spawn",
        "static_split",
        "atomic_counter",
    ] {
        assert_eq!(digest(arm), first, "{arm}");
    }
}

#[test]
fn a_record_is_appended_to_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records");
    for _ in 0..2 {
        study("run --scenario null_1k --arm static_split --record").arg(&file).assert().success().stdout("");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
    study("run --scenario null_1k --arm static_split --record /nowhere/file")
        .assert()
        .code(2)
        .stderr(contains("/nowhere/file"));
}

#[test]
fn what_cannot_be_run_says_why() {
    study("run --scenario n_9 --arm tokio_1")
        .assert()
        .code(2)
        .stderr(contains("choose one of duet_1, duet_4, dev_duet_1"));
    study("run --scenario null_1k --arm tokio_1").assert().code(2).stderr(contains("does not run in null_1k"));
    study("run --scenario null_1k --arm rayon@fast").assert().code(2).stderr(contains("does not run in null_1k"));
    study("run --scenario cargo --arm program --versus cargo_run")
        .assert()
        .code(2)
        .stderr(contains("program~cargo_run"));
    study("run --scenario duet_1 --arm tokio_1 --versus rayon")
        .assert()
        .code(2)
        .stderr(contains("does not run in duet_1"));
    study("prepare --scenario n_9").assert().code(2);
    study("prepare --scenario n_8 --seed 1").assert().success();
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let script = format!("{} arms | head -n 1", env!("CARGO_BIN_EXE_sqrt_tasks_study"));
    Command::new("sh").args(["-c", &script]).assert().success().stderr("");
}
