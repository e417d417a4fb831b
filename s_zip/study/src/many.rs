//! Several archives: one after another, on a thread each, or as a task each.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use strum::EnumString;
use tokio::task::JoinSet;

use crate::cases::{Arm, Drive, async_arm};
use crate::input::Input;
use crate::place::{Archive, Place};
use crate::sinks::Counted;
use crate::write::{Driver, Product, write};

/// How several archives are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Together {
    /// One after another.
    Sequential,
    /// On a thread each.
    Threads,
    /// As a task each.
    Concurrent,
}

/// The arm and the way that a name like `best_sync_threads` stands for.
pub fn parse(name: &str) -> Result<(Arm, Together)> {
    let (arm, together) =
        name.rsplit_once('_').ok_or_else(|| anyhow!("{name} does not say how archives are written"))?;
    Ok((arm.parse()?, together.parse()?))
}

/// Writes an archive to each file.
pub fn execute(
    (arm, together): (Arm, Together),
    input: &Arc<Input>,
    files: &[PathBuf],
    driver: &Driver,
) -> Result<Vec<Product>> {
    let write = |file: &PathBuf| write(arm, input, Place::Tmpfs, file, driver);
    match together {
        // In tasks, too, so that one after another and all at once differ in nothing else.
        Together::Sequential if arm.drive() != Drive::Sync => driver.run(in_tasks(arm, input, files, 1)),
        Together::Sequential => files.iter().map(write).collect(),
        Together::Threads => std::thread::scope(|scope| {
            let threads: Vec<_> = files.iter().map(|file| scope.spawn(move || write(file))).collect();
            threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread died"))?).collect()
        }),
        Together::Concurrent => driver.run(in_tasks(arm, input, files, files.len())),
    }
}

/// Writes an archive to each file in a task of its own, so many at once.
pub async fn in_tasks(arm: Arm, input: &Arc<Input>, files: &[PathBuf], at_once: usize) -> Result<Vec<Product>> {
    let mut products = Vec::with_capacity(files.len());
    for files in files.chunks(at_once.max(1)) {
        let mut tasks = JoinSet::new();
        for path in files {
            let (input, path) = (Arc::clone(input), path.clone());
            tasks.spawn(async move {
                let file = Counted::new(tokio::fs::File::create(&path).await?);
                let operations = async_arm(arm, &input, file).await?.operations;
                anyhow::Ok(Product { archive: Archive::File(path), operations })
            });
        }
        for product in tasks.join_all().await {
            products.push(product?);
        }
    }
    Ok(products)
}
