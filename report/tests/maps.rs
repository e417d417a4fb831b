//! Maps: read, planned, measured by themselves or with the rest, and shown with their crossings.

use report::charts::map::{bend, fading};
use std::fs;
use std::path::{Path, PathBuf};

use predicates::prelude::*;
use predicates::str::contains;
use proptest::prelude::*;
use report::claims::Claims;
use report::claims::map::When;
use report::folder::plan_file::PlannedRun;
use report::judge::maps::pass;
use report::stats::monotone::falling;
use support::{
    CASES, CLAIMS, FIRST, Outcome, PAGE, SECOND, THIRD, Toy, cases, findings, judging, plan, planned, printed, read,
    render, rendered, report, temporary, usual, write,
};

mod painted;
mod support;

const PRICE: &str = r#"
[[price]]
id = "message"
text = "a message through a channel"
unit = "ms"
metric = "work_s"
async = "task"
scenarios = ["price_message"]
blocks = { quick = 6 }
use = "{async}"
"#;

/// A call takes 1 ms to 1 s, which a task makes longer; where it takes a second, threads are measured, too.
const MAP: &str = r#"
[[map]]
id = "duration"
text = "How long must a call be?"
x = { metric = "work_s", label = "duration of a call" }
y = { metric = "work_s", label = "time over the same in place" }
base = "call"
arms = ["call", "task", "thread"]
scenarios = ["map_1ms", "map_10ms", "map_100ms", "map_1s"]
without = { thread = ["map_1ms"] }
blocks = { quick = 6 }
published = [{ x = 5.0, label = "5 s" }]
crossing = [
    { id = "trip", arm = "task", at = 1.05, when = "falls", text = "From {x} on a trip adds less than 5 %." },
    { id = "thread", arm = "thread", when = "rises", text = "From {x} on a thread is slower." },
]
curve = [{ arm = "task", price = "toy.message", side = "async", handoffs = 2 }]
"#;

const MAPPED: [(&str, &str); 11] = [
    ("map_1ms", "call"),
    ("map_1ms", "task"),
    ("map_10ms", "call"),
    ("map_10ms", "task"),
    ("map_10ms", "thread"),
    ("map_100ms", "call"),
    ("map_100ms", "task"),
    ("map_100ms", "thread"),
    ("map_1s", "call"),
    ("map_1s", "task"),
    ("map_1s", "thread"),
];

fn toy(claims: &[&str]) -> Toy {
    let claims = claims.concat();
    let of = |head: &str, own: &'static [(&str, &str)]| if claims.contains(head) { own } else { &[] };
    let all = [of("[[claim]]", &CASES), of("[[price]]", &[("price_message", "task")]), of("[[map]]", &MAPPED)].concat();
    let page = PAGE.replace(
        "\"Do not.\"",
        "\"Use it for calls of {map.duration.trip} and more (threads: {map.duration.thread}).\"",
    );
    Toy { claims, page, cases: cases(&all), ..Toy::default() }
}

fn whole() -> Toy {
    toy(&[CLAIMS, PRICE, MAP])
}

/// A round of maps alone, on a host whose handoffs take so many times as long; what decides stays what it was.
fn maps_alone(results: &Path, stamp: &str, cpu_model: &'static str, factor: f64) -> PathBuf {
    let study = results.join("toy/study/claims.toml");
    let kept = fs::read_to_string(&study).unwrap_or_default();
    let toy = Toy { cpu_model, ..toy(&["schema = 2\nstudy = \"toy\"\n", MAP]) };
    let sealed = toy.seal(results, stamp, |run| costs(run, factor));
    if !kept.is_empty() {
        fs::write(&study, kept).unwrap();
    }
    let named = sealed.with_file_name(format!("{stamp}-maps"));
    fs::rename(&sealed, &named).unwrap();
    named
}

