//! seals.tsv: what stood in runs.jsonl when each block was complete.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::plan_file::PlannedRun;

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

/// The seals of the blocks of `plan` that are complete in `runs`, the content of runs.jsonl.
pub fn of(plan: &[PlannedRun], runs: &str) -> Vec<Seal> {
    let mut seals = Vec::new();
    let mut hash = Sha256::new();
    let lines = runs.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    for (index, (line, run)) in lines.zip(plan).enumerate() {
        hash.update(line.as_bytes());
        if plan.get(index + 1).is_none_or(|next| next.block_name() != run.block_name()) {
            let (scenario, sum) = (run.case.scenario.clone(), hex::encode(hash.clone().finalize()));
            seals.push(Seal { scenario, block: run.block, lines: index + 1, sum });
        }
    }
    seals
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
