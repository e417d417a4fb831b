//! Where inputs and scratch files lie.

use std::path::{Path, PathBuf};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The folder of `study`: in the one that `AWAIT_OR_NOT_DATA` names, else below `target/` of the repository. It may not exist yet.
pub fn folder(study: &str) -> PathBuf {
    named("AWAIT_OR_NOT_DATA", "target/data").join(study)
}

/// The folder of original.toml.
pub(crate) fn description(study: &str) -> PathBuf {
    Path::new(REPOSITORY).join(study).join("study")
}

/// The folder of the authors' code, which `scripts/originals.sh` names.
pub(crate) fn originals(study: &str) -> PathBuf {
    named("AWAIT_OR_NOT_ORIGINALS", ".tools/originals").join(study)
}

fn named(variable: &str, otherwise: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| Path::new(REPOSITORY).join(otherwise), PathBuf::from)
}

/// A folder in memory if the machine has one, else that of `study`.
pub fn memory_folder(study: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { folder(study) }
}
