//! What can be chosen: how data is compressed, and what is particular to an entry.

use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::format;

/// How data is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// None, by whichever method can say so: Stored (0) if the entry fits the output buffer or was announced with size and CRC, otherwise
    /// Deflate (8) in blocks that are not compressed, because a stored entry of unknown size cannot be read from a stream.
    None,
    /// Deflate, level 0 (none) to 9 (best). The method that every reader knows. An entry without data is Stored, whatever was chosen.
    Deflate(u32),
    /// Zstandard, level 1 to 22: faster and smaller, and unknown to many readers.
    #[cfg(feature = "zstd")]
    Zstd(u32),
}

impl Compression {
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Compression::None | Compression::Deflate(0..=9) => Ok(()),
            Compression::Deflate(level) => Err(Error::BadLevel { level, method: "Deflate", range: "0 to 9" }),
            #[cfg(feature = "zstd")]
            Compression::Zstd(1..=22) => Ok(()),
            #[cfg(feature = "zstd")]
            Compression::Zstd(level) => Err(Error::BadLevel { level, method: "Zstandard", range: "1 to 22" }),
        }
    }

    pub(crate) fn method(self) -> u16 {
        match self {
            Compression::None => format::METHOD_STORED,
            Compression::Deflate(_) => format::METHOD_DEFLATE,
            #[cfg(feature = "zstd")]
            Compression::Zstd(_) => format::METHOD_ZSTD,
        }
    }
}

impl Default for Compression {
    fn default() -> Self {
        Compression::Deflate(6)
    }
}

impl From<u32> for Compression {
    fn from(level: u32) -> Self {
        Compression::Deflate(level)
    }
}

/// What is particular to one entry. By default nothing is: the writer's compression, 1980-01-01, mode 0644, no comment; the same
/// calls give the same bytes at any time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct EntryOptions {
    pub(crate) compression: Option<Compression>,
    pub(crate) modified: Option<i64>,
    pub(crate) unix_mode: Option<u32>,
    pub(crate) comment: String,
    pub(crate) promise: Promise,
}

/// What is announced of an entry's data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Promise {
    pub size: Option<u64>,
    pub crc32: Option<u32>,
}

impl Promise {
    /// Fails if the entry breaks it with so many bytes, which are all if their CRC is there.
    pub fn check(self, name: &str, bytes: u64, complete: Option<u32>) -> Result<()> {
        let (announced, got) = match (self.size, self.crc32, complete) {
            (Some(size), _, None) if bytes > size => (format!("{size} bytes"), format!("at least {bytes} bytes")),
            (Some(size), _, Some(_)) if bytes != size => (format!("{size} bytes"), format!("{bytes} bytes")),
            (_, Some(crc32), Some(got)) if got != crc32 => (format!("CRC {crc32:08x}"), format!("CRC {got:08x}")),
            _ => return Ok(()),
        };
        Err(Error::BrokenPromise { name: name.to_owned(), announced, got })
    }
}

impl EntryOptions {
    pub fn new() -> Self {
        Self::default()
    }

    /// Another compression than the writer's. A level out of range makes the entry fail with [`Error::BadLevel`], and anything but the writer's
    /// own in the parallel and the concurrent writer with [`Error::OneCompression`].
    pub fn compression(self, compression: Compression) -> Self {
        EntryOptions { compression: Some(compression), ..self }
    }

    /// Time of the last change, in Unix seconds. Headers hold it as UTC in two-second steps from 1980 on, and exactly in the "UT" field
    /// where it fits 32 bits.
    pub fn modified_unix(self, seconds: i64) -> Self {
        EntryOptions { modified: Some(seconds), ..self }
    }

    /// Time of the last change, as [`modified_unix`](Self::modified_unix) holds it: fractions of a second are dropped towards 1970, and the DOS
    /// field is held to the years 1980 to 2107.
    pub fn modified(self, time: SystemTime) -> Self {
        let seconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |seconds| -seconds),
        };
        self.modified_unix(seconds)
    }

    /// Unix permissions, such as `0o755`; the bits of the file type are set by the writer.
    pub fn unix_mode(self, mode: u32) -> Self {
        EntryOptions { unix_mode: Some(mode & 0o7777), ..self }
    }

    /// A comment of at most 65,535 bytes, without the signature of an end record.
    pub fn comment(self, comment: impl Into<String>) -> Self {
        EntryOptions { comment: comment.into(), ..self }
    }

    /// Announces the exact uncompressed size in bytes. From 4 GiB on the local header then has the ZIP64 field that some readers of
    /// streams need. Other data than announced is an error.
    pub fn size(self, bytes: u64) -> Self {
        EntryOptions { promise: Promise { size: Some(bytes), ..self.promise }, ..self }
    }

    /// Announces the CRC-32 of the uncompressed data; with it and the size, an entry of any length can be Stored in a stream.
    pub fn crc32(self, crc32: u32) -> Self {
        EntryOptions { promise: Promise { crc32: Some(crc32), ..self.promise }, ..self }
    }
}
