//! seals.tsv: what stood in runs.jsonl when each block was complete.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::digest::common::hazmat::{SerializableState as _, SerializedState};
use sha2::{Digest, Sha256};

use crate::folder::plan_file::PlannedRun;

pub const NAME: &str = "seals.tsv";

/// The seal of a block: the lines of runs.jsonl when it was complete, and its own line.
#[derive(Debug, Clone, PartialEq)]
pub struct Seal {
    pub lines: usize,
    text: String,
}

/// What follows from the first lines of runs.jsonl: how many they are, their bytes and those of their seals.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sealer {
    pub lines: usize,
    pub bytes: u64,
    pub sealed_bytes: u64,
    /// Its state in hexadecimal.
    #[serde(serialize_with = "to_state", deserialize_with = "from_state")]
    hash: Sha256,
}

fn to_state<S: Serializer>(hash: &Sha256, to: S) -> Result<S::Ok, S::Error> {
    hex::encode(hash.serialize()).serialize(to)
}

fn from_state<'de, D: Deserializer<'de>>(from: D) -> Result<Sha256, D::Error> {
    let state = hex::decode(String::deserialize(from)?).map_err(de::Error::custom)?;
    let state = SerializedState::<Sha256>::try_from(state.as_slice()).map_err(de::Error::custom)?;
    Sha256::deserialize(&state).map_err(de::Error::custom)
}

impl Sealer {
    /// Takes in whole lines more; the seals of the blocks of `plan` that they complete.
    pub fn add(&mut self, plan: &[PlannedRun], lines: &str) -> Vec<Seal> {
        let mut due = Vec::new();
        for line in lines.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let Some(run) = plan.get(self.lines) else { break };
            self.hash.update(line.as_bytes());
            self.lines += 1;
            self.bytes += line.len() as u64;
            let (lines, block) = (self.lines, run.block_name());
            if plan.get(lines).is_none_or(|next| next.block_name() != block) {
                let sum = hex::encode(self.hash.clone().finalize());
                let text = format!("{}\t{}\t{lines}\t{sum}\n", block.0, block.1);
                self.sealed_bytes += text.len() as u64;
                due.push(Seal { lines, text });
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
