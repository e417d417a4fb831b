//! seals.tsv: what stood in runs.jsonl when each block was complete.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::folder::plan_file::PlannedRun;

/// Name of the file.
pub const NAME: &str = "seals.tsv";

/// The seal of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct Seal {
    pub scenario: String,
    pub block: u64,
    /// Lines of runs.jsonl when the block was complete.
    pub lines: usize,
    pub sum: String,
}

/// What the seals follow from: the lines so far, and their hash.
#[derive(Clone, Default)]
pub(crate) struct Sealer {
    pub lines: usize,
    pub hash: Sha256,
}

impl Sealer {
    /// Takes in one line more, of `run`; the seal of its block if that is the last of it, with `next` planned after it.
    pub fn add(&mut self, line: &str, run: &PlannedRun, next: Option<&PlannedRun>) -> Option<Seal> {
        self.hash.update(line.as_bytes());
        self.lines += 1;
        let is_last = next.is_none_or(|next| next.block_name() != run.block_name());
        is_last.then(|| {
            let (scenario, sum) = (run.case.scenario.clone(), hex::encode(self.hash.clone().finalize()));
            Seal { scenario, block: run.block, lines: self.lines, sum }
        })
    }
}

/// The seals of the blocks of `plan` that are complete in `runs`, the content of runs.jsonl.
pub fn of(plan: &[PlannedRun], runs: &str) -> Vec<Seal> {
    let mut sealer = Sealer::default();
    let lines = runs.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let seal = |(index, (line, run)): (usize, (&str, &PlannedRun))| sealer.add(line, run, plan.get(index + 1));
    lines.zip(plan).enumerate().filter_map(seal).collect()
}

/// How many blocks the runs belong to.
pub fn blocks(runs: &[PlannedRun]) -> usize {
    runs.iter().map(PlannedRun::block_name).collect::<BTreeSet<_>>().len()
}

/// The content of seals.tsv.
pub fn to_tsv(seals: &[Seal]) -> String {
    let line = |Seal { scenario, block, lines, sum }: &Seal| format!("{scenario}\t{block}\t{lines}\t{sum}\n");
    seals.iter().map(line).collect()
}

/// The line (from 1) at which two texts differ first.
pub(crate) fn first_difference(one: &str, other: &str) -> Option<usize> {
    let both = one.split_inclusive('\n').zip(other.split_inclusive('\n'));
    (one != other).then(|| both.take_while(|(a, b)| a == b).count() + 1)
}
