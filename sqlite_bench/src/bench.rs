//! One design under one workload, from an empty folder to the checked answer.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use tokio::runtime::{Builder, Runtime};

use crate::design::{Arm, Setup};
use crate::driver::{self, Tally};
use crate::workload::Workload;

#[derive(Debug)]
pub struct Measured<C> {
    /// Of the history, before the run.
    pub digest: String,
    pub tally: Tally,
    pub cost: C,
    /// What is wrong with it: a write that is lost, operations that failed.
    pub fault: Option<String>,
}

/// Opens the databases below `parent`, drives the design, and checks that every acknowledged write is there. `start` is called when all is
/// ready, and what it returned goes to `stop` when the last operation is over.
pub fn measure<S, C>(
    arm: &Arm,
    workload: &Workload,
    parent: &Path,
    seed: u64,
    progress: &(dyn Fn(Duration) + Sync),
    start: impl FnOnce() -> S,
    stop: impl FnOnce(S) -> C,
) -> Result<Measured<C>> {
    let folder = own_folder(parent)?;
    let Workload { databases, readers, workers, .. } = *workload;
    let setup = Setup { databases, readers, seed, folder: folder.path().to_owned() };
    let runtime = runtime(workers)?;
    // Some designs start tasks when they are opened, and hand what they are made of to the runtime when they go.
    let _entered = runtime.enter();
    let measure = || {
        let design = (arm.open)(&setup)?;
        let digest = runtime.block_on(driver::replay(&*design, databases, seed))?;
        runtime.block_on(driver::warm_up(&design, databases, readers))?;
        let span = start();
        let tally = driver::drive(&runtime, &design, workload, seed, progress)?;
        let cost = stop(span);
        let check = driver::verify(&*design, &tally.acknowledged);
        let fault = runtime.block_on(check)?.or_else(|| tally.complaint());
        Ok(Measured { digest, tally, cost, fault })
    };
    measure().map_err(|error: anyhow::Error| anyhow!("cannot use the databases of {}: {error}", arm.name))
}

pub fn runtime(workers: usize) -> Result<Runtime> {
    Builder::new_multi_thread().worker_threads(workers).enable_time().build().context("cannot start the async runtime")
}

/// A folder for one run in `parent`, gone with it.
pub fn own_folder(parent: &Path) -> Result<tempfile::TempDir> {
    let made = std::fs::create_dir_all(parent)
        .and_then(|()| tempfile::Builder::new().prefix("sqlite_bench-").tempdir_in(parent));
    made.with_context(|| format!("cannot create a folder in {}", parent.display()))
}
