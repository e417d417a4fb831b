//! The reader on archives that were tampered with: it must refuse or read them, without a panic and within its memory.

use crate::Limits;
use crate::reader::mutate::{self, Outcome};

/// What an archive may unpack to here, in bytes.
const LIMIT_BYTES: u64 = 1 << 20;

/// How many of the archives were read, and how many refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Every entry read to its end.
    pub read: u64,
    /// Opened, with an entry that was refused or damaged.
    pub damaged: u64,
    /// Not opened.
    pub refused: u64,
}

/// Exercises the reader on `archives` mutations drawn from `seed`.
#[must_use]
pub fn run(archives: u64, seed: u64) -> Tally {
    let corpus = mutate::corpus();
    let limits = Limits { bytes: LIMIT_BYTES, ..Limits::default() };
    let mut tally = Tally::default();
    for number in 0..archives {
        let bytes = mutate::mutate(seed.wrapping_mul(archives).wrapping_add(number), &corpus);
        match mutate::exercise(&bytes, limits) {
            Outcome::Read { .. } => tally.read += 1,
            Outcome::Damaged { .. } => tally.damaged += 1,
            Outcome::Refused => tally.refused += 1,
        }
    }
    tally
}
