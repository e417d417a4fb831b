//! A growing byte buffer whose free room is initialised once and for all.
//!
//! A `Vec` would do, but a compressor that wants initialised memory clears a vector's whole spare capacity at every call: for entries of
//! 10 KB that was half of the writer's time.

/// Bytes in front, zeroed or used room behind.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    len: usize,
}

impl Buffer {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }

    /// The free room, at least so many bytes of it.
    pub fn room(&mut self, at_least: usize) -> &mut [u8] {
        if self.bytes.len() - self.len < at_least {
            self.bytes.resize(self.len + at_least, 0);
        }
        &mut self.bytes[self.len..]
    }

    /// So many bytes of the room were written.
    pub fn advance(&mut self, bytes: usize) {
        self.len = (self.len + bytes).min(self.bytes.len());
    }

    pub fn extend_from_slice(&mut self, more: &[u8]) {
        self.room(more.len())[..more.len()].copy_from_slice(more);
        self.len += more.len();
    }

    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Removes so many bytes at the front.
    pub fn remove_front(&mut self, bytes: usize) {
        self.bytes.copy_within(bytes..self.len, 0);
        self.len -= bytes;
    }

    /// Removes what stands behind `at`, and returns it.
    pub fn split_off(&mut self, at: usize) -> Vec<u8> {
        let tail = self.bytes[at..self.len].to_vec();
        self.len = at;
        tail
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        Buffer { bytes, len }
    }
}
