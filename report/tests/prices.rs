//! Prices: read, planned, measured by themselves or with the rest, and shown.

use std::fs;
use std::path::{Path, PathBuf};

use predicates::prelude::*;
use predicates::str::contains;
use report::claims::{Claims, Of};
use report::folder::plan_file::PlannedRun;
use support::{
    CASES, CLAIMS, FIRST, Outcome, SECOND, THIRD, Toy, cases, findings, plan, planned, printed, read, render, report,
    temporary, times, usual, write,
};

mod support;

/// Four prices: a message and memory, which the README shows, a wake-up, which the report shows, and one that only the evidence has.
const PRICES: &str = r#"
[[price]]
id = "message-1"
text = "a message through a channel"
condition = "cores idle"
unit = "us"
metric = "work_s"
sync = "thread"
async = "task"
base = "call"
scenarios = ["price_message"]
blocks = { quick = 8 }
readme = true

[[price]]
id = "wake"
text = "a wake-up by a timer"
unit = "ms"
metric = "work_s"
async = "task"
scenarios = ["price_wake"]
blocks = { quick = 6 }
report = true

[[price]]
id = "memory"
text = "memory of a task"
unit = "KiB"
metric = "peak_rss_kib"
async = "task"
scenarios = ["price_wake"]
blocks = { quick = 6 }
use = "1,000 tasks take {async*1000}"
readme = true

[[price]]
id = "wake-again"
text = "another wake-up"
unit = "ms"
metric = "work_s"
async = "task"
scenarios = ["price_wake"]
blocks = { quick = 6 }
"#;

fn priced(claims: &str) -> Toy {
    let own =
        [("price_message", "thread"), ("price_message", "task"), ("price_message", "call"), ("price_wake", "task")];
    let with_claims = if claims.contains("[[claim]]") { &CASES[..] } else { &[] };
    Toy { claims: claims.to_owned(), cases: cases(&[with_claims, &own].concat()), ..Toy::default() }
}

fn whole() -> Toy {
    priced(&(CLAIMS.to_owned() + PRICES))
}

/// A round of prices alone, on a host whose handoffs take so many times as long; what decides stays what it was.
fn prices_alone(results: &Path, stamp: &str, cpu_model: &'static str, factor: f64) -> PathBuf {
    let study = results.join("toy/study/claims.toml");
    let kept = fs::read_to_string(&study).unwrap_or_default();
    let toy = Toy { cpu_model, ..priced(&format!("schema = 2\nstudy = \"toy\"\n{PRICES}")) };
    let sealed = toy.seal(results, stamp, |run| costs(run, factor));
    if !kept.is_empty() {
        fs::write(&study, kept).unwrap();
    }
    let named = sealed.with_file_name(format!("{stamp}-prices"));
    fs::rename(&sealed, &named).unwrap();
    named
}

/// A call takes 1 ms, a thread 5 ms and a task 3 ms; a wake-up takes 2 ms.
fn costs(run: &PlannedRun, factor: f64) -> Outcome {
    let noise = 1.0 + 0.001 * run.block as f64;
    match (run.case.scenario.as_str(), run.case.arm.as_str()) {
        ("price_message", "call") => Outcome::Took(0.001, 80_000.0),
        ("price_message", "thread") => Outcome::Took(0.001 + 0.004 * noise * factor, 80_000.0),
        ("price_message", "task") => Outcome::Took(0.001 + 0.002 * noise * factor, 80_000.0),
        ("price_wake", _) => Outcome::Took(0.002 * noise * factor, 80_000.0),
        _ => usual(run),
    }
}

fn read_claims(text: &str) -> Result<Claims, String> {
    Claims::parse(text, "claims.toml").map_err(|error| error.to_string())
}

