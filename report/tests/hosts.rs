//! Rounds of several hosts: of one the newest decides each question, and verdicts are over all of them.

use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;
use report::folder::host::{self, PROBES};
use report::folder::machine::Machine;
use report::folder::plan_file::PlannedRun;
use serde_json::{Value, json};
use support::{
    CASES, CLAIMS, FIRST, Outcome, PAGE, SECOND, THIRD, Toy, cases, judging, printed, rendered, temporary, times, usual,
};

mod support;

/// A machine with usual facts and probes, some of them changed.
fn machine(changes: &[(&str, Value)]) -> Machine {
    let usual = [("cpu_model", json!("Toy")), ("cpu_count", json!(2)), ("kernel", json!("Linux 6"))];
    let probes = PROBES.map(|(name, ..)| (name, json!(100)));
    let all = usual.iter().chain(&probes).chain(changes);
    Machine {
        values: all.map(|(name, value)| ((*name).to_owned(), Some(value.clone()))).collect(),
        ..Machine::default()
    }
}

#[test]
fn a_round_is_of_the_host_that_it_names_and_that_is_as_fast() {
    let here = machine(&[]);
    for (name, value, expected) in [
        ("governor", json!("performance"), true),
        ("steal_percent", json!(12), true),
        ("cpu_model", json!("Toy 2"), false),
        ("cpu_family", json!(25), false),
        ("cpu_model_number", json!(1), false),
        ("cpu_stepping", json!(1), false),
        ("cpu_count", json!(4), false),
        ("core_count", json!(1), false),
        ("kernel", json!("Linux 7"), false),
        ("hypervisor", json!("KVM"), false),
        ("idle_poll_ns", json!(0), true),
        ("idle_poll_ns", json!(200_000), false),
        ("probe_arithmetic_ns", json!(110), true),
        ("probe_arithmetic_ns", json!(91), true),
        ("probe_arithmetic_ns", json!(111), false),
        ("probe_arithmetic_ns", json!(90), false),
        ("probe_memory_mb_per_s", json!(51), true),
        ("probe_memory_mb_per_s", json!(49), false),
        ("probe_switch_us", json!(199), true),
        ("probe_switch_us", json!(201), false),
        ("probe_hop_us", json!(299), true),
        ("probe_hop_us", json!(301), false),
        ("probe_hop_us", json!(0), false),
        ("probe_hop_us_after", json!(200), true),
        ("probe_hop_us_after", json!(33), false),
        ("probe_memory_mb_per_s_after", json!(201), false),
    ] {
        let other = machine(&[(name, value)]);
        assert_eq!(host::is_same(&here, &other, false), expected, "{name} of {other:?}");
        assert_eq!(host::is_same(&other, &here, false), expected, "{name} of {other:?}, the other way round");
    }
    // One that was not probed is no host that is known.
    let mut unprobed = machine(&[]);
    unprobed.values.insert("probe_hop_us".to_owned(), None);
    assert!(!host::is_same(&unprobed, &unprobed, false));
}

#[test]
fn a_machine_whose_idle_cores_poll_says_so() {
    let [usual, polling] = [machine(&[]), machine(&[("idle_poll_ns", json!(200_000))])];
    assert!(host::in_words(&polling).ends_with("idle cores poll for up to 200 µs before they sleep"));
    assert!(!host::in_words(&usual).contains("poll"));
    // A twin differs in nothing else, but for what waking a core takes.
    let far = |probe: &str| machine(&[("idle_poll_ns", json!(200_000)), (probe, json!(500))]);
    assert!(!host::is_same(&usual, &polling, false) && host::is_same(&usual, &polling, true));
    assert!(host::is_same(&usual, &far("probe_hop_us"), true));
    assert!(!host::is_same(&usual, &far("probe_memory_mb_per_s"), true));
    assert_eq!(host::names([&polling, &usual, &polling].into_iter()), ["Toy polling", "Toy", "Toy polling (2)"]);
}

/// What a page says of a claim in short.
const ANSWER: &str = "[answer]\nname = \"Toy\"\nsaid = [\"a is slower\"]\nsetup = [\"time {C1.published.range}\"]\nequal = [\"-\"]\nso = \"-\"\nwhy = \"-\"\n";

/// What is said of the study in short.
fn said(results: &Path) -> String {
    let answers = printed("answers", results).success();
    String::from_utf8(answers.get_output().stdout.clone()).expect("it is text")
}

/// As usual, but a is faster than b.
fn opposite(run: &PlannedRun) -> Outcome {
    times(run, if run.case.arm == "a" { 0.4 } else { 1.0 })
}

/// The toy on a machine that is as the usual one by name, and a fifth slower.
fn slower() -> Toy {
    Toy { probe_ns: 1.8, ..Toy::default() }
}

