//! A fast hasher for client and transaction ids.
//!
//! Ids mostly arrive in order. Sixteen neighbors hash to sixteen neighboring slots, so that a run of new ids touches five cache lines instead of
//! thirty-two; the blocks are scattered, so that no stride of ids piles up in one place. Ids are not secret, hence no random state.

use std::hash::{BuildHasherDefault, Hasher};

/// Neighbouring ids that stay together: 2^4, as many as a table looks at in one step.
const BLOCK_BITS: u32 = 4;
const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;

pub type IdHash = BuildHasherDefault<IdHasher>;

/// Hashes one `u16` or `u32`.
#[derive(Debug, Default, Clone, Copy)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.mix(self.0.rotate_left(8) ^ u64::from(byte));
        }
    }

    fn write_u16(&mut self, id: u16) {
        self.mix(u64::from(id));
    }

    fn write_u32(&mut self, id: u32) {
        self.mix(u64::from(id));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl IdHasher {
    #[inline]
    fn mix(&mut self, id: u64) {
        let within = id & ((1 << BLOCK_BITS) - 1);
        let mut block = (id >> BLOCK_BITS).wrapping_mul(SCATTER);
        // The low bits of a product are poor, and the table takes its slot from the low bits.
        block ^= block >> 32;
        // The top seven bits are the tag by which the table tells the entries of a group apart: they must differ within a block.
        self.0 = ((block << BLOCK_BITS) | within) ^ (within << (64 - BLOCK_BITS));
    }
}
