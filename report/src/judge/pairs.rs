//! Pairs: what a quantity came to block by block, and the one place that says which of them count.

use std::collections::BTreeMap;

use crate::stats::signed_rank::FEWEST;

/// What a quantity came to, by the blocks that all of its sides ran in.
#[derive(Debug, Clone)]
pub(super) struct Pairs<T = f64> {
    /// Log ratios, or values: infinite where a side failed, not a number where nothing is known.
    all: BTreeMap<u64, T>,
    /// How far apart the cores were, in ns, in the blocks that found them elsewhere than usual.
    elsewhere: BTreeMap<u64, f64>,
    pub failed: usize,
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Pairs { all: BTreeMap::new(), elsewhere: BTreeMap::new(), failed: 0 }
    }
}

impl<T> Pairs<T> {
    /// Adds what a block came to, which found the cores so far apart, in ns, if that is not usual. A failure counts wherever they were.
    fn insert(&mut self, block: u64, value: T, is_failure: bool, elsewhere_ns: Option<f64>) {
        self.all.insert(block, value);
        self.elsewhere.extend(elsewhere_ns.filter(|_| !is_failure).map(|ns| (block, ns)));
    }
}

impl<T: Copy> Pairs<T> {
    /// Whether a block counts: where six others are left, one that found the cores elsewhere is set aside.
    pub fn counts(&self, block: u64) -> bool {
        self.all.len() < FEWEST + self.elsewhere.len() || !self.elsewhere.contains_key(&block)
    }

    /// The blocks that count.
    pub fn counting(&self) -> impl Iterator<Item = (u64, T)> {
        self.all.iter().map(|(block, value)| (*block, *value)).filter(|(block, _)| self.counts(*block))
    }

    pub fn values(&self) -> Vec<T> {
        self.counting().map(|(_, value)| value).collect()
    }

    /// The values that are set aside, each with how far apart the cores were, in ns.
    pub fn aside(&self) -> impl Iterator<Item = (T, f64)> {
        let is_aside = |(block, _): &(&u64, &f64)| !self.counts(**block);
        self.elsewhere.iter().filter(is_aside).map(|(block, ns)| (self.all[block], *ns))
    }
}

impl Pairs {
    /// Adds the value of a block, which found the cores so far apart, in ns, if that is not usual.
    pub fn add(&mut self, block: u64, value: f64, elsewhere_ns: Option<f64>) {
        self.insert(block, value, !value.is_finite(), elsewhere_ns);
    }

    /// Its blocks in groups of so many, as if each were all there is; those left over are no group.
    pub fn groups(&self, size: usize) -> Vec<Pairs> {
        let blocks: Vec<(&u64, &f64)> = self.all.iter().collect();
        let group = |blocks: &[(&u64, &f64)]| {
            let mut group = Pairs::default();
            for (block, value) in blocks {
                group.add(**block, **value, self.elsewhere.get(block).copied());
            }
            group
        };
        blocks.chunks_exact(size.max(1)).map(group).collect()
    }

    /// What `combine` makes of the values of `all` in each block that they all have, before any is set aside: else each would lose other blocks.
    pub fn joined<T>(all: &[&Pairs], combine: impl Fn(&[f64]) -> Option<T>) -> Pairs<T> {
        let mut joined = Pairs { failed: all.iter().map(|pairs| pairs.failed).sum(), ..Pairs::default() };
        for block in all.first().iter().flat_map(|first| first.all.keys()) {
            let values: Option<Vec<f64>> = all.iter().map(|pairs| pairs.all.get(block).copied()).collect();
            let Some(values) = values else { continue };
            let Some(combined) = combine(&values) else { continue };
            let elsewhere_ns = all.iter().filter_map(|pairs| pairs.elsewhere.get(block).copied()).reduce(f64::max);
            let is_failure = values.iter().any(|value| !value.is_finite());
            joined.insert(*block, combined, is_failure, elsewhere_ns);
        }
        joined
    }
}