/// The verdict in JSON on the first claim as published, over hosts and on each.
fn found(results: &Path) -> (String, u64, u64, Vec<(String, String, String)>) {
    let output = judging("verdicts", results).assert().success();
    let all: Value = serde_json::from_slice(&output.get_output().stdout).expect("it is JSON");
    let form = &all["studies"][0]["claims"][0]["published"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let number = |name: &str| form[name].as_u64().unwrap_or(0);
    let hosts = form["hosts"].as_array().expect("there are hosts").iter();
    let hosts = hosts.map(|on| (text(&on["host"]), text(&on["verdict"]), text(&on["rows"][0]["round"])));
    (text(&form["verdict"]), number("decided"), number("unclear"), hosts.collect())
}

#[test]
fn rounds_that_mostly_find_the_cores_elsewhere_are_of_another_host() {
    let temp = temporary();
    let of = |core_to_core_ns: fn(&PlannedRun) -> Option<f64>| Toy {
        core_to_core_ns,
        page: PAGE.to_owned() + ANSWER,
        ..Toy::default()
    };
    // In one of eight blocks they are elsewhere, and a takes three times as long.
    let moved = |run: &PlannedRun| run.block == 2;
    of(|run| Some(if run.block == 2 { 250.0 } else { 60.0 }))
        .seal(temp.path(), FIRST, |run| times(run, if moved(run) && run.case.arm == "a" { 3.0 } else { 1.0 }));
    let (page, []) = rendered(temp.path(), []);
    let aside = "1 block found the cores 250 ns apart, not 60 ns, and is set aside: 4.50 times";
    assert!(
        page.contains(aside) && page.contains("From core to core: 60 ns, in 12.1 % of the runs farther (250 ns)"),
        "{page}"
    );
    assert!(said(temp.path()).contains("time +50 %\n"), "{}", said(temp.path()));
    of(|_| Some(63.0)).seal(temp.path(), SECOND, usual);
    assert_eq!(found(temp.path()).3.len(), 1);
    of(|_| Some(250.0)).seal(temp.path(), THIRD, opposite);
    assert_eq!(found(temp.path()).3.len(), 2);
}

#[test]
fn a_verdict_that_some_hosts_leave_unclear_says_on_how_many_it_rests() {
    let on = |cpu_model| Toy { cpu_model, page: PAGE.to_owned() + ANSWER, ..Toy::default() };
    let noisy = |run: &PlannedRun| {
        let factor = if run.block.is_multiple_of(2) { 3.0 } else { 0.3 };
        times(run, if run.case.arm == "a" { factor } else { 1.0 })
    };
    let (alone, temp) = (temporary(), temporary());
    on("Toy 2000").seal(alone.path(), FIRST, noisy);
    assert!(said(alone.path()).contains(" %, unclear\n"), "{}", said(alone.path()));
    on("Toy 1000").seal(temp.path(), FIRST, usual);
    on("Toy 2000").seal(temp.path(), SECOND, noisy);
    let (page, []) = rendered(temp.path(), []);
    assert!(page.contains("holds on 1 of 1, 1 unclear"), "{page}");
    assert!(!said(temp.path()).contains("unclear"), "{}", said(temp.path()));
    on("Toy 3000").seal(temp.path(), THIRD, opposite);
    let (page, []) = rendered(temp.path(), []);
    assert!(page.contains("depends, 1 unclear"), "{page}");
}

#[test]
fn rounds_of_one_host_contradict_each_other_and_two_hosts_that_do_depend() {
    let temp = temporary();
    Toy::default().seal(temp.path(), FIRST, usual);
    let (verdict, decided, unclear, hosts) = found(temp.path());
    assert_eq!((verdict.as_str(), decided, unclear, hosts.len()), ("holds", 1, 0, 1));
    // The probe of one machine varies by a few percent.
    Toy { probe_ns: 1.6, ..Toy::default() }.seal(temp.path(), SECOND, opposite);
    let (verdict, decided, unclear, hosts) = found(temp.path());
    assert_eq!((verdict.as_str(), decided, unclear, hosts.len()), ("unclear", 0, 1, 1));
    judging("verdicts", temp.path()).assert().success().stdout(contains("reversed in").and(contains("holds in")));
    // A third one that agrees with the second settles it.
    Toy::default().seal(temp.path(), THIRD, opposite);
    assert_eq!(found(temp.path()).0, "reversed");
    for second in [slower(), Toy { cpu_model: "Toy 2000", ..Toy::default() }] {
        let temp = temporary();
        Toy::default().seal(temp.path(), FIRST, usual);
        second.seal(temp.path(), SECOND, opposite);
        let (verdict, decided, unclear, hosts) = found(temp.path());
        assert_eq!((verdict.as_str(), decided, unclear), ("depends", 2, 0));
        let on: Vec<(&str, &str)> =
            hosts.iter().map(|(_, verdict, round)| (verdict.as_str(), round.as_str())).collect();
        let rounds = [SECOND, FIRST].map(|stamp| format!("toy/{stamp}-quick"));
        assert_eq!(on, [("reversed", rounds[0].as_str()), ("holds", rounds[1].as_str())], "here comes first");
        let (page, []) = rendered(temp.path(), []);
        assert!(page.contains("**depends**") && page.contains("−40 to +50 %"), "{page}");
    }
}

#[test]
fn check_names_the_rounds_that_no_page_shows() {
    let temp = temporary();
    let unshown = || {
        let output = judging("check", temp.path()).assert().success();
        String::from_utf8_lossy(&output.get_output().stdout).into_owned()
    };
    let of = |stamp: &str| format!("toy/{stamp}-quick: no page shows a figure of it\n");
    Toy::default().seal(temp.path(), FIRST, usual);
    slower().seal(temp.path(), SECOND, usual);
    assert_eq!(unshown(), "", "each decides on its host");
    let newest = Toy::default().seal(temp.path(), THIRD, |run| times(run, 1.1));
    assert!(unshown().ends_with(&of(FIRST)) && unshown().lines().count() == 1, "{}", unshown());
    std::fs::remove_dir_all(newest).expect("it can be removed");
    Toy::default().seal(temp.path(), THIRD, opposite);
    assert_eq!(unshown(), "", "the first contradicts the third");
}

#[test]
fn two_hosts_that_agree_hold_on_both() {
    let temp = temporary();
    Toy::default().seal(temp.path(), FIRST, usual);
    slower().seal(temp.path(), SECOND, |run| times(run, if run.case.arm == "a" { 1.2 } else { 1.0 }));
    let said = judging("verdicts", temp.path()).args(["--study", "toy", "--claim", "C1"]).assert().success();
    said.stdout(contains("as published +80 %").and(contains("as published +50 to +80 %, holds on 2 of 2")));
}

#[test]
fn of_each_question_the_newest_round_that_asked_it_decides_and_others_ask_other_questions() {
    let temp = temporary();
    Toy::default().seal(temp.path(), FIRST, usual);
    // Fewer blocks, other words and another kind are the same question; another margin is not.
    let words = CLAIMS
        .replace("a is slower than b on a big input", "a is slow")
        .replace("{ quick = 8, full", "{ quick = 7, full");
    Toy { claims: words.clone(), ..Toy::default() }.seal(temp.path(), SECOND, usual);
    assert_eq!(found(temp.path()).3[0].2, format!("toy/{SECOND}-quick"));
    let other = CLAIMS.replace("figure = 50.0", "figure = 50.0\nmargin = 0.08");
    Toy { claims: other, ..Toy::default() }.seal(temp.path(), THIRD, opposite);
    // What decides is what the repository asks now.
    let study = temp.path().join("toy/study");
    support::write(&study, "claims.toml", &words);
    assert_eq!(found(temp.path()).3[0].2, format!("toy/{SECOND}-quick"));
    // Of a round with more blocks than are asked for today, all count.
    support::write(&study, "claims.toml", &words.replace("quick = 7", "quick = 6"));
    judging("verdicts", temp.path()).assert().success().stdout(contains("\"n\": 7"));
    let bound = words.replacen("kind = \"ratio\"", "kind = \"band\"\nat_least = 2.0\naa = \"b\"", 1);
    support::write(&study, "claims.toml", &bound);
    assert_eq!(found(temp.path()).0, "does not hold");
}

#[test]
fn the_published_size_decides_where_full_asks_a_larger_question_and_quick_stands_beside() {
    let larger = CLAIMS.replacen(
        "scenarios = [\"big\"]\nfigure",
        "scenarios = { quick = [\"big\"], full = [\"huge\"] }\nfigure",
        1,
    );
    let more = cases(&[&CASES[..], &[("huge", "a"), ("huge", "b"), ("huge", "b@aa")]].concat());
    let toy = |profile| Toy { claims: larger.clone(), cases: more.clone(), profile, ..Toy::default() };
    let temp = temporary();
    toy("full").seal(temp.path(), FIRST, |run| times(run, if run.case.arm == "a" { 0.4 } else { 1.0 }));
    toy("quick").seal(temp.path(), SECOND, usual);
    assert_eq!(found(temp.path()).0, "reversed");
    let (page, []) = rendered(temp.path(), []);
    assert!(page.contains("holds (beside)"), "{page}");
}

#[test]
fn hosts_are_called_by_their_processor() {
    let of = |model: &str, family: u64| {
        machine(&[("cpu_model", json!(model)), ("cpu_family", json!(family)), ("cpu_model_number", json!(6))])
    };
    let machines =
        [of("Intel(R) Xeon(R) Processor @ 2.80GHz", 6), of("AMD EPYC", 25), of("AMD EPYC", 25), machine(&[])];
    assert_eq!(host::names(machines.iter()), ["Xeon 6/6", "EPYC 25/6", "EPYC 25/6 (2)", "Toy"]);
}

#[test]
fn every_round_says_what_else_went_on() {
    let temp = temporary();
    Toy::default().seal(temp.path(), FIRST, usual);
    let (page, []) = rendered(temp.path(), []);
    let row = page.lines().find(|line| line.contains("| decides |")).expect("its round is listed");
    let probes = "0.700 % | 1.50 ns | 9,000 MB/s | 4.00 µs | 12.0 µs";
    let round = format!("[{FIRST}-quick](../../results/toy/{FIRST}-quick)");
    assert_eq!(row, format!("| {round} | Toy | decides | 9 of 9 | {probes} |"));
}
