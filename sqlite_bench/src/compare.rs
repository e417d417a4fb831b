//! The published comparison: arms one after the other under each hold, and the document's tables of what came of it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::bench::{self, Bench, Measured};
use crate::design::Arm;
use crate::metrics::{self, Metrics};

mod comparison;
mod grid;
mod tables;

pub use comparison::Comparison;
pub use tables::tables;

/// A file system in memory, where there is one.
const MEMORY_FOLDER: &str = "/dev/shm";

/// One arm under one hold.
#[derive(Debug, Clone)]
pub struct Row {
    pub arm: &'static Arm,
    pub hold: Duration,
    /// What was measured, by name; what is absent has no value.
    pub metrics: Metrics,
    /// What was wrong although the arm should have no failures: operations that failed, a write that was lost.
    pub fault: Option<String>,
    /// What the first operation said that failed; of a negative control that is no fault.
    pub first_error: Option<String>,
}

/// Runs every arm at every hold, each with databases and a runtime of its own, one after the other.
///
/// A run that breaks off is a row with a fault; the others are made.
pub fn measure(comparison: &Comparison) -> Result<Vec<Row>> {
    let folder = folder(comparison)?;
    if let Some(file) = &comparison.record {
        append(file, "")?;
    }
    let total: Duration = comparison.runs().map(|(hold, _)| comparison.expected_time(hold)).sum();
    let style = ProgressStyle::with_template("{bar:30} {percent}%, {eta} left: {msg}")?;
    let bar = ProgressBar::new(millis(total)).with_style(style);
    let mut rows = Vec::new();
    let mut before = Duration::ZERO;
    for (hold, arm) in comparison.runs() {
        let expected = comparison.expected_time(hold);
        bar.set_message(format!("{}, {hold:?}", arm.name));
        let bench = Bench { arm, workload: comparison.workload(hold), folder: folder.clone(), seed: comparison.seed };
        let progress = |elapsed: Duration| bar.set_position(millis(before + elapsed.min(expected)));
        let measured = bench.measure(&progress, Instant::now, |start| start.elapsed());
        let (row, record) = row_and_record(&bench, measured);
        if let Some(file) = &comparison.record {
            append(file, &format!("{record}\n"))?;
        }
        if bar.is_hidden() {
            // Whoever has closed standard error does not want to know.
            let _ = writeln!(io::stderr(), "{}, {hold:?}: {}", arm.name, row.fault.as_deref().unwrap_or("done"));
        }
        rows.push(row);
        before += expected;
        bar.set_position(millis(before));
    }
    bar.finish_and_clear();
    Ok(rows)
}

/// The folder for databases, found to be one that files can be made in before a minute has passed.
fn folder(comparison: &Comparison) -> Result<PathBuf> {
    match &comparison.directory {
        None if Path::new(MEMORY_FOLDER).is_dir() => Ok(MEMORY_FOLDER.into()),
        None => Ok(std::env::temp_dir()),
        Some(given) => {
            // Made by the user, or not at all: a typing error is not worth a new folder.
            fs::read_dir(given).with_context(|| format!("cannot use the folder {}", given.display()))?;
            bench::own_folder(given)?;
            Ok(given.clone())
        }
    }
}

/// What came of a run: a row of the tables, and its record, as of any test case of the measurement, under a scenario of its own.
fn row_and_record(bench: &Bench, measured: Result<Measured<Duration>>) -> (Row, Value) {
    let Bench { arm, workload, seed, .. } = *bench;
    let mut row = Row { arm, hold: workload.hold, metrics: Metrics::new(), fault: None, first_error: None };
    let mut record = json!({
        "schema": 2, "run": "compare", "study": env!("CARGO_PKG_NAME"), "scenario": "compare", "arm": arm.name,
        "seed": seed, "block": 0, "digest": "", "metrics": {},
    });
    match measured {
        Ok(Measured { digest, tally, cost, fault }) => {
            row.metrics = metrics::of(&tally, &workload, workload.hold);
            row.metrics.insert("work_s", cost.as_secs_f64());
            if fault.is_none() {
                record["digest"] = json!(digest);
                record["metrics"] = json!(row.metrics);
            }
            row.fault = fault;
            row.first_error = tally.reads.first_error.or(tally.writes.first_error);
        }
        Err(error) => row.fault = Some(format!("{error:#}")),
    }
    if let Some(fault) = &mut row.fault {
        *fault = fault.replace('\n', " ");
        record["error"] = json!(fault);
    }
    (row, record)
}

/// Appends to `file`, in one write: an interruption leaves a line out or leaves it whole.
fn append(file: &Path, text: &str) -> Result<()> {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", file.display()))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
