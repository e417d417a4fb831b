//! What a binary without arguments does: every arm once, each in a process of its own, with a progress bar on standard error.

use std::collections::HashMap;
use std::process::{Command, Stdio};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;

use crate::error::Error;

/// Metrics by scenario and arm.
#[derive(Debug, Default)]
pub struct Samples(HashMap<(String, String), HashMap<String, f64>>);

#[derive(Deserialize)]
struct Sample {
    metrics: HashMap<String, f64>,
    error: Option<String>,
}

impl Samples {
    /// Runs the verb `run` of this program once for each of `cases`, which are scenario and arm.
    ///
    /// # Errors
    /// If a run fails or its record cannot be read.
    pub fn take<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Error> {
        let cases: Vec<_> = cases.into_iter().collect();
        let bar = ProgressBar::new(cases.len() as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        let mut samples = HashMap::new();
        for (scenario, arm) in cases {
            bar.set_message(format!("{scenario} {arm}"));
            samples.insert((scenario.to_owned(), arm.to_owned()), sample(scenario, arm)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(Samples(samples))
    }

    /// What the run of the case recorded.
    #[must_use]
    pub fn value(&self, scenario: &str, arm: &str, metric: &str) -> Option<f64> {
        self.0.get(&(scenario.to_owned(), arm.to_owned()))?.get(metric).copied()
    }
}

/// A figure with so many decimals, or a dash.
#[must_use]
pub fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// One run of a case in a process of its own.
fn sample(scenario: &str, arm: &str) -> Result<HashMap<String, f64>, Error> {
    let failed = |why: String| Error::Sample { scenario: scenario.to_owned(), arm: arm.to_owned(), why };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = Command::new(program)
        .args(["run", "--scenario", scenario, "--arm", arm])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let sample: Sample = serde_json::from_slice(&output.stdout).map_err(|_| failed(output.status.to_string()))?;
    match sample.error {
        Some(error) => Err(failed(error)),
        None => Ok(sample.metrics),
    }
}
