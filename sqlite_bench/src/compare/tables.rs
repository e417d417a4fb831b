//! Rows of a comparison as the tables of the published document.

use std::fmt::Write as _;
use std::iter::once;
use std::time::Duration;

use super::grid::{NONE, figure, grouped, markdown, turned};
use super::{Comparison, Row};

/// Widest summary; one with more columns than fit is turned on its side.
const WIDTH: usize = 130;
/// A runtime that was blocked for this share of the window counts as blocked.
const BLOCKED_SHARE: f64 = 0.1;
/// Behind a figure of a run with a fault, which is never the best.
const FAULTY: &str = " !";
/// The arm that improvements are multiples of: it blocks the workers.
const BASE: &str = "direct";

/// The document's tables: title, metric, heading of the last column, and what it says behind the names of the best. Of counts the highest is
/// best, and the last column says by how much; of times the lowest, and it says whose that is.
const SUMMARIES: [(&str, &str, &str, &str); 5] = [
    ("READ THROUGHPUT (requests)", "reads_count", "Best Improvement", ""),
    ("WRITE THROUGHPUT (operations)", "writes_count", "Best Improvement", ""),
    ("P99 READ LATENCY (ms)", "read_p99_ms", "Best", ""),
    ("MAX READ LATENCY (ms)", "read_max_ms", "Best", ""),
    ("AVERAGE READ LATENCY (ms)", "read_avg_ms", "Notes", " lowest"),
];
/// When reads were answered, and what became of writes and of the runtime: headings and metrics.
const RESPONSES: &[(&str, &str)] = &[
    ("Avg ms", "response_avg_ms"),
    ("P99 ms", "response_p99_ms"),
    ("Max ms", "response_max_ms"),
    ("Slow", "slow_responses_percent"),
    ("Late", "late_reads_percent"),
    ("Writes", "writes_percent"),
    ("Tick p99 ms", "ticker_p99_ms"),
    ("Tick max ms", "ticker_max_ms"),
    ("Blocked s", "blocked_s"),
    ("Threads", "threads_count"),
];
const RESPONSES_LEGEND: &str = "\
Avg and P99: of reads, from when they were due. Slow: over 1.5 holds. Late: over 10 ms. Writes: of those that fit if holds and pauses
alone took time. Blocked: time in which a task that wants to run every millisecond did not come for over 50 ms; Tick: how late it came.
Threads: beyond the driver's and the runtime's workers.";
/// How operations ended that did not end in time or not well.
const FAILURES: &[(&str, &str)] = &[
    ("Scheduled reads", "scheduled_reads_count"),
    ("Late reads", "late_reads_count"),
    ("Failed reads", "read_failures_count"),
    ("Busy reads", "read_busy_count"),
    ("Unanswered", "unanswered_count"),
    ("Failed writes", "write_failures_count"),
];
const FAILURES_LEGEND: &str = "Busy (the database was locked) and unanswered (given up) are parts of the failed reads.";

/// The tables of the published document, one of what it leaves out, and what failed.
pub fn tables(comparison: &Comparison, rows: &[Row]) -> String {
    let mut text = setting(comparison);
    for (title, metric, last, adverb) in SUMMARIES {
        let lines = summary(comparison, rows, metric, last, adverb);
        let upright = markdown(&lines);
        let is_wide = upright.lines().next().is_some_and(|line| line.chars().count() > WIDTH);
        let table = if is_wide { markdown(&turned(&lines)) } else { upright };
        let _ = write!(text, "\n### {title}\n\n{table}");
    }
    text +=
        "\nThe clock of these latencies starts when a task first runs; what it waits for its turn is not in them.\n";
    for (title, columns, legend) in [
        ("WHAT THE DOCUMENT LEAVES OUT", RESPONSES, RESPONSES_LEGEND),
        ("FAILURES (requests)", FAILURES, FAILURES_LEGEND),
    ] {
        let _ = write!(text, "\n### {title}\n\n{}\n{legend}\n", markdown(&details(comparison, rows, columns)));
    }
    text += &faults(rows);
    text += "\nOne run each: no verdicts. `make report-sqlite_bench` measures in blocks and judges.\n";
    text
}

