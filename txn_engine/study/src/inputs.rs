//! Input files and expected answers in the study's data folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};
use serde::{Deserialize, Serialize};
use study_kit::data;
use txn_engine::ErrorKind;
use txn_engine::accounts::digest;
use txn_engine::generate::{self, Shape};
use txn_engine_oracle::Oracle;

use crate::cases::Files;
use crate::mirror;

pub const STUDY: &str = "txn_engine";

/// Part of every file name: a generator or oracle that changes must not meet the files of the one before.
const GENERATION: u32 = 2;

/// Clients and the first id of each of the three files of the published concurrency test.
const REGRESSION: [(RangeInclusive<u16>, u32); 3] = [(1..=10, 0), (200..=300, 1_000_001), (400..=500, 2_000_001)];

/// The input of a scenario with one seed: one or more files and what must come of them.
#[derive(Debug)]
pub struct Set {
    files: Vec<(PathBuf, Shape)>,
    rows: u64,
    seed: u64,
    expected: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    pub digest: String,
    pub accepted: u64,
    /// Row errors by kind; kinds that do not occur are absent.
    pub errors: BTreeMap<String, u64>,
}

impl Expected {
    /// What an engine came to: its accounts as printed, how many rows it has accepted, and how many it has rejected for each reason.
    pub fn new(accounts_csv: &[u8], accepted: u64, errors: impl Fn(ErrorKind) -> u64) -> Self {
        let errors = ErrorKind::ALL.iter().map(|&kind| (kind.name().to_owned(), errors(kind)));
        Expected { digest: digest(accounts_csv), accepted, errors: errors.filter(|&(_, count)| count > 0).collect() }
    }
}

/// The study's data folder, which is made if it is not there.
pub fn folder() -> Result<PathBuf> {
    let folder = data::folder(STUDY);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

impl Set {
    /// The files of a scenario: one, or the three of the published concurrency test, without common clients or ids.
    pub fn new(files: &Files, seed: u64) -> Self {
        let (folder, rows) = (data::folder(STUDY), files.rows);
        let name = files.shape.as_ref().map_or("regression", Into::into);
        let stem = format!("{name}-{rows}-s{seed}-g{GENERATION}");
        let regression = |((clients, first_tx), number)| {
            (folder.join(format!("{stem}-{number}.csv")), Shape::Regression { clients, first_tx })
        };
        let expected = folder.join(format!("{stem}.json"));
        let files = match &files.shape {
            Some(shape) => vec![(folder.join(format!("{stem}.csv")), shape.clone())],
            None => REGRESSION.into_iter().zip(1..).map(regression).collect(),
        };
        Set { files, rows, seed, expected }
    }

    pub fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    pub fn total_rows(&self) -> u64 {
        self.rows * self.files.len() as u64
    }

    /// Writes the files and asks the oracle, unless that was done before. The answer is written last: it vouches for the files.
    pub fn prepare(&self) -> Result<()> {
        if self.expected.exists() && self.files.iter().all(|(path, _)| path.exists()) {
            return Ok(());
        }
        // An answer that stands there vouches for files that are about to go.
        if self.expected.exists() {
            fs::remove_file(&self.expected).with_context(|| format!("cannot remove {}", self.expected.display()))?;
        }
        let mut oracle = Oracle::default();
        for path in self.write_files(&folder()?)? {
            let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            oracle.feed(&bytes).map_err(|error| Error::msg(error).context("the generated input cannot be read"))?;
        }
        let answer = oracle.finish();
        let errors = |kind: ErrorKind| answer.errors.get(kind.name()).copied().unwrap_or(0);
        let expected = Expected::new(&answer.accounts_csv, answer.accepted, errors);
        let draft = self.expected.with_extension("new");
        fs::write(&draft, serde_json::to_vec(&expected)?)
            .and_then(|()| fs::rename(&draft, &self.expected))
            .with_context(|| format!("cannot write {}", self.expected.display()))
    }

    /// Writes the files anew into `into`, under their names.
    pub fn write_files(&self, into: &Path) -> Result<Vec<PathBuf>> {
        let written = (0_u64..).zip(&self.files).map(|(index, (path, shape))| {
            let path = into.join(path.file_name().unwrap_or_default());
            // Each of several files has other rows.
            let seed = self.seed + (index << 32);
            let written = File::create(&path).and_then(|mut file| match shape {
                Shape::Regression { .. } => mirror::write_rows(generate::rows(shape, seed), self.rows, &mut file),
                _ => generate::write(shape, self.rows, seed, BufWriter::with_capacity(1 << 20, file)),
            });
            written.with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path)
        });
        written.collect()
    }

    pub fn expected(&self) -> Result<Expected> {
        let read = || -> io::Result<_> { Ok(serde_json::from_str(&fs::read_to_string(&self.expected)?)?) };
        read().with_context(|| format!("cannot read {}", self.expected.display()))
    }
}
