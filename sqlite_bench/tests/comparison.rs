//! What `compare` makes of what is typed, and of what was measured.

#![cfg(feature = "cli")]

use std::time::Duration;

use clap::Parser as _;
use sqlite_bench::compare::{Comparison, Row, tables};
use sqlite_bench::design::{ARMS, find};
use sqlite_bench::workload::Workload;

fn parsed(arguments: &str) -> Comparison {
    Comparison::parse_from(["compare"].into_iter().chain(arguments.split_whitespace()))
}

#[test]
fn the_defaults_are_the_published_setting_and_end_within_two_minutes() {
    let comparison = parsed("").checked().expect("it makes sense");
    assert!(comparison.arms.iter().map(|arm| arm.name).eq(ARMS.iter().map(|arm| arm.name)));
    let hold = comparison.holds[0];
    assert_eq!(comparison.workload(hold), Workload::published(hold, Duration::from_millis(2_050)));
    let whole: Duration = comparison.runs().map(|(hold, _)| comparison.expected_time(hold)).sum();
    assert!(whole < Duration::from_secs(115), "{whole:?}");
}

#[test]
fn a_window_holds_a_write_however_long() {
    let windows = |arguments: &str| {
        let comparison = parsed(&format!("--holds 0s,100ms,1s,10s,30s {arguments}"));
        comparison.holds.iter().map(|&hold| comparison.window(hold).as_millis()).collect::<Vec<_>>()
    };
    assert_eq!(windows(""), [2_050, 2_050, 4_500, 12_000, 36_000]);
    assert_eq!(windows("--duration 200ms"), [200; 5]);
}

const PUBLISHED: [&str; 3] = ["direct", "spawn_blocking", "tokio_rusqlite"];

fn row(arm: &str, hold_ms: u64, metrics: &[(&'static str, f64)]) -> Row {
    let arm = find(&ARMS.each_ref(), arm).unwrap();
    let hold = Duration::from_millis(hold_ms);
    Row { arm, hold, metrics: metrics.iter().copied().collect(), fault: None }
}

fn published() -> Comparison {
    parsed(&format!("--arm {}", PUBLISHED.join(",")))
}

fn table(rows: &[Row], title: &str) -> Vec<String> {
    let text = tables(&published(), rows);
    let lines = text.lines().skip_while(|line| *line != format!("### {title}")).skip(2);
    lines.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

#[test]
fn the_published_figures_give_the_published_tables() {
    let published = [("direct", 15_136.0, 9.996), ("spawn_blocking", 23_990.0, 99.96), ("tokio_rusqlite", 0.0, 0.314)];
    let row = |hold| published.map(|(arm, reads, p99)| row(arm, hold, &[("reads_count", reads), ("read_p99_ms", p99)]));
    let mut rows = [row(100), row(10_000)].concat();
    rows[3].metrics.clear();
    assert_eq!(
        table(&rows, "READ THROUGHPUT (requests)"),
        [
            "| Write Delay | Direct Blocking | spawn_blocking | tokio-rusqlite |",
            "|-------------|----------------:|---------------:|---------------:|",
            "| **100ms**   |          15,136 |         23,990 |              0 |",
            "| **10s**     |               - |         23,990 |              0 |",
        ]
    );
    assert_eq!(
        table(&rows, "P99 READ LATENCY (ms)")[2],
        "| **100ms**   |            10.0 |            100 |           0.31 |"
    );
}

#[test]
fn a_run_with_failures_is_marked_and_named() {
    let mut rows = PUBLISHED.map(|arm| row(arm, 20, &[("reads_count", 800.0)]));
    rows[1].fault = Some("3 of 803 reads failed: is\nlocked".to_owned());
    rows[2].fault = Some("database 1 is damaged".to_owned());
    let line = table(&rows, "READ THROUGHPUT (requests)").remove(2);
    assert_eq!(line, "| **20ms**    |             800 |          800 ! |          800 ! |");
    let said = "\n! Failures:
- spawn_blocking, 20ms: 3 of 803 reads failed: is locked
- tokio-rusqlite, 20ms: database 1 is damaged

One run each";
    let text = tables(&published(), &rows);
    assert!(text.contains(said), "{text}");
}