fn setting(comparison: &Comparison) -> String {
    let Comparison { databases, readers, workers, think, .. } = comparison;
    let mut windows: Vec<String> = comparison.holds.iter().map(|&hold| label(comparison.window(hold))).collect();
    windows.dedup();
    let reads = match comparison.rate {
        None => format!("{readers} readers of each that pause for {}", label(*think)),
        Some(rate) => format!("{rate} reads per second of each on a schedule"),
    };
    format!("{databases} databases, a writer and {reads}, {workers} worker threads; window {}\n", windows.join(", "))
}

/// A table of the document: a line per hold, a column per arm, and what to make of them.
fn summary(comparison: &Comparison, rows: &[Row], metric: &str, last: &str, adverb: &str) -> Vec<Vec<String>> {
    let heading = once("Write Delay").chain(comparison.arms.iter().map(|arm| arm.title)).chain([last]);
    let line = |rows: &[Row]| {
        let best = best(rows, metric);
        let is_best =
            |row: &&Row| !row.is_faulty() && best.is_some_and(|best| row.figure(metric) == figure(metric, best));
        let cells = rows.iter().map(|row| match row.figure(metric) {
            figure if is_best(&row) => format!("**{figure}**"),
            figure if row.is_faulty() && figure != NONE => figure + FAULTY,
            figure => figure,
        });
        let verdict = match best {
            None => NONE.to_owned(),
            Some(best) if metric.ends_with("_count") => improvement(best, rows, metric),
            Some(_) => {
                let winners: Vec<&Row> = rows.iter().filter(is_best).collect();
                winner(&winners, adverb, comparison.window(rows[0].hold))
            }
        };
        once(format!("**{}**", label(rows[0].hold))).chain(cells).chain([verdict]).collect()
    };
    let holds = rows.chunk_by(|row, next| row.hold == next.hold);
    once(heading.map(str::to_owned).collect()).chain(holds.map(line)).collect()
}

/// The best figure of the runs without a fault; a count of nothing is not the best of anything.
fn best(rows: &[Row], metric: &str) -> Option<f64> {
    let values = rows.iter().filter(|row| !row.is_faulty()).filter_map(|row| row.metrics.get(metric).copied());
    if metric.ends_with("_count") {
        values.filter(|&value| value > 0.0).max_by(f64::total_cmp)
    } else {
        values.min_by(f64::total_cmp)
    }
}

/// The best as a multiple of what blocks the workers.
fn improvement(best: f64, rows: &[Row], metric: &str) -> String {
    let base = rows.iter().find(|row| row.arm.name == BASE && !row.is_faulty());
    match base.and_then(|row| row.metrics.get(metric)) {
        Some(base) if *base > 0.0 => {
            let ratio = best / base;
            format!("**{}x**", grouped(ratio, usize::from(ratio < 99.95)))
        }
        _ => NONE.to_owned(),
    }
}

/// Who is best, and whether the runtime was blocked: whoever asks little, because nothing runs meanwhile, is answered soon.
fn winner(winners: &[&Row], adverb: &str, window: Duration) -> String {
    let names: Vec<&str> = winners.iter().map(|row| row.arm.title).collect();
    let names = if names.len() > 2 { format!("{} of them", names.len()) } else { names.join(", ") };
    let limit = BLOCKED_SHARE * window.as_secs_f64();
    let is_blocked = |row: &&Row| row.metrics.get("blocked_s").is_some_and(|&blocked| blocked > limit);
    format!("{names}{adverb}{}", if winners.iter().any(is_blocked) { " (but blocked)" } else { "" })
}

