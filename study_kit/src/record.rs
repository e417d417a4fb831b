//! The record of a run: one JSON line, as docs/FORMAT.md defines it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use crate::error::one_line;
use crate::metrics::Metrics;
use crate::output::print;

/// Which test case to run, and where its record goes: the options of `run`.
#[derive(Debug, Args, Serialize)]
pub struct Request {
    /// The scenario, as arms lists it
    #[arg(long)]
    pub scenario: String,
    /// The arm, with @aa or @slow for a control
    #[arg(long)]
    pub arm: String,
    /// Alternate with this arm in one process: a duet
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versus: Option<String>,
    /// Seed of the input
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Number of the block, kept in the record
    #[arg(long, default_value_t = 0)]
    pub block: u64,
    /// Id of the run, kept in the record
    #[arg(long, default_value = "manual")]
    #[serde(skip)]
    pub run: String,
    /// Append the record to this file instead of printing it
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub record: Option<PathBuf>,
}

/// What a run observed.
#[derive(Debug, Default, Serialize)]
pub struct Observation {
    /// Fingerprint of the answer; empty for an arm that has none.
    pub digest: String,
    /// What was measured.
    pub metrics: Metrics,
    /// The alternations of a duet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pairs: Option<Vec<Pair>>,
    /// Highest resident memory of the largest process that the run started, in KiB.
    #[serde(skip)]
    pub child_peak_kib: Option<u64>,
}

impl Observation {
    /// A fingerprint and figures.
    pub fn new(digest: impl Into<String>, metrics: Metrics) -> Self {
        Observation { digest: digest.into(), metrics, ..Observation::default() }
    }
}

/// One alternation of a duet.
#[derive(Debug, Serialize)]
pub(crate) struct Pair {
    /// Which arm went first: `ab` or `ba`.
    pub order: &'static str,
    pub a_s: f64,
    pub b_s: f64,
}

/// One observation of one test case.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    schema: u32,
    run: &'a str,
    study: &'static str,
    #[serde(flatten)]
    request: &'a Request,
    #[serde(flatten)]
    observation: Observation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl<'a> Record<'a> {
    /// The record of `request` to `study`: what was observed, or why it failed.
    pub fn new(study: &'static str, request: &'a Request, result: anyhow::Result<Observation>) -> Self {
        let error = result.as_ref().err().map(one_line);
        Record { schema: 2, run: &request.run, study, request, observation: result.unwrap_or_default(), error }
    }

    /// Appends the record to `file`, or prints it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: Option<&Path>) -> anyhow::Result<()> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        let Some(path) = file else { return print(&line).map(drop) };
        // One write for the whole line: an interruption leaves it out or leaves it whole.
        let append = |mut file: File| file.write_all(line.as_bytes());
        let written = OpenOptions::new().create(true).append(true).open(path).and_then(append);
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}
