//! The record of a run: one JSON line, as docs/FORMAT.md defines it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::error::{Error, file_error};
use crate::request::RunRequest;

/// One observation of one test case.
#[derive(Debug, Serialize)]
pub struct Record {
    schema: u32,
    run: String,
    study: &'static str,
    scenario: String,
    arm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    versus: Option<String>,
    seed: u64,
    block: u64,
    digest: String,
    metrics: BTreeMap<&'static str, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<Vec<Pair>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    histograms: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
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

/// What a run observed.
#[derive(Debug, Default)]
pub struct Observation {
    /// Fingerprint of the answer; empty for an arm that has none.
    pub digest: String,
    /// By name; each name ends in its unit.
    pub metrics: BTreeMap<&'static str, f64>,
    /// The alternations of a duet.
    pub pairs: Option<Vec<Pair>>,
    /// Whole distributions by name, in nanoseconds: compressed `HdrHistogram`s in base64.
    pub histograms: BTreeMap<&'static str, String>,
}

impl Record {
    /// The record of `request` to `study`: what was observed, or in one line why it failed.
    #[must_use]
    pub fn new(study: &'static str, request: &RunRequest, result: Result<Observation, String>) -> Self {
        let (observation, error) = match result {
            Ok(observation) => (observation, None),
            Err(error) => (Observation::default(), Some(error.replace(['\n', '\r'], " "))),
        };
        Record {
            schema: 1,
            run: request.run.clone(),
            study,
            scenario: request.scenario.clone(),
            arm: request.arm.clone(),
            versus: request.versus.clone(),
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
    pub fn write(&self, file: Option<&Path>) -> Result<(), Error> {
        append_line(self, file)
    }
}

/// Appends `value` as one line of JSON to `file`, or prints it.
///
/// # Errors
/// If it cannot be written.
pub fn append_line(value: &impl Serialize, file: Option<&Path>) -> Result<(), Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> RunRequest {
        RunRequest {
            scenario: "n_1".into(),
            arm: "a".into(),
            run: "x-1".into(),
            seed: 2,
            block: 3,
            ..RunRequest::default()
        }
    }

    #[test]
    fn a_record_is_one_line_of_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("records");
        let metrics = BTreeMap::from([("work_s", 0.5)]);
        let sample = Observation { digest: "d".into(), metrics, ..Observation::default() };
        Record::new("toy", &request(), Ok(sample)).write(Some(&file)).unwrap();
        let failure = Record::new("toy", &request(), Err("two\nlines".into()));
        assert!(!failure.succeeded());
        failure.write(Some(&file)).unwrap();
        let head = r#"{"schema":1,"run":"x-1","study":"toy","scenario":"n_1","arm":"a","seed":2,"block":3,"#;
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            format!(
                "{head}\"digest\":\"d\",\"metrics\":{{\"work_s\":0.5}}}}\n{head}\"digest\":\"\",\"metrics\":{{}},\"error\":\"two lines\"}}\n"
            )
        );
    }

    #[test]
    fn a_record_that_cannot_be_written_names_the_file() {
        let error =
            Record::new("toy", &request(), Err(String::new())).write(Some(Path::new("/nowhere/file"))).unwrap_err();
        assert_eq!(error.to_string(), "cannot write /nowhere/file");
    }
}
