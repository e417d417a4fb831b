//! What an archive is made of.

use std::borrow::Cow;

use crate::study::data::{self, Kind};

/// Entries that all have the same data, given in calls of a chosen size.
#[derive(Debug)]
pub struct Input {
    /// Data that is given again and again.
    unit: Vec<u8>,
    /// Bytes per call of `write_data`.
    call_bytes: usize,
    /// How often the unit makes up an entry.
    repeat: u64,
    /// Entries per archive.
    pub entries: u64,
}

/// The size of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What the data looks like.
    pub kind: Kind,
    /// Bytes that are kept in memory.
    pub unit_bytes: usize,
    /// Bytes per call of `write_data`.
    pub call_bytes: usize,
    /// How often the unit makes up an entry.
    pub repeat: u64,
    /// Entries per archive.
    pub entries: u64,
}

impl Shape {
    /// One entry in one call.
    #[must_use]
    pub const fn entry(kind: Kind, bytes: usize) -> Self {
        Shape { kind, unit_bytes: bytes, call_bytes: bytes, repeat: 1, entries: 1 }
    }

    /// So many entries, each in one call.
    #[must_use]
    pub const fn entries(kind: Kind, bytes: usize, entries: u64) -> Self {
        Shape { kind, unit_bytes: bytes, call_bytes: bytes, repeat: 1, entries }
    }

    /// One entry in calls of `call_bytes`.
    #[must_use]
    pub const fn calls(kind: Kind, bytes: usize, call_bytes: usize) -> Self {
        Shape { kind, unit_bytes: bytes, call_bytes, repeat: 1, entries: 1 }
    }

    /// Data bytes of an archive.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.unit_bytes as u64 * self.repeat * self.entries
    }
}

impl Input {
    /// Makes the data of `shape` from `seed`.
    #[must_use]
    pub fn new(shape: &Shape, seed: u64) -> Self {
        Input {
            unit: data::generate(shape.kind, shape.unit_bytes, seed),
            call_bytes: shape.call_bytes,
            repeat: shape.repeat,
            entries: shape.entries,
        }
    }

    /// Name of an entry.
    #[must_use]
    pub fn name(index: u64) -> String {
        format!("file_{index}.txt")
    }

    /// The calls of `write_data` that make up one entry.
    pub fn calls(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.repeat).flat_map(|_| self.unit.chunks(self.call_bytes))
    }

    /// The data of one entry in one piece.
    #[must_use]
    pub fn entry(&self) -> Cow<'_, [u8]> {
        match usize::try_from(self.repeat) {
            Ok(1) => Cow::Borrowed(&self.unit),
            Ok(repeat) => Cow::Owned(self.unit.repeat(repeat)),
            Err(_) => Cow::Borrowed(&[]),
        }
    }

    /// Data bytes of one entry.
    #[must_use]
    pub fn entry_bytes(&self) -> u64 {
        self.unit.len() as u64 * self.repeat
    }

    /// CRC-32 of the data of one entry.
    #[must_use]
    pub fn entry_crc32(&self) -> u32 {
        let mut crc = crc32fast::Hasher::new();
        (0..self.repeat).for_each(|_| crc.update(&self.unit));
        crc.finalize()
    }
}
