//! Partial measurements: planned, checked, and shown beside the newest whole one.

use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;
use report::plan_file::PlannedRun;
use report::results;
use support::{
    CASES, CLAIMS, FIRST, Outcome, SECOND, THIRD, Toy, cases, findings, forge, plannable, read, report, temporary,
    times, usual, write,
};

mod support;

/// A goal that only the full profile judges.
fn goal(id: &str, text: &str, arm: &str, scenarios: &str) -> String {
    format!(
        "\n[[goal]]\nid = \"{id}\"\ntext = \"{text}\"\nratio = \"{arm} / b\"\n\
         scenarios = {scenarios}\nat_most = 2.0\nblocks = {{ full = 12 }}\n"
    )
}

/// What only the full profile measures: [`CLAIMS`] with its first claim once more on a huge input, and two goals.
fn more() -> String {
    let claim = CLAIMS.split("\n\n").find(|table| table.contains("id = \"C1\"")).expect("there is a claim C1");
    let claim = claim.replace("C1", "C3").replace("big", "huge").replace("quick = 8, ", "");
    let claim = claim.replace("kind =", "aa = \"none\"\nkind =");
    let steady = goal("steady", "a takes at most twice as long as b on a huge input", "a", "[\"huge\"]");
    let everywhere = goal("everywhere", "the same on a giant input, too", "a", "[\"huge\", \"giant\"]");
    format!("\n{claim}\n{steady}{everywhere}")
}

const PAGE: &str = r#"schema = 2
title = "toy: a made-up study"
question = "Is a slower than b?"

[[table]]
id = "times"
title = "Times"
row_header = "Input"
row = [
    { label = "big", scenario = "big" },
    { label = "huge", scenario = "huge" },
    { label = "giant", scenario = "giant" },
]
column = [
    { header = "a (s)", arm = "a", metric = "work_s", digits = 1 },
    { header = "best", best = ["a", "b"], better = "lower", metric = "work_s", digits = 2 },
]

[[chart]]
id = "huge"
title = "A huge input"
kind = "strip"
scenarios = ["huge"]
arms = ["a", "b"]
metric = "work_s"
"#;

fn whole() -> Toy {
    Toy { claims: format!("{CLAIMS}{}", more()), page: PAGE.to_owned(), ..Toy::default() }
}

/// The full profile, of which only the scenarios in `part` are measured.
fn partial(part: &'static [&'static str]) -> Toy {
    let more = [("huge", "a"), ("huge", "b"), ("giant", "a"), ("giant", "b")];
    Toy { cases: cases(&[&CASES[..], &more].concat()), profile: "full", part, ..whole() }
}

/// Ten times what is usual.
fn tenfold(run: &PlannedRun) -> Outcome {
    times(run, 10.0)
}

struct Rendered {
    /// With the goals of the study.
    pages: String,
    chart: String,
    claims: String,
}

fn rendered(results: &Path) -> Rendered {
    let (pages, [chart, claims]) = support::rendered(results, ["toy-huge.svg", "claims.svg"]);
    let folder = temporary();
    let readme = folder.path().join("README.md");
    write(folder.path(), "README.md", "<!-- goals-toy:begin -->\n<!-- goals-toy:end -->\n");
    support::render(results, folder.path(), &[&readme]).success();
    Rendered { pages: pages + &read(folder.path(), "README.md"), chart, claims }
}

impl Rendered {
    /// The line of the pages that begins so.
    fn line(&self, start: &str) -> &str {
        self.pages.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no line begins '{start}'"))
    }
}

#[test]
fn a_partial_plan_holds_its_scenarios_in_no_more_blocks_than_asked() {
    let temp = temporary();
    let folder = partial(&["--only", "huge,small", "--blocks", "3"]).plan(temp.path(), FIRST);
    let cases = read(&folder, "cases.tsv");
    assert_eq!(cases.lines().count(), 3, "{cases}");
    assert!(cases.lines().all(|line| line.starts_with("huge\t") || line.starts_with("small\t")), "{cases}");
    assert_eq!(read(&folder, "plan.tsv").lines().count(), 2 * 3 + 1);
    let meta = results::read_meta(&folder).expect("plan.json can be read");
    assert_eq!((meta.only, meta.blocks_cap), (Some(vec!["huge".to_owned(), "small".to_owned()]), Some(3)));
    let uncapped = partial(&["--only", "huge"]).plan(temp.path(), SECOND);
    assert_eq!(read(&uncapped, "plan.tsv").lines().count(), 2 * 12);
    assert!(!read(&uncapped, "plan.json").contains("blocks_cap"));
    let text = read(&whole().plan(temp.path(), THIRD), "plan.json");
    assert!(!text.contains("only") && !text.contains("blocks_cap"), "{text}");
}

