//! Reading pieces of a source at known places.

use std::io::{self, Read, Seek, SeekFrom};

use super::error::ReadError;

/// Bytes that one step takes from the source at most, and that are allocated ahead of what really comes.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;

pub(super) fn seek<R: Seek>(source: &mut R, offset: u64) -> Result<(), ReadError> {
    source.seek(SeekFrom::Start(offset)).map(|_| ()).map_err(ReadError::Read)
}

/// Fills `into`, or says that `what` is cut off.
pub(super) fn fill<R: Read>(source: &mut R, into: &mut [u8], what: &'static str) -> Result<(), ReadError> {
    source.read_exact(into).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ReadError::Truncated { what },
        _ => ReadError::Read(error),
    })
}

/// The next `bytes` bytes. The caller has checked the number against the file's length and a limit; memory grows only with what comes.
pub(super) fn gather<R: Read>(source: &mut R, bytes: u64, what: &'static str) -> Result<Vec<u8>, ReadError> {
    let wanted = usize::try_from(bytes).map_err(|_| ReadError::Truncated { what })?;
    let mut gathered = Vec::with_capacity(wanted.min(CHUNK_BYTES));
    source.take(bytes).read_to_end(&mut gathered).map_err(ReadError::Read)?;
    if gathered.len() == wanted { Ok(gathered) } else { Err(ReadError::Truncated { what }) }
}