/// A handoff takes 2 ms, of which a task makes two.
fn costs(run: &PlannedRun, factor: f64) -> Outcome {
    let call = match run.case.scenario.as_str() {
        "price_message" => return Outcome::Took(0.002 * factor, 80_000.0),
        "map_1ms" => 0.001,
        "map_10ms" => 0.01,
        "map_100ms" => 0.1,
        "map_1s" => 1.0,
        _ => return usual(run),
    };
    let noise = 1.0 + 0.001 * run.block as f64;
    let taken = match run.case.arm.as_str() {
        "task" => call + 0.004 * factor * noise,
        "thread" => call * 0.9,
        _ => call,
    };
    Outcome::Took(taken, 80_000.0)
}

fn read_claims(text: &str) -> Result<Claims, String> {
    Claims::parse(text, "claims.toml").map_err(|error| error.to_string())
}

#[test]
fn a_map_that_cannot_be_meant_is_refused_with_its_line() {
    let text = [CLAIMS, MAP].concat();
    let line = |of: &str| text.lines().position(|line| line.trim_start().starts_with(of)).unwrap() + 1;
    for (from, to, at, why) in [
        ("base = \"call\"", "base = \"call\"\nbases = 1", "id = \"duration", "'bases', which means nothing"),
        ("base = \"call\"", "base = \"calls\"", "id = \"duration", "names 'calls', which is no arm of the map"),
        ("base = \"call\"\n", "\n", "id = \"duration", "needs the key 'over'"),
        ("id = \"duration\"", "id = \"Duration\"", "id = \"duration", "small letters"),
        ("id = \"duration\"", "id = \"fast\"", "id = \"fast", "fast stands twice"),
        ("x = { metric = \"work_s\"", "x = { metric = \"work\"", "id = \"duration", "does not end in a unit"),
        ("label = \"5 s\"", "lable = \"5 s\"", "id = \"duration", "'published': unknown field"),
        ("{x} on a trip", "{y} on a trip", "id = \"duration", "needs the place {x}"),
        ("when = \"falls\"", "when = \"sinks\"", "id = \"duration", "'when': unknown variant `sinks`"),
        ("handoffs = 2", "handoffs = 2, shape = \"flat\"", "id = \"duration", "expected `added` or `overlap`"),
        ("price = \"toy.message\"", "price = \"message\"", "id = \"duration", "write STUDY.price-id"),
        ("[\"map_1ms\"] }", "[\"map_2ms\"] }", "id = \"duration", "leaves out 'map_2ms'"),
        (
            "without",
            "names = { rope = \"a rope\" }\nwithout",
            "id = \"duration",
            "names 'rope', which is no arm of the map",
        ),
        (
            "blocks = { quick = 6 }",
            "blocks = { quick = 6 }\nmetric = \"work_s\"",
            "id = \"duration",
            "'metric', which means nothing",
        ),
        ("y = { metric = \"work_s\"", "y = { metric = \"peak_rss_kib\"", "id = \"duration", "what is no time"),
    ] {
        assert!(MAP.contains(from), "{from}");
        let error = read_claims(&[CLAIMS, &MAP.replacen(from, to, 1)].concat()).expect_err(to);
        assert!(error.contains(why), "{to}: {error}");
        assert!(error.starts_with(&format!("claims.toml:{}: ", line(at))), "{to}: {error}, not {}", line(at));
    }
}

#[test]
fn the_blocks_of_a_map_are_planned_and_come_first_where_readme_shows_them() {
    let folder = temporary();
    let Toy { claims, cases, .. } = whole();
    write(folder.path(), "claims.toml", &claims.replace("budget", "first = [\"duration\"]\nbudget"));
    write(folder.path(), "cases.tsv", &cases);
    plan(folder.path(), &[]).success();
    let runs = planned(folder.path());
    let is_of_map = |run: &PlannedRun| run.case.scenario.starts_with("map_");
    assert_eq!(runs.iter().filter(|run| is_of_map(run)).count(), 6 * MAPPED.len());
    assert!(runs[..6 * MAPPED.len()].iter().all(is_of_map));
    write(folder.path(), "cases.tsv", &cases.replace("map_1s\tthread", "map_1s\tthreads"));
    plan(folder.path(), &[]).code(2).stderr(contains("duration needs the test case map_1s thread"));
}

