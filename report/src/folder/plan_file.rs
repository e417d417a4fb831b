//! plan.tsv and plan.json: the plan as it is written down before the first run.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files::{self, Schema};
use crate::folder::{cases::Case, manifest};

#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRun {
    pub run: String,
    pub block: u64,
    /// Which of the binaries that differ only in the order of their code.
    pub layout: u64,
    pub seed: u64,
    pub case: Case,
}

/// plan.json: what a plan follows from beside the claims and the test cases, and what came of it. A whole measurement has none of the last two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanMeta {
    pub schema: Schema,
    pub study: String,
    pub profile: String,
    pub seed: u64,
    pub hash: String,
    pub planned_s: f64,
    pub layouts: NonZeroU64,
    /// How often the cases are run once more under GNU time: what follows from the profile and the part.
    pub memory_passes: usize,
    /// Whether the measurement was cut off and stands with the blocks that were complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The scenarios that a part of the originals is restricted to; `None` for a whole measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// What is repeated to calibrate the method; `None` for a measurement of claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

/// A/A controls that are repeated, by id, to see how often the method finds what is not there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    pub controls: Vec<String>,
    pub trials: usize,
}

impl PlanMeta {
    pub fn holds(&self, scenario: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == scenario))
    }

    pub fn to_text(&self) -> String {
        // Numbers and texts only: there is nothing that JSON could not hold.
        format!("{}\n", serde_json::to_string_pretty(self).unwrap_or_default())
    }
}

pub fn to_tsv(runs: &[PlannedRun]) -> String {
    let line = |PlannedRun { run, block, layout, seed, case }: &PlannedRun| {
        let Case { scenario, arm, build, seconds, arguments } = case;
        format!("{run}\t{block}\t{scenario}\t{arm}\t{build}\t{layout}\t{seed}\t{seconds}\t{arguments}\n")
    };
    runs.iter().map(line).collect()
}

/// Reads plan.tsv as docs/FORMAT.md section 3 has it; an error names `file` and the line.
pub fn from_tsv(text: &str, file: &str) -> Result<Vec<PlannedRun>, Error> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("'{text}' is no whole number"));
    files::rows(text, file, "nine", |[run, block, scenario, arm, build, layout, seed, seconds, arguments]| {
        let case = Case::read([scenario, arm, build, seconds, arguments])?;
        let (block, layout, seed) = (number(block)?, number(layout)?, number(seed)?);
        Ok(PlannedRun { run: run.to_owned(), block, layout, seed, case })
    })
}

/// The hash of a plan: SHA-256 of claims.toml, cases.tsv and plan.tsv, in hexadecimal.
pub fn hash(claims: &str, cases: &str, plan: &str) -> String {
    manifest::sum([claims, cases, plan].concat().as_bytes())
}

impl PlannedRun {
    pub fn block_name(&self) -> (&str, u64) {
        (&self.case.scenario, self.block)
    }
}
