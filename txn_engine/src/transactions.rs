//! Where a ledger keeps accepted transactions: by number while ids come in order, by hash otherwise.
//! In order the id is the place: 12 bytes each, no hash, no growth by copying.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::engine::table_bytes;
use crate::hash::IdHash;
use crate::rules::StoredTx;

/// Items per chunk: chunks are never moved, so that growing copies nothing.
const CHUNK: usize = 1 << 16;
/// Largest gap in the order that is left open: rejected rows leave gaps of a few ids.
const GAP: usize = 16;

const _: () = assert!(size_of::<Option<StoredTx>>() == 12);

/// Accepted transactions by id.
#[derive(Debug, Default)]
pub struct Transactions {
    /// Transaction `first + n` at place n; gaps are `None`.
    ordered: Chunks<Option<StoredTx>>,
    first: u32,
    gaps: usize,
    /// The rest, in the order of acceptance.
    others: Chunks<(u32, StoredTx)>,
    /// Places in `others`, by id.
    index: HashTable<u32>,
    hash: IdHash,
}

impl Transactions {
    #[inline]
    pub fn contains(&self, id: u32) -> bool {
        matches!(self.ordered.get(self.place(id)), Some(Some(_))) || self.find_other(id).is_some()
    }

    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut StoredTx> {
        let place = self.place(id);
        if matches!(self.ordered.get(place), Some(Some(_))) {
            return self.ordered.get_mut(place)?.as_mut();
        }
        let place = self.find_other(id)?;
        self.others.get_mut(place).map(|(_, tx)| tx)
    }

    /// Keeps `tx` under an id that is not [contained](Self::contains).
    #[inline]
    pub fn insert(&mut self, id: u32, tx: StoredTx) {
        if self.ordered.len == 0 {
            self.first = id;
        }
        let place = self.place(id);
        if let Some(gap) = self.ordered.get_mut(place) {
            *gap = Some(tx);
            self.gaps -= 1;
            return;
        }
        let skipped = place - self.ordered.len;
        // Half of the places may be gaps at most, or a few bytes of input could claim much memory.
        if skipped <= GAP && 2 * (self.gaps + skipped) <= self.ordered.len + skipped {
            for _ in 0..skipped {
                self.ordered.push(None);
            }
            self.gaps += skipped;
            self.ordered.push(Some(tx));
        } else {
            self.insert_other(id, tx);
        }
    }

    pub fn len(&self) -> usize {
        self.ordered.len - self.gaps + self.others.len
    }

    pub fn bytes(&self) -> u64 {
        self.ordered.bytes() + self.others.bytes() + table_bytes::<u32>(self.index.capacity())
    }

    pub fn sorted(&self) -> Vec<(u32, StoredTx)> {
        let ordered = (0_u32..)
            .zip(self.ordered.chunks.iter().flatten())
            .filter_map(|(place, tx)| Some((self.first.wrapping_add(place), (*tx)?)));
        let mut all: Vec<_> = ordered.chain(self.others.chunks.iter().flatten().copied()).collect();
        all.sort_unstable_by_key(|&(id, _)| id);
        all
    }

    /// The place of an id among the ordered ones, beyond all of them if it lies before the first.
    #[inline]
    fn place(&self, id: u32) -> usize {
        match id.checked_sub(self.first) {
            Some(place) => place as usize,
            None => usize::MAX,
        }
    }

    #[inline]
    fn find_other(&self, id: u32) -> Option<usize> {
        if self.others.len == 0 {
            return None;
        }
        let is_same = |&place: &u32| self.others.id_at(place) == id;
        self.index.find(self.hash.hash_one(id), is_same).map(|&place| place as usize)
    }

    #[inline(never)]
    fn insert_other(&mut self, id: u32, tx: StoredTx) {
        // Ids are distinct, so that places fit 32 bits as ids do.
        #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32")]
        let place = self.others.len as u32;
        self.others.push((id, tx));
        let (others, hash) = (&self.others, self.hash);
        self.index.insert_unique(hash.hash_one(id), place, |&place| hash.hash_one(others.id_at(place)));
    }
}

#[derive(Debug)]
struct Chunks<T> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks { chunks: Vec::new(), len: 0 }
    }
}

impl<T> Chunks<T> {
    #[inline]
    fn get(&self, place: usize) -> Option<&T> {
        self.chunks.get(place / CHUNK)?.get(place % CHUNK)
    }

    #[inline]
    fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.chunks.get_mut(place / CHUNK)?.get_mut(place % CHUNK)
    }

    #[inline]
    fn push(&mut self, item: T) {
        if self.len.is_multiple_of(CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(item);
        }
        self.len += 1;
    }

    fn bytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| (chunk.capacity() * size_of::<T>()) as u64).sum()
    }
}

impl Chunks<(u32, StoredTx)> {
    #[inline]
    fn id_at(&self, place: u32) -> u32 {
        self.chunks[place as usize / CHUNK][place as usize % CHUNK].0
    }
}
