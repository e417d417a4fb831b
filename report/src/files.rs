//! What reading and writing files have in common.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, DirEntry, FileType};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use serde::de::{DeserializeOwned, IntoDeserializer as _};

use crate::error::Error;
pub use crate::line::Schema;

pub(crate) fn chosen<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    T::deserialize(name.into_deserializer()).map_err(|error: serde::de::value::Error| error.to_string())
}

pub(crate) fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::io("read", path, source))
}

/// Reads the file at `path`; one that is not there is empty.
pub(crate) fn bytes_if_there(path: &Path) -> Result<Vec<u8>, Error> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|source| Error::io("read", path, source)),
    }
}

/// Removes the file at `path`; one that is not there is gone already.
pub(crate) fn remove_if_there(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| Error::io("remove", path, source)),
    }
}

/// Applies `read` to each line of a table whose columns are separated by tabs; `file` stands in messages.
pub(crate) fn rows<'a, T, const N: usize>(
    text: &'a str,
    file: &str,
    columns: &str,
    mut read: impl FnMut([&'a str; N]) -> Result<T, String>,
) -> Result<Vec<T>, Error> {
    let row = |(line, text): (usize, &'a str)| {
        let found = <[&str; N]>::try_from(text.split('\t').collect::<Vec<_>>())
            .map_err(|fields| format!("{} columns instead of {columns}", fields.len()));
        found.and_then(&mut read).map_err(|what| Error::line(file, line, what))
    };
    (1..).zip(text.lines()).map(row).collect()
}

/// Reads JSON that begins in line `first` of `file`.
pub(crate) fn json<T: DeserializeOwned>(text: &str, file: impl AsRef<Path>, first: usize) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| {
        // The line that it says itself is counted from the first of this text.
        let said = error.to_string();
        let what = said.rsplit_once(" at line ").map(|(what, _)| format!("{what} (column {})", error.column()));
        Error::line(file, first + error.line().saturating_sub(1), what.unwrap_or(said))
    })
}

pub(crate) fn entries(folder: &Path) -> Result<BTreeMap<OsString, FileType>, Error> {
    let kind = |entry: io::Result<DirEntry>| entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)));
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(kind).collect());
    entries.map_err(|source| Error::io("read", folder, source))
}

/// The names in `folder`, all of which must be regular files: opening a pipe may never return, and no seal covers the target of a link.
pub(crate) fn regular_files(folder: &Path) -> Result<Vec<String>, Vec<Error>> {
    let (files, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        entries(folder)?.into_iter().partition(|(_, kind)| kind.is_file());
    if others.is_empty() {
        return Ok(files.into_keys().map(|name| name.to_string_lossy().into_owned()).collect());
    }
    let what = "it is no regular file: a round holds neither folders, links, pipes nor devices";
    Err(others.into_keys().map(|name| Error::file(folder.join(name), what)).collect())
}

/// Replaces the file at `path` by way of a temporary file and a rename, unless it has this content already. A failure leaves the old file whole.
pub(crate) fn write_whole(path: &Path, content: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Error> {
    let content = content.as_ref();
    if fs::read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    let write = || -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // Temporary files are private by default, but the result is for everybody.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(content)?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|source| Error::io("write", path, source))
}

/// A TOML file, to find the line of what is wrong in it.
#[derive(Debug, Clone, Copy)]
pub struct TomlFile<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl TomlFile<'_> {
    pub fn fault(&self, error: &toml::de::Error) -> Error {
        Error::line(self.name, self.line_at(error.span().map_or(0, |span| span.start)), in_line(error))
    }

    /// An error at the first place where `needle` stands; of `key = "value"`, at the value if it is written in another way.
    pub fn error_at(&self, needle: &str, what: impl Display) -> Error {
        let value = needle.split_once("= ").map(|(_, value)| value);
        let place = self.text.find(needle).or_else(|| self.text.find(value?));
        Error::line(self.name, self.line_at(place.unwrap_or_default()), what)
    }

    /// The line, from 1, of a place in the text, in bytes.
    fn line_at(&self, place: usize) -> usize {
        self.text[..place.min(self.text.len())].matches('\n').count() + 1
    }
}

pub(crate) fn in_line(error: &toml::de::Error) -> String {
    error.message().trim().replace('\n', ", ")
}
