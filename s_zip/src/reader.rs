//! A reader that trusts nothing: lists, reads, tests and extracts archives of unknown origin.
//!
//! Opening reads the central directory and checks it: against the file's length, against the [`Limits`], and that no two entries share
//! bytes of the file. Reading an entry checks its local header and its descriptor against the directory, and its data against size and
//! CRC; decoding stops at the first byte more than declared. No number from the file is allocated, sought or added unchecked.
//!
//! What is refused though other readers accept it: bytes after the archive but for 64 KiB of zeros, offsets that do not count from the
//! start of the file (something may stand before the archive if the offsets account for it), several end records, archives of several
//! disks, overlapping entries, headers that disagree in more than flags that change nothing, offsets that wrapped and can mean two places.

mod check;
mod decode;
#[cfg(feature = "extract")]
pub(crate) mod dir;
mod directory;
mod entry;
mod error;
#[cfg(feature = "extract")]
mod extract;
#[cfg(feature = "extract")]
mod parallel;
mod source;
mod stream;
mod text;

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use check::Pass;
use decode::Decoders;

use crate::name::{printable_path, shown};

pub use check::{ReadOptions, Summary, Unset};
pub use entry::Entry;
pub use error::ReadError;
pub use stream::EntryReader;

/// Reads a ZIP archive. See [the module](self) for what it checks. Data is asked for in pieces of up to 64 KiB, headers in pieces of 30 bytes and
/// more, so that a [`BufReader`] around a file helps with many small entries.
pub struct StreamingZipReader<R: Read + Seek> {
    source: R,
    limits: Limits,
    entries: Arc<Vec<Entry>>,
    comment: Vec<u8>,
    /// Compressed data on its way to the decoder.
    input: Vec<u8>,
    decoders: Decoders,
}

impl StreamingZipReader<BufReader<File>> {
    /// Opens an archive with the default limits. Fails with [`ReadError::Open`], and as [`with_limits`](Self::with_limits).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Self::open_with_limits(path, Limits::default())
    }

    /// Opens an archive. Fails with [`ReadError::Open`], and as [`with_limits`](Self::with_limits).
    pub fn open_with_limits(path: impl AsRef<Path>, limits: Limits) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| ReadError::Open { path: printable_path(path), source })?;
        Self::with_limits(BufReader::new(file), limits)
    }
}

impl<R: Read + Seek> StreamingZipReader<R> {
    /// Reads the directory of an archive, with the default limits. Fails as [`with_limits`](Self::with_limits).
    pub fn new(source: R) -> Result<Self, ReadError> {
        Self::with_limits(source, Limits::default())
    }

    /// Reads the directory of an archive. Entries with unsafe names, damaged extra fields, unknown methods or encryption do not stop this.
    /// Fails if the source does, there is no archive, its directory is damaged or beyond the limits, or entries overlap.
    pub fn with_limits(mut source: R, limits: Limits) -> Result<Self, ReadError> {
        let (entries, comment) = directory::read(&mut source, &limits)?;
        Ok(Self::from_parts(source, limits, Arc::new(entries), comment))
    }

    fn from_parts(source: R, limits: Limits, entries: Arc<Vec<Entry>>, comment: Vec<u8>) -> Self {
        StreamingZipReader { source, limits, entries, comment, input: Vec::new(), decoders: Decoders::default() }
    }

    /// The entries in the order of the directory.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The archive's comment; the format does not say in which encoding.
    pub fn comment(&self) -> &[u8] {
        &self.comment
    }

    /// Does everything that [`extract`](Self::extract) does but write: checks what can be checked before, then reads every entry.
    /// Fails if all entries together are beyond the limits, by the first entry whose name is unsafe or taken, that is neither a file nor a folder,
    /// encrypted or of an unknown method (a folder may be there twice), or else as [`read`](Self::read) and the reader that it gives.
    pub fn test(&mut self) -> Result<Summary, ReadError> {
        self.test_with(ReadOptions::default())
    }

    /// Like [`test`](Self::test) with options, which may let faults pass.
    pub fn test_with(&mut self, options: ReadOptions<'_>) -> Result<Summary, ReadError> {
        let pass = Pass::begin(self, options)?;
        let (entries, mut pump) = (Arc::clone(&self.entries), pass.pump(None));
        pass.run(&entries, |index, _| pump.pour(&mut self.read(index)?, |_| Ok(())))
    }
}

impl<R: Read + Seek> std::fmt::Debug for StreamingZipReader<R> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StreamingZipReader").field("entries", &self.entries().len()).finish_non_exhaustive()
    }
}

/// Unpacked bytes below which the ratio is not looked at, for an entry and for the sum.
pub const RATIO_GRACE_BYTES: u64 = 128 << 20;

/// What an archive may ask of the reader; by default what one of unknown origin may on an ordinary machine.
///
/// Deflate cannot expand more than about 1032-fold, so a single honest stream is a bomb only by its size, which `bytes` bounds; `ratio` refuses what
/// comes near that maximum (a gigabyte of zeros, not a log file of 20 MiB that repeats itself), and Zstandard, which can expand far more. The
/// reader's memory does not depend on the size of entries: it is the directory, a buffer of 64 KiB, and the decoder's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries of an archive. Default: 1,000,000.
    pub entries: u64,
    /// Uncompressed bytes of an entry, and of all entries when testing and extracting. Default: 16 GiB.
    pub bytes: u64,
    /// Uncompressed bytes per compressed byte, of an entry and of all entries when testing and extracting, looked at beyond
    /// [`RATIO_GRACE_BYTES`]. Default: 500.
    pub ratio: u64,
    /// Bytes of the central directory, which is held in memory while it is parsed; the entries stay there, in about as many bytes as the
    /// directory has and 150 more for each. Default: 256 MiB.
    pub directory_bytes: u64,
    /// Binary logarithm of the largest window that a Zstandard stream may ask for, in bytes. Default: 27 (128 MiB), which every level of
    /// the usual compressors keeps to.
    pub window_log: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { entries: 1_000_000, bytes: 16 << 30, ratio: 500, directory_bytes: 256 << 20, window_log: 27 }
    }
}

impl Limits {
    /// Checks the sizes of an entry, or of everything if there is no name.
    pub(super) fn check(&self, name: Option<&str>, compressed: u64, uncompressed: u64) -> Result<(), ReadError> {
        let name = || name.map(shown);
        if uncompressed > self.bytes {
            return Err(ReadError::TooLarge { name: name(), bytes: uncompressed, limit: self.bytes });
        }
        if uncompressed > RATIO_GRACE_BYTES && uncompressed > compressed.saturating_mul(self.ratio) {
            return Err(ReadError::RatioExceeded { name: name(), compressed, uncompressed, limit: self.ratio });
        }
        Ok(())
    }
}
