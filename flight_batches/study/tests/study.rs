//! The study's program as the measuring layer calls it.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn study(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flight_batches_study"));
    command.args(arguments.split_whitespace());
    command
}

#[test]
fn what_means_nothing_is_refused_with_the_choices() {
    for (arguments, reason) in [
        ("run --scenario d1 --arm async", "unknown scenario 'd1': choose one of d1_r10k"),
        ("run --scenario below_10ms --arm spawn_blocking", "spawn_blocking does not run in below_10ms"),
        ("run --scenario below_10ms --arm sync_p1@fast", "choose one of async_p1, sync_p1"),
        ("serve --mode threads", "[possible values: async, sync"),
        ("serves", "unrecognized subcommand"),
    ] {
        study(arguments).assert().code(2).stderr(contains(reason));
    }
    for verb in ["arms", "prepare", "run", "serve"] {
        study(&format!("{verb} --help")).assert().success().stdout(contains("Usage:"));
    }
}

#[test]
fn every_case_has_a_line_of_five_columns_and_runs_by_its_arguments() {
    let output = study("arms --profile smoke").assert().success();
    let lines = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(lines.lines().all(|line| line.split('\t').count() == 5 && line.contains("\trelease\t")), "{lines}");
    study("arms --profile full")
        .assert()
        .success()
        .stdout(contains("d1_r10k_c2000\tsync\t").and(contains("one_d1_r10k\tsync~async\t")));
}

fn metrics(arguments: &str) -> Value {
    let output = study(&format!("run {arguments} --seed 2 --block 3 --run x-1")).assert().success();
    let mut record: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!((record["study"].as_str(), record["seed"].as_u64()), (Some("flight_batches"), Some(2)));
    record["metrics"].take()
}

#[test]
fn a_run_is_one_record_that_is_checked() {
    let metrics = metrics("--scenario below_10ms --arm sync_p1");
    assert_eq!(metrics["requests_count"], 10.0);
    assert!(metrics["streams_count"].as_f64().is_some_and(|streams| (9.0..=10.0).contains(&streams)), "{metrics}");
    for name in
        ["work_s", "mb_per_s", "latency_mean_ms", "first_batch_p99_ms", "gap_p50_ms", "timer_late_us", "ideal_ratio"]
    {
        assert!(metrics[name].as_f64().is_some_and(|value| value > 0.0), "{name}: {metrics}");
    }
    // No request can end before its batches are due, a millisecond each.
    for name in ["delays_ratio", "batch_mean_ms"] {
        assert!(metrics[name].as_f64().unwrap() >= 1.0, "{name}: {metrics}");
    }
}

#[test]
fn tcp_alone_is_measured_without_a_digest() {
    let metrics = metrics("--scenario nodelay_c4 --arm loopback");
    assert!(metrics["mb_per_s"].as_f64().unwrap() > 0.0 && metrics["work_s"].as_f64().unwrap() >= 1.0, "{metrics}");
}

#[test]
fn each_arm_of_a_price_says_what_one_took() {
    let output = study("arms --profile smoke").assert().success();
    let listed = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let cases: Vec<_> = listed.lines().filter(|line| line.starts_with("price_")).collect();
    assert!(cases.len() > 10, "{cases:?}");
    for case in cases {
        let arguments = case.rsplit('\t').next().unwrap().strip_prefix("run ").unwrap();
        let metrics = metrics(arguments);
        let own: &[&str] = match case.split('\t').next() {
            // Its memory cannot be read on every system.
            Some("price_waiting_memory") if cfg!(target_os = "linux") => &["waiting_bytes"],
            Some("price_waiting_memory") => &[],
            _ => &["handoff_ns", "handoff_cpu_ns", "handoffs_count"],
        };
        for metric in own.iter().chain(&["work_s"]) {
            assert!(metrics[metric].as_f64().is_some_and(|figure| figure > 0.0), "{metric}: {metrics}");
        }
    }
}
