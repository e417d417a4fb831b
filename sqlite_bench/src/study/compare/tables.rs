//! Rows of a comparison as plain text that is valid Markdown.

use std::fmt::Write as _;
use std::time::Duration;

use super::grid::{Grid, NONE, cell, hundredths, percent, three_digits, whole};
use super::{Comparison, Row};
use crate::design::Arm;

/// A runtime that was blocked for this share of the window counts as blocked.
const BLOCKED_SHARE: f64 = 0.1;
/// Behind a figure of a run with a fault, which is never the best.
const FAULTY: &str = " !";

const RESPONSES: &str = "\
Avg and P99: of reads, from when they were due. Slow: over 1.5 holds. Late: over 10 ms. Writes: of those that fit if holds and pauses
alone took time. Blocked: time in which a task that wants to run every millisecond did not come for over 50 ms; Tick: how late it came.
Threads: beyond the driver's and the runtime's workers.";
const FAILURES: &str = "Busy (the database was locked) and unanswered (given up) are parts of the failed reads.";

/// Which figure is the best.
#[derive(Clone, Copy, PartialEq)]
enum Better {
    Higher,
    Lower,
}

/// What stands in the last column.
#[derive(Clone, Copy)]
enum Verdict {
    /// The best as a multiple of what blocks the workers.
    Improvement,
    /// The name of the best, and whether its runtime was blocked.
    Name,
    /// The same in a sentence.
    Note,
}

/// A table of the published document.
struct Summary {
    title: &'static str,
    metric: &'static str,
    format: fn(f64) -> String,
    better: Better,
    last: &'static str,
    verdict: Verdict,
}

const SUMMARIES: [Summary; 5] = [
    Summary {
        title: "READ THROUGHPUT (requests)",
        metric: "reads_count",
        format: whole,
        better: Better::Higher,
        last: "Best Improvement",
        verdict: Verdict::Improvement,
    },
    Summary {
        title: "WRITE THROUGHPUT (operations)",
        metric: "writes_count",
        format: whole,
        better: Better::Higher,
        last: "Best Improvement",
        verdict: Verdict::Improvement,
    },
    Summary {
        title: "P99 READ LATENCY (ms)",
        metric: "read_p99_ms",
        format: three_digits,
        better: Better::Lower,
        last: "Best",
        verdict: Verdict::Name,
    },
    Summary {
        title: "MAX READ LATENCY (ms)",
        metric: "read_max_ms",
        format: three_digits,
        better: Better::Lower,
        last: "Best",
        verdict: Verdict::Name,
    },
    Summary {
        title: "AVERAGE READ LATENCY (ms)",
        metric: "read_avg_ms",
        format: hundredths,
        better: Better::Lower,
        last: "Notes",
        verdict: Verdict::Note,
    },
];

/// All tables.
pub(super) fn text(comparison: &Comparison, rows: &[Row]) -> String {
    let mut text = setting(comparison);
    for summary in &SUMMARIES {
        let _ = write!(text, "\n### {}\n\n{}", summary.title, summary.grid(comparison, rows).fitting());
    }
    text +=
        "\nThe clock of these latencies starts when a task first runs; what it waits for its turn is not in them.\n";
    for (title, columns, legend) in
        [("WHAT THE DOCUMENT LEAVES OUT", RESPONSE, RESPONSES), ("FAILURES (requests)", FAILED, FAILURES)]
    {
        let _ = write!(text, "\n### {title}\n\n{}\n{legend}\n", details(comparison, rows, columns).markdown());
    }
    text += &failures(rows);
    text += "\nOne run each: no verdicts. `make report-sqlite_bench` measures in blocks and judges.\n";
    text
}

/// What was run.
fn setting(comparison: &Comparison) -> String {
    let Comparison { databases, readers, workers, think, .. } = comparison;
    let mut windows: Vec<String> = comparison.holds.iter().map(|&hold| label(comparison.window(hold))).collect();
    windows.dedup();
    let reads = match comparison.reads_per_s {
        None => format!("{readers} readers of each that pause for {}", label(*think)),
        Some(rate) => format!("{rate} reads per second of each on a schedule"),
    };
    format!("{databases} databases, a writer and {reads}, {workers} worker threads; window {}\n", windows.join(", "))
}

