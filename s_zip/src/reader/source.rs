//! Reading pieces of a source at known places, and numbers from them.

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

/// A place in bytes that may end anywhere; every step is checked against that end. Numbers are little-endian.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        self.0.split_off(..bytes)
    }

    pub fn u16s<const N: usize>(&mut self) -> Option<[u16; N]> {
        self.numbers(u16::from_le_bytes)
    }

    pub fn u32s<const N: usize>(&mut self) -> Option<[u32; N]> {
        self.numbers(u32::from_le_bytes)
    }

    pub fn u64s<const N: usize>(&mut self) -> Option<[u64; N]> {
        self.numbers(u64::from_le_bytes)
    }

    fn numbers<T, const BYTES: usize, const N: usize>(&mut self, from: fn([u8; BYTES]) -> T) -> Option<[T; N]> {
        let (numbers, _) = self.take(N * BYTES)?.as_chunks();
        numbers.first_chunk().map(|numbers| numbers.map(from))
    }
}
