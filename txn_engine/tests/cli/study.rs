//! Test data, the published stress test, and the verbs of a study.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};

use txn_engine::ErrorKind;
use txn_engine::oracle::process;

use crate::{Folder, HEADER, one_line, stdout_of};

#[test]
fn generated_rows_are_as_many_as_asked_for_and_the_same_for_the_same_seed() {
    let folder = Folder::new();
    for shape in ["original", "accepted", "hot", "uniform"] {
        let generate = |rows: usize, seed: u32| {
            stdout_of(&mut folder.txn_engine(&format!("generate --rows {rows} --seed {seed} --shape {shape}")))
        };
        let text = generate(2_000, 1);
        assert!(text.starts_with(HEADER), "{shape}: {text:.60}");
        assert_eq!(text.lines().count(), 2_001, "{shape}");
        assert_eq!(text, generate(2_000, 1), "{shape}");
        assert_ne!(text, generate(2_000, 2), "{shape}");
        assert!(text.starts_with(&generate(500, 1)), "{shape}: the smaller file is no prefix of the larger");
        let right = process(text.as_bytes()).expect("the header is valid");
        let parse_errors: Vec<_> =
            ErrorKind::ALL[..6].iter().filter(|kind| right.errors.contains_key(kind.name())).collect();
        assert!(parse_errors.is_empty(), "{shape}: {parse_errors:?}");
        if matches!(shape, "accepted" | "hot") {
            assert!(right.accepted > 1_960, "{shape}: {:?}", right.errors);
        }
        folder.write("generated.csv", &text);
        let accounts = stdout_of(&mut folder.txn_engine("generated.csv"));
        assert_eq!(accounts, String::from_utf8_lossy(&right.accounts_csv), "{shape}");
    }
}

#[test]
fn an_unknown_shape_is_refused_with_the_list_of_choices() {
    let run = Folder::new().txn_engine("generate --rows 1 --shape round").assert().code(2).stdout(is_empty());
    run.stderr(contains("original").and(contains("accepted")).and(contains("hot")).and(contains("uniform")));
}

#[test]
fn the_stress_test_prints_the_three_lines_of_the_published_program_on_stderr() {
    let folder = Folder::new();
    for typed in ["stress-test 1000", "async stress-test 1000", "stress-test 1000 --engine best_all_cores"] {
        let assert = folder.txn_engine(typed).assert().success();
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        let names: Vec<&str> = stderr.lines().filter_map(|line| line.split_once(": ").map(|(name, _)| name)).collect();
        assert_eq!(names, ["Elapsed time", "Engine Memory size", "Memory consumption delta"], "{typed}: {stderr}");
    }
}

#[test]
fn records_of_stress_tests_make_the_published_table() {
    let folder = Folder::new();
    folder.txn_engine("stress-test 100 --record runs.jsonl").assert().success();
    folder.txn_engine("stress-test 1000 --record runs.jsonl").assert().success();
    let table = stdout_of(&mut folder.txn_engine("stress-table runs.jsonl"));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    for header in ["Transactions Count", "Time", "Process Memory", "Engine Memory"] {
        assert!(lines[0].contains(header), "{table}");
    }
    assert!(lines[1].starts_with("100 ") && lines[2].starts_with("1000 "), "{table}");
}

fn is_a_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

fn is_an_arm(text: &str) -> bool {
    text.split('~').all(|arm| match arm.split_once('@') {
        Some((name, suffix)) => is_a_name(name) && matches!(suffix, "aa" | "slow"),
        None => is_a_name(arm),
    })
}

#[test]
fn arms_lists_each_test_case_of_a_profile_once_in_five_columns() {
    let builds = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("builds.tsv")).unwrap_or_default();
    let builds: Vec<&str> =
        builds.lines().filter_map(|line| line.split('\t').next()).chain(["release", "dev"]).collect();
    for profile in ["smoke", "quick", "full"] {
        let text = stdout_of(&mut Folder::new().txn_engine(&format!("arms --profile {profile}")));
        let mut seen = Vec::new();
        for line in text.lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            let [scenario, arm, build, seconds, arguments] = columns[..] else {
                panic!("{profile}: not five columns: {line}");
            };
            assert!(is_a_name(scenario) && is_an_arm(arm), "{profile}: {line}");
            assert!(builds.contains(&build), "{profile}: {line}");
            assert!(seconds.parse::<f64>().is_ok_and(|seconds| seconds > 0.0), "{profile}: {line}");
            assert!(!arguments.is_empty() && arguments.split(' ').all(|word| !word.is_empty()), "{profile}: {line}");
            assert!(!seen.contains(&(scenario, arm)), "{profile}: twice: {line}");
            seen.push((scenario, arm));
        }
        assert!(!seen.is_empty(), "{profile} has no test case");
    }
    let default = stdout_of(&mut Folder::new().txn_engine("arms"));
    assert_eq!(default, stdout_of(&mut Folder::new().txn_engine("arms --profile quick")));
}

