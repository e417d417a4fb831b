//! A small study, run by the kit.

use std::cell::Cell;

use anyhow::{Result, ensure};
use serde_json::Value;
use study_kit::record::{Order, Request};
use study_kit::run::run;
use study_kit::{Metrics, Observation, Scenario, Span, Study, TestCase, Turn, Turns, always};

struct Toy;

impl Study for Toy {
    type Setting = usize;
    const NAME: &'static str = "toy";
    const SCENARIOS: &'static [Scenario<usize>] = &[
        Scenario::new(
            "n_3",
            3,
            &[always(0.1, "sum sum@aa sum@slow broken sum~other sum@slow~sum sum~wrong sum~fickle")],
        ),
        Scenario::new("n_0", 0, &[always(0.1, "sum~other")]),
        Scenario::new("n_1", 1, &[always(0.1, "sum~other")]),
        Scenario::new("n_7", 7, &[always(0.1, "sum~other")]),
        Scenario::new("n_50", 50, &[always(0.1, "sum~other")]),
    ];
    const PAGE: &'static str = "";

    fn pairs(setting: &usize, _: &str) -> usize {
        *setting
    }

    fn observe(case: &TestCase<'_, usize>) -> Result<Observation> {
        ensure!(case.arm != "broken", "it broke\nin two lines");
        let span = Span::start();
        case.stretch(&span);
        let mut metrics = span.end().metrics();
        metrics.put("handicap_ratio", case.handicap);
        metrics.put("absent_ratio", f64::NAN);
        Ok(Observation::new(case.setting.to_string(), metrics))
    }

    fn turns<'a>(case: &'a TestCase<'_, usize>) -> Result<Turns<'a>> {
        let turns = Cell::new(0);
        Ok(Box::new(move || {
            turns.set(turns.get() + 1);
            let wrong = case.arm == "wrong" || case.arm == "fickle" && turns.get() == 3;
            let digest = if wrong { "4" } else { "3" }.to_owned();
            let metrics = Metrics::from([("turns_count", f64::from(turns.get()))]);
            Ok(Turn { seconds: case.handicap, digest, metrics })
        }))
    }
}

fn request(scenario: &str, arm: &str, versus: Option<&str>) -> Request {
    let [scenario, arm, run] = [scenario, arm, "toy-1"].map(str::to_owned);
    Request { scenario, arm, versus: versus.map(str::to_owned), seed: 1, block: 2, run, record: None }
}

/// The record of a run, as it is written.
fn record(arm: &str, versus: Option<&str>) -> Value {
    serde_json::to_value(run::<Toy>(&request("n_3", arm, versus)).unwrap()).unwrap()
}

#[test]
fn a_sample_has_the_answer_the_figures_and_the_peak_of_the_process() {
    let sample = record("sum@aa", None);
    assert_eq!((&sample["arm"], &sample["digest"], &sample["seed"]), (&"sum@aa".into(), &"3".into(), &1.into()));
    assert_eq!(sample["metrics"]["handicap_ratio"], 1.0);
    assert_eq!(record("sum@slow", None)["metrics"]["handicap_ratio"], 1.1);
    assert!(sample["metrics"]["absent_ratio"].is_null() && sample["error"].is_null());
    assert_eq!((&sample["schema"], &sample["study"], &sample["run"]), (&2.into(), &"toy".into(), &"toy-1".into()));
    if cfg!(target_os = "linux") {
        assert!(sample["metrics"]["process_peak_rss_kib"].as_f64() >= sample["metrics"]["peak_rss_kib"].as_f64());
    }
}

#[test]
fn a_failure_is_recorded_in_one_line_and_has_no_figures() {
    let failure = record("broken", None);
    assert_eq!(failure["error"], "it broke in two lines");
    assert_eq!((&failure["digest"], &failure["metrics"]), (&"".into(), &serde_json::json!({})));
    assert!(failure["pairs"].is_null() && failure["versus"].is_null());
}

#[test]
fn a_duet_alternates_as_often_as_the_setting_says_after_an_unrecorded_turn_of_each() {
    let duet = record("sum@slow", Some("sum"));
    let pairs = duet["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    assert!(pairs.iter().all(|pair| pair["a_s"] == 1.04 && pair["b_s"] == 1.0));
    assert_eq!((&duet["metrics"]["turns_count"], &duet["metrics"]["versus_turns_count"]), (&4.0.into(), &4.0.into()));
}

#[test]
fn either_order_comes_as_often_and_they_follow_from_seed_and_block() {
    let orders = |scenario, seed, block| {
        let record = run::<Toy>(&Request { seed, block, ..request(scenario, "sum", Some("other")) }).unwrap();
        record.pairs.unwrap().into_iter().map(|pair| pair.order).collect::<Vec<_>>()
    };
    let count = |scenario, wanted| orders(scenario, 1, 2).into_iter().filter(|order| *order == wanted).count();
    assert_eq!((count("n_50", Order::Ab), count("n_50", Order::Ba), count("n_0", Order::Ab)), (25, 25, 0));
    assert_eq!(count("n_7", Order::Ab).abs_diff(count("n_7", Order::Ba)), 1);
    let more: Vec<_> = (0..20).flat_map(|block| orders("n_1", 1, block)).collect();
    assert!(more.contains(&Order::Ab) && more.contains(&Order::Ba));
    assert_eq!(orders("n_50", 1, 2), orders("n_50", 1, 2));
    assert_ne!(orders("n_50", 1, 2), orders("n_50", 1, 3));
    assert_ne!(orders("n_50", 1, 2), orders("n_50", 2, 2));
}

#[test]
fn arms_that_disagree_are_a_failure_whenever_it_shows() {
    assert_eq!(record("sum", Some("wrong"))["error"], "wrong answer: sum and wrong came to different ones");
    assert_eq!(record("sum", Some("fickle"))["error"], "wrong answer: not the one of the turn before");
}

#[test]
fn what_the_study_does_not_list_is_refused_with_what_it_does() {
    let arms = "broken, sum, sum@aa, sum@slow, sum@slow~sum, sum~fickle, sum~other, sum~wrong";
    for (scenario, arm, versus, why) in [
        ("n_4", "sum", None, "unknown scenario 'n_4': choose one of n_3, n_0, n_1, n_7, n_50".to_owned()),
        ("n_3", "sum@fast", None, format!("the arm sum@fast does not run in n_3: choose one of {arms}")),
        ("n_3", "other", Some("sum"), format!("the arm other~sum does not run in n_3: choose one of {arms}")),
    ] {
        assert_eq!(run::<Toy>(&request(scenario, arm, versus)).unwrap_err().to_string(), why);
    }
}
