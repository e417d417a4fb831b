//! Where inputs and scratch files lie.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// A file system in memory, where there is one.
const MEMORY_FOLDER: &str = "/dev/shm";

/// The folder of `study`: in the one that `AWAIT_OR_NOT_DATA` names, else below `target/` of the repository. It may not exist yet.
#[must_use]
pub fn folder(study: &str) -> PathBuf {
    named("AWAIT_OR_NOT_DATA", "target/data").join(study)
}

/// The folder that the environment names, or the one in the repository.
pub(crate) fn named(variable: &str, otherwise: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| Path::new(REPOSITORY).join(otherwise), PathBuf::from)
}

/// A folder in memory if the machine has one, else that of `study`.
#[must_use]
pub fn memory_folder(study: &str) -> PathBuf {
    let memory = Path::new(MEMORY_FOLDER);
    if memory.is_dir() { memory.to_owned() } else { folder(study) }
}
