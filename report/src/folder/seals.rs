//! seals.tsv: what stood in runs.jsonl when each block was complete.

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
    /// Takes in whole lines more; the seals of the blocks of `plan` that they complete.
    pub fn add(&mut self, plan: &[PlannedRun], lines: &str) -> Vec<Seal> {
        let mut due = Vec::new();
        for line in lines.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let Some(run) = plan.get(self.lines) else { break };
            self.hash.update(line.as_bytes());
            self.lines += 1;
            if plan.get(self.lines).is_none_or(|next| next.block_name() != run.block_name()) {
                let (scenario, sum) = (run.case.scenario.clone(), hex::encode(self.hash.clone().finalize()));
                due.push(Seal { scenario, block: run.block, lines: self.lines, sum });
            }
        }
        due
    }
}

/// The seals of the blocks of `plan` that are complete in `runs`, the content of runs.jsonl.
pub fn of(plan: &[PlannedRun], runs: &str) -> Vec<Seal> {
    Sealer::default().add(plan, runs)
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
