//! The record of a run: one JSON line, as docs/FORMAT.md defines it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use crate::line::Schema;
pub use crate::line::{DuetPair, Order, Record};
use crate::output::{one_line, print};

/// Which test case to run, and where its record goes: the options of `run`.
#[derive(Debug, Args)]
pub struct Request {
    /// The scenario, as arms lists it
    #[arg(long)]
    pub scenario: String,
    /// The arm, with @aa or @slow for a control
    #[arg(long)]
    pub arm: String,
    /// Alternate with this arm in one process: a duet
    #[arg(long)]
    pub versus: Option<String>,
    /// Seed of the input
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Number of the block, kept in the record
    #[arg(long, default_value_t = 0)]
    pub block: u64,
    /// Id of the run, kept in the record
    #[arg(long, default_value = "manual")]
    pub run: String,
    /// Append the record to this file instead of printing it
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// Figures by name; each name ends in its unit (docs/FORMAT.md, section 2).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    /// Adds a figure. What could not be read, or is no number (the quantile of nothing), is left out.
    pub fn put(&mut self, name: impl Into<String>, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.0.insert(name.into(), value);
        }
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }
}

impl<N: Into<String>> Extend<(N, f64)> for Metrics {
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, figures: I) {
        figures.into_iter().for_each(|(name, value)| self.put(name, value));
    }
}

impl<N: Into<String>, const COUNT: usize> From<[(N, f64); COUNT]> for Metrics {
    fn from(figures: [(N, f64); COUNT]) -> Self {
        let mut metrics = Metrics::default();
        metrics.extend(figures);
        metrics
    }
}

impl IntoIterator for Metrics {
    type Item = (String, f64);
    type IntoIter = std::collections::btree_map::IntoIter<String, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// What a run observed.
#[derive(Debug, Default)]
pub struct Observation {
    /// Fingerprint of the answer; empty for an arm that has none.
    pub digest: String,
    pub metrics: Metrics,
    pub(crate) pairs: Option<Vec<DuetPair>>,
    /// Highest resident memory of the largest process that the run started, in KiB.
    pub child_peak_kib: Option<u64>,
}

impl Observation {
    pub fn new(digest: impl Into<String>, metrics: Metrics) -> Self {
        Observation { digest: digest.into(), metrics, ..Observation::default() }
    }
}

impl Record {
    /// The record of `request` to `study`: what was observed, or why it failed.
    pub(crate) fn new(study: &str, request: &Request, result: anyhow::Result<Observation>) -> Self {
        let error = result.as_ref().err().map(one_line);
        let Observation { digest, metrics, pairs, .. } = result.unwrap_or_default();
        Record {
            schema: Schema,
            run: request.run.clone(),
            study: study.to_owned(),
            scenario: request.scenario.clone(),
            arm: request.arm.clone(),
            versus: request.versus.clone(),
            seed: request.seed,
            block: request.block,
            digest,
            metrics: metrics.0,
            pairs,
            error,
            histograms: None,
        }
    }

    /// Appends the record to `file`, or prints it.
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