#[test]
fn beside_a_crossing_stands_what_the_blocks_leave_open() {
    // The dearest handoff is 11 and 1,001 times the cheapest, whose 4 ms are 5 % of 80 ms.
    let near = ["- From 480 ms (80 to 880 ms; by the rule 80 ms) on a trip", "calls of 480 ms and more"];
    let far = ["- From 80 ms or more (by the rule 80 ms) on a trip", "calls of more than 1 s and more"];
    for (spread, said) in [(2.0, near), (200.0, far)] {
        let dearer = |run: &PlannedRun| match (costs(run, 1.0), costs(run, 0.0), run.case.arm.as_str()) {
            (Outcome::Took(..), Outcome::Took(call, memory), "task") if run.case.scenario.starts_with("map_") => {
                Outcome::Took(call + 0.004 * (1.0 + spread * run.block as f64), memory)
            }
            (outcome, ..) => outcome,
        };
        let (results, out) = (temporary(), temporary());
        whole().seal(results.path(), FIRST, dearer);
        render(results.path(), out.path(), &[]).success();
        let page = read(out.path(), "REPORT.md");
        assert!(said.iter().all(|said| page.contains(said)), "{page}");
    }
}

#[test]
fn a_chart_is_cut_and_names_its_lines_as_the_map_says() {
    let own = MAP
        .replace("in place\" }", "in place\", most = 3.0 }")
        .replace("without", "names = { task = \"a task each\" }\nwithout");
    let results = temporary();
    toy(&[CLAIMS, PRICE, &own]).seal(results.path(), FIRST, |run| costs(run, 1.0));
    let (page, [chart]) = rendered(results.path(), ["toy-map-duration.svg"]);
    painted::check("a map", &chart);
    let svg = roxmltree::Document::parse(&chart).unwrap();
    let discs = svg.descendants().filter(|node| node.attribute("r") == Some("5.5"));
    let calls: Vec<f64> = discs.map(|node| node.attribute("cx").unwrap().parse().unwrap()).collect();
    // Four points and the one beside its name.
    assert_eq!(calls.len(), 5, "{chart}");
    // A handoff adds 4 ms: at 1 ms a task takes five times as long, at 10 ms 1.4 times, at 2 ms three times.
    let from = calls[0] + (calls[1] - calls[0]) * 2.0_f64.log10();
    let is_of_task = |node: &roxmltree::Node| node.attribute("stroke") == Some("#9a4f80") && node.has_attribute("d");
    // The first is what the price predicts.
    let line = svg.descendants().filter(is_of_task).nth(1);
    let line = line.unwrap().attribute("d").unwrap();
    let start: f64 = line[1..].split(' ').next().unwrap().parse().unwrap();
    assert!((start - from).abs() < 1.0, "{start} for {from}");
    let ring = svg.descendants().find(|node| node.has_attribute("cx") && node.attribute("stroke") == Some("#9a4f80"));
    let [x, y] = ["cx", "cy"].map(|at| ring.unwrap().attribute(at).unwrap());
    assert!(line.contains(&format!("L{x} {y} L")), "the ring at {x} {y} is not on {line}");
    assert!(chart.contains("\na task each\n") && !chart.contains("\ntask\n"), "{chart}");
    assert!(page.contains("From 80 ms (80 ms; by the rule 80 ms) on a trip"), "{page}");
    assert!(printed("maps", results.path()).get_output().stdout.windows(11).any(|at| at == b"a task each"));
}

#[test]
fn a_line_bends_only_well_between_two_of_its_points() {
    let line = [(1.0, 2.0), (100.0, 1.0)];
    for (x, is_led) in
        [(0.5, false), (1.0, false), (1.2, false), (10.0, true), (90.0, false), (100.0, false), (200.0, false)]
    {
        let mut bent = line.to_vec();
        bend(&mut bent, (x, 1.05));
        assert_eq!(bent.len() == 3 && bent[1] == (x, 1.05), is_led, "{bent:?}");
    }
    let mut none = Vec::new();
    bend(&mut none, (1.0, 1.0));
    assert_eq!(none, []);
}

