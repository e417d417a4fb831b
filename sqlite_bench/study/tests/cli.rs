//! The program as the measurement types it.

use std::fs;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use serde_json::Value;
use sqlite_bench_study::cases::arms;
use tempfile::TempDir;

/// The program, in a folder and with a data folder of its own.
fn study(folder: &TempDir) -> Command {
    let mut command = Command::new(cargo_bin("sqlite_bench_study"));
    command.current_dir(folder).env("AWAIT_OR_NOT_DATA", folder.path().join("data"));
    command
}

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

/// The lines of a file, each a JSON object.
fn records(folder: &TempDir, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// What the program lists, as columns.
fn cases(profile: &str) -> Vec<Vec<String>> {
    let output = study(&folder()).args(["arms", "--profile", profile]).output().expect("it ran");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn a_case_of_each_kind_runs_as_it_is_listed() {
    let folder = folder();
    let listed = cases("smoke");
    let mut ran = Vec::new();
    for case in listed.iter().rev().filter(|case| case[0] != "recorder") {
        if ran.contains(&&case[0]) {
            continue;
        }
        ran.push(&case[0]);
        let tail = ["--seed", "1", "--record", "r.jsonl"];
        study(&folder).args(case[4].split(' ')).args(tail).assert().success().stdout("").stderr("");
        let record = records(&folder, "r.jsonl").pop().expect("a record");
        assert_eq!((&record["scenario"], &record["arm"]), (&case[0].as_str().into(), &case[1].as_str().into()));
        assert!(record["metrics"]["work_s"].as_f64().expect("a time") > 0.0 && record.get("error").is_none());
        if case[0] == "smoke" {
            assert_eq!(record["digest"].as_str().expect("a digest").len(), 16);
        }
    }
    assert_eq!(ran.len(), 9, "{ran:?}");
    assert_eq!(records(&folder, "r.jsonl").len(), ran.len());
}

#[test]
fn every_price_is_the_time_of_handoffs_that_were_made() {
    let folder = folder();
    let cases: Vec<_> = cases("smoke").into_iter().filter(|case| case[0].starts_with("price_")).collect();
    for case in &cases {
        study(&folder).args(case[4].split(' ')).args(["--record", "r.jsonl"]).assert().success();
    }
    let records = records(&folder, "r.jsonl");
    assert_eq!(records.len(), cases.len());
    for record in records {
        let figure = |name: &str| record["metrics"][name].as_f64().expect(name);
        assert!(figure("handoffs_count") >= 1.0 && figure("handoff_cpu_ns").is_finite(), "{record}");
        let timed_ns = figure("handoff_ns") * figure("handoffs_count");
        assert!((timed_ns / figure("work_s") / 1e9 - 1.0).abs() < 1e-9, "{record}");
    }
}

#[test]
fn a_point_of_a_map_has_its_place_and_the_same_answer_in_all_designs() {
    let folder = folder();
    for (scenario, answer, has_bystander) in
        [("map_insert", 1, false), ("map_200us", 3_796_650, false), ("map_point_open", 2_997, true)]
    {
        let full = cases("full");
        let arms: Vec<_> = full.iter().filter(|case| case[0] == scenario).collect();
        assert_eq!(arms.len(), 5, "{scenario}");
        let mut loads = Vec::new();
        for case in arms {
            study(&folder).args(case[4].split(' ')).args(["--record", "r.jsonl"]).assert().success();
            let record = records(&folder, "r.jsonl").pop().expect("a record");
            assert_eq!(record["digest"], format!("{answer:016x}"), "{record}");
            let figure = |name: &str| record["metrics"][name].as_f64();
            assert!(figure("call_us") > Some(0.0) && figure("latency_p50_us") > Some(0.0), "{record}");
            assert_eq!(figure("bystander_p99_us").is_some(), has_bystander, "{record}");
            let calls = figure("calls_per_s").expect("a rate") * figure("work_s").expect("a time");
            let count = figure("calls_count").expect("a count");
            assert!((calls / count - 1.0).abs() < 1e-9, "{record}");
            loads.push(format!("{count}"));
        }
        // On a schedule no design has less to do because it is slow.
        if has_bystander {
            let cores = std::thread::available_parallelism().expect("a number of cores").get().min(8);
            assert_eq!(loads, vec![format!("{}", cores * 250); 5]);
        }
    }
}

#[test]
fn all_arms_have_the_same_digest_and_another_seed_has_another() {
    let folder = folder();
    let smoke = cases("smoke");
    let ours: Vec<_> = smoke.iter().filter(|case| case[0] == "smoke").collect();
    assert!(ours.len() > arms().len(), "copies, too");
    for case in ours.iter().chain([&ours[0]]) {
        let seed = if records(&folder, "r.jsonl").len() == ours.len() { "2" } else { "1" };
        study(&folder).args(case[4].split(' ')).args(["--seed", seed, "--record", "r.jsonl"]).assert().success();
    }
    let mut digests: Vec<Value> = records(&folder, "r.jsonl").iter().map(|record| record["digest"].clone()).collect();
    let other = digests.pop().expect("a run with another seed");
    assert!(digests.iter().all(|digest| *digest == digests[0]) && other != digests[0], "{digests:?} {other}");
}

#[test]
fn all_arms_can_be_compared_in_both_loops() {
    let every = arms().iter().map(|arm| arm.name).collect::<Vec<_>>().join(",");
    for reads in [["--think", "5ms"], ["--rate", "100"]] {
        let folder = folder();
        let setting = ["--holds", "20ms", "--duration", "200ms", "--databases", "2", "--readers", "2"];
        let compare = ["compare", "--arm", &every, "--directory", "."];
        let assert = study(&folder).args(compare).args(setting).args(reads).assert().success();
        let text = String::from_utf8(assert.get_output().stdout.clone()).expect("text");
        assert!(text.lines().all(|line| line.chars().count() <= 145), "{text}");
        for arm in arms() {
            // In five tables and the one of the responses.
            assert!(text.matches(arm.title).count() >= 6, "{}: {text}", arm.name);
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "the databases are gone");
    }
}

#[test]
fn a_name_that_stands_for_nothing_lists_what_does() {
    for (arguments, part) in [
        (vec!["run", "--scenario", "x", "--arm", "direct"], "choose one of hold_100ms"),
        (vec!["prepare", "--scenario", "x"], "choose one of hold_100ms"),
        (vec!["arms", "--profile", "x"], "smoke, quick, full"),
        (vec!["run", "--scenario", "smoke", "--arm", "x"], "direct_async_lock, sb_fair"),
        (vec!["run", "--scenario", "smoke", "--arm", "direct@x"], "does not run in smoke"),
        (vec!["run", "--scenario", "smoke", "--arm", "group_commit"], "does not run in smoke"),
        (vec!["run", "--scenario", "smoke_commit", "--arm", "direct"], "choose one of group_commit, single_commit"),
        (vec!["run", "--scenario", "smoke", "--arm", "direct", "--versus", "sb_fair"], "direct~sb_fair does not run"),
        (vec!["compare", "--arm", "direct,x"], "unknown arm 'x': choose one of direct, "),
        (vec!["x"], "unrecognized subcommand"),
    ] {
        study(&folder()).args(&arguments).assert().code(2).stdout("").stderr(predicate::str::contains(part));
    }
}

#[test]
fn a_run_that_cannot_have_its_databases_is_a_recorded_failure() {
    let folder = folder();
    // Where the data folder should be is a file, so that databases on disk cannot be made.
    fs::write(folder.path().join("data"), "").expect("written");
    let run = ["run", "--scenario", "smoke_commit", "--arm", "group_commit", "--record", "r.jsonl"];
    study(&folder).args(run).assert().code(1).stdout("");
    let record = &records(&folder, "r.jsonl")[0];
    assert!(record["error"].as_str().expect("a failure").starts_with("cannot create a folder in "), "{record}");
    assert_eq!((&record["metrics"], &record["digest"]), (&Value::Object(serde_json::Map::new()), &"".into()));
}