#[test]
fn a_price_is_of_a_handoff_in_nanoseconds_unless_it_says_otherwise() {
    let text = format!("{CLAIMS}{}", PRICES.replace("metric = \"work_s\"\n", ""));
    let prices = read_claims(&text).unwrap().prices;
    let printed: Vec<(&str, &Of)> =
        prices.iter().flat_map(|price| &price.sides).map(|(_, side)| (side.metric.as_str(), &side.of)).collect();
    let value = |arm: &str, minus: Option<&str>, factor: f64, unit: &str| Of::Value {
        arm: arm.to_owned(),
        minus: minus.map(str::to_owned),
        per: None,
        factor,
        unit: unit.to_owned(),
    };
    let [thread, task] = ["thread", "task"].map(|arm| value(arm, Some("call"), 1e-9 / 1e-6, "us"));
    let (call, late) = (value("call", None, 1e-9 / 1e-6, "us"), value("task", None, 1e-9 / 1e-3, "ms"));
    let memory = value("task", None, 1.0, "KiB");
    let handoffs = [&thread, &task, &call, &late].map(|of| ("handoff_ns", of));
    assert_eq!(printed, [&handoffs[..], &[("peak_rss_kib", &memory), handoffs[3]]].concat());
    assert_eq!(prices.iter().map(|price| price.is_in_readme).collect::<Vec<_>>(), [true, false, true, false]);
    assert_eq!(prices.iter().map(|price| price.is_in_report).collect::<Vec<_>>(), [false, true, false, false]);
    let factor = text.replace("unit = \"ms\"", "unit = \"turns\"\nfactor = 0.5");
    assert_eq!(read_claims(&factor).unwrap().prices[1].sides[0].1.of, value("task", None, 0.5, "turns"));
}

#[test]
fn a_price_that_cannot_be_meant_is_refused_with_its_line() {
    let line = |of: &str| (CLAIMS.to_owned() + PRICES).lines().position(|line| line.starts_with(of)).unwrap() + 1;
    for (from, to, at, why) in [
        ("readme = true", "readmee = true", "id = \"message-1", "'readmee', which means nothing"),
        ("readme = true", "per = \"rows_count\"", "id = \"message-1", "'per', which means nothing"),
        ("id = \"message-1\"", "id = \"Message_1\"", "id = \"message-1", "small letters"),
        ("id = \"message-1\"", "id = \"fast\"", "id = \"fast", "fast stands twice"),
        ("[\"price_message\"]", "[\"price_message\", \"big\"]", "id = \"message-1", "name exactly one"),
        ("{async*1000}", "{async*many}", "id = \"memory", "no figure can fill"),
        ("{async*1000}", "{async", "id = \"memory", "no figure can fill"),
        ("{async*1000}", "{sync*1000}", "id = \"memory", "no figure can fill"),
        ("unit = \"us\"", "unit = \"KiB\"", "id = \"message-1", "say by what factor"),
        ("blocks = { quick = 6 }", "blocks = { smoke = 6 }", "id = \"wake", "names the profile 'smoke'"),
        (
            "async = \"task\"\nscenarios = [\"price_wake\"]",
            "scenarios = [\"price_wake\"]",
            "id = \"wake",
            "needs an arm",
        ),
    ] {
        let text = CLAIMS.to_owned() + PRICES;
        assert!(text.contains(from), "{from}");
        let error = read_claims(&text.replace(from, to)).expect_err(to);
        assert!(error.contains(why), "{to}: {error}");
        assert!(error.starts_with(&format!("claims.toml:{}: ", line(at))), "{to}: {error}");
    }
}

#[test]
fn the_blocks_of_a_price_are_planned_like_all_others() {
    let folder = temporary();
    let toy = whole();
    write(folder.path(), "claims.toml", &toy.claims);
    write(folder.path(), "cases.tsv", &toy.cases);
    plan(folder.path(), &[]).success();
    let runs = planned(folder.path());
    let count = |scenario, arm| runs.iter().filter(|run| run.case.name() == (scenario, arm)).count();
    assert_eq!(
        (count("price_message", "task"), count("price_message", "call"), count("price_wake", "task")),
        (8, 8, 6)
    );
    let lost = toy.cases.replace("price_wake\ttask", "price_wake\tthread");
    write(folder.path(), "cases.tsv", &lost);
    plan(folder.path(), &[]).code(2).stderr(contains("wake needs the test case price_wake task"));
}

