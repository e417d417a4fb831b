//! Calibrations: planned, sealed, judged trial by trial, and shown beside a measurement.

use std::fs;
use std::path::{Path, PathBuf};

use predicates::str::contains;
use report::folder;
use report::folder::plan_file::PlannedRun;
use support::{
    CLAIMS, FIRST, Outcome, SECOND, Toy, findings, plan, plannable, planned, read, render, rendered, temporary, times,
    usual,
};

mod support;

/// Blocks of a trial.
const BLOCKS: u64 = 8;

fn calibration() -> Toy {
    Toy { part: &["--calibrate", "5"], ..Toy::default() }
}

/// A sealed calibration under the name that measure.sh gives it.
fn sealed(results: &Path, outcome: impl Fn(&PlannedRun) -> Outcome) -> PathBuf {
    let folder = calibration().seal(results, SECOND, outcome);
    let renamed = folder.with_file_name(format!("{SECOND}-calibration"));
    fs::rename(&folder, &renamed).expect("it can be renamed");
    renamed
}

/// As usual, but in one of the five trials the copy takes a third longer.
fn one_bad_trial(run: &PlannedRun) -> Outcome {
    let is_bad = run.case.arm == "b@aa" && run.block / BLOCKS == 2;
    times(run, if is_bad { 1.33 } else { 1.0 })
}

#[test]
fn a_calibration_repeats_the_cheapest_control_of_each_form_and_its_trials_stand_apart() {
    let temp = temporary();
    let folder = calibration().plan(temp.path(), FIRST);
    let cases = read(&folder, "cases.tsv");
    let arms: Vec<&str> = cases.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(arms, ["b", "b@aa"]);
    let plan = planned(&folder);
    assert_eq!(plan.len(), 5 * 8 * 2);
    let trials: Vec<u64> = plan.iter().map(|run| run.block / BLOCKS).collect();
    assert!(trials.is_sorted(), "{trials:?}");
    let blocks: Vec<u64> = plan.iter().take(16).map(|run| run.block).collect();
    assert!(!blocks.is_sorted(), "in random order within a trial: {blocks:?}");
    let meta = folder::read_meta(&folder).expect("plan.json can be read");
    let calibration = meta.calibration.expect("it says what it repeats");
    assert_eq!(calibration.controls, ["aa b work_s big", "aa b peak_rss_kib big"]);
    assert_eq!(calibration.trials, 5);
}

#[test]
fn no_calibration_is_planned_without_a_control_or_with_scenarios() {
    let unplanted = CLAIMS.replace("planted.process", "# planted.process");
    let temp = plannable(&unplanted.replace("original =", "aa = \"none\"\noriginal ="));
    let plan = |more: &[&str]| plan(temp.path(), more);
    plan(&["--calibrate", "5"]).code(2).stderr(contains("no A/A control"));
    plan(&["--calibrate", "0"]).code(2);
    plan(&["--calibrate", "5", "--only", "big"]).code(2);
}

#[test]
fn the_report_counts_the_trials_in_which_the_method_was_wrong() {
    let temp = temporary();
    Toy::default().seal(temp.path(), FIRST, usual);
    let (without, []) = rendered(temp.path(), []);
    assert!(!without.contains("**Calibration.**"));
    let folder = sealed(temp.path(), one_bad_trial);
    assert_eq!(findings(&folder), Vec::<String>::new());
    let (report, []) = rendered(temp.path(), []);
    assert!(report.contains("**Calibration.**"));
    let row =
        report.lines().find(|line| line.starts_with("| `toy` | aa b work_s big, `big` |")).expect("there is a row");
    let cells: Vec<&str> = row.split(" | ").collect();
    assert_eq!(cells[2..7], ["5 of 8 blocks", cells[3], "0.2", "1", "0"], "{row}");
    // It is no round that judges: every other line stays.
    let lost = without.lines().find(|line| !report.contains(line));
    assert_eq!(lost, None);
}

#[test]
fn a_calibration_is_no_measurement() {
    let temp = temporary();
    sealed(temp.path(), usual);
    render(temp.path(), temporary().path(), &[]).code(2).stderr(contains("no sealed measurement of a whole study"));
}
