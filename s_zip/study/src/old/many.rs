//! Several archives: one after another, on a thread each, or as a task each.

use std::io;
use std::str::FromStr;
use std::sync::Arc;

use study_kit::error::unknown;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::StudyError;
use super::arms::input::Input;
use super::arms::{self, Arm, Driver, Product};
use super::sinks::Counted;
use super::target::{Archive, Target};

/// A way to write several archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManyArm {
    /// The published sync shape, one after another.
    SyncSequential,
    /// The same on a thread each.
    SyncThreads,
    /// The published async shape, one after another.
    AsyncSequential,
    /// The same as a task each.
    AsyncConcurrent,
    /// This crate's sync writer on a thread each.
    BestSyncThreads,
    /// This crate's async writer as a task each.
    BestAsyncConcurrent,
}

impl ManyArm {
    /// Every arm.
    pub const ALL: [ManyArm; 6] = [
        ManyArm::SyncSequential,
        ManyArm::SyncThreads,
        ManyArm::AsyncSequential,
        ManyArm::AsyncConcurrent,
        ManyArm::BestSyncThreads,
        ManyArm::BestAsyncConcurrent,
    ];

    /// The arm's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ManyArm::SyncSequential => "sync_sequential",
            ManyArm::SyncThreads => "sync_threads",
            ManyArm::AsyncSequential => "async_sequential",
            ManyArm::AsyncConcurrent => "async_concurrent",
            ManyArm::BestSyncThreads => "best_sync_threads",
            ManyArm::BestAsyncConcurrent => "best_async_concurrent",
        }
    }

    /// How each archive is written.
    #[must_use]
    pub fn arm(self) -> Arm {
        match self {
            ManyArm::SyncSequential | ManyArm::SyncThreads => Arm::Sync,
            ManyArm::AsyncSequential | ManyArm::AsyncConcurrent => Arm::Async,
            ManyArm::BestSyncThreads => Arm::BestSync,
            ManyArm::BestAsyncConcurrent => Arm::BestAsync,
        }
    }
}

impl FromStr for ManyArm {
    type Err = StudyError;

    fn from_str(name: &str) -> Result<Self, StudyError> {
        let found = ManyArm::ALL.into_iter().find(|arm| arm.name() == name);
        found.ok_or_else(|| unknown("arm", name, ManyArm::ALL.map(ManyArm::name)).into())
    }
}

/// Writes an archive to each target.
///
/// # Errors
/// If one cannot be written.
pub fn execute(arm: ManyArm, input: &Arc<Input>, targets: &[Target], driver: &Driver) -> io::Result<Vec<Product>> {
    match arm {
        ManyArm::SyncSequential | ManyArm::AsyncSequential => {
            targets.iter().map(|target| arms::execute(arm.arm(), input, target, driver)).collect()
        }
        ManyArm::SyncThreads | ManyArm::BestSyncThreads => std::thread::scope(|scope| {
            let threads: Vec<_> = targets
                .iter()
                .map(|target| scope.spawn(move || arms::execute(arm.arm(), input, target, driver)))
                .collect();
            let joined = |thread: std::thread::ScopedJoinHandle<'_, io::Result<Product>>| {
                thread.join().map_err(|_| io::Error::other("a thread died"))?
            };
            threads.into_iter().map(joined).collect()
        }),
        ManyArm::AsyncConcurrent | ManyArm::BestAsyncConcurrent => {
            let runtime = driver.runtime().ok_or_else(|| io::Error::other("there is no runtime"))?;
            runtime.block_on(async {
                let mut tasks = start(arm.arm(), input, targets, runtime);
                let mut products = Vec::with_capacity(targets.len());
                while let Some(done) = tasks.join_next().await {
                    products.push(done.map_err(io::Error::other)??);
                }
                Ok(products)
            })
        }
    }
}

/// Starts a task for each target.
#[must_use]
pub fn start(arm: Arm, input: &Arc<Input>, targets: &[Target], runtime: &Runtime) -> JoinSet<io::Result<Product>> {
    let mut tasks = JoinSet::new();
    for target in targets {
        let (input, target) = (Arc::clone(input), target.clone());
        tasks.spawn_on(
            async move {
                let Target::File(path) = target else { return Err(io::Error::other("several archives go to files")) };
                let file = tokio::fs::File::create(&path).await?;
                let done = arms::async_arm(arm, &input, Counted::new(file)).await?;
                Ok(Product { archive: Archive::File(path), operations: done.operations })
            },
            runtime.handle(),
        );
    }
    tasks
}
