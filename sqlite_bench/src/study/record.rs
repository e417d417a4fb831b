//! The record of a run: one JSON line, as docs/FORMAT.md defines it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::{RunRequest, StudyError, file_error};

/// One observation of one test case.
#[derive(Debug, Serialize)]
pub struct Record {
    schema: u32,
    run: String,
    study: &'static str,
    scenario: String,
    arm: String,
    seed: u64,
    block: u64,
    digest: String,
    metrics: BTreeMap<&'static str, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    histograms: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What a run observed.
#[derive(Debug, Default)]
pub struct Observation {
    /// Fingerprint of the answer; empty for an arm that has none.
    pub digest: String,
    /// By name; each name ends in its unit.
    pub metrics: BTreeMap<&'static str, f64>,
    /// Whole distributions by name, in nanoseconds: compressed HdrHistograms in base64.
    pub histograms: BTreeMap<&'static str, String>,
}

impl Record {
    /// The record of `request`: what was observed, or why it failed.
    #[must_use]
    pub fn new(request: &RunRequest, result: Result<Observation, String>) -> Self {
        let (observation, error) = match result {
            Ok(observation) => (observation, None),
            Err(error) => (Observation::default(), Some(error)),
        };
        Record {
            schema: 1,
            run: request.run.clone(),
            study: env!("CARGO_PKG_NAME"),
            scenario: request.scenario.clone(),
            arm: request.arm.clone(),
            seed: request.seed,
            block: request.block,
            digest: observation.digest,
            metrics: observation.metrics,
            histograms: observation.histograms,
            error,
        }
    }

    /// Appends the record to `file`, or prints it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: Option<&Path>) -> Result<(), StudyError> {
        append_line(self, file)
    }
}

/// Appends `value` as one line of JSON to `file`, or prints it.
///
/// # Errors
/// If it cannot be written.
pub fn append_line(value: &impl Serialize, file: Option<&Path>) -> Result<(), StudyError> {
    let write = |file: Option<&Path>| -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        match file {
            // One write for the whole line: an interruption leaves it out or leaves it whole.
            Some(path) => OpenOptions::new().create(true).append(true).open(path)?.write_all(&line),
            None => io::stdout().write_all(&line),
        }
    };
    write(file).map_err(|source| file_error("write", file.unwrap_or(Path::new("standard output")), source))
}
