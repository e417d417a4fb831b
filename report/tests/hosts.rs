//! Rounds of several hosts: of one the most powerful decides, those of others stand beside, and nothing mixes them.

use predicates::prelude::*;
use predicates::str::contains;
use report::host::{self, PROBES};
use report::machine::Machine;
use report::plan_file::PlannedRun;
use serde_json::{Value, json};
use support::{CASES, CLAIMS, FIRST, Outcome, SECOND, THIRD, Toy, cases, rendered, report, temporary, times, usual};

mod support;

/// A machine with usual facts and probes, some of them changed.
fn machine(changes: &[(&str, Value)]) -> Machine {
    let usual = [("cpu_model", json!("Toy")), ("cpu_count", json!(2)), ("kernel", json!("Linux 6"))];
    let probes = PROBES.map(|(name, _)| (name, json!(100)));
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
        ("probe_arithmetic_ns", json!(110), true),
        ("probe_arithmetic_ns", json!(91), true),
        ("probe_arithmetic_ns", json!(111), false),
        ("probe_arithmetic_ns", json!(90), false),
        ("probe_memory_mb_per_s", json!(51), true),
        ("probe_memory_mb_per_s", json!(49), false),
        ("probe_switch_us", json!(199), true),
        ("probe_switch_us", json!(201), false),
        ("probe_hop_us", json!(199), true),
        ("probe_hop_us", json!(201), false),
        ("probe_hop_us", json!(0), false),
        ("probe_hop_us_after", json!(200), true),
        ("probe_hop_us_after", json!(49), false),
        ("probe_memory_mb_per_s_after", json!(201), false),
    ] {
        let other = machine(&[(name, value)]);
        assert_eq!(host::is_same(&here, &other), expected, "{name} of {other:?}");
        assert_eq!(host::is_same(&other, &here), expected, "{name} of {other:?}, the other way round");
    }
    // One that was not probed is no host that is known.
    let mut unprobed = machine(&[]);
    unprobed.values.insert("probe_hop_us".to_owned(), None);
    assert!(!host::is_same(&unprobed, &unprobed));
}

/// As usual, but a is faster than b.
fn opposite(run: &PlannedRun) -> Outcome {
    times(run, if run.case.arm == "a" { 0.4 } else { 1.0 })
}

/// The toy on a machine that is as the usual one by name, and a fifth slower.
fn slower() -> Toy {
    Toy { probe_ns: 1.8, ..Toy::default() }
}

#[test]
fn rounds_of_one_host_contradict_each_other_and_those_of_two_stand_side_by_side() {
    let verdicts = |second: &Toy| {
        let temp = temporary();
        Toy::default().seal(temp.path(), FIRST, usual);
        second.seal(temp.path(), SECOND, opposite);
        let (page, []) = rendered(temp.path(), []);
        let line = |start: &str| page.lines().find(|line| line.starts_with(start)).map(str::to_owned);
        let mut on_hosts = page.lines().skip_while(|line| !line.ends_with(" on several hosts"));
        let beside = on_hosts.find(|line| line.starts_with("| [C1]")).map(str::to_owned);
        (report().arg("verdicts").arg(temp.path()).assert().success(), line("**Hosts.**"), beside)
    };
    // The probe of one machine varies by a few percent.
    let (table, hosts, beside) = verdicts(&Toy { probe_ns: 1.6, ..Toy::default() });
    table.stdout(contains("unstable"));
    assert!(!hosts.expect("the host is named").contains("; B: ") && beside.is_none());
    for second in [slower(), Toy { cpu_model: "Toy 2000", ..Toy::default() }] {
        let (table, hosts, beside) = verdicts(&second);
        table.stdout(contains(SECOND).and(contains("unstable").not()));
        let hosts = hosts.expect("the hosts are named");
        let first = format!("A: {} (family unknown", second.cpu_model);
        assert!(hosts.contains(&first) && hosts.contains("; B: Toy 1000"), "{hosts}");
        let cells: Vec<String> = beside.expect("it has a column").split(" | ").map(str::to_owned).collect();
        assert_eq!(cells.len(), 4);
        assert_ne!(cells[2], cells[3].trim_end_matches(" |"), "the two hosts disagree");
    }
}

#[test]
fn a_round_is_alike_to_every_other_one_of_its_host() {
    let temp = temporary();
    // Each is within 10 % of the one after it, the first not of the last.
    for (stamp, probe_ns) in [(FIRST, 1.40), (SECOND, 1.62), (THIRD, 1.50)] {
        Toy { probe_ns, ..Toy::default() }.seal(temp.path(), stamp, usual);
    }
    let (page, []) = rendered(temp.path(), []);
    let host_of = |stamp: &str| {
        let row = page.lines().find(|line| line.starts_with(&format!("| [{stamp}-quick](")));
        row.and_then(|row| row.split(" | ").nth(1)).map(str::to_owned)
    };
    assert_eq!([FIRST, SECOND, THIRD].map(host_of), ["B", "A", "A"].map(|host| Some(host.to_owned())), "{page}");
}

