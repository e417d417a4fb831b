//! What an archive may ask of the reader.

use crate::name::shown;

use super::error::ReadError;

/// Unpacked bytes below which the ratio is not looked at, for an entry and for the sum.
pub const RATIO_GRACE_BYTES: u64 = 128 << 20;

/// What an archive may ask of the reader.
///
/// The defaults are meant for archives of unknown origin on an ordinary machine:
///
/// * Deflate cannot expand more than about 1032-fold, so a single honest stream is a bomb only by its size, which `bytes` bounds; `ratio`
///   refuses what comes near that maximum once it exceeds [`RATIO_GRACE_BYTES`] (a gigabyte of zeros in a megabyte is refused, a log file of
///   20 MiB that repeats itself is not), and Zstandard, which can expand far more.
/// * Archives whose entries share bytes ("overlap bombs") are refused whatever the limits are.
/// * Archives in archives are not unpacked, so nothing multiplies.
///
/// The reader's memory does not depend on the size of entries: it is the directory, a buffer of 64 KiB, and the decoder's window.
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