#[test]
fn of_each_host_the_newest_round_that_measured_a_price_decides() {
    let results = temporary();
    whole().seal(results.path(), FIRST, |run| costs(run, 1.0));
    prices_alone(results.path(), SECOND, "Toy 1000", 2.0);
    let other = prices_alone(results.path(), THIRD, "Other", 3.0);
    assert_eq!(findings(&other), Vec::<String>::new());
    let out = temporary();
    write(out.path(), "README.md", "<!-- prices:begin -->\nold\n<!-- prices:end -->\n");
    render(results.path(), out.path(), &[&out.path().join("README.md")]).success();

    let readme = read(out.path(), "README.md");
    assert!(readme.contains("ranges are over up to [2 hosts](docs/evidence/MACHINES.md)"), "{readme}");
    assert!(
        readme.contains("| [a message through a channel](docs/evidence/toy.md#prices) | 8.0 to 12.0 ms |"),
        "{readme}"
    );
    assert!(readme.contains("\n[1,000 tasks take 76 GiB](docs/evidence/toy.md#prices).\n"), "{readme}");
    assert!(!readme.contains("\nold\n") && !readme.contains("wake-up") && readme.lines().count() <= 16, "{readme}");

    let page = read(out.path(), "REPORT.md");
    let row = page.lines().find(|line| line.contains("a wake-up by a timer")).unwrap();
    assert!(row.contains("| 4.0 to 6.0 ms |"), "{row}");
    assert!(page.contains("conditions and 1 more price.") && !page.contains("another wake-up"), "{page}");
    assert!(
        page.contains("- [Prices](#prices)") && page.find("## Prices") < page.find("## toy: a made-up study"),
        "{page}"
    );
    assert!(!page.contains("cores idle"), "{page}");
    // The claims are judged by the newest round that was asked them.
    let evidence = read(&out.path().join("docs/evidence"), "toy.md");
    assert!(page.contains("holds on 1 of 1") && evidence.contains(&format!("{FIRST}-quick")), "{page}");
    let rounds: Vec<&str> = evidence.lines().filter(|line| line.contains("-prices)")).collect();
    assert_eq!(rounds.len(), 8, "{evidence}");
    assert!(
        evidence.contains("a message through a channel (cores idle)") && evidence.contains("| 1.00 ms"),
        "{evidence}"
    );
    assert!(rounds[0].contains("`message-1`") && rounds[0].contains("| Other |"), "{}", rounds[0]);
    assert!(rounds[1].contains("| Toy |") && rounds[1].contains(&format!("{SECOND}-prices")), "{}", rounds[1]);

    let prices = contains("a wake-up by a timer\n").and(contains("over hosts: async 4.0 to 6.0 ms"));
    let prices = prices.and(contains("least work for under 5 %: 80 to 120 ms\n"));
    printed("prices", results.path()).success().stdout(prices);
    let short = contains("a message through a channel (cores idle)\n").and(contains("wake-up").not());
    printed("answers", results.path()).success().stdout(short);
}

#[test]
fn sync_and_async_are_of_the_same_hosts() {
    let results = temporary();
    let async_alone = whole().claims.replace("sync = \"thread\"\n", "");
    Toy { cpu_model: "Other", ..priced(&async_alone) }.seal(results.path(), FIRST, |run| costs(run, 3.0));
    whole().seal(results.path(), SECOND, |run| costs(run, 1.0));
    let out = temporary();
    write(out.path(), "README.md", "<!-- prices:begin -->\nold\n<!-- prices:end -->\n");
    render(results.path(), out.path(), &[&out.path().join("README.md")]).success();
    let readme = read(out.path(), "README.md");
    assert!(readme.contains(" (1 host) | 4.01 ms | 2.01 ms |"), "{readme}");
}

