//! Input files and expected answers in the study's data folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::StudyError;
use crate::arms::Outcome;
use crate::error::ErrorKind;
use crate::generate::{self, Shape};
use crate::oracle::Oracle;
use crate::session::hex;

/// Names the data folder, in which each study has one of its own.
pub const DATA_VARIABLE: &str = "AWAIT_OR_NOT_DATA";

/// Part of every file name: a generator or oracle that changes must not meet the files of the one before.
const GENERATION: u32 = 1;

/// Clients of the three files of the published concurrency test.
const REGRESSION_CLIENTS: [std::ops::RangeInclusive<u16>; 3] = [1..=10, 200..=300, 400..=500];
/// Ids of one of the three files lie below this distance from those of the next.
const REGRESSION_IDS: u32 = 10_000_000;

/// The input of a scenario with one seed: one or more files and what must come of them.
#[derive(Debug)]
pub struct Set {
    files: Vec<(PathBuf, Shape)>,
    rows: u64,
    seed: u64,
    expected: PathBuf,
}

/// What must come of an input, by the oracle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// Fingerprint of the accounts as printed.
    pub digest: String,
    /// Rows applied.
    pub accepted: u64,
    /// Row errors by kind; kinds that do not occur are absent.
    pub errors: BTreeMap<String, u64>,
}

impl Expected {
    /// What `outcome` came to.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        let errors = ErrorKind::ALL.iter().map(|&kind| (kind.name().to_owned(), outcome.errors.count(kind)));
        Expected {
            digest: digest(&outcome.accounts_csv()),
            accepted: outcome.accepted,
            errors: errors.filter(|&(_, count)| count > 0).collect(),
        }
    }

    /// How `self` differs from what was expected, in one line; `None` if it does not.
    #[must_use]
    pub fn difference(&self, expected: &Expected) -> Option<String> {
        if self.accepted != expected.accepted {
            return Some(format!("{} rows accepted, expected {}", self.accepted, expected.accepted));
        }
        if self.errors != expected.errors {
            return Some(format!("row errors {:?}, expected {:?}", self.errors, expected.errors));
        }
        (self.digest != expected.digest)
            .then(|| format!("accounts have fingerprint {}, expected {}", self.digest, expected.digest))
    }
}

/// The first 16 hexadecimal digits of the SHA-256 of `bytes`.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}

/// The study's data folder.
#[must_use]
pub fn folder() -> PathBuf {
    let name = env!("CARGO_PKG_NAME");
    if let Some(data) = std::env::var_os(DATA_VARIABLE) {
        return PathBuf::from(data).join(name);
    }
    // Beside the build that runs, so that `cargo clean` takes the data along.
    let program = std::env::current_exe().unwrap_or_default();
    match program.ancestors().find(|folder| folder.ends_with("target")) {
        Some(target) => target.join("data").join(name),
        None => std::env::temp_dir().join(name),
    }
}

impl Set {
    /// One file of `rows` rows.
    #[must_use]
    pub fn file(shape: &Shape, rows: u64, seed: u64) -> Self {
        let shape_name = Shape::NAMED.iter().find(|(_, named)| named == shape).map_or("file", |(name, _)| name);
        let stem = format!("{shape_name}-{rows}-s{seed}-g{GENERATION}");
        Set {
            files: vec![(folder().join(format!("{stem}.csv")), shape.clone())],
            rows,
            seed,
            expected: folder().join(format!("{stem}.json")),
        }
    }

    /// The three files of the published concurrency test, `rows` rows each, without common clients or ids.
    #[must_use]
    pub fn three_files(rows: u64, seed: u64) -> Self {
        let stem = format!("regression-{rows}-s{seed}-g{GENERATION}");
        let files = REGRESSION_CLIENTS.into_iter().zip(0_u32..).map(|(clients, index)| {
            let shape = Shape::Regression { clients, tx_base: index * REGRESSION_IDS };
            (folder().join(format!("{stem}-{}.csv", index + 1)), shape)
        });
        Set { files: files.collect(), rows, seed, expected: folder().join(format!("{stem}.json")) }
    }

    /// The files, in order.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    /// How many rows the files have together.
    #[must_use]
    pub fn total_rows(&self) -> u64 {
        self.rows * self.files.len() as u64
    }

    /// Writes the files and asks the oracle, unless that was done before. The answer is written last: it vouches for the files.
    ///
    /// # Errors
    /// If a file cannot be written or the oracle refuses it.
    pub fn prepare(&self) -> Result<(), StudyError> {
        if self.expected.exists() && self.files.iter().all(|(path, _)| path.exists()) {
            return Ok(());
        }
        fs::create_dir_all(folder()).map_err(|source| file_error("create", &folder(), source))?;
        self.write_files(&folder())?;
        let mut oracle = Oracle::new();
        for (path, _) in &self.files {
            let bytes = fs::read(path).map_err(|source| file_error("read", path, source))?;
            oracle.feed(&bytes).map_err(StudyError::BadInput)?;
        }
        let answer = oracle.finish();
        let errors = answer.errors.iter().filter(|&(_, &count)| count > 0);
        let expected = Expected {
            digest: digest(&answer.accounts_csv),
            accepted: answer.accepted,
            errors: errors.map(|(kind, &count)| ((*kind).to_owned(), count)).collect(),
        };
        write_whole(&folder(), &self.expected, |out| Ok(serde_json::to_writer(out, &expected)?))
    }

    /// Writes the files anew into `into`, under their names.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write_files(&self, into: &Path) -> Result<Vec<PathBuf>, StudyError> {
        let mut written = Vec::new();
        for (index, (path, shape)) in (0_u64..).zip(&self.files) {
            let path = into.join(path.file_name().unwrap_or_default());
            // Each of several files has other rows.
            let seed = self.seed + (index << 32);
            write_whole(into, &path, |out| generate::write(shape, self.rows, seed, out))?;
            written.push(path);
        }
        Ok(written)
    }

    /// What must come of the files; `None` if they were not prepared.
    ///
    /// # Errors
    /// If the file with the answer is there and cannot be read.
    pub fn expected(&self) -> Result<Option<Expected>, StudyError> {
        let failed = |source| file_error("read", &self.expected, source);
        match fs::read_to_string(&self.expected) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| failed(error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

pub(crate) fn file_error(action: &'static str, path: &Path, source: io::Error) -> StudyError {
    study_kit::file_error(action, path, source).into()
}

/// Writes `path` under a temporary name in `dir` and renames it: a file that is there is whole.
fn write_whole(
    dir: &Path,
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), StudyError> {
    let write = || {
        let mut file = NamedTempFile::new_in(dir)?;
        let mut out = BufWriter::with_capacity(1 << 20, file.as_file_mut());
        content(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| file_error("write", path, source))
}
