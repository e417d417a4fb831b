//! seals.tsv: what stood in runs.jsonl when each block was complete.

use sha2::{Digest, Sha256};

use crate::folder::plan_file::PlannedRun;

pub const NAME: &str = "seals.tsv";

/// The seal of a block: the lines of runs.jsonl when it was complete, and its own line.
#[derive(Debug, Clone, PartialEq)]
pub struct Seal {
    pub lines: usize,
    text: String,
}

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
            let (lines, block) = (self.lines, run.block_name());
            if plan.get(lines).is_none_or(|next| next.block_name() != block) {
                let sum = hex::encode(self.hash.clone().finalize());
                due.push(Seal { lines, text: format!("{}\t{}\t{lines}\t{sum}\n", block.0, block.1) });
            }
        }
        due
    }
}

/// The seals of the blocks of `plan` that are complete in `runs`, the content of runs.jsonl.
pub fn of(plan: &[PlannedRun], runs: &str) -> Vec<Seal> {
    Sealer::default().add(plan, runs)
}

pub fn to_tsv(seals: &[Seal]) -> String {
    seals.iter().map(|seal| seal.text.as_str()).collect()
}

/// The line (from 1) at which two texts differ first.
pub(crate) fn first_difference(one: &str, other: &str) -> Option<usize> {
    let both = one.split_inclusive('\n').zip(other.split_inclusive('\n'));
    (one != other).then(|| both.take_while(|(a, b)| a == b).count() + 1)
}
