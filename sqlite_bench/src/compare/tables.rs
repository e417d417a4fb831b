//! Rows of a comparison as the tables of the published document: plain text that is valid Markdown.

use std::fmt::Write as _;
use std::iter::once;
use std::time::Duration;

use indicatif::HumanCount;

use super::{Comparison, Row};

const NONE: &str = "-";
/// Most arms that stand beside each other; more of them stand below each other.
const ABREAST: usize = 6;
/// The document's tables: title and metric.
const SUMMARIES: [(&str, &str); 5] = [
    ("READ THROUGHPUT (requests)", "reads_count"),
    ("WRITE THROUGHPUT (operations)", "writes_count"),
    ("P99 READ LATENCY (ms)", "read_p99_ms"),
    ("MAX READ LATENCY (ms)", "read_max_ms"),
    ("AVERAGE READ LATENCY (ms)", "read_avg_ms"),
];
/// When reads were answered, and what became of writes and of the runtime: headings and metrics.
const RESPONSES: [(&str, &str); 11] = [
    ("Avg ms", "response_avg_ms"),
    ("P99 ms", "response_p99_ms"),
    ("Max ms", "response_max_ms"),
    ("Slow", "slow_responses_percent"),
    ("Late", "late_reads_percent"),
    ("Failed", "read_failures_count"),
    ("Writes", "writes_percent"),
    ("Tick p99", "ticker_p99_ms"),
    ("Tick max", "ticker_max_ms"),
    ("Blocked s", "blocked_s"),
    ("Threads", "threads_count"),
];
const RESPONSES_LEGEND: &str = "\
Avg and P99: of reads, from when they were due. Slow: over 1.5 holds. Late: over 10 ms. Writes: of those that fit if holds and pauses
alone took time. Blocked: time in which a task that wants to run every millisecond did not come for over 50 ms; Tick: how late it came,
in ms. Threads: beyond the driver's and the runtime's workers.";

type Table = Vec<Vec<String>>;

/// The tables of the published document, one of what it leaves out, and what failed.
pub fn tables(comparison: &Comparison, rows: &[Row]) -> String {
    let mut text = setting(comparison);
    for (title, metric) in SUMMARIES {
        let table = summary(comparison, rows, metric);
        let table = if comparison.arms.len() > ABREAST { turned(&table) } else { table };
        let _ = write!(text, "\n### {title}\n\n{}", markdown(&table));
    }
    text +=
        "\nThe clock of these latencies starts when a task first runs; what it waits for its turn is not in them.\n";
    let _ = write!(text, "\n### WHAT THE DOCUMENT LEAVES OUT\n\n{}\n{RESPONSES_LEGEND}\n", markdown(&details(rows)));
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

/// A table of the document: a line per hold, a column per arm.
fn summary(comparison: &Comparison, rows: &[Row], metric: &str) -> Table {
    let heading = once("Write Delay").chain(comparison.arms.iter().map(|arm| arm.title));
    let line = |rows: &[Row]| {
        let cells = rows.iter().map(|row| row.figure(metric) + row.mark());
        once(format!("**{}**", label(rows[0].hold))).chain(cells).collect()
    };
    let holds = rows.chunk_by(|row, next| row.hold == next.hold);
    once(heading.map(str::to_owned).collect()).chain(holds.map(line)).collect()
}

/// What the published tables have no columns for, a line per run.
fn details(rows: &[Row]) -> Table {
    let heading = ["Write Delay", "Design"].into_iter().chain(RESPONSES.map(|(heading, _)| heading));
    let line = |row: &Row| {
        let run = [format!("**{}**", label(row.hold)), row.arm.title.to_owned() + row.mark()];
        run.into_iter().chain(RESPONSES.map(|(_, metric)| row.figure(metric))).collect()
    };
    once(heading.map(str::to_owned).collect()).chain(rows.iter().map(line)).collect()
}

fn faults(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let what = row.fault.as_ref()?.replace('\n', " ");
        Some(format!("- {}, {}: {what}\n", row.arm.title, label(row.hold)))
    };
    let text: String = rows.iter().filter_map(line).collect();
    if text.is_empty() { text } else { format!("\n! Failures:\n{text}") }
}

/// Lines, the first of which is the heading; figures stand right.
fn markdown(lines: &[Vec<String>]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let _ = if column == 0 { write!(text, "| {cell:<width$} ") } else { write!(text, "| {cell:>width$} ") };
        }
        text += "|\n";
        if number == 0 {
            for (column, &width) in widths.iter().enumerate() {
                let _ = write!(text, "|{:-<1$}{2}", "", width + 1, if column == 0 { '-' } else { ':' });
            }
            text += "|\n";
        }
    }
    text
}

/// The same on its side.
fn turned(lines: &[Vec<String>]) -> Table {
    (0..lines[0].len()).map(|column| lines.iter().map(|line| line[column].clone()).collect()).collect()
}

/// A figure as its unit asks for, in which the metric's name ends; of times small ones have decimals, large ones none, averages always two.
fn figure(metric: &str, value: f64) -> String {
    let decimals = match value {
        _ if metric.ends_with("_percent") => return format!("{value:.1}%"),
        _ if metric.ends_with("_count") => 0,
        _ if metric.ends_with("_s") || metric.ends_with("_avg_ms") => 2,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    let digits = format!("{value:.decimals$}");
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    format!("{}{rest}", HumanCount(whole.parse().unwrap_or_default()))
}

impl Row {
    fn mark(&self) -> &'static str {
        if self.fault.is_some() { " !" } else { "" }
    }

    fn figure(&self, metric: &str) -> String {
        self.metrics.get(metric).map_or_else(|| NONE.to_owned(), |&value| figure(metric, value))
    }
}

fn label(time: Duration) -> String {
    if time.is_zero() { "none".to_owned() } else { format!("{time:?}") }
}
