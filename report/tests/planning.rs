//! The plan: what every profile runs, in which order, and when it is refused.

use std::collections::{BTreeMap, BTreeSet};

use predicates::prelude::*;
use predicates::str::contains;
use proptest::prelude::*;
use report::claims::Claims;
use report::error::Error;
use report::files::TomlFile;
use report::folder::cases;
use report::folder::manifest;
use report::folder::plan_file::{self, PlanMeta, PlannedRun};
use report::plan::{Plan, plan};
use support::{CASES, CLAIMS, plannable, report, write};

mod support;

/// Plans some cases by the toy's claims, with so many blocks of what has eight.
fn plan_of(cases: &[(&str, &str)], blocks: usize, profile: &str, (seed, layouts): (u64, u64)) -> Result<Plan, Error> {
    let text = CLAIMS.replace("quick = 8", &format!("quick = {blocks}"));
    let claims = Claims::parse(&text, "claims.toml").expect("the claims are well formed");
    let cases = cases::parse(&support::cases(cases), "cases.tsv").expect("the cases are well formed");
    let meta = serde_json::json!({
        "schema": 2, "study": "toy", "profile": profile, "seed": seed, "layouts": layouts, "hash": "", "planned_s": 0, "memory_passes": 0,
    });
    let meta: PlanMeta = serde_json::from_value(meta).expect("it has all that it needs");
    plan(&cases, &claims, TomlFile { name: "claims.toml", text: &text }, &meta)
}

fn planned(profile: &str, seed: u64) -> Plan {
    plan_of(&CASES, 8, profile, (seed, 1)).expect("the claims name cases that there are")
}

/// The blocks of every case, in the order they run.
fn blocks(runs: &[PlannedRun]) -> BTreeMap<(&str, &str), BTreeSet<u64>> {
    let mut blocks: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    for run in runs {
        let fresh = blocks.entry((run.case.scenario.as_str(), run.case.arm.as_str())).or_default().insert(run.block);
        assert!(fresh, "{} runs twice in block {}", run.case.arm, run.block);
    }
    blocks
}

proptest! {
    #[test]
    fn every_case_runs_in_the_blocks_that_are_asked_of_it_and_the_arms_of_a_block_together(seed: u64) {
        let runs = planned("quick", seed).runs;
        for ((scenario, arm), blocks) in blocks(&runs) {
            let wanted: BTreeSet<u64> = if scenario == "big" { (0..8).collect() } else { [0].into() };
            prop_assert_eq!(blocks, wanted, "{} {}", scenario, arm);
        }
        prop_assert_eq!(runs.len(), 4 * 8 + 1);
        let mut seen = BTreeSet::new();
        for group in runs.chunk_by(|a, b| a.block_name() == b.block_name()) {
            prop_assert!(seen.insert(group[0].block_name()), "block {} is torn apart", group[0].block);
        }
        prop_assert_eq!(seen.len(), 8 + 1);
        let read = plan_file::from_tsv(&plan_file::to_tsv(&runs), "plan.tsv").expect("it can be read");
        prop_assert_eq!(read, runs, "it reads back as it was written");
    }
}

#[test]
fn seeds_give_different_orders_of_blocks_and_of_arms() {
    let orders: BTreeSet<Vec<u64>> =
        (0..20).map(|seed| planned("quick", seed).runs.iter().map(|run| run.block).collect()).collect();
    assert!(orders.len() > 15, "{} of 20 seeds order the blocks differently", orders.len());
    let plan = planned("quick", 1);
    let blocks = plan.runs.chunk_by(|a, b| a.block_name() == b.block_name());
    let within: BTreeSet<Vec<&str>> =
        blocks.map(|group| group.iter().map(|run| run.case.arm.as_str()).collect()).collect();
    assert!(within.len() > 4, "{} orders of the arms in nine blocks", within.len());
}

