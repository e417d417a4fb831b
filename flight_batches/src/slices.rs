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
    /// Larger ones are no faster, and clients take 4 MiB by default.
    const MESSAGE_BYTES: usize = 1 << 20;
    /// Below this a message is mostly header.
    const LEAST_MESSAGE_BYTES: usize = 64 << 10;

    /// Rows of a message among so many streams.
    #[must_use]
    pub fn rows(self, streams: usize, row_bytes: usize) -> usize {
        let bytes = (self.bytes / streams.max(1)).clamp(Self::LEAST_MESSAGE_BYTES, Self::MESSAGE_BYTES);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Shape, Table};

    #[test]
    fn messages_of_all_streams_fit_into_the_memory() {
        let memory = Memory { bytes: 64 << 20 };
        assert_eq!(memory.rows(1, 400), (1 << 20) / 400, "the largest message");
        assert_eq!(memory.rows(64, 400), (1 << 20) / 400);
        assert_eq!(memory.rows(256, 400), (256 << 10) / 400);
        assert_eq!(memory.rows(1_000_000, 400), (64 << 10) / 400, "the smallest message");
        assert_eq!(memory.rows(1_000_000, 1 << 20), 1, "a row at least");
        assert_eq!(memory.rows(0, 0), 1 << 20);
    }

    #[test]
    fn slices_are_the_batch_again() {
        let table = Table::new(Shape { rows: 1000, columns: 3, seed: 1 }).unwrap();
        for rows in [1, 2, 3, 999, 1000] {
            for most in [1, 2, 7, 400, 999, 1000, 5000] {
                let batch = table.batch(0, rows);
                let pieces: Vec<_> = slices(batch.clone(), || most).collect();
                assert!(pieces.iter().all(|piece| piece.num_rows() <= most));
                assert_eq!(pieces.len(), rows.div_ceil(most), "no more pieces than it takes");
                assert_eq!(arrow_select::concat::concat_batches(&table.schema(), &pieces).unwrap(), batch);
            }
        }
    }
}
