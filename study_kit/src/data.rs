//! Where inputs and scratch files lie.

use std::path::{Path, PathBuf};

/// Names the data folder, in which each study has one of its own.
pub const DATA_VARIABLE: &str = "AWAIT_OR_NOT_DATA";
/// A file system in memory, where there is one.
const MEMORY_FOLDER: &str = "/dev/shm";

/// The folder of `study`: where [`DATA_VARIABLE`] says, else below `target/` of the repository. It may not exist yet.
#[must_use]
pub fn folder(study: &str) -> PathBuf {
    let repository = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/data"));
    std::env::var_os(DATA_VARIABLE).map_or_else(repository, PathBuf::from).join(study)
}

/// A folder in memory if the machine has one, else that of `study`.
#[must_use]
pub fn memory_folder(study: &str) -> PathBuf {
    let memory = Path::new(MEMORY_FOLDER);
    if memory.is_dir() { memory.to_owned() } else { folder(study) }
}
