//! One pass over the arms: the tables of the published document for this machine, single figures without a verdict.

use std::fmt::Write as _;

use study_kit::overview::{Samples, cell};

use super::StudyError;
use super::arms::{Arm, Drive};

/// The published rows of one archive in one process, as label and scenario.
const CRITERION: [(&str, &str); 3] =
    [("one file of 5 MB", "entry_5m"), ("50 files of 10 KB", "entries_50"), ("100 KB in memory", "memory_100k")];
/// The published rows of growing size.
const SIZES: [(&str, &str); 3] = [("5 MB", "perf_5m"), ("10 MB", "perf_10m"), ("20 MB", "perf_20m")];
const PAIR: [&str; 2] = ["sync", "async"];
const OWN: [&str; 2] = ["best_sync", "best_async"];
const TICKERS: [&str; 6] = ["idle", "async", "best_async", "best_async_in_place", "best_async_offload", "async_zip"];

/// Runs every case once, each in a process of its own, and returns the tables.
///
/// # Errors
/// If a case fails.
pub fn tables() -> Result<String, StudyError> {
    let mut cases: Vec<(&'static str, &'static str)> = Vec::new();
    for (_, scenario) in CRITERION.into_iter().chain(SIZES) {
        cases.extend(PAIR.into_iter().chain(OWN).map(|arm| (scenario, arm)));
    }
    let every = Arm::ALL
        .into_iter()
        .filter(|arm| arm.drive() != Drive::Loop)
        .map(Arm::name)
        .filter(|arm| !PAIR.contains(arm) && !OWN.contains(arm));
    cases.extend(every.map(|arm| ("entries_50", arm)));
    cases.extend(["empty", "sync", "async", "best_sync", "best_async"].map(|arm| ("rss_10m", arm)));
    cases.extend(
        ["sync_sequential", "sync_threads", "async_sequential", "async_concurrent"].map(|arm| ("many_10", arm)),
    );
    cases.extend(TICKERS.map(|arm| ("ticker", arm)));

    Ok(Tables(Samples::take(cases)?).format())
}

struct Tables(Samples);

impl Tables {
    fn value(&self, scenario: &'static str, arm: &'static str, metric: &str) -> Option<f64> {
        self.0.value(scenario, arm, metric)
    }

    /// Time, throughput and overhead of sync against async.
    fn rows(&self, text: &mut String, title: &str, rows: &[(&str, &'static str)]) {
        let _ = writeln!(
            text,
            "{title:<20} {:>10} {:>10} {:>10} {:>14} {:>14} {:>12} {:>12}",
            "sync ms", "async ms", "overhead", "sync MB/s", "async MB/s", "ours, sync", "ours, async"
        );
        for &(label, scenario) in rows {
            let time_ms = |arm| self.value(scenario, arm, "archive_us").map(|us| us / 1e3);
            let speed = |arm| {
                let bytes = self.value(scenario, arm, "data_bytes")?;
                Some(bytes / self.value(scenario, arm, "archive_us")?)
            };
            let overhead = time_ms("async").zip(time_ms("sync")).map(|(a, s)| 100.0 * (a / s - 1.0));
            let _ = writeln!(
                text,
                "{label:<20} {:>10} {:>10} {:>9}% {:>14} {:>14} {:>12} {:>12}",
                cell(time_ms("sync"), 3),
                cell(time_ms("async"), 3),
                cell(overhead, 1),
                cell(speed("sync"), 0),
                cell(speed("async"), 0),
                cell(time_ms("best_sync"), 3),
                cell(time_ms("best_async"), 3),
            );
        }
    }

    fn format(&self) -> String {
        let mut text = String::new();
        self.rows(&mut text, "One archive", &CRITERION);
        text.push('\n');
        self.rows(&mut text, "Entries of 1 MB", &SIZES);
        let _ = writeln!(text, "\n{:<24} {:>14}", "Memory, 10 MB", "MiB over empty");
        let empty = self.value("rss_10m", "empty", "peak_rss_kib");
        for arm in ["sync", "async", "best_sync", "best_async"] {
            let growth =
                self.value("rss_10m", arm, "peak_rss_kib").zip(empty).map(|(peak, empty)| (peak - empty) / 1024.0);
            let _ = writeln!(text, "{arm:<24} {:>14}", cell(growth, 2));
        }
        let _ = writeln!(text, "\n{:<24} {:>14} {:>14}", "Ten archives of 5 MB", "ms", "% of a core");
        for arm in ["sync_sequential", "sync_threads", "async_sequential", "async_concurrent"] {
            let rounds = self.value("many_10", arm, "archives_count").map(|count| count / 10.0);
            let time = self.value("many_10", arm, "work_s").zip(rounds).map(|(work, rounds)| 1e3 * work / rounds);
            let _ = writeln!(
                text,
                "{arm:<24} {:>14} {:>14}",
                cell(time, 1),
                cell(self.value("many_10", arm, "cpu_percent"), 0)
            );
        }
        let _ = writeln!(
            text,
            "\n{:<24} {:>12} {:>12} {:>12}",
            "A tick every ms beside", "late p50 ms", "late p99 ms", "late max ms"
        );
        for arm in TICKERS {
            let late = |metric| cell(self.value("ticker", arm, metric).map(|us| us / 1e3), 2);
            let _ = writeln!(
                text,
                "{arm:<24} {:>12} {:>12} {:>12}",
                late("ticker_p50_us"),
                late("ticker_p99_us"),
                late("ticker_max_us")
            );
        }
        let _ = writeln!(
            text,
            "\n{:<24} {:>10} {:>12} {:>12} {:>14}",
            "50 files of 10 KB", "ms", "operations", "sink writes", "archive bytes"
        );
        for arm in Arm::ALL.map(Arm::name) {
            let value = |metric, digits| cell(self.value("entries_50", arm, metric), digits);
            let _ = writeln!(
                text,
                "{arm:<24} {:>10} {:>12} {:>12} {:>14}",
                cell(self.value("entries_50", arm, "archive_us").map(|us| us / 1e3), 3),
                value("file_operations_count", 0),
                value("sink_writes_count", 0),
                value("archive_bytes", 0),
            );
        }
        text += "\nOne run each: no verdicts. `make report-s_zip` measures in blocks and judges.\n";
        text
    }
}