#[test]
fn a_host_whose_idle_cores_poll_stands_apart() {
    let results = temporary();
    whole().seal(results.path(), FIRST, |run| costs(run, 1.0));
    let polling = Toy { idle_poll_ns: 200_000, ..whole() };
    polling.seal(results.path(), SECOND, |run| if run.case.arm == "a" { times(run, 0.8) } else { costs(run, 0.25) });
    let out = temporary();
    write(out.path(), "README.md", "<!-- prices:begin -->\nold\n<!-- prices:end -->\n");
    render(results.path(), out.path(), &[&out.path().join("README.md")]).success();
    let readme = read(out.path(), "README.md");
    assert!(readme.contains("| Price of | Sync | Async | Sync, cores poll | Async, cores poll |"), "{readme}");
    let row = readme.lines().find(|line| line.contains("a message through a channel")).unwrap();
    assert!(row.contains("| 4.01 ms (4.00 to 4.03) | 2.01 ms (2.00 to 2.01) | 1.00 ms | 502 µs |"), "{row}");
    // The only other host is named, with the interval of its round, whoever measured last.
    assert!(readme.contains("on [Toy](docs/evidence/MACHINES.md), with one round's confidence interval"), "{readme}");
    let machines = read(&out.path().join("docs/evidence"), "MACHINES.md");
    assert!(machines.contains("- Toy polling: Toy 1000 "), "{machines}");
    assert!(machines.contains("idle cores poll for up to 200 µs"), "{machines}");
    let otherwise: Vec<&str> = machines.lines().filter(|line| line.contains("(toy.md#")).collect();
    assert!(
        otherwise.iter().all(|line| line.contains("| +50 % (+50 to +51) | +20 % (+20 to +21) |"))
            && !otherwise.is_empty(),
        "{machines}"
    );
}

#[test]
fn a_price_of_polling_hosts_alone_stands_beside_those_of_the_only_other_host() {
    let results = temporary();
    let (_, others) = PRICES.split_once("readme = true\n").unwrap();
    priced(&(CLAIMS.to_owned() + others)).seal(results.path(), FIRST, |run| costs(run, 1.0));
    Toy { idle_poll_ns: 200_000, ..whole() }.seal(results.path(), SECOND, |run| costs(run, 0.25));
    let out = temporary();
    write(out.path(), "README.md", "<!-- prices:begin -->\nold\n<!-- prices:end -->\n");
    render(results.path(), out.path(), &[&out.path().join("README.md")]).success();
    let readme = read(out.path(), "README.md");
    assert!(readme.contains("| Price of | Sync, cores poll | Async, cores poll |"), "{readme}");
    let row = "| [a message through a channel](docs/evidence/toy.md#prices) | 1.00 ms | 502 µs |";
    assert!(readme.contains(row), "{readme}");
}

#[test]
fn prices_are_shown_of_a_study_of_which_nothing_else_was_measured() {
    let results = temporary();
    prices_alone(results.path(), FIRST, "Toy 1000", 1.0);
    write(&results.path().join("toy/study"), "claims.toml", &whole().claims);
    printed("prices", results.path()).success().stdout(contains("async 2.0").and(contains("over hosts").not()));
}

#[test]
fn a_round_of_prices_is_named_so_and_no_other_is() {
    let results = temporary();
    let sealed = prices_alone(results.path(), FIRST, "Toy 1000", 1.0);
    let quick = sealed.with_file_name(format!("{FIRST}-quick"));
    fs::rename(&sealed, &quick).unwrap();
    report().arg("check").arg(&quick).assert().code(1).stdout(contains("says toy/STAMP-prices"));
}

#[test]
fn without_prices_the_pages_have_no_place_for_them() {
    let results = temporary();
    Toy::default().seal(results.path(), FIRST, usual);
    write(&results.path().join("toy/study"), "claims.toml", &(CLAIMS.to_owned() + PRICES));
    let out = temporary();
    write(out.path(), "README.md", "<!-- prices:begin -->\nold\n<!-- prices:end -->\n");
    render(results.path(), out.path(), &[&out.path().join("README.md")]).success();
    assert_eq!(read(out.path(), "README.md"), "<!-- prices:begin -->\n\n<!-- prices:end -->\n");
    assert!(!read(out.path(), "REPORT.md").contains("Prices"));
    printed("answers", results.path()).success().stdout(contains("handoff").not());
}