#[test]
fn between_two_points_a_line_falls_as_the_share_of_a_handoff_does() {
    let line = fading(&[(1.0, 5.0), (100.0, 1.04), (1000.0, 1.5)]);
    assert!(line.len() > 10 && line.windows(2).all(|pair| pair[0].0 < pair[1].0), "{line:?}");
    let (last, fallen) = line.split_last().unwrap();
    assert!(fallen.iter().all(|(x, y)| (x * (y - 1.0) - 4.0).abs() < 1e-9), "{line:?}");
    assert_eq!(*last, (1000.0, 1.5));
    // What rises, or falls to 1 and below, has no share that shrinks.
    for straight in [vec![], vec![(1.0, 1.2)], vec![(1.0, 1.2), (2.0, 1.4)], vec![(1.0, 3.0), (2.0, 1.0), (3.0, 0.5)]] {
        assert_eq!(fading(&straight), straight);
    }
}

#[test]
fn a_map_that_is_not_for_the_report_stands_in_the_evidence() {
    let (results, out) = (temporary(), temporary());
    let own = MAP.replace("base =", "report = false\nbase =");
    toy(&[CLAIMS, PRICE, &own]).seal(results.path(), FIRST, |run| costs(run, 1.0));
    render(results.path(), out.path(), &[]).success();
    let (page, evidence) = (read(out.path(), "REPORT.md"), read(&out.path().join("docs/evidence"), "toy.md"));
    assert!(!page.contains("toy-map-duration") && evidence.contains("toy-map-duration"), "{page}{evidence}");
}

#[test]
fn of_each_host_the_newest_round_that_measured_a_map_decides() {
    let results = temporary();
    whole().seal(results.path(), FIRST, |run| costs(run, 1.0));
    maps_alone(results.path(), SECOND, "Toy 1000", 2.0);
    let other = maps_alone(results.path(), THIRD, "Other", 4.0);
    assert_eq!(findings(&other), Vec::<String>::new());
    let out = temporary();
    render(results.path(), out.path(), &[]).success();

    // 8 ms are 5 % of 160 ms, 16 ms of 320 ms.
    let page = read(out.path(), "REPORT.md");
    let said = "- From 160 to 320 ms on a trip adds less than 5 %. Other: 320 ms";
    assert!(page.contains(said) && page.contains("![How long must a call be?](charts/toy-map-duration.svg)"), "{page}");
    assert!(page.contains("- From more than 1 s on a thread is slower. Other: more than 1 s."), "{page}");
    assert!(!page.contains("On Other:"), "{page}");
    let advice = "- Use it for calls of 160 to 320 ms and more (threads: more than 1 s).";
    assert!(page.contains(advice), "{page}");

    let evidence = read(&out.path().join("docs/evidence"), "toy.md");
    let row = |host: &str, x: &str| {
        let line = evidence.lines().find(|line| line.starts_with(&format!("| {host} | {x}")));
        line.unwrap_or_else(|| panic!("{host} {x}: {evidence}")).to_owned()
    };
    let first = row("Other", "1.00 ms");
    assert!(
        first.contains("| 17.0") && first.ends_with(&format!("| - | [{THIRD}-maps](../../results/toy/{THIRD}-maps) |"))
    );
    // The price of the whole round, in which a handoff took half as long.
    assert!(row("Toy", "10.0 ms").contains("| 1.80") && row("Toy", "10.0 ms").contains("; rule 1.40"), "{evidence}");
    assert!(evidence.contains("by the rule 80 ms"), "{evidence}");

    let chart = read(&out.path().join("charts"), "toy-map-duration.svg");
    let svg = roxmltree::Document::parse(&chart).unwrap();
    let texts: Vec<&str> = svg
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .filter_map(|node| node.text())
        .map(str::trim)
        .collect();
    for text in ["duration of a call", "time over the same in place", "call", "task", "thread", "5 s", "320 ms (×1.05)"]
    {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }

    let shown =
        contains("toy: How long must a call be?").and(contains("From 160 to 320 ms on a trip")).and(contains("17.0"));
    printed("maps", results.path()).success().stdout(shown);
    let out = temporary();
    let mut none = judging("render", results.path());
    none.arg("--out").arg(out.path().join("REPORT.md")).arg("--charts").arg(out.path().join("charts"));
    let none = none.args(["--print", "maps", "--study", "none"]).assert();
    none.code(2).stderr(contains("no sealed measurement of none"));
    let all = report().arg("check").arg(results.path()).arg("--studies").arg(results.path()).assert();
    all.success().stdout(contains("no page shows").not());
}

