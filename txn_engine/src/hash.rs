//! A fast hasher for client and transaction ids.
//!
//! Ids mostly arrive in order. Sixteen neighbors hash to sixteen neighboring slots, so that a run of new ids touches five cache lines instead of
//! thirty-two; the blocks are scattered, so that no stride of ids piles up in one place. Each table has a key: whoever writes a file chooses its ids, and
//! could choose such as share a slot.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Neighbouring ids that stay together: 2^4, as many as a table looks at in one step.
const BLOCK_BITS: u32 = 4;
const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Makes the hashers of a table, by a key of its own.
#[derive(Debug, Clone, Copy)]
pub struct IdHash(u64);

impl Default for IdHash {
    fn default() -> Self {
        IdHash(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for IdHash {
    type Hasher = IdHasher;

    #[inline]
    fn build_hasher(&self) -> IdHasher {
        IdHasher { key: self.0, hash: 0 }
    }
}

/// Hashes one `u16` or `u32`.
#[derive(Debug, Clone, Copy)]
pub struct IdHasher {
    key: u64,
    hash: u64,
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.mix(self.hash.rotate_left(8) ^ u64::from(byte));
        }
    }

    fn write_u16(&mut self, id: u16) {
        self.mix(u64::from(id));
    }

    fn write_u32(&mut self, id: u32) {
        self.mix(u64::from(id));
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

impl IdHasher {
    #[inline]
    fn mix(&mut self, id: u64) {
        let within = id & ((1 << BLOCK_BITS) - 1);
        let mut block = ((id >> BLOCK_BITS) ^ self.key).wrapping_mul(SCATTER);
        // The low bits of a product are poor, and the table takes its slot from the low bits.
        block ^= block >> 32;
        // The top seven bits are the tag by which the table tells the entries of a group apart: they must differ within a block.
        self.hash = ((block << BLOCK_BITS) | within) ^ (within << (64 - BLOCK_BITS));
    }
}
