//! What can be wrong with the files, always with their name and, where there is one, the line.

use std::fmt::Display;
use std::path::Path;

/// An error of the files between the parts: where it is, what is wrong and how to mend it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    /// An error of line `line` (from 1) of `file`, which is not as docs/FORMAT.md says.
    pub fn line(file: impl AsRef<Path>, line: usize, what: impl Display) -> Self {
        Error(format!("{}:{line}: {what}", file.as_ref().display()))
    }

    pub fn file(file: impl AsRef<Path>, what: impl Display) -> Self {
        Error(format!("{}: {what}", file.as_ref().display()))
    }

    /// A failed operation on `file`: `read`, `write`, ...
    pub fn io(action: &str, file: impl AsRef<Path>, source: impl Display) -> Self {
        Error(format!("cannot {action} {}: {source}", file.as_ref().display()))
    }
}

impl From<Error> for Vec<Error> {
    fn from(error: Error) -> Self {
        vec![error]
    }
}

pub(crate) fn none(findings: Vec<Error>) -> Result<(), Vec<Error>> {
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}
