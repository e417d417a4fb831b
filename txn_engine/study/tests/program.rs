//! The study as a program: its test cases, its runs, and its engine in every arm.

use std::fs::{self, File};
use std::io::Write;

use assert_cmd::Command;
use predicates::str::is_empty;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder to work in, with the study's data below it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder can be made"))
    }

    /// The program with what is typed after it, words separated by spaces.
    fn study(&self, typed: &str) -> Command {
        let mut command = Command::cargo_bin("txn_engine_study").expect("it is built");
        command.current_dir(&self.0).env("AWAIT_OR_NOT_DATA", self.0.path().join("data"));
        command.args(typed.split_whitespace());
        command
    }

    /// What it prints, if it ends with this exit code.
    fn output(&self, typed: &str, code: i32) -> String {
        let output = self.study(typed).assert().code(code).get_output().stdout.clone();
        String::from_utf8(output).expect("the output is text")
    }

    fn record(&self, typed: &str, code: i32) -> Value {
        serde_json::from_str(&self.output(typed, code)).expect("a record is JSON")
    }
}

#[test]
fn each_test_case_of_a_profile_is_listed_once_with_a_build_that_there_is() {
    for profile in ["smoke", "quick", "full"] {
        let text = Folder::new().output(&format!("arms --profile {profile}"), 0);
        let mut seen = Vec::new();
        for line in text.lines() {
            let [scenario, arm, build, seconds, _] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{profile}: not five columns: {line}");
            };
            assert!(matches!(build, "release" | "dev"), "{profile}: {line}");
            assert!(seconds.parse::<f64>().is_ok_and(|seconds| seconds > 0.0), "{profile}: {line}");
            assert!(!seen.contains(&(scenario, arm)), "{profile}: twice: {line}");
            seen.push((scenario, arm));
        }
        assert!(!seen.is_empty(), "{profile} has no test case");
    }
}

#[test]
fn every_arm_gives_the_answer_of_the_oracle_on_the_smallest_file() {
    // The bare scan and the reader have no accounts.
    assert_arms_agree("rows_100", 24);
}

#[test]
fn every_arm_of_a_map_gives_the_answer_of_the_oracle() {
    assert_arms_agree("map_600", 8);
}

/// Runs the arms of a scenario, at `least` so many, each of which must come to the same accounts, if it has any, and have taken some time.
fn assert_arms_agree(scenario: &str, least: usize) {
    let folder = Folder::new();
    folder.study(&format!("prepare --scenario {scenario} --seed 1")).assert().success();
    let cases = folder.output("arms --profile smoke", 0);
    let cases: Vec<_> = cases.lines().filter(|line| line.split('\t').next() == Some(scenario)).collect();
    assert!(cases.len() >= least, "{cases:?}");
    let mut digests = Vec::new();
    for case in cases {
        let arguments = case.rsplit('\t').next().expect("a line has columns");
        let typed = format!("{arguments} --seed 1 --block 4 --run one --record runs.jsonl");
        folder.study(&typed).assert().success().stdout(is_empty());
    }
    let records = fs::read_to_string(folder.0.path().join("runs.jsonl")).expect("the records are written");
    for line in records.lines() {
        let record: Value = serde_json::from_str(line).expect("a record is JSON");
        assert_eq!((&record["study"], &record["scenario"]), (&json!("txn_engine"), &json!(scenario)), "{record}");
        assert_eq!((&record["seed"], &record["block"]), (&json!(1), &json!(4)), "{record}");
        assert!(record["metrics"]["work_s"].as_f64().is_some_and(|figure| figure > 0.0), "{record}");
        digests.extend(record["digest"].as_str().filter(|digest| !digest.is_empty()).map(str::to_owned));
    }
    digests.dedup();
    assert_eq!(digests.len(), 1, "{digests:?}");
}

#[test]
fn a_case_that_was_not_prepared_says_how_to_prepare_it() {
    let record = Folder::new().record("run --scenario rows_100 --arm sync", 1);
    let error = record["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("run `prepare --scenario rows_100 --seed 0` first: cannot read "), "{record}");
}

#[test]
fn an_answer_that_is_not_the_expected_one_is_a_failure_without_a_time() {
    let folder = Folder::new();
    folder.study("prepare --scenario rows_100").assert().success();
    let input = folder.0.path().join("data/txn_engine/original-100-s0-g2.csv");
    let mut file = File::options().append(true).open(input).expect("prepare wrote it");
    file.write_all(b"deposit,777,4000000000,1\n").expect("the input can be changed");
    let record = folder.record("run --scenario rows_100 --arm sync", 1);
    assert!(record["error"].as_str().is_some_and(|error| error.starts_with("wrong answer: ")), "{record}");
    assert_eq!((&record["digest"], &record["metrics"]), (&json!(""), &json!({})), "{record}");
}

#[test]
fn servers_and_clients_are_this_program_in_a_process_of_its_own() {
    for (scenario, arm, failures) in
        [("clients_10000", "spawn_tasks", "crashed_count"), ("tcp_100_large", "tokio", "unserved_count")]
    {
        let folder = Folder::new();
        folder.study(&format!("prepare --scenario {scenario}")).assert().success();
        let record = folder.record(&format!("run --scenario {scenario} --arm {arm}"), 0);
        assert_eq!(record["metrics"][failures], 0.0, "{record}");
        assert!(record["digest"].as_str().is_some_and(|digest| digest.len() == 16), "{record}");
    }
}

#[test]
fn each_arm_of_a_price_makes_handoffs_and_says_what_one_took() {
    let folder = Folder::new();
    let cases = folder.output("arms --profile smoke", 0);
    let cases: Vec<_> = cases.lines().filter(|line| line.starts_with("price_")).collect();
    assert!(cases.len() > 15, "{cases:?}");
    for case in cases {
        let arguments = case.rsplit('\t').next().expect("a line has columns");
        let record = folder.record(arguments, 0);
        for metric in ["work_s", "handoff_ns", "handoff_cpu_ns", "handoffs_count"] {
            assert!(record["metrics"][metric].as_f64().is_some_and(|figure| figure > 0.0), "{metric}: {record}");
        }
        assert_eq!(record["digest"], "", "{record}");
    }
}