#[test]
fn blocks_take_the_layouts_in_turn_and_a_twin_takes_the_next_one() {
    let cases = [&CASES[..], &[("big", "b~b@aa")]].concat();
    let runs = plan_of(&cases, 24, "quick", (3, 6)).expect("there are these cases").runs;
    let of = |arm: &str, block: u64| {
        let run = runs.iter().find(|run| (run.case.arm.as_str(), run.block) == (arm, block));
        run.map(|run| (run.layout, run.seed)).expect("it is planned")
    };
    for (block, layout, seed) in [(0, 0, 0), (1, 1, 0), (5, 5, 0), (6, 0, 1), (12, 0, 2), (17, 5, 2), (18, 0, 0)] {
        assert_eq!(of("a", block), (layout, seed), "block {block}");
        assert_eq!(of("b@slow", block), (layout, seed), "block {block}");
        assert_eq!(of("b@aa", block), ((layout + 1) % 6, seed), "block {block}");
    }
    assert_eq!(of("b~b@aa", 0), (0, 0), "the arms of a duet share their process");
}

#[test]
fn a_plan_of_this_seed_is_the_same_as_ever() {
    // Rounds in results/ are planned again when they are checked: another order, number, layout or input would refuse them all.
    let text = plan_file::to_tsv(&planned("quick", 7).runs);
    assert_eq!(manifest::sum(text.as_bytes()), "a4fc7ab9383ba4e16aa2c6115133d9e208db62aa76e7cf791168ae0edaadb1f6");
}

#[test]
fn a_plan_that_nobody_can_run_is_refused_and_not_made() {
    let temp = plannable(&CLAIMS.replace("quick = 8, full", "quick = 1_000_000_000, full"));
    support::plan(temp.path(), &[]).code(2).stderr(contains("1000000 are the most").and(contains("\n").count(1)));
    let many = plannable(&CLAIMS.replace("quick = 8", "quick = 10_000"));
    support::plan(many.path(), &["--calibrate", "60000"]).code(2).stderr(contains("1000000 are the most"));
    let temp = plannable(CLAIMS);
    support::plan(temp.path(), &["--layouts", "0"]).code(2);
    write(temp.path(), "cases.tsv", "big\ta\trelease\t1e300\trun\n");
    support::plan(temp.path(), &[]).code(2).stderr(contains("cases.tsv:1: "));
}

#[test]
fn several_plans_are_shown_by_name_with_what_they_take_together() {
    let (one, other) = (plannable(CLAIMS), plannable(&CLAIMS.replace("\"toy\"", "\"joy\"")));
    let show = || support::plan(one.path(), &[&other.path().display().to_string()]);
    let tables =
        contains("toy\nscenario").and(contains("joy\nscenario")).and(contains("33 runs, about 16 s, within").count(2));
    show().success().stdout(tables.and(contains("\ntotal: 2 studies, 66 runs, about 33 s\n")));
    let dear = CLAIMS.replace("\"toy\"", "\"joy\"").replace("quick_s = 60", "quick_s = 1");
    write(other.path(), "claims.toml", &dear);
    show().code(1).stdout(contains("about 33 s; over budget: joy\n"));
}

#[test]
fn smoke_runs_every_case_once_whatever_the_claims_ask() {
    let plan = planned("smoke", 3);
    assert_eq!((blocks(&plan.runs).len(), plan.runs.len()), (5, 5));
}

#[test]
fn the_hash_is_that_of_the_three_files_one_after_the_other() {
    // The published test vector of SHA-256 for "abc".
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(plan_file::hash("a", "b", "c"), expected);
}

#[test]
fn a_claim_about_a_case_that_is_not_there_is_refused_by_name() {
    let error = plan_of(&CASES[..3], 8, "quick", (1, 1)).expect_err("b@slow is not listed").to_string();
    assert!(error.contains("planted b work_s big needs") && error.contains("big b@slow"), "{error}");
    assert!(plan_of(&CASES[..3], 8, "smoke", (1, 1)).is_ok(), "smoke judges nothing");
}