#[test]
fn the_range_of_a_crossing_is_over_the_hosts_whose_idle_cores_sleep_if_there_are_any() {
    let polling = |stamp, results: &Path| {
        Toy { idle_poll_ns: 200_000, ..whole() }.seal(results, stamp, |run| costs(run, 0.5));
    };
    let results = temporary();
    whole().seal(results.path(), FIRST, |run| costs(run, 2.0));
    polling(SECOND, results.path());
    let (page, []) = rendered(results.path(), []);
    assert!(page.contains("- From 160 ms on a trip adds less than 5 %. Toy polling: 40 ms"), "{page}");
    let results = temporary();
    polling(FIRST, results.path());
    let (page, []) = rendered(results.path(), []);
    assert!(page.contains("From 40 ms (40 ms") && page.contains("on a trip adds less than 5 %"), "{page}");
}

#[test]
fn maps_are_shown_of_a_study_of_which_nothing_else_was_measured() {
    let results = temporary();
    maps_alone(results.path(), FIRST, "Toy 1000", 1.0);
    let (page, [chart]) = rendered(results.path(), ["toy-map-duration.svg"]);
    assert!(page.contains("From 80 ms (80 ms) on a trip") && chart.contains("Medians on host Toy."), "{page}{chart}");
    assert!(page.contains("On Toy:"), "{page}");
    assert!(!page.contains("by the rule") && !chart.contains("Dashed"), "{page}");
}

#[test]
fn a_round_of_maps_is_named_so_and_no_other_is() {
    let results = temporary();
    let sealed = maps_alone(results.path(), FIRST, "Toy 1000", 1.0);
    let prices = sealed.with_file_name(format!("{FIRST}-prices"));
    fs::rename(&sealed, &prices).unwrap();
    report().arg("check").arg(&prices).assert().code(1).stdout(contains("says toy/STAMP-maps"));
}

#[test]
fn a_place_names_a_crossing_that_there_is() {
    let results = temporary();
    let toy = whole();
    let page = toy.page.replace("map.duration.thread", "map.duration.threads");
    Toy { page, ..toy }.seal(results.path(), FIRST, |run| costs(run, 1.0));
    let lacks = contains("the crossing threads of the map duration, which claims.toml lacks");
    printed("answers", results.path()).code(2).stderr(lacks);
}

/// The least sum of distances to `values` of a falling sequence of them: that of the nearest is reached with values that are there.
fn least_distance(values: &[f64]) -> f64 {
    let (mut levels, mut costs) = (values.to_vec(), vec![0.0; values.len()]);
    levels.sort_by(|a, b| b.total_cmp(a));
    for value in values {
        // The least of what ends at this level or above, and then the distance from it.
        let mut least = f64::INFINITY;
        for (cost, level) in costs.iter_mut().zip(&levels) {
            least = least.min(*cost);
            *cost = least + (value - level).abs();
        }
    }
    costs.into_iter().fold(f64::INFINITY, f64::min)
}