impl Summary {
    fn grid(&self, comparison: &Comparison, rows: &[Row]) -> Grid {
        let heading = comparison.arms.iter().map(|&arm| title(arm).to_owned());
        let mut grid =
            vec![["Write Delay".to_owned()].into_iter().chain(heading).chain([self.last.to_owned()]).collect()];
        for &hold in &comparison.holds {
            let rows: Vec<Option<&Row>> = comparison.arms.iter().map(|&arm| find(rows, arm, hold)).collect();
            let best = self.best(&rows).map(self.format);
            let mut line = vec![format!("**{}**", label(hold))];
            let mut winners = Vec::new();
            for row in &rows {
                let cell = cell(row.and_then(|row| row.metrics.get(self.metric)), self.format);
                let row = row.filter(|_| cell != NONE);
                match row {
                    Some(row) if row.is_faulty() => line.push(cell + FAULTY),
                    Some(row) if best.as_ref() == Some(&cell) => {
                        winners.push(row);
                        line.push(format!("**{cell}**"));
                    }
                    _ => line.push(cell),
                }
            }
            line.push(self.verdict(&rows, &winners, comparison.window(hold)));
            grid.push(line);
        }
        Grid(grid)
    }

    /// The best figure of the runs without a fault; a count of nothing is not the best of anything.
    fn best(&self, rows: &[Option<&Row>]) -> Option<f64> {
        let values = rows.iter().flatten().filter(|row| !row.is_faulty());
        let values = values.filter_map(|row| row.metrics.get(self.metric).copied());
        match self.better {
            Better::Higher => values.filter(|&value| value > 0.0).max_by(f64::total_cmp),
            Better::Lower => values.min_by(f64::total_cmp),
        }
    }

    fn verdict(&self, rows: &[Option<&Row>], winners: &[&Row], window: Duration) -> String {
        let names: Vec<&str> = winners.iter().map(|row| title(row.arm)).collect();
        let names = if names.len() > 2 { format!("{} of them", names.len()) } else { names.join(", ") };
        let limit = BLOCKED_SHARE * window.as_secs_f64();
        let blocked = |row: &&Row| row.metrics.get("blocked_s").is_some_and(|&blocked| blocked > limit);
        // Whoever asks little, because nothing runs meanwhile, is answered soon.
        let note = if winners.iter().any(blocked) { " (but blocked)" } else { "" };
        match self.verdict {
            _ if winners.is_empty() => NONE.to_owned(),
            Verdict::Name => names + note,
            Verdict::Note => format!("{names} lowest{note}"),
            Verdict::Improvement => {
                let base = rows.iter().flatten().find(|row| row.arm == Arm::Direct && !row.is_faulty());
                let base = base.and_then(|row| row.metrics.get(self.metric)).filter(|&&base| base > 0.0);
                let ratio = self.best(rows).zip(base).map(|(best, base)| best / base);
                cell(ratio.as_ref(), |ratio| {
                    format!("**{}x**", if ratio < 99.95 { format!("{ratio:.1}") } else { whole(ratio) })
                })
            }
        }
    }
}

impl Row {
    /// Whether something was wrong with it or some of its operations failed.
    fn is_faulty(&self) -> bool {
        let failed = |metric| self.metrics.get(metric).is_some_and(|&count| count > 0.0);
        self.fault.is_some() || failed("read_failures_count") || failed("write_failures_count")
    }
}

type Column = (&'static str, &'static str, fn(f64) -> String);

/// When reads were answered, and what became of writes and of the runtime.
const RESPONSE: &[Column] = &[
    ("Avg ms", "response_avg_ms", hundredths),
    ("P99 ms", "response_p99_ms", three_digits),
    ("Max ms", "response_max_ms", three_digits),
    ("Slow", "slow_responses_percent", percent),
    ("Late", "late_reads_percent", percent),
    ("Writes", "writes_percent", percent),
    ("Tick p99 ms", "ticker_p99_ms", three_digits),
    ("Tick max ms", "ticker_max_ms", three_digits),
    ("Blocked s", "blocked_s", hundredths),
    ("Threads", "threads_count", whole),
];
/// How operations ended that did not end in time or not well.
const FAILED: &[Column] = &[
    ("Scheduled reads", "scheduled_reads_count", whole),
    ("Late reads", "late_reads_count", whole),
    ("Failed reads", "read_failures_count", whole),
    ("Busy reads", "read_busy_count", whole),
    ("Unanswered", "unanswered_count", whole),
    ("Failed writes", "write_failures_count", whole),
];

