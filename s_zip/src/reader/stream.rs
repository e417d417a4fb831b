//! The data of one entry as a stream.

use std::io::{self, Read, Seek};

use crc32fast::Hasher;

use crate::error::Cause;
use crate::format::METHOD_STORED;
use crate::name::shown;

use super::StreamingZipReader;
use super::entry::Entry;
use super::error::ReadError;
use super::source::{CHUNK_BYTES, fill};

/// The uncompressed data of one entry.
///
/// The call that gives the last byte also checks size, CRC and descriptor, so that data is not taken for complete before it is checked. An
/// error is a [`ReadError`] inside an [`io::Error`], and final.
pub struct EntryReader<'a, R: Read + Seek> {
    archive: &'a mut StreamingZipReader<R>,
    index: usize,
    crc: Hasher,
    /// Uncompressed bytes so far.
    produced: u64,
    /// Compressed bytes that were not taken from the source yet.
    unread: u64,
    /// Compressed bytes in the archive's input buffer that were not decoded yet.
    start: usize,
    end: usize,
    /// Bytes from the end of the data to whatever follows the entry, if a descriptor stands there.
    descriptor: Option<u64>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Done,
    Failed,
}

impl<R: Read + Seek> StreamingZipReader<R> {
    /// Starts reading the entry of this index in [`entries`](Self::entries), and checks its local header. Fails if the source does, there is no
    /// such entry, its headers disagree, it is encrypted, its method is unknown, or its declared size is beyond the limits.
    pub fn read(&mut self, index: usize) -> Result<EntryReader<'_, R>, ReadError> {
        let Some(entry) = self.entries.get(index) else {
            return Err(ReadError::NoSuchEntry { index, entries: self.entries.len() });
        };
        entry.check_readable(&self.limits)?;
        let descriptor = entry.check_local(&mut self.source)?;
        if entry.method == METHOD_STORED && entry.compressed != entry.uncompressed {
            let (declared, found) = (entry.uncompressed, entry.compressed);
            return Err(ReadError::SizeMismatch { name: shown(&entry.name), declared, found });
        }
        let begun = self.decoders.begin(entry.method, self.limits.window_log);
        begun.map_err(|source| ReadError::BadData { name: shown(&entry.name), source })?;
        let (unread, crc, state) = (entry.compressed, Hasher::new(), State::Open);
        Ok(EntryReader { archive: self, index, crc, produced: 0, unread, start: 0, end: 0, descriptor, state })
    }
}

impl<R: Read + Seek> EntryReader<'_, R> {
    pub fn entry(&self) -> &Entry {
        // The index was checked by `read`, and the borrow keeps the entries as they are.
        &self.archive.entries[self.index]
    }

    /// As `Read::read`, with the error as it is.
    pub(super) fn step(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        match self.state {
            State::Failed => Err(self.bad_data("an earlier read of it failed")),
            State::Open if !buffer.is_empty() => self.decode(buffer).inspect_err(|_| self.state = State::Failed),
            _ => Ok(0),
        }
    }

    /// Decodes until there is something, and on to the end of the stream once all declared bytes are there.
    fn decode(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let declared = self.entry().uncompressed;
        let mut got = 0;
        loop {
            self.refill()?;
            let left = declared.saturating_sub(self.produced);
            // A stream that has more than declared writes to this byte instead.
            let mut probe = [0];
            let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let output = if left > 0 { &mut buffer[..room] } else { &mut probe[..] };
            let StreamingZipReader { entries, input, decoders, .. } = &mut *self.archive;
            let input = &input[self.start..self.end];
            let step = decoders.step(entries[self.index].method, input, output, self.unread == 0);
            let step = step.map_err(|source| self.bad_data(source))?;
            self.start = self.start.saturating_add(step.read);
            if step.written > 0 {
                if left == 0 {
                    let (name, found) = (shown(&self.entry().name), declared.saturating_add(1));
                    return Err(ReadError::SizeMismatch { name, declared, found });
                }
                self.crc.update(&output[..step.written]);
                self.produced = self.produced.saturating_add(step.written as u64);
                got += step.written;
            }
            if step.ended {
                self.finish()?;
                self.state = State::Done;
                return Ok(got);
            }
            if got > 0 && self.produced < declared {
                return Ok(got);
            }
            if step.read == 0 && step.written == 0 && (self.unread == 0 || self.start < self.end) {
                return Err(self.bad_data("the compressed data ends in the middle"));
            }
        }
    }

    /// Takes more compressed data from the source if all that was taken is decoded.
    fn refill(&mut self) -> Result<(), ReadError> {
        if self.start < self.end || self.unread == 0 {
            return Ok(());
        }
        let archive = &mut *self.archive;
        let wanted = usize::try_from(self.unread).unwrap_or(usize::MAX).min(CHUNK_BYTES);
        if archive.input.len() < wanted {
            archive.input.resize(wanted, 0);
        }
        fill(&mut archive.source, &mut archive.input[..wanted], "an entry's data")?;
        (self.start, self.end) = (0, wanted);
        self.unread -= wanted as u64;
        Ok(())
    }

    /// Everything that can be checked once the stream ended.
    fn finish(&mut self) -> Result<(), ReadError> {
        if self.start < self.end || self.unread > 0 {
            return Err(self.bad_data("there are bytes after the end of the compressed stream"));
        }
        let found = self.crc.clone().finalize();
        let StreamingZipReader { entries, source, .. } = &mut *self.archive;
        let entry = &entries[self.index];
        let name = || shown(&entry.name);
        if self.produced != entry.uncompressed {
            return Err(ReadError::SizeMismatch { name: name(), declared: entry.uncompressed, found: self.produced });
        }
        if found != entry.crc32 {
            return Err(ReadError::CrcMismatch { name: name(), declared: entry.crc32, found });
        }
        self.descriptor.map_or(Ok(()), |room| entry.check_descriptor(source, room))
    }

    fn bad_data(&self, source: impl Into<Cause>) -> ReadError {
        ReadError::BadData { name: shown(&self.entry().name), source: source.into() }
    }
}

impl<R: Read + Seek> Read for EntryReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.step(buffer).map_err(io::Error::from)
    }
}