#[test]
fn no_budget_binds_a_partial_plan_and_unknown_scenarios_are_named() {
    let temp = plannable(&CLAIMS.replace("quick_s = 60", "quick_s = 1"));
    let plan = |more: &[&str]| support::plan(temp.path(), &[&["--show"], more].concat());
    plan(&[]).code(1);
    plan(&["--only", "big"]).success().stdout(contains("32 runs, about 16 s\n"));
    plan(&["--only", "big", "--blocks", "2"]).success().stdout(contains("8 runs"));
    plan(&["--only", "biig"]).code(2).stderr(contains("no scenario 'biig': choose of big, small"));
    plan(&["--blocks", "2"]).code(2).stderr(contains("--only"));
    plan(&["--only", "big", "--blocks", "0"]).code(2);
}

#[test]
fn a_scenario_that_the_whole_measurement_did_not_run_comes_marked_from_a_partial_one() {
    let temp = temporary();
    whole().seal(temp.path(), FIRST, usual);
    let alone = rendered(temp.path());
    let folder = partial(&["--only", "huge", "--blocks", "8"]).seal(temp.path(), SECOND, tenfold);
    assert_eq!(findings(&folder), Vec::<String>::new());
    let found = rendered(temp.path());
    let line = found.line("† from");
    assert_eq!(line, "† from `results/toy/20261121T060000Z-full` (16 runs), profile `full`, only `huge`.");
    assert!(found.line("Profile `quick`").contains("20261121T050000Z-quick"));
    assert_eq!(found.line("| big |"), "| big | 1.5 | b |");
    assert_eq!(found.line("| huge †"), "| huge † | 15.0 | b |", "a mark of all figures stands once");
    assert_eq!(found.line("Not measured in this profile"), "Not measured in this profile: giant.");
    assert!(found.chart.contains("† huge: from results/toy/20261121T060000Z-full."));
    // A figure without a verdict, which counts nowhere as a test.
    let claim = found.pages.lines().find(|line| line.contains(" <sub>[C3](")).expect("the claim has a line");
    for part in ["a ÷ b 1.50", "†", "**not measured** (quick)"] {
        assert!(claim.contains(part), "{claim}");
    }
    let row = found.line("| as published | `huge` | a ÷ b, work time |");
    // A figure, and no verdict.
    assert!(row.contains("†") && row.ends_with("| 15.0 s against 10.0 s |"), "{row}");
    assert_eq!(found.line("**Expected false positives.**"), alone.line("**Expected false positives.**"));
    assert_eq!(found.claims, alone.claims);
    assert!(found.line("| steady |").contains("n = 8 † |") && found.line("| steady |").ends_with("| met† |"));
    assert!(found.line("| fast |").ends_with("| met |"));
    // Not all of its scenarios were run.
    assert!(found.line("| everywhere |").ends_with("| not measured† |"), "{}", found.line("| everywhere |"));
    report().arg("verdicts").arg(temp.path()).assert().success().stdout(contains("† profile full, 16 runs (0 failed)"));
}

#[test]
fn a_single_block_gives_a_figure_and_decides_nothing() {
    let temp = temporary();
    whole().seal(temp.path(), FIRST, usual);
    partial(&["--only", "huge", "--blocks", "1"]).seal(temp.path(), SECOND, tenfold);
    let found = rendered(temp.path());
    let goal = found.line("| steady |");
    assert!(goal.contains("single run †") && goal.ends_with("| **undecided**† |"), "{goal}");
    assert!(found.line("| as published | `huge` |").contains("| single run |"));
}

#[test]
fn of_two_partial_measurements_the_newer_counts_per_scenario() {
    let temp = temporary();
    partial(&["--only", "huge,giant", "--blocks", "8"]).seal(temp.path(), FIRST, usual);
    partial(&["--only", "big,huge", "--blocks", "1"]).seal(temp.path(), SECOND, tenfold);
    whole().seal(temp.path(), THIRD, usual);
    let found = rendered(temp.path());
    // What the whole one ran is its own.
    assert_eq!(found.line("| big |"), "| big | 1.5 | b |");
    assert!(found.line("| huge †").contains("| 15.1 |") && found.line("| giant †").contains("| 1.5 |"));
    let notes: Vec<&str> = found.pages.lines().filter(|line| line.starts_with("† from")).collect();
    assert!(notes.iter().any(|note| note.contains("060000Z-full` (2 runs)") && note.ends_with("only `huge`.")));
    assert!(notes.iter().any(|note| note.contains("050000Z-full` (16 runs)") && note.ends_with("only `giant`.")));
    let goal = found.pages.lines().skip_while(|line| !line.starts_with("| everywhere |")).take(2).collect::<String>();
    assert!(goal.contains("| **undecided**† |") && goal.contains("`giant`"), "{goal}");
}

