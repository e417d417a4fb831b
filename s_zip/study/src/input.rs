//! What an archive is made of.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::data::{self, DataKind};

/// The size of an input: entries that all have the same data, given in calls of a chosen size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub kind: DataKind,
    /// Bytes that are kept in memory, and given again and again.
    pub unit_bytes: usize,
    pub call_bytes: usize,
    /// How often the unit makes up an entry.
    pub repeat: u64,
    pub entries: u64,
}

impl Shape {
    /// So many entries, each in one call.
    pub const fn entries(kind: DataKind, bytes: usize, entries: u64) -> Self {
        Shape { kind, unit_bytes: bytes, call_bytes: bytes, repeat: 1, entries }
    }

    pub const fn calls(kind: DataKind, bytes: usize, call_bytes: usize) -> Self {
        Shape { call_bytes, ..Shape::entries(kind, bytes, 1) }
    }

    /// The same with so many times the unit in each entry.
    #[must_use]
    pub const fn times(self, repeat: u64) -> Self {
        Shape { repeat, ..self }
    }

    /// Data bytes of an archive.
    pub const fn bytes(&self) -> u64 {
        self.entry_bytes() * self.entries
    }

    /// Data bytes of one entry.
    pub const fn entry_bytes(&self) -> u64 {
        self.unit_bytes as u64 * self.repeat
    }
}

#[derive(Debug)]
pub struct Input {
    pub shape: Shape,
    seed: u64,
    unit: Vec<u8>,
}

impl Input {
    /// The data of `shape` from `seed`. Both sides of a duet get the same memory, so that neither drives the other's from the caches.
    pub fn new(shape: &Shape, seed: u64) -> Arc<Self> {
        static LAST: Mutex<Weak<Input>> = Mutex::new(Weak::new());
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let same = last.upgrade().filter(|input| input.shape == *shape && input.seed == seed);
        same.unwrap_or_else(|| {
            let unit = data::generate(shape.kind, shape.unit_bytes, seed);
            let input = Arc::new(Input { shape: *shape, seed, unit });
            *last = Arc::downgrade(&input);
            input
        })
    }

    pub fn name(index: u64) -> String {
        format!("file_{index}.txt")
    }

    /// The calls of `write_data` that make up one entry.
    pub fn calls(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.shape.repeat).flat_map(|_| self.unit.chunks(self.shape.call_bytes))
    }

    /// The data of one entry in one piece.
    pub fn entry(&self) -> Cow<'_, [u8]> {
        match usize::try_from(self.shape.repeat) {
            Ok(1) => Cow::Borrowed(&self.unit),
            Ok(repeat) => Cow::Owned(self.unit.repeat(repeat)),
            Err(_) => Cow::Borrowed(&[]),
        }
    }

    pub fn entry_crc32(&self) -> u32 {
        let mut crc = crc32fast::Hasher::new();
        (0..self.shape.repeat).for_each(|_| crc.update(&self.unit));
        crc.finalize()
    }
}
