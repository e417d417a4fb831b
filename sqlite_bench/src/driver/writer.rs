//! The writer of a database: a block, a pause, the next block.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::history::{Acknowledged, HISTORY_WRITES};
use super::operations::Operations;
use super::run::Run;
use crate::schema::{Block, SEED_BLOCKS};
use crate::workload::{Workload, Writes};

/// What became of the writes to a database.
pub(super) struct Written {
    pub(super) database: usize,
    pub(super) operations: Operations,
    pub(super) acknowledged: Acknowledged,
    /// When the last one ended.
    pub(super) end: Instant,
}

/// Writes until operations are no longer begun.
pub(super) async fn write(run: Arc<Run>, database: usize, mut operations: Operations) -> Written {
    let Workload { hold, rest, writes, .. } = run.workload;
    let mut acknowledged = Acknowledged::default();
    let offset = run.workload.first_write(database);
    let mut due = run.start + offset;
    let mut end = run.start;
    if !offset.is_zero() {
        tokio::time::sleep_until(due.into()).await;
    }
    for number in SEED_BLOCKS + HISTORY_WRITES.. {
        if !run.is_open(Instant::now()) {
            break;
        }
        let begin = Instant::now();
        let result = run.design.write(database, Block::written(number, run.seed), hold).await;
        end = Instant::now();
        let list = if result.is_ok() { &mut acknowledged.blocks } else { &mut acknowledged.failed };
        list.push(number);
        operations.record(result, due, begin, end, run.in_window(end, offset));
        if writes == Writes::Once {
            break;
        }
        due = end + rest;
        // Even a pause of nothing would take a step of the timer.
        if !rest.is_zero() {
            tokio::time::sleep(rest).await;
        }
    }
    operations.close(run.start, end);
    run.writers_left.fetch_sub(1, Ordering::AcqRel);
    Written { database, operations, acknowledged, end }
}