#[test]
fn a_prepared_case_runs_and_appends_one_record() {
    let folder = Folder::new();
    let cases = stdout_of(&mut folder.txn_engine("arms --profile smoke"));
    let case = cases.lines().find(|line| line.starts_with("rows_100\tsync\t")).expect("the smallest case is there");
    let arguments = case.rsplit('\t').next().expect("a line has columns");
    folder.txn_engine("prepare --scenario rows_100 --seed 1").assert().success();
    for run in ["one", "two"] {
        let typed = format!("{arguments} --seed 1 --block 4 --run {run} --record runs.jsonl");
        folder.txn_engine(&typed).assert().success().stdout(is_empty());
    }
    let records = fs::read_to_string(folder.path("runs.jsonl")).expect("the records are written");
    let records: Vec<serde_json::Value> =
        records.lines().map(|line| serde_json::from_str(line).expect("a record is JSON")).collect();
    assert_eq!(records.len(), 2);
    for (record, run) in records.iter().zip(["one", "two"]) {
        assert_eq!(record["schema"], 1);
        assert_eq!((record["run"].as_str(), record["study"].as_str()), (Some(run), Some("txn_engine")), "{record}");
        assert_eq!((record["scenario"].as_str(), record["arm"].as_str()), (Some("rows_100"), Some("sync")), "{record}");
        assert_eq!((record["seed"].as_u64(), record["block"].as_u64()), (Some(1), Some(4)), "{record}");
        assert!(record["metrics"]["work_s"].as_f64().is_some_and(|seconds| seconds > 0.0), "{record}");
        assert!(record.get("error").is_none(), "{record}");
    }
    assert_eq!(records[0]["digest"], records[1]["digest"]);
}

#[test]
fn a_case_that_was_not_prepared_cannot_run() {
    let folder = Folder::new();
    let run = folder.txn_engine("run --scenario rows_100 --arm sync").assert();
    run.code(2).stdout(is_empty()).stderr(one_line().and(contains("prepare")));
}

#[test]
fn an_unknown_scenario_or_arm_cannot_run() {
    let folder = Folder::new();
    let prepare = folder.txn_engine("prepare --scenario nonsense").assert();
    prepare.code(2).stderr(one_line().and(contains("nonsense")));
    let run = folder.txn_engine("run --scenario nonsense --arm sync").assert();
    run.code(2).stdout(is_empty()).stderr(one_line().and(contains("nonsense")));
    folder.txn_engine("prepare --scenario rows_100").assert().success();
    let run = folder.txn_engine("run --scenario rows_100 --arm nonsense").assert();
    run.code(2).stdout(is_empty()).stderr(one_line().and(contains("nonsense")));
}

#[test]
fn an_answer_that_is_not_the_expected_one_is_a_failure_without_a_time() {
    let folder = Folder::new();
    folder.txn_engine("prepare --scenario rows_100").assert().success();
    let inputs: Vec<_> = fs::read_dir(folder.path("data"))
        .expect("prepare made the data folder")
        .flat_map(|entry| {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                fs::read_dir(path).expect("it can be listed").map(|entry| entry.expect("listed").path()).collect()
            } else {
                vec![path]
            }
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .collect();
    assert!(!inputs.is_empty(), "prepare wrote no input");
    for input in inputs {
        let mut file = File::options().append(true).open(input).expect("the input can be opened");
        file.write_all(b"deposit,777,4000000000,1\n").expect("the input can be changed");
    }
    let assert = folder.txn_engine("run --scenario rows_100 --arm sync").assert().code(1);
    let record: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).expect("a record is JSON");
    assert!(record["error"].is_string(), "{record}");
    assert_eq!(record["digest"], "", "{record}");
    assert_eq!(record["metrics"], serde_json::json!({}), "{record}");
}
