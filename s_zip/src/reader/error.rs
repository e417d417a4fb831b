//! What can stop the reader; each message says what exactly is wrong, or what helps.

use std::io;

use crate::name::NameFault;

/// Why an archive, or an entry of it, was not read.
///
/// Names of entries are shortened to 100 characters. An [`EntryReader`](super::EntryReader) hands these errors out inside an
/// [`io::Error`]; [`ReadError::from`] takes them out again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The archive cannot be opened.
    #[error("cannot open {path}")]
    Open {
        /// The file.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// The source failed.
    #[error("cannot read the archive")]
    Read(#[source] io::Error),
    /// There is no end record whose comment reaches the end of the file.
    #[error(
        "there is no end record at the end of the file: it is not a ZIP archive, is cut off, or has bytes after it"
    )]
    NotAZip,
    /// There is more than one end record that reaches the end of the file, so that readers could see different archives.
    #[error(
        "there are several end records, one in the comment of the other: readers would disagree, so none is trusted"
    )]
    SeveralEnds,
    /// The file ends before something that it should hold.
    #[error("the archive is cut off: {what} is not there in full")]
    Truncated {
        /// What was to be read.
        what: &'static str,
    },
    /// The archive is one part of several.
    #[error("the archive spans several disks: join its parts first (zip -s 0)")]
    MultiDisk,
    /// More entries than the limit.
    #[error("the archive has {claimed} entries, the limit is {limit}: raise Limits::entries to read it")]
    TooManyEntries {
        /// What the end record says.
        claimed: u64,
        /// [`Limits::entries`](super::Limits::entries).
        limit: u64,
    },
    /// More entries than the directory has room for.
    #[error("the end record claims {claimed} entries, its directory has room for {room} at most")]
    ImpossibleCount {
        /// What the end record says.
        claimed: u64,
        /// Bytes of the directory over the least bytes of one entry.
        room: u64,
    },
    /// A larger central directory than the limit.
    #[error("the central directory has {bytes} bytes, the limit is {limit}: raise Limits::directory_bytes to read it")]
    DirectoryTooLarge {
        /// Its bytes.
        bytes: u64,
        /// [`Limits::directory_bytes`](super::Limits::directory_bytes).
        limit: u64,
    },
    /// More data than the limit, by what the directory declares.
    #[error("{} unpacks to {bytes} bytes, the limit is {limit}: raise Limits::bytes to read it", subject(.name.as_deref()))]
    TooLarge {
        /// The entry, or none for the sum over all entries.
        name: Option<String>,
        /// Uncompressed bytes.
        bytes: u64,
        /// [`Limits::bytes`](super::Limits::bytes).
        limit: u64,
    },
    /// More data per compressed byte than the limit, by what the directory declares.
    #[error(
        "{} unpacks from {compressed} to {uncompressed} bytes, more than {limit}-fold: raise Limits::ratio if that is meant",
        subject(.name.as_deref())
    )]
    RatioExceeded {
        /// The entry, or none for the sum over all entries.
        name: Option<String>,
        /// Compressed bytes.
        compressed: u64,
        /// Uncompressed bytes.
        uncompressed: u64,
        /// [`Limits::ratio`](super::Limits::ratio).
        limit: u64,
    },
    /// The end record or the directory contradicts itself.
    #[error("the central directory is damaged: {what}")]
    BadDirectory {
        /// What is wrong.
        what: &'static str,
    },
    /// Extraction met a name that would not stay in its folder.
    #[error("the name {name:?} is not safe to extract: {fault}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// A name or comment is marked as UTF-8 and is not.
    #[error("the name or comment of {name:?} is marked as UTF-8 and is not")]
    NotUtf8 {
        /// The name, with replacement characters.
        name: String,
    },
    /// Two entries have one name.
    #[error("two entries are named {name:?}: read them by index")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// One entry is a file and a folder of another one.
    #[error("{name:?} is a file, and a folder that holds {other:?}")]
    NameConflict {
        /// The file.
        name: String,
        /// The entry in it.
        other: String,
    },
    /// Two entries, or an entry and the directory, share bytes of the file.
    #[error("the entry {name:?} overlaps {other}: archives that unpack the same bytes twice are refused")]
    Overlap {
        /// The entry that starts first.
        name: String,
        /// What starts before it ends.
        other: String,
    },
    /// The directory and what stands beside the data disagree.
    #[error("the entry {name:?} is described in two ways: its {what} differs from the central directory's")]
    HeaderMismatch {
        /// The entry.
        name: String,
        /// What differs.
        what: &'static str,
    },
    /// An extra field cannot be understood.
    #[error("the entry {name:?} has a damaged extra field: {what}")]
    BadField {
        /// The entry.
        name: String,
        /// What is wrong.
        what: &'static str,
    },
    /// The method is unknown, or not built in.
    #[error("the entry {name:?} is compressed by method {method}{}", method_hint(*.method))]
    UnsupportedMethod {
        /// The entry.
        name: String,
        /// The method.
        method: u16,
    },
    /// The entry is encrypted.
    #[error(
        "the entry {name:?} is encrypted, which this reader does not support: decrypt the archive with another program"
    )]
    Encrypted {
        /// The entry.
        name: String,
    },
    /// Extraction met a symbolic link, a device, a socket or a pipe.
    #[error("the entry {name:?} is {kind}: only files and folders are extracted")]
    NotAFile {
        /// The entry.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// The compressed data is not valid.
    #[error("the data of {name:?} is damaged: {what}")]
    BadData {
        /// The entry.
        name: String,
        /// What the decoder said.
        what: String,
    },
    /// There is another amount of data than declared. Decoding stops at the first byte too many.
    #[error("the entry {name:?} declares {declared} bytes and holds {}{found}", if found > declared { "at least " } else { "" })]
    SizeMismatch {
        /// The entry.
        name: String,
        /// Bytes that the directory declares.
        declared: u64,
        /// Bytes that came.
        found: u64,
    },
    /// The data is other data than was packed.
    #[error("the data of {name:?} is damaged: its CRC-32 is {found:08x}, declared is {declared:08x}")]
    CrcMismatch {
        /// The entry.
        name: String,
        /// The CRC that the directory declares.
        declared: u32,
        /// The CRC of the data.
        found: u32,
    },
    /// There is no entry of this index.
    #[error("there is no entry {index}: the archive has {entries}, counted from 0")]
    NoSuchEntry {
        /// The index that was asked for.
        index: usize,
        /// How many there are.
        entries: usize,
    },
    /// Extraction could not write.
    #[error("cannot write {path}")]
    Write {
        /// The file or folder.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// Extraction would replace something.
    #[error("{path} exists already: move it away, or extract to another folder")]
    AlreadyExists {
        /// The file.
        path: String,
    },
    /// Something else stands where extraction needs a folder. Symbolic links are not followed.
    #[error("{path} is not a folder (or is a link to one): move it away, or extract to another folder")]
    NotAFolder {
        /// What stands there.
        path: String,
    },
}

impl From<io::Error> for ReadError {
    /// The `ReadError` that an [`EntryReader`](super::EntryReader) failed with, or [`ReadError::Read`].
    fn from(error: io::Error) -> Self {
        match error.downcast::<ReadError>() {
            Ok(inner) => inner,
            Err(error) => ReadError::Read(error),
        }
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

/// A name as errors show it.
pub(super) fn shown(name: &str) -> String {
    const SHOWN: usize = 100;
    let mut shown: String = name.chars().take(SHOWN).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown
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