/// What the published tables have no columns for, a line per run.
fn details(comparison: &Comparison, rows: &[Row], columns: &[(&str, &str)]) -> Vec<Vec<String>> {
    // In the closed loop nothing says how many reads there should have been.
    let is_shown = |metric: &str| comparison.rate.is_some() || metric != "scheduled_reads_count";
    let columns = || columns.iter().filter(|(_, metric)| is_shown(metric));
    let heading = ["Write Delay", "Design"].into_iter().chain(columns().map(|(heading, _)| *heading));
    let line = |row: &Row| {
        let mark = if row.is_faulty() { FAULTY } else { "" };
        let run = [format!("**{}**", label(row.hold)), format!("{}{mark}", row.arm.title)];
        run.into_iter().chain(columns().map(|(_, metric)| row.figure(metric))).collect()
    };
    once(heading.map(str::to_owned).collect()).chain(rows.iter().map(line)).collect()
}

/// What was wrong, a line each; nothing if nothing was.
fn faults(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.is_faulty()) {
        let what = match (&row.fault, &row.first_error) {
            (Some(fault), _) => fault.clone(),
            (None, Some(error)) => format!("the first failure said: {}", error.replace('\n', " ")),
            (None, None) => "no answer".to_owned(),
        };
        let _ = writeln!(text, "- {}, {}: {what}", row.arm.title, label(row.hold));
    }
    if text.is_empty() { text } else { format!("\n! Failures; such a run is not the best of anything:\n{text}") }
}

impl Row {
    /// Whether something was wrong with it or some of its operations failed.
    fn is_faulty(&self) -> bool {
        let failed = |metric| self.metrics.get(metric).is_some_and(|&count| count > 0.0);
        self.fault.is_some() || failed("read_failures_count") || failed("write_failures_count")
    }

    fn figure(&self, metric: &str) -> String {
        self.metrics.get(metric).map_or_else(|| NONE.to_owned(), |&value| figure(metric, value))
    }
}

