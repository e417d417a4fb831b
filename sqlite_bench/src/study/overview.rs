//! Runs a comparison, with a progress bar; and the list of the arms.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use study_kit::{Observation, Record, RunRequest, file_error};

use super::bench::{self, Bench, Measured, data_folder};
use super::compare::{Comparison, Row};
use super::{StudyError, metrics};
use crate::design::{Arm, Place, arm::Role};

/// Runs every arm at every hold, each with databases and a runtime of its own, one after the other.
///
/// A run that breaks off is a row with a fault; the others are made.
///
/// # Errors
/// If the folder is no folder that files can be made in, or a record cannot be written.
pub fn measure(comparison: &Comparison) -> Result<Vec<Row>, StudyError> {
    let folder = folder(comparison)?;
    if let Some(file) = &comparison.record {
        let opened = OpenOptions::new().create(true).append(true).open(file);
        opened.map_err(|source| file_error("write", file, source))?;
    }
    let total: Duration = comparison.runs().map(|(hold, _)| comparison.expected_time(hold)).sum();
    let bar = ProgressBar::new(millis(total)).with_style(
        ProgressStyle::with_template("{bar:30} {percent}%, {eta} left: {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut rows = Vec::new();
    let mut before = Duration::ZERO;
    for (hold, arm) in comparison.runs() {
        let expected = comparison.expected_time(hold);
        bar.set_message(format!("{arm}, {hold:?}"));
        let bench = Bench { arm, workload: comparison.workload(hold), folder: folder.clone(), seed: comparison.seed };
        let measured = bench.measure(&|elapsed| bar.set_position(millis(before + elapsed.min(expected))));
        let row = row(&bench, measured.as_ref());
        if let Some(file) = &comparison.record {
            record(&bench, &row, measured.as_ref().ok()).write(Some(file))?;
        }
        if bar.is_hidden() {
            // Whoever has closed standard error does not want to know.
            let _ = writeln!(io::stderr(), "{arm}, {hold:?}: {}", row.fault.as_deref().unwrap_or("done"));
        }
        rows.push(row);
        before += expected;
        bar.set_position(millis(before));
    }
    bar.finish_and_clear();
    Ok(rows)
}

/// Every arm with what it is there for and what it does.
#[must_use]
pub fn arms() -> String {
    let mut text = String::new();
    for arm in Arm::ALL {
        let role = match arm.role() {
            Role::Mirror => "mirror",
            Role::Control => "control",
            Role::Best => "best",
            Role::NegativeControl => "negative control",
        };
        let _ = writeln!(text, "{:<18}{role:<18}{}", arm.name(), arm.text());
    }
    text
}

/// The folder for databases, found to be one that files can be made in before a minute has passed.
fn folder(comparison: &Comparison) -> Result<PathBuf, StudyError> {
    let Some(given) = &comparison.directory else { return Ok(Place::Memory.folder(data_folder())) };
    // Made by the user, or not at all: a typing error is not worth a new folder.
    fs::read_dir(given).map_err(|source| file_error("use the folder", given, source))?;
    bench::own_folder(given)?;
    Ok(given.clone())
}

/// What came of a run, as a row of the tables.
fn row(bench: &Bench, measured: Result<&Measured, &StudyError>) -> Row {
    let Bench { arm, workload, .. } = *bench;
    let empty = Row { arm, hold: workload.hold, metrics: metrics::Metrics::new(), fault: None, first_error: None };
    let measured = match measured {
        Ok(measured) => measured,
        Err(error) => return Row { fault: Some(chain(error)), ..empty },
    };
    let outcome = &measured.outcome;
    let failures =
        || metrics::failures("reads", &outcome.reads).or_else(|| metrics::failures("writes", &outcome.writes));
    // That operations fail is what a negative control is there to show.
    let fault = measured.fault.clone().or_else(|| (arm.role() != Role::NegativeControl).then(failures).flatten());
    let mut metrics = metrics::of(outcome, &workload, &measured.cost);
    // One process makes all the runs: this is the peak of those before, too.
    metrics.remove("peak_rss_kib");
    let first_error = outcome.reads.first_error.clone().or_else(|| outcome.writes.first_error.clone());
    Row { metrics, fault: fault.map(|fault| fault.replace('\n', " ")), first_error, ..empty }
}

/// The record of a run: what `run` would write, under a scenario of its own.
fn record(bench: &Bench, row: &Row, measured: Option<&Measured>) -> Record {
    let request = RunRequest {
        scenario: "compare".to_owned(),
        arm: bench.arm.to_string(),
        seed: bench.seed,
        block: 0,
        run: "compare".to_owned(),
        versus: None,
    };
    let result = match (&row.fault, measured) {
        (None, Some(measured)) => metrics::histograms(&measured.outcome)
            .map(|histograms| Observation {
                digest: measured.digest.clone(),
                metrics: row.metrics.clone(),
                histograms,
                pairs: None,
            })
            .map_err(|error| format!("cannot compress a histogram: {error}")),
        (fault, _) => Err(fault.clone().unwrap_or_default()),
    };
    Record::new(env!("CARGO_PKG_NAME"), &request, result)
}

/// `error` with its causes, in one line.
fn chain(error: &StudyError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        // Some errors say what their cause says.
        if !text.ends_with(&said) {
            let _ = write!(text, ": {said}");
        }
        cause = error.source();
    }
    text.replace('\n', " ")
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
