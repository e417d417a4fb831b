//! The record of a run: one JSON line, as docs/FORMAT.md defines it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::Serialize;

use crate::metrics::Metrics;

/// Which test case to run, and where its record goes: the options of `run`.
#[derive(Debug, Clone, Args)]
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

/// What a run observed.
#[derive(Debug, Default)]
pub struct Observation {
    /// Fingerprint of the answer; empty for an arm that has none.
    pub digest: String,
    /// What was measured.
    pub metrics: Metrics,
    /// Whole distributions by name, in nanoseconds, as [`encode`] writes them.
    pub histograms: BTreeMap<&'static str, String>,
    /// Highest resident memory of the largest process that the run started, in KiB.
    pub child_peak_kib: Option<u64>,
    /// The alternations of a duet.
    pub(crate) pairs: Option<Vec<Pair>>,
}

impl Observation {
    /// A fingerprint and figures.
    #[must_use]
    pub fn new(digest: impl Into<String>, metrics: Metrics) -> Self {
        Observation { digest: digest.into(), metrics, ..Observation::default() }
    }
}

/// One alternation of a duet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// Which arm went first: `ab` or `ba`.
    pub order: &'static str,
    /// Time of the first arm named, in seconds.
    pub a_s: f64,
    /// Time of the second, in seconds.
    pub b_s: f64,
}

/// One observation of one test case.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    schema: u32,
    run: &'a str,
    study: &'static str,
    scenario: &'a str,
    arm: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    versus: Option<&'a str>,
    seed: u64,
    block: u64,
    digest: String,
    metrics: Metrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<Vec<Pair>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    histograms: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> Record<'a> {
    /// The record of `request` to `study`: what was observed, or in one line why it failed.
    #[must_use]
    pub fn new(study: &'static str, request: &'a Request, result: Result<Observation, String>) -> Self {
        let (observation, error) = match result {
            Ok(observation) => (observation, None),
            Err(error) => (Observation::default(), Some(error)),
        };
        Record {
            schema: 2,
            run: &request.run,
            study,
            scenario: &request.scenario,
            arm: &request.arm,
            versus: request.versus.as_deref(),
            seed: request.seed,
            block: request.block,
            digest: observation.digest,
            metrics: observation.metrics,
            pairs: observation.pairs,
            histograms: observation.histograms,
            error,
        }
    }

    /// Whether it holds a sample and no failure.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.error.is_none()
    }

    /// Appends the record to `file`, or prints it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: Option<&Path>) -> anyhow::Result<()> {
        let write = || -> io::Result<()> {
            let mut line = serde_json::to_vec(self)?;
            line.push(b'\n');
            match file {
                // One write for the whole line: an interruption leaves it out or leaves it whole.
                Some(path) => OpenOptions::new().create(true).append(true).open(path)?.write_all(&line),
                None => io::stdout().write_all(&line),
            }
        };
        let name = file.unwrap_or(Path::new("standard output"));
        write().with_context(|| format!("cannot write {}", name.display()))
    }
}

/// A histogram of nanoseconds as a record keeps it: compressed V2 format, in base64.
///
/// # Errors
/// If it cannot be compressed.
pub fn encode(histogram: &Histogram<u64>) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).context("cannot compress a histogram")?;
    Ok(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        let (scenario, arm, run) = ("n_1".to_owned(), "a".to_owned(), "x-1".to_owned());
        Request { scenario, arm, run, seed: 2, block: 3, versus: None, record: None }
    }

    #[test]
    fn a_record_is_one_line_of_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("records");
        let request = request();
        let sample = Observation::new("d", Metrics::from([("work_s", 0.5)]));
        Record::new("toy", &request, Ok(sample)).write(Some(&file)).unwrap();
        let failure = Record::new("toy", &request, Err("it broke".into()));
        assert!(!failure.succeeded());
        failure.write(Some(&file)).unwrap();
        let head = r#"{"schema":2,"run":"x-1","study":"toy","scenario":"n_1","arm":"a","seed":2,"block":3,"#;
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            format!(
                "{head}\"digest\":\"d\",\"metrics\":{{\"work_s\":0.5}}}}\n{head}\"digest\":\"\",\"metrics\":{{}},\"error\":\"it broke\"}}\n"
            )
        );
    }

    #[test]
    fn a_record_that_cannot_be_written_names_the_file() {
        let request = request();
        let record = Record::new("toy", &request, Err(String::new()));
        let error = record.write(Some(Path::new("/nowhere/file"))).unwrap_err();
        assert_eq!(error.to_string(), "cannot write /nowhere/file");
    }
}