/// A time as a row is named by it.
fn label(time: Duration) -> String {
    if time.is_zero() { "none".to_owned() } else { format!("{time:?}") }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::parsed;
    use super::*;
    use crate::design::{ARMS, find};

    const PUBLISHED: [&str; 3] = ["direct", "spawn_blocking", "tokio_rusqlite"];

    fn row(arm: &str, hold_ms: u64, metrics: &[(&'static str, f64)]) -> Row {
        let arm = find(&ARMS.each_ref(), arm).unwrap();
        let hold = Duration::from_millis(hold_ms);
        Row { arm, hold, metrics: metrics.iter().copied().collect(), fault: None, first_error: None }
    }

    fn text(rows: &[Row]) -> String {
        tables(&parsed(&format!("--arm {}", PUBLISHED.join(","))), rows)
    }

    /// The lines of the table with this title.
    fn table<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
        let lines = text.lines().skip_while(|line| *line != format!("### {title}")).skip(2);
        lines.take_while(|line| line.starts_with('|')).collect()
    }

    /// The last of them, without spaces.
    fn last(text: &str, title: &str) -> String {
        table(text, title).pop().expect("a row").replace(' ', "")
    }

    #[test]
    fn the_published_figures_give_the_published_tables() {
        let rows = [
            ("direct", 100, 15_136.0, 12.55, 60.0),
            ("spawn_blocking", 100, 23_990.0, 113.79, 0.0),
            ("tokio_rusqlite", 100, 24_867.0, 109.69, 0.0),
            ("direct", 10_000, 157.0, 765.40, 60.0),
            ("spawn_blocking", 10_000, 298.0, 9_663.63, 0.0),
            ("tokio_rusqlite", 10_000, 288.0, 9_999.96, 0.0),
        ]
        .map(|(arm, hold, reads, average, blocked)| {
            row(arm, hold, &[("reads_count", reads), ("read_avg_ms", average), ("blocked_s", blocked)])
        });
        let text = text(&rows);
        assert_eq!(
            table(&text, "READ THROUGHPUT (requests)"),
            [
                "| Write Delay | Direct Blocking | spawn_blocking | tokio-rusqlite | Best Improvement |",
                "|-------------|----------------:|---------------:|---------------:|-----------------:|",
                "| **100ms**   |          15,136 |         23,990 |     **24,867** |         **1.6x** |",
                "| **10s**     |             157 |        **298** |            288 |         **1.9x** |",
            ]
        );
        assert_eq!(
            table(&text, "AVERAGE READ LATENCY (ms)"),
            [
                "| Write Delay | Direct Blocking | spawn_blocking | tokio-rusqlite | Notes                                |",
                "|-------------|----------------:|---------------:|---------------:|--------------------------------------|",
                "| **100ms**   |       **12.55** |         113.79 |         109.69 | Direct Blocking lowest (but blocked) |",
                "| **10s**     |      **765.40** |       9,663.63 |       9,999.96 | Direct Blocking lowest (but blocked) |",
            ]
        );
    }

    #[test]
    fn equal_figures_share_the_best_and_many_are_counted() {
        for (values, line) in [
            ([112.0, 100.9, 101.2], "|**100ms**|112|**101**|**101**|spawn_blocking,tokio-rusqlite|"),
            ([1.001, 1.0, 1.004], "|**100ms**|**1.00**|**1.00**|**1.00**|3ofthem|"),
            ([9.996, 99.96, 0.314], "|**100ms**|10.0|100|**0.31**|tokio-rusqlite|"),
        ] {
            let rows = PUBLISHED.iter().zip(values).map(|(arm, p99)| row(arm, 100, &[("read_p99_ms", p99)]));
            assert_eq!(last(&text(&rows.collect::<Vec<_>>()), "P99 READ LATENCY (ms)"), line);
        }
    }

    #[test]
    fn a_figure_that_is_missing_is_a_dash_and_nothing_is_not_the_best() {
        let text = text(&[
            row("direct", 100, &[("reads_count", 0.0), ("writes_count", 0.0)]),
            row("spawn_blocking", 100, &[("reads_count", 0.0), ("writes_count", 7.0)]),
            row("tokio_rusqlite", 100, &[]),
        ]);
        assert_eq!(last(&text, "READ THROUGHPUT (requests)"), "|**100ms**|0|0|-|-|");
        assert_eq!(last(&text, "WRITE THROUGHPUT (operations)"), "|**100ms**|0|**7**|-|-|", "no multiple of nothing");
        assert_eq!(last(&text, "P99 READ LATENCY (ms)"), "|**100ms**|-|-|-|-|");
        assert_eq!(last(&text, "WHAT THE DOCUMENT LEAVES OUT"), "|**100ms**|tokio-rusqlite|-|-|-|-|-|-|-|-|-|-|");
    }

    #[test]
    fn a_run_with_failures_is_marked_named_and_not_the_best() {
        let good = row("direct", 20, &[("reads_count", 100.0), ("read_p99_ms", 20.0)]);
        let mut busy = row("spawn_blocking", 20, &[("reads_count", 800.0), ("read_failures_count", 3.0)]);
        busy.first_error = Some("is\nlocked".to_owned());
        let mut lost = row("tokio_rusqlite", 20, &[("reads_count", 900.0), ("read_p99_ms", 1.0)]);
        lost.fault = Some("database 1 lost block 7".to_owned());
        let text = text(&[good, busy, lost]);
        assert_eq!(last(&text, "READ THROUGHPUT (requests)"), "|**20ms**|**100**|800!|900!|**1.0x**|");
        assert_eq!(last(&text, "P99 READ LATENCY (ms)"), "|**20ms**|**20.0**|-|1.00!|DirectBlocking|");
        assert!(text.contains("- tokio-rusqlite, 20ms: database 1 lost block 7\n"), "{text}");
        assert!(text.contains("- spawn_blocking, 20ms: the first failure said: is locked\n"), "{text}");
        assert!(table(&text, "FAILURES (requests)").iter().any(|line| line.contains("spawn_blocking !")), "{text}");
    }
}