#[test]
fn what_is_to_be_shown_first_comes_first() {
    let of = |first: &str| {
        let folder = plannable(&CLAIMS.replacen("schema = 2\n", &format!("schema = 2\n{first}\n"), 1));
        support::plan(folder.path(), &[]).success();
        let runs = std::fs::read_to_string(folder.path().join("plan.tsv")).expect("it is written");
        let output = report().arg("first").arg(folder.path()).assert().success();
        let count = String::from_utf8(output.get_output().stdout.clone()).expect("it is text");
        (runs, count.trim().parse::<usize>().expect("it is a number"))
    };
    assert_eq!(of("").1, 0);
    let (runs, count) = of("first = [\"C1\"]");
    let scenarios: Vec<_> = runs.lines().map(|line| line.split('\t').nth(2)).collect();
    assert!(count == 32 && scenarios.len() == 33 && scenarios[count..] == [Some("small")], "{count} {scenarios:?}");
    let unknown = plannable(&CLAIMS.replacen("schema = 2\n", "schema = 2\nfirst = [\"C9\"]\n", 1));
    support::plan(unknown.path(), &[]).code(2).stderr(contains("C9 is to be measured first"));
}

/// What `report cases` prints of a study in which some cases take long, as scenario and arm.
fn selected(arguments: &[&str]) -> Vec<String> {
    let folder = plannable(CLAIMS);
    let long = ["a", "b", "b@aa", "b@slow"].map(|arm| format!("big\t{arm}\trelease\t9\tx\n")).concat();
    let others = "big\tc\trelease\t0.51\tx\nsmall\ta\trelease\t0.5\tx\nsmall\tb\tvariant-counting\t0.1\tx\n";
    write(folder.path(), "cases.tsv", &(long + others));
    let output = report().arg("cases").arg(folder.path()).args(arguments).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).expect("it is text");
    text.lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn only_smoke_runs_what_nobody_asks_for() {
    let all = ["big a", "big b", "big b@aa", "big b@slow", "big c", "small a", "small b"];
    assert_eq!(selected(&["--profile", "quick"]), ["big a", "big b", "big b@aa", "big b@slow"]);
    // The planted control and the claim about memory are of quick alone.
    assert_eq!(selected(&["--profile", "full"]), ["big a", "big b", "big b@aa"]);
    assert_eq!(selected(&["--profile", "smoke"]), all);
}

#[test]
fn the_memory_that_is_judged_is_cross_checked() {
    let judged = ["big a", "big b", "big b@aa"];
    let in_full =
        CLAIMS.replace("margin = 0.10\nblocks = { quick = 8 }", "margin = 0.10\nblocks = { quick = 8, full = 6 }");
    let expected: [(&str, &str, &[&str], u32); 5] = [
        (CLAIMS, "smoke", &[], 0),
        (CLAIMS, "quick", &[], 1),
        (CLAIMS, "quick", &["--calibrate", "2"], 0),
        (CLAIMS, "full", &[], 0),
        (&in_full, "full", &[], 3),
    ];
    for (claims, profile, part, passes) in expected {
        let temp = plannable(claims);
        let plan = ["--profile", profile, "--seed", "1"];
        report().arg("plan").arg(temp.path()).args(plan).args(part).assert().success();
        let output = report().arg("passes").arg(temp.path()).assert().success();
        let text = String::from_utf8(output.get_output().stdout.clone()).expect("it is text");
        let of_pass = |pass| judged.iter().map(move |case| format!("{pass}\t{}", case.replace(' ', "\t")));
        let expected: Vec<String> = (0..passes).flat_map(of_pass).collect();
        let promised = text.lines().map(|line| line.split('\t').take(3).collect::<Vec<_>>().join("\t"));
        assert_eq!(promised.collect::<Vec<_>>(), expected, "{profile} {part:?}");
        assert!(text.lines().all(|line| line.split('\t').count() == 6), "the line of cases.tsv follows: {text}");
    }
}
