//! What reading and writing files have in common.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use strum::VariantNames;
use tempfile::NamedTempFile;

use crate::error::Error;

/// The version of the format, `schema` in every file: no other is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Schema;

impl TryFrom<u32> for Schema {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        if version == 2 { Ok(Schema) } else { Err(format!("schema {version} is unknown: this program reads 2")) }
    }
}

impl From<Schema> for u32 {
    fn from(_: Schema) -> u32 {
        2
    }
}

/// The `T` called `name`.
///
/// # Errors
/// Says that there is no such `what`, and which there are.
pub fn chosen<T: FromStr + VariantNames>(what: &str, name: &str) -> Result<T, String> {
    T::from_str(name).map_err(|_| {
        let (last, rest) = T::VARIANTS.split_last().unwrap_or((&"nothing", &[]));
        // Some verdicts have a comma in their name.
        let separator = if T::VARIANTS.iter().any(|name| name.contains(',')) { "; " } else { ", " };
        format!("there is no {what} '{name}': choose {} or {last}", rest.join(separator))
    })
}

/// Reads the text file at `path`.
///
/// # Errors
/// If it cannot be read or is not UTF-8.
pub fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::io("read", path, source))
}

/// Reads a file of JSON; `file` stands in messages.
///
/// # Errors
/// Names the line of the first fault.
pub fn from_json<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::line(file, error.line(), error.to_string()))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes `path` under a temporary name beside it and renames it, unless it says the same already.
///
/// # Errors
/// If it cannot be written; what stood there is whole then.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    let write = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // Others may read what we write: temporary files are private unless told otherwise.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut file: NamedTempFile = builder.tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| Error::io("write", path, source))
}

/// A TOML file, to find the line of what is wrong in it.
#[derive(Debug, Clone, Copy)]
pub struct TomlFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    pub text: &'a str,
}

impl TomlFile<'_> {
    /// Reads the file as a `T`.
    ///
    /// # Errors
    /// Names the line of the first fault.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        toml::from_str(self.text).map_err(|error| self.fault(&error))
    }

    /// What the reader of TOML says, with its line.
    pub fn fault(&self, error: &toml::de::Error) -> Error {
        self.error_in(error.span().map_or(0, |span| span.start), error.message().trim().replace('\n', ", "))
    }

    /// An error at a place in the text, in bytes.
    pub fn error_in(&self, place: usize, what: impl Into<String>) -> Error {
        Error::line(self.name, self.line_at(place), what)
    }

    /// An error at the first place where `needle` stands; of `key = "value"`, at the value if it is written in another way.
    pub fn error_at(&self, needle: &str, what: impl Into<String>) -> Error {
        let value = needle.split_once("= ").map(|(_, value)| value);
        let place = self.text.find(needle).or_else(|| self.text.find(value?));
        let line = place.map_or(1, |place| self.line_at(place));
        Error::line(self.name, line, what)
    }

    /// The line, from 1, of a place in the text.
    pub fn line_at(&self, place: usize) -> usize {
        self.text[..place.min(self.text.len())].matches('\n').count() + 1
    }
}
