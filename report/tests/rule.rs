//! The rule: predictions beside what was measured.

use std::fs;

use report::claims::Claims;
use report::folder::plan_file::PlannedRun;
use report::judge::prediction::{agrees, effect};
use support::{CASES, CLAIMS, FIRST, Outcome, SECOND, Toy, cases, read, render, rendered, temporary, usual, write};

mod painted;
mod support;

const PRICE: &str = r#"
[[price]]
id = "wake"
text = "a wake-up"
unit = "us"
metric = "work_s"
async = "task"
scenarios = ["price_wake"]
blocks = { quick = 8 }
use = "{async} late"
"#;

/// The same wake-up after so many microseconds of work, under another id.
fn later(id: &str, us: u32) -> String {
    let scenario = format!("price_{}", id.replace('-', "_"));
    PRICE
        .replace("\"wake\"", &format!("\"{id}\"\nafter = {{ us = {us}, of = \"wake\" }}"))
        .replace("price_wake", &scenario)
}

fn priced() -> String {
    [CLAIMS, PRICE, &later("late-wake", 8000), &later("later-wake", 2000), RULES].concat()
}

/// Of C1, in which a takes half as long again as b: one that fits, one that does not, and one without a price.
const RULES: &str = r#"
[[rule]]
id = "fits"
text = "250 wake-ups"
claim = "C1"
form = "published"
base = "b"
shape = "added"
handoffs = { count = 250, why = "one per thousand rows" }
price = "toy.wake"
side = "async"

[[rule]]
id = "turned"
text = "Memory as a counter"
ratio = "b / a"
scenarios = ["big"]
base = "b"
shape = "added"
handoffs = { metric = "peak_rss_kib", arm = "a" }
price = "toy.wake"
side = "async"

[[rule]]
id = "elsewhere"
text = "No such price"
ratio = "a / b"
scenarios = ["big"]
base = "b"
shape = "added"
handoffs = { count = 1, why = "one" }
price = "joy.trip"
side = "sync"

[[rule]]
id = "ahead"
text = "What goes on while the base is idle"
ratio = "a / b"
scenarios = ["big"]
base = "b"
shape = "overlap"
beside = { share = "idle_ratio" }
handoffs = { count = 1, why = "one" }
price = "toy.wake"
side = "async"
"#;

fn toy(cpu_model: &'static str) -> Toy {
    let cases = cases(&[&CASES[..], &[("price_wake", "task")]].concat());
    Toy { claims: [CLAIMS, PRICE, RULES].concat(), cases, cpu_model, ..Toy::default() }
}

/// A wake-up takes so many milliseconds.
fn waking(run: &PlannedRun, ms: f64) -> Outcome {
    if run.case.scenario == "price_wake" { Outcome::Took(ms * 1e-3, 80_000.0) } else { usual(run) }
}

#[test]
fn handoffs_add_to_work_or_to_a_part_of_what_goes_on_side_by_side() {
    let found = [
        (effect((2.0, 0.0), 1000.0, 1e-3), 1.5),
        (effect((4.0, 3.0), 1000.0, 1e-3), 1.0),
        (effect((4.0, 1.0), 1000.0, 1e-3), 1.0),
        (effect((4.0, 2.0), 5000.0, 1e-3), 1.75),
    ];
    assert!(found.iter().all(|(found, due)| (found - due).abs() < 1e-12), "{found:?}");
}

#[test]
fn a_small_effect_agrees_within_points_and_a_large_one_within_a_share_of_its_logarithm() {
    assert!(agrees(1.05, 1.001) && !agrees(1.06, 1.001) && agrees(0.94, 0.98));
    // 8 is three doublings: three quarters of one are allowed.
    assert!(agrees(8.0 * 2_f64.powf(0.74), 8.0) && !agrees(8.0 * 2_f64.powf(0.76), 8.0));
    assert!(agrees(0.45, 0.5) && !agrees(0.9, 0.5) && !agrees(f64::NAN, 2.0));
}

#[test]
fn each_host_predicts_by_its_own_price() {
    let results = temporary();
    toy("Toy 1000").seal(results.path(), FIRST, |run| waking(run, 2.0));
    toy("Other").seal(results.path(), SECOND, |run| waking(run, 0.1));
    let out = temporary();
    render(results.path(), out.path(), &[]).success();
    let page = read(out.path(), "REPORT.md");
    let row = page.lines().find(|line| line.contains("[250 wake-ups](docs/evidence/toy.md#the-rule) | 250 |")).unwrap();
    assert!(row.contains("| +2.5 to +50") && row.ends_with("| **1 of 2** |"), "{row}");
    assert!(
        page.contains("predicts 1 of 6 effects") && page.contains("- No price yet: No such price (joy.trip)"),
        "{page}"
    );

    let evidence = read(&out.path().join("docs/evidence"), "toy.md");
    let lines: Vec<&str> = evidence.lines().filter(|line| line.contains("250 wake-ups |")).collect();
    assert_eq!(lines.len(), 2, "{evidence}");
    let cells = "| `big` | Other | 250 | 4.0";
    assert!(
        lines[0].contains(cells) && lines[0].contains("| +2.5 % | +50") && lines[0].ends_with("| **misses** |"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].contains("| Toy |") && lines[1].contains("| +50") && lines[1].ends_with("| agrees |"),
        "{}",
        lines[1]
    );
    let counted = evidence.lines().find(|line| line.contains("Memory as a counter |")).unwrap();
    assert!(counted.contains("| 80,1"), "{counted}");
    assert!(evidence.contains("250 wake-ups (one per thousand rows)"), "{evidence}");
    // The longer part is three quarters of the base, which takes a second, and a wake-up adds to it.
    let ahead = evidence.lines().find(|line| line.contains("the base is idle | `big` | Toy | 1 | 1.00 s |")).unwrap();
    assert!(ahead.contains("| −24.8 % |"), "{ahead}");

    let chart = fs::read_to_string(out.path().join("charts/rule.svg")).unwrap();
    painted::check("the rule", &chart);
    // A dot per host and effect that is more, and the one beside the name of the line.
    assert_eq!(chart.matches("class=\"estimate\"").count(), 5, "{chart}");
    assert!(chart.contains("by the prices of host Other") && chart.contains("wake, async: 100 µs"), "{chart}");
}

