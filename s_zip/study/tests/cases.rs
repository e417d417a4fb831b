//! The table of scenarios, and its cases as a person runs them.

use std::collections::{HashMap, HashSet};

use assert_cmd::Command;
use predicates::str::contains;
use s_zip_study::SZip;
use s_zip_study::cases::{Arm, Work};
use s_zip_study::many;
use s_zip_study::prices::{Price, TRIPS, WRITES};
use serde_json::Value;
use strum::VariantArray;
use study_kit::{Profile, Study, price};

const PROFILES: [Profile; 3] = [Profile::Smoke, Profile::Quick, Profile::Full];

/// Scenario and arm of each test case.
fn cases(profile: Profile) -> Vec<(&'static str, &'static str)> {
    let of =
        |scenario: &'static study_kit::Scenario<_>| scenario.arms_in(profile).map(move |(arm, _)| (scenario.name, arm));
    SZip::SCENARIOS.iter().flat_map(of).collect()
}

fn work(scenario: &str) -> Work {
    SZip::SCENARIOS.iter().find(|listed| listed.name == scenario).expect("it is listed").setting.work
}

#[test]
fn no_test_case_stands_twice_in_a_profile() {
    for profile in PROFILES {
        let cases = cases(profile);
        assert_eq!(cases.iter().collect::<HashSet<_>>().len(), cases.len(), "{profile:?}");
    }
}

#[test]
fn every_name_stands_for_an_arm_and_every_arm_runs_in_smoke() {
    for (scenario, arms) in PROFILES.into_iter().flat_map(cases) {
        for arm in arms.split('~').map(|arm| arm.split('@').next().unwrap_or_default()) {
            let known = match work(scenario) {
                Work::Many { .. } => many::parse(arm).is_ok(),
                Work::Price(Price::Trip { .. }) => price::find(&TRIPS, arm).is_ok(),
                Work::Price(Price::Write) | Work::Writes => price::find(&WRITES, arm).is_ok(),
                _ => {
                    arm.strip_suffix("_whole").unwrap_or(arm).parse::<Arm>().is_ok() || ["empty", "idle"].contains(&arm)
                }
            };
            assert!(known, "{scenario} {arm}");
        }
    }
    let smoke = cases(Profile::Smoke);
    for &arm in Arm::VARIANTS {
        assert!(smoke.iter().any(|(_, name)| *name == <&str>::from(arm)), "{arm:?}");
    }
}

#[test]
fn the_published_shape_gets_no_entry_and_no_number_of_them_that_needs_zip64() {
    let is_published = |arm: &str| ["sync", "async", "poll"].iter().any(|start| arm.starts_with(start));
    for scenario in SZip::SCENARIOS {
        let mut arms = scenario.arms_in(Profile::Full);
        if arms.any(|(arm, _)| is_published(arm) && arm != "async_zip") {
            let shape = &scenario.setting.shape;
            assert!(u32::try_from(shape.entry_bytes()).is_ok(), "{}: {} bytes", scenario.name, shape.entry_bytes());
            assert!(u16::try_from(shape.entries).is_ok(), "{}", scenario.name);
        }
    }
}

fn study(arguments: &str) -> Command {
    let mut command = Command::cargo_bin("s_zip_study").expect("the program is built");
    command.args(arguments.split(' '));
    command
}

fn record(arguments: &str) -> Value {
    let output = study(arguments).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).expect("a record is JSON")
}

#[test]
fn a_duet_records_its_pairs_and_a_single_run_its_counters() {
    let duet = record("run --scenario memory_100k --arm sync --versus async");
    assert_eq!(duet["pairs"].as_array().map(Vec::len), Some(20));
    assert!(duet["metrics"]["archive_bytes"].is_number() && duet["metrics"]["versus_archive_bytes"].is_number());
    let single = record("run --scenario perf_5m --arm sync@aa");
    assert_eq!(single["metrics"]["sink_writes_count"], 33.0 * 5.0 + 8.0);
    assert_eq!(single["arm"], "sync@aa");
    assert_eq!(
        record("run --scenario entries_50_disk --arm async --versus sync")["pairs"].as_array().unwrap().len(),
        10
    );
}

#[test]
fn several_archives_and_a_ticker_have_figures_of_their_own() {
    let ways = ["best_sync_threads", "best_sync_pool", "best_async_concurrent"];
    let several = ways.map(|arm| record(&format!("run --scenario many_10 --arm {arm}")));
    for record in &several {
        assert_eq!(record["metrics"]["archives_count"], 100.0);
        assert_eq!(record["digest"], several[0]["digest"]);
    }
    let idle = record("run --scenario ticker --arm idle");
    assert!(idle["metrics"]["ticks_count"].as_f64() > Some(500.0), "{idle}");
    assert_eq!(record("run --scenario rss_5m --arm empty")["digest"], "");
}

#[test]
fn every_price_is_the_time_of_handoffs_that_were_made() {
    let of_prices = |(scenario, _): &(&str, &str)| matches!(work(scenario), Work::Price(_));
    for (scenario, arm) in cases(Profile::Smoke).into_iter().filter(of_prices) {
        let record = record(&format!("run --scenario {scenario} --arm {arm}"));
        let figure = |name: &str| record["metrics"][name].as_f64().expect(name);
        assert!(figure("handoffs_count") >= 1.0 && figure("handoff_cpu_ns").is_finite(), "{record}");
        // What the caller computes meanwhile is no part of it.
        let all_ns = figure("work_s") * 1e9 / figure("handoffs_count");
        let computes = scenario.starts_with("price_trip_working");
        assert_eq!(figure("handoff_ns") < all_ns * (1.0 - 1e-9), computes, "{record}");
    }
}

#[test]
fn every_arm_of_a_map_does_the_same_work_and_says_how_large_a_piece_was() {
    let mut answers = HashMap::new();
    for (scenario, arm) in cases(Profile::Smoke).into_iter().filter(|(scenario, _)| scenario.starts_with("map_")) {
        let record = record(&format!("run --scenario {scenario} --arm {arm}"));
        let figure = |name: &str| record["metrics"][name].as_f64().expect(name);
        let (x, y) =
            if work(scenario) == Work::Writes { ("write_bytes", "write_us") } else { ("data_bytes", "archive_us") };
        assert!(figure(y) > 0.0, "{record}");
        let answer = (record["digest"].clone(), figure(x));
        assert_eq!(answers.entry(scenario).or_insert_with(|| answer.clone()), &answer, "{record}");
    }
}

#[test]
fn names_that_mean_nothing_are_errors_that_list_the_choices() {
    for (arguments, part) in [
        ("--scenario entry --arm sync", "entry_5m"),
        ("--scenario calls_1 --arm sink", "best_async"),
        ("--scenario calls_1 --arm sync@fast", "does not run"),
        ("--scenario many_10 --arm sync", "async_concurrent"),
        ("--scenario ticker --arm idle --versus async", "does not run"),
    ] {
        study(&format!("run {arguments}")).assert().code(2).stderr(contains(part));
    }
}

#[test]
fn the_verbs_answer() {
    let line = contains("entry_5m\tsync~sync@aa\trelease\t0.15\trun --scenario entry_5m --arm sync");
    study("arms").assert().success().stdout(line);
    study("prepare --scenario ticker --seed 2").assert().success().stdout("");
}