proptest! {
    #[test]
    fn a_planted_crossing_is_found(
        mut xs in prop::collection::vec(1e-6_f64..1e6, 2..9), planted in 1e-6_f64..1e6, slope in 0.05_f64..2.0, at in 0.5_f64..3.0, rises: bool,
    ) {
        xs.sort_by(f64::total_cmp);
        // What is added shrinks no faster than one over x.
        let slope = if !rises && at > 1.0 { slope.min(1.0) } else { slope };
        let (slope, when) = if rises { (slope, When::Rises) } else { (-slope, When::Falls) };
        // A straight line between logarithms through the planted point: of the ratio, or of what it adds to one.
        let one = if !rises && at > 1.0 { 1.0 } else { 0.0 };
        let points: Vec<(f64, f64)> =
            xs.iter().map(|x| (*x, one + (at - one) * (x / planted).powf(slope))).collect();
        let found = pass(&points, at, when).unwrap();
        if planted < xs[0] {
            prop_assert!(found.is_infinite() && found < 0.0);
        } else if planted > xs[xs.len() - 1] {
            prop_assert!(found.is_infinite() && found > 0.0);
        } else {
            prop_assert!((found / planted).ln().abs() < 1e-6, "{} is not {}", found, planted);
        }
    }

    #[test]
    fn no_falling_sequence_is_nearer(values in prop::collection::vec(prop_oneof![0.0_f64..5.0, (0_u8..4).prop_map(f64::from)], 0..12)) {
        let found = falling(&values);
        prop_assert_eq!(found.len(), values.len());
        prop_assert!(found.is_sorted_by(|a, b| a >= b), "{:?}", found);
        let distance: f64 = values.iter().zip(&found).map(|(value, found)| (value - found).abs()).sum();
        prop_assert!(distance <= least_distance(&values) + 1e-9, "{:?} of {:?}", found, values);
    }

    #[test]
    fn among_noisy_points_a_crossing_lies_where_the_nearest_monotone_sequence_passes(
        ratios in prop::collection::vec(prop_oneof![0.2_f64..5.0, Just(f64::INFINITY), Just(0.0)], 1..9), rises: bool,
    ) {
        let points: Vec<(f64, f64)> = (1..).map(f64::from).zip(&ratios).map(|(x, ratio)| (x, *ratio)).collect();
        let when = if rises { When::Rises } else { When::Falls };
        let found = pass(&points, 1.0, when).unwrap();
        let signed: Vec<f64> = ratios.iter().map(|ratio| if rises { -ratio } else { *ratio }).collect();
        let monotone = falling(&signed);
        match monotone.iter().filter(|ratio| **ratio > if rises { -1.0 } else { 1.0 }).count() {
            0 => prop_assert!(found.is_infinite() && found < 0.0),
            cut if cut == points.len() => prop_assert!(found.is_infinite() && found > 0.0),
            cut => prop_assert!((cut as f64 - 1e-9..=cut as f64 + 1.0 + 1e-9).contains(&found), "{} at {}", found, cut),
        }
    }
}

#[test]
fn a_point_that_noise_moved_does_not_lead() {
    let points = [(1.0, 1.5), (3.0, 1.17), (10.0, 1.02), (30.0, 0.99), (100.0, 1.08), (1e3, 1.0)];
    let found = pass(&points, 1.05, When::Falls).unwrap();
    assert!((3.0..=10.0).contains(&found), "{found}");
}

#[test]
fn what_a_price_adds_crosses_where_it_is_that_share_of_the_work_however_far_apart_the_points_are() {
    let price = 8e-3;
    let ratio = |x: f64| (x, 1.0 + price / x);
    for points in [[ratio(1e-3), ratio(10.0)], [ratio(1e-3), (10.0, 1.0)], [ratio(1e-3), (10.0, 0.97)]] {
        let found = pass(&points, 1.05, When::Falls).unwrap();
        assert!((found - price / 0.05).abs() < 1e-9, "{found}");
    }
}

#[test]
fn nothing_passes_without_points() {
    assert_eq!(pass(&[], 1.0, When::Falls), None);
}
