//! What can stop the reader; each message says what exactly is wrong, or what helps.

use std::io;

use crate::error::Cause;
use crate::name::NameFault;

/// Why an archive, or an entry of it, was not read.
///
/// Names of entries are shortened to 100 characters. An [`EntryReader`](super::EntryReader) hands these errors out inside an
/// [`io::Error`]; [`ReadError::from`] takes them out again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    #[error("cannot open {path}")]
    Open { path: String, source: io::Error },
    #[error("cannot read the archive")]
    Read(#[source] io::Error),
    #[error(
        "there is no end record at the end of the file: it is not a ZIP archive, is cut off, or has bytes after it"
    )]
    NotAZip,
    #[error(
        "there are several end records, one in the comment of the other: readers would disagree, so none is trusted"
    )]
    SeveralEnds,
    #[error("the archive is cut off: {what} is not there in full")]
    Truncated { what: &'static str },
    #[error("the archive spans several disks: join its parts first (zip -s 0)")]
    MultiDisk,
    /// More entries than [`Limits::entries`](super::Limits::entries), by what the end record claims.
    #[error("the archive has {claimed} entries, the limit is {limit}: raise Limits::entries to read it")]
    TooManyEntries { claimed: u64, limit: u64 },
    #[error("the end record claims {claimed} entries, its directory has room for {room} at most")]
    ImpossibleCount { claimed: u64, room: u64 },
    /// A larger central directory than [`Limits::directory_bytes`](super::Limits::directory_bytes).
    #[error("the central directory has {bytes} bytes, the limit is {limit}: raise Limits::directory_bytes to read it")]
    DirectoryTooLarge { bytes: u64, limit: u64 },
    #[error("the directory of {entries} entries needs {bytes} bytes of memory, more than there is")]
    NoMemory { entries: u64, bytes: u64 },
    /// More data than [`Limits::bytes`](super::Limits::bytes), by what the directory declares; without a name in all entries together.
    #[error("{} unpacks to {bytes} bytes, the limit is {limit}: raise Limits::bytes to read it", subject(.name.as_deref()))]
    TooLarge { name: Option<String>, bytes: u64, limit: u64 },
    /// More data per compressed byte than [`Limits::ratio`](super::Limits::ratio); without a name in all entries together.
    #[error(
        "{} unpacks from {compressed} to {uncompressed} bytes, more than {limit}-fold: raise Limits::ratio if that is meant",
        subject(.name.as_deref())
    )]
    RatioExceeded { name: Option<String>, compressed: u64, uncompressed: u64, limit: u64 },
    #[error("the central directory is damaged: {what}")]
    BadDirectory { what: &'static str },
    #[error("the name {name:?} is not safe to extract: {fault}")]
    BadName { name: String, fault: NameFault },
    #[error("the name {name:?} is marked as UTF-8 and is not")]
    NotUtf8 { name: String },
    #[error("two entries are named {name:?}: read them by index")]
    DuplicateName { name: String },
    #[error("{name:?} is a file, and a folder that holds {other:?}")]
    NameConflict { name: String, other: String },
    /// Two entries, or an entry and the directory, share bytes of the file: `name` starts first, and `other` before it ends.
    #[error("the entry {name:?} overlaps {other}: archives that unpack the same bytes twice are refused")]
    Overlap { name: String, other: String },
    #[error("the entry {name:?} is described in two ways: its {what} differs from the central directory's")]
    HeaderMismatch { name: String, what: &'static str },
    #[error("the entry {name:?} has a damaged extra field: {what}")]
    BadField { name: String, what: &'static str },
    #[error("the entry {name:?} is compressed by method {method}{}", method_hint(*.method))]
    UnsupportedMethod { name: String, method: u16 },
    #[error(
        "the entry {name:?} is encrypted, which this reader does not support: decrypt the archive with another program"
    )]
    Encrypted { name: String },
    #[error("the entry {name:?} is {kind}: only files and folders are extracted")]
    NotAFile { name: String, kind: &'static str },
    #[error("the data of {name:?} is damaged")]
    BadData { name: String, source: Cause },
    /// There is another amount of data than the directory declares, in bytes. Decoding stops at the first byte too many.
    #[error("the entry {name:?} declares {declared} bytes and holds {}{found}", if found > declared { "at least " } else { "" })]
    SizeMismatch { name: String, declared: u64, found: u64 },
    #[error("the data of {name:?} is damaged: its CRC-32 is {found:08x}, declared is {declared:08x}")]
    CrcMismatch { name: String, declared: u32, found: u32 },
    #[error("there is no entry {index}: the archive has {entries}, counted from 0")]
    NoSuchEntry { index: usize, entries: usize },
    #[error("cannot write {path}")]
    Write { path: String, source: io::Error },
    #[error("{path} exists already: move it away, or extract to another folder")]
    AlreadyExists { path: String },
    #[error("{path} is not a folder (or is a link to one): move it away, or extract to another folder")]
    NotAFolder { path: String },
    /// [`ReadOptions::stop_by`](super::ReadOptions::stop_by) was set.
    #[error("stopped before the end")]
    Stopped,
}

impl ReadError {
    /// Whether other entries may be well.
    pub(super) fn is_about_an_entry(&self) -> bool {
        !matches!(
            self,
            ReadError::Read(_)
                | ReadError::TooLarge { name: None, .. }
                | ReadError::RatioExceeded { name: None, .. }
                | ReadError::Write { .. }
                | ReadError::AlreadyExists { .. }
                | ReadError::NotAFolder { .. }
                | ReadError::Stopped
        )
    }
}

impl From<io::Error> for ReadError {
    /// The `ReadError` that an [`EntryReader`](super::EntryReader) failed with, or [`ReadError::Read`].
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(ReadError::Read)
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Read(error) => error,
            ReadError::Truncated { .. } => io::Error::new(io::ErrorKind::UnexpectedEof, error),
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        }
    }
}

fn subject(name: Option<&str>) -> String {
    name.map_or_else(|| "the archive".to_owned(), |name| format!("the entry {name:?}"))
}

fn method_hint(method: u16) -> &'static str {
    match method {
        crate::format::METHOD_ZSTD => " (Zstandard), which this build lacks: build with the feature zstd",
        9 => " (Deflate64): Stored, Deflate and Zstandard can be read",
        12 => " (bzip2): Stored, Deflate and Zstandard can be read",
        14 => " (LZMA): Stored, Deflate and Zstandard can be read",
        95 => " (xz): Stored, Deflate and Zstandard can be read",
        _ => ": Stored (0), Deflate (8) and Zstandard (93) can be read",
    }
}
