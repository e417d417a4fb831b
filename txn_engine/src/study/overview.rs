//! One pass over the arms: the tables of the published document for this machine, single figures without a verdict.

use std::fmt::Write as _;

use study_kit::overview::Samples;

use super::{StudyError, scenario};
use crate::arms::Arm;

/// Sizes of the stress table.
const SIZES: [&str; 5] = ["rows_100", "rows_100100", "rows_600100", "rows_1000100", "rows_2000100"];
/// Where all arms are run.
const LARGE: &str = "rows_2000100";
/// Clients over TCP, few and many.
const CLIENTS: [&str; 2] = ["tcp_100", "tcp_10000"];

/// Runs every case once, each in a process of its own, and returns the tables.
///
/// # Errors
/// If an input cannot be written or a case fails.
pub fn tables() -> Result<String, StudyError> {
    let mut cases: Vec<(&'static str, String)> = Vec::new();
    for size in SIZES {
        cases.extend(["sync", "async"].map(|arm| (size, arm.to_owned())));
    }
    cases.extend(["sync", "async"].map(|arm| ("three_files", arm.to_owned())));
    for scenario in CLIENTS {
        cases.extend(["threads", "tokio"].map(|arm| (scenario, arm.to_owned())));
    }
    let others = Arm::ALL.iter().map(|arm| arm.name()).chain(["csv_scan"]).map(str::to_owned);
    cases.extend(others.filter(|arm| arm != "sync" && arm != "async").map(|arm| (LARGE, arm)));

    for size in SIZES.into_iter().chain(["three_files"]) {
        scenario::prepare(size, 0)?;
    }
    let samples = Samples::take(cases.iter().map(|(scenario, arm)| (*scenario, arm.as_str())))?;
    Ok(format(&samples))
}

fn format(samples: &Samples) -> String {
    let value = |scenario: &str, arm: &str, metric: &str| samples.value(scenario, arm, metric);
    let cell = |value: Option<f64>, factor: f64| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{:.3}", value * factor))
    };
    let mut text = String::from("One huge file, published shape (seconds; MiB of growth of the peak):\n");
    let _ = writeln!(
        text,
        "{:<20} {:>9} {:>9} {:>12} {:>13}",
        "Transactions", "sync", "async", "sync memory", "async memory"
    );
    for size in SIZES {
        let _ = writeln!(
            text,
            "{:<20} {:>9} {:>9} {:>12} {:>13}",
            size.trim_start_matches("rows_"),
            cell(value(size, "sync", "work_s"), 1.0),
            cell(value(size, "async", "work_s"), 1.0),
            cell(value(size, "sync", "peak_rss_growth_kib"), 1.0 / 1024.0),
            cell(value(size, "async", "peak_rss_growth_kib"), 1.0 / 1024.0),
        );
    }
    let _ = writeln!(text, "\nThree files of 100,000 rows at once (seconds):");
    for arm in ["sync", "async"] {
        let _ = writeln!(text, "{arm:<20} {:>9}", cell(value("three_files", arm, "work_s"), 1.0));
    }
    let _ =
        writeln!(text, "\nClients over TCP, 10,000 rows per second (ms from when a row was due; peak of the server):");
    let _ = writeln!(text, "{:<20} {:>9} {:>9} {:>9} {:>10}", "", "p50", "p99", "failed %", "peak MiB");
    for (scenario, clients) in CLIENTS.into_iter().zip(["100", "10,000"]) {
        for arm in ["threads", "tokio"] {
            let _ = writeln!(
                text,
                "{:<20} {:>9} {:>9} {:>9} {:>10}",
                format!("{clients}, {arm}"),
                cell(value(scenario, arm, "response_p50_ms"), 1.0),
                cell(value(scenario, arm, "response_p99_ms"), 1.0),
                cell(value(scenario, arm, "failed_percent"), 1.0),
                cell(value(scenario, arm, "server_peak_rss_kib"), 1.0 / 1024.0),
            );
        }
    }
    let _ = writeln!(text, "\nEvery arm on 2,000,100 rows, against a bare csv scan of the same file:");
    let _ = writeln!(text, "{:<28} {:>9} {:>9} {:>9} {:>10}", "arm", "seconds", "CPU s", "x scan", "peak MiB");
    let scan = value(LARGE, "csv_scan", "work_s");
    for arm in ["csv_scan"].into_iter().chain(Arm::ALL.iter().map(|arm| arm.name())) {
        let work = value(LARGE, arm, "work_s");
        let _ = writeln!(
            text,
            "{arm:<28} {:>9} {:>9} {:>9} {:>10}",
            cell(work, 1.0),
            cell(value(LARGE, arm, "cpu_s"), 1.0),
            cell(work.zip(scan).map(|(work, scan)| work / scan), 1.0),
            cell(value(LARGE, arm, "peak_rss_kib"), 1.0 / 1024.0),
        );
    }
    text += "\nOne run each: no verdicts. `make report-txn_engine` measures in blocks and judges.\n";
    text
}
