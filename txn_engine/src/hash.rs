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

#[cfg(test)]
mod tests {
    use super::IdHash;
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    fn hashes(ids: impl Iterator<Item = u32>, of: impl Fn(u64) -> u64) -> usize {
        ids.map(|id| of(IdHash::default().hash_one(id))).collect::<HashSet<_>>().len()
    }

    #[test]
    fn ids_have_hashes_of_their_own_and_fill_group_after_group_or_spread_over_the_groups_of_a_table() {
        assert_eq!(hashes(0..100_000, |hash| hash), 100_000);
        assert_eq!(hashes(0..1_600, |hash| hash >> 4 & 0xFFFF_FFFF), 100);
        for stride in [16, 17, 1_000, 4_096, 65_536] {
            let groups = hashes((0..10_000).map(|n| n * stride), |hash| hash >> 4 & 0xFFF);
            // 10,000 ids that chance throws at 4,096 groups leave a tenth of them empty.
            assert!(groups > 3_500, "stride {stride}: {groups} groups");
        }
    }
}
