//! One design under one workload, from an empty folder to the checked answer.

use std::path::{Path, PathBuf};
use std::time::Duration;

use study_kit::file_error;
use tokio::runtime::{Builder, Runtime};

use super::StudyError;
use super::usage::{Cost, Span};
use crate::design::{self, Arm, Setup};
use crate::driver::{self, Outcome};
use crate::workload::Workload;

/// Names the data folder, in which each study has one of its own.
pub const DATA_VARIABLE: &str = "AWAIT_OR_NOT_DATA";

/// What is measured.
#[derive(Debug, Clone)]
pub struct Bench {
    /// The design.
    pub arm: Arm,
    /// What is asked of it.
    pub workload: Workload,
    /// Folder below which the databases that are files get one of their own.
    pub folder: PathBuf,
    /// Seed of the content.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug)]
pub struct Measured {
    /// Of the history, before the run.
    pub digest: String,
    /// Counts and times.
    pub outcome: Outcome,
    /// What the run cost the process.
    pub cost: Cost,
    /// What the check found wrong, if anything.
    pub fault: Option<String>,
}

impl Bench {
    /// Opens the databases, drives the design, and checks that every acknowledged write is there.
    ///
    /// # Errors
    /// If the databases cannot be opened, or the check cannot be made.
    pub fn measure(&self, progress: &(dyn Fn(Duration) + Sync)) -> Result<Measured, StudyError> {
        let folder = own_folder(&self.folder)?;
        let setup = Setup {
            databases: self.workload.databases,
            readers: self.workload.readers,
            seed: self.seed,
            folder: folder.path().to_owned(),
        };
        let failed = |source| StudyError::Open { arm: self.arm, source };
        let runtime = runtime(self.workload.workers)?;
        // Some designs start tasks when they are opened.
        let entered = runtime.enter();
        let design = design::open(self.arm, &setup).map_err(failed)?;
        let digest = runtime.block_on(driver::replay(&*design, setup.databases, self.seed)).map_err(failed)?;
        let warm = driver::warm_up(&design, setup.databases, setup.readers);
        runtime.block_on(warm).map_err(failed)?;
        let span = Span::start();
        let outcome = driver::drive(&runtime, &design, &self.workload, self.seed, progress).map_err(failed)?;
        let cost = span.end();
        let check =
            driver::verify(&*design, &outcome.acknowledged, self.arm.keeps_its_size(), self.arm.commits_statements());
        let fault = runtime.block_on(check).map_err(failed)?;
        // Some hand what they are made of to the runtime when they go.
        drop(design);
        drop(entered);
        Ok(Measured { digest, outcome, cost, fault })
    }
}

/// A runtime with so many workers.
///
/// # Errors
/// If its threads cannot be started.
pub fn runtime(workers: usize) -> Result<Runtime, StudyError> {
    Builder::new_multi_thread().worker_threads(workers).enable_time().build().map_err(StudyError::Runtime)
}

/// A folder for one run, gone with it.
///
/// # Errors
/// If it cannot be made.
pub fn own_folder(parent: &Path) -> Result<tempfile::TempDir, StudyError> {
    let make = || {
        std::fs::create_dir_all(parent)?;
        tempfile::Builder::new().prefix("sqlite_bench-").tempdir_in(parent)
    };
    Ok(make().map_err(|source| file_error("create a folder in", parent, source))?)
}

/// The study's data folder.
#[must_use]
pub fn data_folder() -> PathBuf {
    let root = std::env::var_os(DATA_VARIABLE).map(PathBuf::from);
    root.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/data")).join("sqlite_bench")
}