#[test]
fn of_rounds_by_the_same_claims_with_as_many_blocks_the_most_runs_decide_else_the_least_disturbed_else_the_newest() {
    let disturbed = |steal_percent| Toy { steal_percent, ..Toy::default() };
    let with_more = cases(&[&CASES[..], &[("big", "more")]].concat());
    let other_claims = CLAIMS.replace("margin = 0.10", "margin = 0.08");
    for (first, second, decides, other) in [
        (disturbed(0.7), disturbed(0.7), SECOND, FIRST),
        (disturbed(0.7), disturbed(0.72), FIRST, SECOND),
        (Toy { cases: with_more, ..disturbed(5.0) }, Toy::default(), FIRST, SECOND),
        // A larger one by other claims answers another question.
        (Toy { profile: "full", ..Toy::default() }, Toy { claims: other_claims, ..Toy::default() }, SECOND, FIRST),
    ] {
        let temp = temporary();
        second.seal(temp.path(), SECOND, usual);
        first.seal(temp.path(), FIRST, usual);
        let verdicts = report().arg("verdicts").arg(temp.path()).assert().success();
        verdicts.stdout(contains(decides).and(contains(other).not()));
    }
}

#[test]
fn the_tally_names_each_profile_that_is_shown() {
    let temp = temporary();
    Toy::default().seal(temp.path(), FIRST, usual);
    for (profile, said) in [("quick", "of the profile `quick` on "), ("full", "of the profiles `full` and `quick` on ")]
    {
        Toy { study: "joy", profile, ..Toy::default() }.seal(temp.path(), SECOND, usual);
        let (page, []) = rendered(temp.path(), []);
        assert!(page.contains(said), "{page}");
    }
}

#[test]
fn of_hosts_with_as_many_studies_the_newest_round_says_which_comes_first_and_the_others_show_what_it_lacks() {
    let temp = temporary();
    let toy = Toy { study: "joy", ..Toy::default() };
    toy.seal(temp.path(), FIRST, usual);
    slower().seal(temp.path(), SECOND, usual);
    Toy { study: "joy", cpu_model: "Toy 2000", ..Toy::default() }.seal(temp.path(), "20261121T040000Z", usual);
    let (page, [effects]) = rendered(temp.path(), ["claims.svg"]);
    let named = page.lines().find(|line| line.starts_with("`joy` was measured on host B, not on A: Toy 1000"));
    assert!(named.is_some(), "{page}");
    for round in [format!("results/joy/{FIRST}-quick"), format!("results/toy/{SECOND}-quick")] {
        assert!(page.contains(&round), "{round}");
    }
    assert!(effects.contains("Measured on another host than the rest: joy.") && effects.contains("joy C1"));
    // With a round there, it is shown from there, however small.
    Toy { study: "joy", probe_ns: 1.8, ..Toy::default() }.seal(temp.path(), THIRD, usual);
    let (page, [effects]) = rendered(temp.path(), ["claims.svg"]);
    assert!(!page.contains("was measured on host") && !effects.contains("another host"), "{page}");
}

#[test]
fn the_host_of_most_studies_comes_first_and_each_is_shown_from_that_of_its_newest_round() {
    let temp = temporary();
    Toy::default().seal(temp.path(), FIRST, usual);
    Toy { study: "joy", ..Toy::default() }.seal(temp.path(), FIRST, usual);
    Toy { study: "boy", ..slower() }.seal(temp.path(), SECOND, usual);
    let (page, []) = rendered(temp.path(), []);
    assert!(page.contains("`boy` was measured on host B, not on A") && !page.contains("`toy` was measured"), "{page}");
    Toy { study: "joy", ..slower() }.seal(temp.path(), THIRD, usual);
    let (page, []) = rendered(temp.path(), []);
    assert!(page.contains("`toy` was measured on host B, not on A") && !page.contains("`joy` was measured"), "{page}");
}

#[test]
fn every_round_says_what_else_went_on() {
    let temp = temporary();
    Toy::default().seal(temp.path(), FIRST, usual);
    let (page, []) = rendered(temp.path(), []);
    let row = page.lines().find(|line| line.contains("| decides |")).expect("its round is listed");
    let probes = "0.700 % | 1.50 ns | 9,000 MB/s | 4.00 µs | 12.0 µs";
    let round = format!("[{FIRST}-quick](../../results/toy/{FIRST}-quick)");
    assert_eq!(row, format!("| {round} | A | decides | 9 of 9 | {probes} |"));
}