/// What the published tables have no columns for, a line per run.
fn details(comparison: &Comparison, rows: &[Row], columns: &[Column]) -> Grid {
    // In the closed loop nothing says how many reads there should have been.
    let columns: Vec<&Column> = columns
        .iter()
        .filter(|(_, metric, _)| comparison.reads_per_s.is_some() || *metric != "scheduled_reads_count")
        .collect();
    let heading = ["Write Delay", "Design"].into_iter().chain(columns.iter().map(|(heading, _, _)| *heading));
    let mut grid: Vec<Vec<String>> = vec![heading.map(str::to_owned).collect()];
    for (hold, arm) in comparison.runs() {
        let row = find(rows, arm, hold);
        let mark = if row.is_some_and(Row::is_faulty) { FAULTY } else { "" };
        let mut line = vec![format!("**{}**", label(hold)), format!("{}{mark}", title(arm))];
        line.extend(
            columns.iter().map(|(_, metric, format)| cell(row.and_then(|row| row.metrics.get(metric)), format)),
        );
        grid.push(line);
    }
    Grid(grid)
}

/// What was wrong, a line each; nothing if nothing was.
fn failures(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.is_faulty()) {
        let what = match (&row.fault, &row.first_error) {
            (Some(fault), _) => fault.clone(),
            (None, Some(error)) => format!("the first failure said: {}", error.replace('\n', " ")),
            (None, None) => "no answer".to_owned(),
        };
        let _ = writeln!(text, "- {}, {}: {what}", title(row.arm), label(row.hold));
    }
    if text.is_empty() { text } else { format!("\n! Failures; such a run is not the best of anything:\n{text}") }
}

fn find(rows: &[Row], arm: Arm, hold: Duration) -> Option<&Row> {
    rows.iter().find(|row| row.arm == arm && row.hold == hold)
}

/// The document's name of an arm, if it has one.
fn title(arm: Arm) -> &'static str {
    match arm {
        Arm::Direct => "Direct Blocking",
        Arm::TokioRusqlite => "tokio-rusqlite",
        Arm::WalThreads => "WAL pool",
        arm => arm.name(),
    }
}

