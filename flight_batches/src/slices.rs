//! Batches cut into what one message carries.

use arrow_array::RecordBatch;

/// How much memory the messages of all streams together may take.
///
/// A message is kept until its reader has taken it: with two thousand streams and 4 MB each that would be 8 GB. So messages get smaller as
/// streams get more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Of all streams.
    pub bytes: usize,
}

impl Memory {
    /// Larger ones are no faster where values are copied.
    pub const MESSAGE_BYTES: usize = 1 << 20;
    /// Where they are not, what is spent is spent per message and column. Clients take 4 MiB by default, with what is not values.
    pub const DIRECT_MESSAGE_BYTES: usize = (4 << 20) - (16 << 10);
    /// Below this a message is mostly header.
    pub(crate) const LEAST_MESSAGE_BYTES: usize = 64 << 10;

    /// Rows of a message of at most `most` bytes among so many streams, whose messages take `held` bytes already.
    pub fn rows(self, streams: usize, held: usize, row_bytes: usize, most: usize) -> usize {
        let free = self.bytes.saturating_sub(held);
        let bytes = (self.bytes / streams.max(1)).min(free).clamp(Self::LEAST_MESSAGE_BYTES, most);
        (bytes / row_bytes.max(1)).max(1)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory { bytes: 256 << 20 }
    }
}

/// `batch` in pieces of nearly equal size, none longer than `most` says when the piece is taken. Copies nothing.
pub fn slices(batch: RecordBatch, most: impl Fn() -> usize) -> impl Iterator<Item = RecordBatch> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let left = batch.num_rows() - first;
        let pieces = left.div_ceil(most().max(1)).max(1);
        let length = left.div_ceil(pieces);
        first += length;
        (length > 0).then(|| batch.slice(first - length, length))
    })
}