#[test]
fn an_arm_that_the_whole_measurement_did_not_run_comes_from_another_one() {
    let temp = temporary();
    // A goal that only full judges, on a scenario of which quick, here the larger one, ran other arms.
    let claims = format!("{CLAIMS}{}", goal("third", "c takes at most twice as long as b", "c", "[\"big\"]"));
    let claims = claims.replace("quick = 8", "quick = 16");
    let page = PAGE.replace(
        "column = [",
        r#"column = [
    { header = "c (s)", arm = "c", metric = "work_s", digits = 1 },
    { header = "c over a", arm = "a", dividend = "c", metric = "work_s", digits = 1 },"#,
    );
    let page = page.replace("[\"huge\"]\narms = [\"a\", \"b\"]", "[\"big\"]\narms = [\"a\", \"c\"]");
    let quick = Toy { claims: claims.clone(), page: page.clone(), ..Toy::default() };
    quick.seal(temp.path(), SECOND, usual);
    let all = [&CASES[..], &[("big", "c")]].concat();
    let full = Toy { cases: cases(&all), profile: "full", claims, page, ..Toy::default() };
    full.seal(temp.path(), FIRST, tenfold);

    // A whole one of the other profile stands in, although it is no part.
    let found = rendered(temp.path());
    assert!(found.line("Profile `quick`").contains("20261121T060000Z-quick"));
    assert_eq!(found.line("† from").split("profile").nth(1), Some(" `full`, only `big` (1 arm)."));
    assert_eq!(found.line("| big |"), "| big | 10.0† | 1.5 | b |", "blocks of two measurements are no pairs");
    assert!(found.chart.contains("† big: from results/toy/20261121T050000Z-full."));
    // What is judged together comes from one measurement.
    let goal = found.line("| third |");
    assert!(goal.contains("n = 12 † |") && goal.ends_with("| met† |"), "{goal}");
    // The larger one counts, whichever is newer.
    full.seal(temp.path(), THIRD, usual);
    assert!(rendered(temp.path()).line("Profile `quick`").contains("20261121T060000Z-quick"));
}

#[test]
fn a_quick_round_does_not_displace_a_full_one() {
    let temp = temporary();
    partial(&[]).seal(temp.path(), FIRST, usual);
    whole().seal(temp.path(), SECOND, usual);
    let found = rendered(temp.path());
    assert!(found.line("Profile `full`").contains("20261121T050000Z-full"));
    assert!(found.line("| fast |").ends_with("| met† |"), "what only quick judges comes from quick");
    assert!(found.line("**Rounds.**").contains("20261121T060000Z-quick"));
}

#[test]
fn what_another_host_measured_or_was_asked_another_question_stands_in_for_nothing() {
    let temp = temporary();
    whole().seal(temp.path(), FIRST, usual);
    let alone = rendered(temp.path());
    let part = || partial(&["--only", "huge", "--blocks", "8"]);
    let other_claims = part().claims.replace("margin = 0.10", "margin = 0.20").replace("full = 12", "full = 6");
    for (stamp, toy) in [
        ("20261121T030000Z", Toy { claims: other_claims.clone(), ..part() }),
        ("20261121T040000Z", Toy { claims: other_claims, ..partial(&[]) }),
        (SECOND, Toy { cpu_model: "Toy 2000", ..part() }),
        (THIRD, Toy { probe_ns: 1.7, ..part() }),
    ] {
        toy.seal(temp.path(), stamp, tenfold);
    }
    let found = rendered(temp.path());
    assert_eq!((found.pages, found.chart), (alone.pages.clone(), alone.chart.clone()));
    assert!(alone.chart.is_empty());
    assert!(alone.pages.contains("Not drawn, because none or a single point of it was run: "));
}

#[test]
fn a_partial_measurement_alone_is_no_report() {
    let temp = temporary();
    partial(&["--only", "huge", "--blocks", "1"]).seal(temp.path(), FIRST, tenfold);
    let verdicts = report().arg("verdicts").arg(temp.path()).assert();
    verdicts.code(2).stderr(contains("no sealed measurement of a whole study").and(contains("make all-reports")));
    report().arg("check").arg(temp.path()).assert().success();
}

#[test]
fn a_part_that_is_not_what_it_says_is_found() {
    for (from, to, what) in [
        ("\"huge\"", "\"giant\"", "the scenario giant stands in only and not in cases.tsv"),
        ("\"blocks_cap\": 2", "\"blocks_cap\": 1", "planned again"),
        ("\"blocks_cap\": 2", "\"blocks\": 2", "unknown field `blocks`"),
    ] {
        let temp = temporary();
        let folder = partial(&["--only", "huge", "--blocks", "2"]).seal(temp.path(), FIRST, usual);
        forge(&folder, "plan.json", |text| text.replacen(from, to, 1));
        let found = findings(&folder);
        assert!(found.iter().any(|finding| finding.contains("plan.") && finding.contains(what)), "{found:#?}");
    }
}
