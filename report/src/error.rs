//! What can be wrong with the files, always with their name and, where there is one, the line.

use std::io;

/// An error of the files between the parts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("cannot {action} {file}")]
    Io {
        /// What was tried: `read`, `write`, ...
        action: &'static str,
        /// The file.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// A line of a file is not as docs/FORMAT.md says.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and how to mend it.
        what: String,
    },
    /// A file or folder as a whole is not as docs/FORMAT.md says.
    #[error("{file}: {what}")]
    File {
        /// The file or folder.
        file: String,
        /// What is wrong and how to mend it.
        what: String,
    },
}

impl Error {
    /// An error of line `line` (from 1) of `file`.
    pub fn line(file: &str, line: usize, what: impl Into<String>) -> Self {
        Error::Line { file: file.to_owned(), line, what: what.into() }
    }

    /// An error of `file` as a whole.
    pub fn file(file: impl Into<String>, what: impl Into<String>) -> Self {
        Error::File { file: file.into(), what: what.into() }
    }

    /// A failed operation on `file`.
    pub fn io(action: &'static str, file: impl Into<String>, source: io::Error) -> Self {
        Error::Io { action, file: file.into(), source }
    }
}

/// A TOML file, to find the line of what is wrong in it.
#[derive(Debug, Clone, Copy)]
pub struct TomlFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl TomlFile<'_> {
    /// Reads the file as a `T`.
    ///
    /// # Errors
    /// Names the line of the first fault.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        toml::from_str(self.text).map_err(|error| {
            let line = error.span().map_or(1, |span| self.line_at(span.start));
            Error::line(self.name, line, error.message().trim().replace('\n', ", "))
        })
    }

    /// An error at the first place where `needle` stands; of `key = "value"`, at the value if it is written in another way.
    #[must_use]
    pub fn error_at(&self, needle: &str, what: impl Into<String>) -> Error {
        let value = needle.split_once("= ").map(|(_, value)| value);
        let place = self.text.find(needle).or_else(|| self.text.find(value?));
        let line = place.map_or(1, |place| self.line_at(place));
        Error::line(self.name, line, what)
    }

    fn line_at(&self, place: usize) -> usize {
        self.text[..place.min(self.text.len())].matches('\n').count() + 1
    }
}
