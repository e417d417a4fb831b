//! An archive whose directory was read: what the reader, the streams of its entries and extraction work on.

use std::io::{Read, Seek};

use crate::name::shown;

use super::decode::{Decoders, Method};
use super::directory;
use super::entry::Entry;
use super::error::ReadError;
use super::limits::Limits;

/// What [`StreamingZipReader::test`](super::StreamingZipReader::test) and [`extract`](super::StreamingZipReader::extract) went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Entries that are files.
    pub files: u64,
    /// Entries that are folders.
    pub directories: u64,
    /// Uncompressed bytes.
    pub bytes: u64,
}

/// The source, what its directory says, and what decoding needs.
pub(super) struct Archive<R> {
    pub source: R,
    pub limits: Limits,
    pub entries: Vec<Entry>,
    /// For each entry where it must have ended.
    pub ceilings: Vec<u64>,
    pub comment: Vec<u8>,
    /// Compressed data on its way to the decoder.
    pub input: Vec<u8>,
    pub decoders: Decoders,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads the directory.
    pub fn open(mut source: R, limits: Limits) -> Result<Self, ReadError> {
        let directory::Directory { entries, ceilings, comment } = directory::read(&mut source, &limits)?;
        Ok(Archive { source, limits, entries, ceilings, comment, input: Vec::new(), decoders: Decoders::default() })
    }

    /// Checks what the directory declares for all entries together.
    pub fn check_sum(&self) -> Result<(), ReadError> {
        let sum = |of: fn(&Entry) -> u64| self.entries.iter().map(of).fold(0, u64::saturating_add);
        self.limits.check(None, sum(|entry| entry.compressed), sum(|entry| entry.uncompressed))
    }

    /// Whether the entry's data can be read as far as the directory tells.
    pub fn check_readable(&self, entry: &Entry) -> Result<Method, ReadError> {
        if entry.encrypted {
            return Err(ReadError::Encrypted { name: shown(&entry.name) });
        }
        let unsupported = || ReadError::UnsupportedMethod { name: shown(&entry.name), method: entry.method };
        let method = Method::of(entry.method).ok_or_else(unsupported)?;
        self.limits.check(Some(&entry.name), entry.compressed, entry.uncompressed)?;
        Ok(method)
    }
}

impl Summary {
    pub(super) fn count(&mut self, entry: &Entry) {
        if entry.is_directory() {
            self.directories += 1;
        } else {
            self.files += 1;
        }
        self.bytes = self.bytes.saturating_add(entry.uncompressed);
    }
}