/// A time as a row is named by it.
fn label(time: Duration) -> String {
    if time.is_zero() { "none".to_owned() } else { format!("{time:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn row(arm: Arm, hold: Duration, metrics: &[(&'static str, f64)]) -> Row {
        Row { arm, hold, metrics: metrics.iter().copied().collect(), fault: None, first_error: None }
    }

    fn comparison(arms: &[Arm], holds: &[u64]) -> Comparison {
        let holds = holds.iter().copied().map(ms).collect();
        Comparison { arms: arms.to_vec(), holds, ..Comparison::default() }
    }

    /// The lines of the table with this title.
    fn table(text: &str, title: &str) -> Vec<String> {
        let lines = text.lines().skip_while(|line| *line != format!("### {title}")).skip(2);
        lines.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
    }

    const MIRROR: [Arm; 3] = [Arm::Direct, Arm::SpawnBlocking, Arm::TokioRusqlite];

    #[test]
    fn the_published_figures_give_the_published_tables() {
        let reads = [[15_136.0, 23_990.0, 24_867.0], [157.0, 298.0, 288.0]];
        let average = [[12.55, 113.79, 109.69], [765.40, 9_663.63, 9_999.96]];
        let mut rows = Vec::new();
        for (hold, (reads, average)) in [ms(100), ms(10_000)].into_iter().zip(reads.into_iter().zip(average)) {
            for (arm, (reads, average)) in MIRROR.into_iter().zip(reads.into_iter().zip(average)) {
                let blocked = if arm == Arm::Direct { 60.0 } else { 0.0 };
                let metrics = [("reads_count", reads), ("read_avg_ms", average), ("blocked_s", blocked)];
                rows.push(row(arm, hold, &metrics));
            }
        }
        let text = text(&comparison(&MIRROR, &[100, 10_000]), &rows);
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
        let arms = [MIRROR.as_slice(), &[Arm::WalThreads]].concat();
        let p99 = |values: [f64; 4]| {
            let rows: Vec<Row> =
                arms.iter().zip(values).map(|(&arm, p99)| row(arm, ms(100), &[("read_p99_ms", p99)])).collect();
            table(&text(&comparison(&arms, &[100]), &rows), "P99 READ LATENCY (ms)")
                .pop()
                .expect("a row")
                .replace(' ', "")
        };
        assert_eq!(p99([112.0, 226.0, 101.2, 100.9]), "|**100ms**|112|226|**101**|**101**|tokio-rusqlite,WALpool|");
        assert_eq!(p99([9.0, 1.001, 1.0, 1.004]), "|**100ms**|9.00|**1.00**|**1.00**|**1.00**|3ofthem|");
    }

    #[test]
    fn a_figure_that_is_missing_is_a_dash_and_nothing_is_not_the_best() {
        let rows = [
            row(Arm::Direct, ms(100), &[("reads_count", 0.0), ("writes_count", 0.0)]),
            row(Arm::SpawnBlocking, ms(100), &[("reads_count", 0.0), ("writes_count", 7.0)]),
        ];
        let text = text(&comparison(&MIRROR, &[100]), &rows);
        let last = |title| table(&text, title).pop().expect("a row").replace(' ', "");
        assert_eq!(last("READ THROUGHPUT (requests)"), "|**100ms**|0|0|-|-|");
        assert_eq!(last("WRITE THROUGHPUT (operations)"), "|**100ms**|0|**7**|-|-|", "no multiple of nothing");
        assert_eq!(last("P99 READ LATENCY (ms)"), "|**100ms**|-|-|-|-|");
        assert_eq!(last("WHAT THE DOCUMENT LEAVES OUT"), "|**100ms**|tokio-rusqlite|-|-|-|-|-|-|-|-|-|-|");
    }

    #[test]
    fn a_run_with_failures_is_marked_named_and_not_the_best() {
        let counts = |reads| [("reads_count", reads), ("read_p99_ms", 1.0), ("read_busy_count", 3.0)];
        let lost =
            Row { fault: Some("database 1 lost block 7".to_owned()), ..row(Arm::WalInline, ms(20), &counts(900.0)) };
        let busy = [counts(800.0).as_slice(), &[("read_failures_count", 3.0)]].concat();
        let busy = Row { first_error: Some("is\nlocked".to_owned()), ..row(Arm::SharedCache, ms(20), &busy) };
        let good = row(Arm::Direct, ms(20), &[("reads_count", 100.0), ("read_p99_ms", 20.0)]);
        let arms = [Arm::WalInline, Arm::SharedCache, Arm::Direct];
        let text = text(&comparison(&arms, &[20]), &[lost, busy, good]);
        let reads = table(&text, "READ THROUGHPUT (requests)").pop().expect("a row").replace(' ', "");
        assert_eq!(reads, "|**20ms**|900!|800!|**100**|**1.0x**|");
        let p99 = table(&text, "P99 READ LATENCY (ms)").pop().expect("a row");
        assert!(
            p99.contains("| **20.0** | Direct Blocking |") || p99.contains("**20.0** | Direct Blocking |"),
            "{p99}"
        );
        assert!(text.contains("- wal_inline, 20ms: database 1 lost block 7\n"), "{text}");
        assert!(text.contains("- shared_cache, 20ms: the first failure said: is locked\n"), "{text}");
        assert!(table(&text, "FAILURES (requests)").iter().any(|line| line.contains("shared_cache !")), "{text}");
    }

    #[test]
    fn many_arms_become_rows_and_no_line_is_wide() {
        let comparison = comparison(Arm::ALL, &[100, 1_000, 10_000]);
        let text = text(&comparison, &[row(Arm::Memdb, ms(1_000), &[("reads_count", 12.0)])]);
        let reads = table(&text, "READ THROUGHPUT (requests)");
        assert_eq!(reads.len(), Arm::ALL.len() + 3, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
    }

    #[test]
    fn the_schedule_is_shown_where_there_is_one() {
        let closed = comparison(&MIRROR, &[100]);
        assert!(!text(&closed, &[]).contains("Scheduled reads"));
        let open = Comparison { reads_per_s: Some(50.0), ..closed };
        let text = text(&open, &[row(Arm::Direct, ms(100), &[("scheduled_reads_count", 1_600.0)])]);
        assert!(
            text.contains("Scheduled reads") && text.contains("1,600") && text.contains("50 reads per second"),
            "{text}"
        );
    }
}
