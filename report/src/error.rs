//! What can be wrong with the files, always with their name and, where there is one, the line.

use std::io;
use std::path::Path;

/// An error of the files between the parts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("cannot {action} {file}")]
    Io {
        /// What was tried: `read`, `write`, ...
        action: &'static str,
        file: String,
        source: io::Error,
    },
    /// A line of a file is not as docs/FORMAT.md says.
    #[error("{file}:{line}: {what}")]
    Line {
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and how to mend it.
        what: String,
    },
    /// A file or folder as a whole is not as docs/FORMAT.md says.
    #[error("{file}: {what}")]
    File {
        file: String,
        /// What is wrong and how to mend it.
        what: String,
    },
}

impl Error {
    /// An error of line `line` (from 1) of `file`.
    pub fn line(file: impl AsRef<Path>, line: usize, what: impl Into<String>) -> Self {
        Error::Line { file: shown(file), line, what: what.into() }
    }

    /// An error of `file` as a whole.
    pub fn file(file: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Error::File { file: shown(file), what: what.into() }
    }

    /// A failed operation on `file`.
    pub fn io(action: &'static str, file: impl AsRef<Path>, source: io::Error) -> Self {
        Error::Io { action, file: shown(file), source }
    }
}

impl From<Error> for Vec<Error> {
    fn from(error: Error) -> Self {
        vec![error]
    }
}

fn shown(file: impl AsRef<Path>) -> String {
    file.as_ref().display().to_string()
}
