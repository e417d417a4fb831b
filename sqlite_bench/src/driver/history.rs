//! What every design is given before and asked after a run: the same history must read the same, and what was acknowledged must be there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::task::JoinSet;

use crate::design::{Arm, Design};
use crate::schema::{self, Block, Inspection, SEED_BLOCKS, SEED_TRANSACTIONS, WRITE_TRANSACTIONS};

/// Blocks that are written before a run.
pub const HISTORY_WRITES: u64 = 4;
/// Reads ask for what came after the block of this number: all but the first, as published.
pub const READ_AFTER: u64 = 0;

/// What a writer knows of its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// Those whose write succeeded, in order.
    pub blocks: Vec<u64>,
    /// Those whose write failed, in order.
    pub failed: Vec<u64>,
}

/// Writes the history to every database and reads it back; a fingerprint of the rows, which must be the same in all of them.
pub async fn replay(design: &dyn Design, databases: usize, seed: u64) -> Result<String> {
    let mut common = None;
    for database in 0..databases {
        for number in SEED_BLOCKS..SEED_BLOCKS + HISTORY_WRITES {
            design.write(database, Block::written(number, seed), Duration::ZERO).await?;
        }
        let digest = schema::digest(&design.read(database, READ_AFTER).await?);
        let first = common.get_or_insert_with(|| digest.clone());
        ensure!(*first == digest, "database {database} returns other rows than the first one");
    }
    Ok(common.unwrap_or_default())
}

/// Lets every connection for reading answer once: the first read of a connection pays for the schema.
pub async fn warm_up(design: &Arc<dyn Design>, databases: usize, readers: usize) -> Result<()> {
    for database in 0..databases {
        let mut reads = JoinSet::new();
        // More than there are connections, so that none is left out.
        for _ in 0..readers * 4 {
            let design = Arc::clone(design);
            reads.spawn(async move { design.read(database, READ_AFTER).await.map(drop) });
        }
        while let Some(joined) = reads.join_next().await {
            joined??;
        }
    }
    Ok(())
}

/// Checks that each database of an arm is sound and holds what was acknowledged, whole; what is wrong, if anything is.
pub async fn verify(arm: &Arm, design: &dyn Design, acknowledged: &[Acknowledged]) -> Result<Option<String>> {
    for (database, known) in acknowledged.iter().enumerate() {
        let found = design.inspect(database).await?;
        if let Some(wrong) = difference(arm, found, known) {
            return Ok(Some(format!("database {database} {wrong}")));
        }
    }
    Ok(None)
}

/// What is missing in `found`, too much or damaged.
fn difference(arm: &Arm, found: Inspection, known: &Acknowledged) -> Option<String> {
    if found.integrity != "ok" {
        return Some(format!("is damaged: {}", found.integrity));
    }
    let history = SEED_BLOCKS..SEED_BLOCKS + HISTORY_WRITES;
    let seeded = (0..SEED_BLOCKS).map(|number| (number, SEED_TRANSACTIONS));
    let written = history.chain(known.blocks.iter().copied()).map(|number| (number, WRITE_TRANSACTIONS));
    let expected: BTreeMap<u64, u64> = seeded.chain(written).collect();
    let mut found: BTreeMap<u64, u64> = found.blocks.into_iter().collect();
    // Whether a write that failed is there is not known; but if it is, then whole.
    found.retain(|number, count| {
        known.failed.binary_search(number).is_err() || *count != WRITE_TRANSACTIONS && !arm.commits_statements
    });
    let differs = |number: &&u64| found.get(number) != expected.get(number);
    let number = found.keys().chain(expected.keys()).find(differs)?;
    let count = |of: &BTreeMap<u64, u64>| of.get(number).map_or("none".to_owned(), u64::to_string);
    let (found, expected) = (count(&found), count(&expected));
    Some(format!("differs in the transactions of block {number}: {found} found, {expected} expected"))
}