#[test]
fn the_marks_of_a_host_whose_idle_cores_poll_are_hollow() {
    let results = temporary();
    toy("Toy 1000").seal(results.path(), FIRST, |run| waking(run, 2.0));
    Toy { idle_poll_ns: 200_000, ..toy("Toy 1000") }.seal(results.path(), SECOND, |run| waking(run, 1.0));
    let (_, [chart]) = rendered(results.path(), ["rule.svg"]);
    let svg = roxmltree::Document::parse(&chart).unwrap();
    let marks = svg.descendants().filter(|node| node.attribute("class") == Some("estimate"));
    let (hollow, filled): (Vec<_>, Vec<_>) = marks.partition(|mark| mark.attribute("fill") == Some("#ffffff"));
    assert!(!hollow.is_empty(), "{chart}");
    // One mark more is beside the name of the line.
    assert_eq!(filled.len(), hollow.len() + 1, "{chart}");
}

#[test]
fn a_handoff_has_the_price_after_as_much_work_as_lies_between_two() {
    let results = temporary();
    let cases = cases(
        &[&CASES[..], &[("price_wake", "task"), ("price_late_wake", "task"), ("price_later_wake", "task")]].concat(),
    );
    let asked = Toy { claims: priced(), cases, ..toy("Toy 1000") };
    let late = |run: &PlannedRun| match run.case.scenario.as_str() {
        "price_late_wake" => Outcome::Took(6e-3, 80_000.0),
        "price_later_wake" => Outcome::Took(3e-3, 80_000.0),
        _ => waking(run, 2.0),
    };
    asked.seal(results.path(), FIRST, late);
    let out = temporary();
    render(results.path(), out.path(), &[]).success();
    // 4 ms of work lie between two of 250 in a second, a third of the way from 2 ms to 8 ms; one has a second before it.
    let evidence = read(&out.path().join("docs/evidence"), "toy.md");
    let row = evidence.lines().find(|line| line.contains("250 wake-ups |")).unwrap();
    assert!(row.contains("| 4.00 ms <sub>wake, async</sub> | +100"), "{row}");
    let ahead = evidence.lines().find(|line| line.contains("the base is idle | `big`")).unwrap();
    assert!(ahead.contains("| 6.00 ms <sub>"), "{ahead}");
    let chart = fs::read_to_string(out.path().join("charts/rule.svg")).unwrap();
    assert!(chart.contains("wake, async: 2 to 6 ms"), "{chart}");
}

#[test]
fn without_a_price_there_is_no_rule() {
    let results = temporary();
    Toy::default().seal(results.path(), FIRST, usual);
    write(&results.path().join("toy/study"), "claims.toml", &[CLAIMS, PRICE, RULES].concat());
    let out = temporary();
    render(results.path(), out.path(), &[]).success();
    assert!(!read(out.path(), "REPORT.md").contains("The rule") && !out.path().join("charts/rule.svg").exists());
}

#[test]
fn a_rule_that_cannot_be_meant_is_refused() {
    for (from, to, why) in [
        ("claim = \"C1\"", "claim = \"C9\"", "fits is about 'C9', which is no claim"),
        ("form = \"published\"\nbase", "base", "claim and form"),
        (
            "base = \"b\"\nshape = \"added\"\nhandoffs = { metric",
            "base = \"c\"\nshape = \"added\"\nhandoffs = { metric",
            "no arm of its ratio",
        ),
        (
            "shape = \"added\"\nhandoffs = { count = 250",
            "shape = \"overlap\"\nhandoffs = { count = 250",
            "needs the key 'beside'",
        ),
        (
            "shape = \"added\"\nhandoffs = { count = 250",
            "shape = \"more\"\nhandoffs = { count = 250",
            "expected `added` or `overlap`",
        ),
        ("us = 8000", "us = 0", "late-wake needs in 'after' a price"),
        ("us = 8000", "us = 2000", "late-wake needs in 'after' a price"),
        ("us = 2000, of = \"wake\"", "us = 2000, of = \"late-wake\"", "later-wake needs in 'after' a price"),
        ("8000, of = \"wake\"", "8000, of = \"walk\"", "late-wake needs in 'after' a price"),
        ("{ count = 1, why = \"one\" }", "{ count = 1 }", "{ count, why }"),
        ("\"idle_ratio\"", "\"work_s\"", "ends in _ratio"),
        ("\"joy.trip\"", "\"trip\"", "STUDY.price-id"),
        ("side = \"sync\"", "side = \"base\"", "unknown variant"),
    ] {
        let text = priced();
        assert!(text.contains(from), "{from}");
        let error = Claims::parse(&text.replace(from, to), "claims.toml").expect_err(to).to_string();
        assert!(error.contains(why), "{to}: {error}");
    }
}
