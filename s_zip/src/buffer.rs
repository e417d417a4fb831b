//! A growing byte buffer whose free room is initialised once and for all.
//!
//! A `Vec` would do, but a compressor that wants initialised memory clears a vector's whole spare capacity at every call: for entries of
//! 10 KB that was half of the writer's time.

/// Bytes in the middle, zeroed or used room behind, and before what was removed.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }

    /// The free room, at least so many bytes of it.
    pub fn room(&mut self, at_least: usize) -> &mut [u8] {
        if self.bytes.len() - self.end < at_least {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.len());
            self.bytes.resize(self.bytes.len().max(self.end + at_least), 0);
        }
        &mut self.bytes[self.end..]
    }

    /// So many bytes of the room were written.
    pub fn advance(&mut self, bytes: usize) {
        self.end = (self.end + bytes).min(self.bytes.len());
    }

    pub fn extend_from_slice(&mut self, more: &[u8]) {
        self.room(more.len())[..more.len()].copy_from_slice(more);
        self.end += more.len();
    }

    pub fn truncate(&mut self, len: usize) {
        self.end = self.end.min(self.start + len);
    }

    pub fn remove_front(&mut self, bytes: usize) {
        self.start += bytes;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Buffer { start: 0, end: bytes.len(), bytes }
    }
}
