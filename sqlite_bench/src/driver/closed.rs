//! The closed loop, as published: a reader asks, waits for its answer, pauses and asks again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::history::READ_SKIP;
use super::operations::Operations;
use super::run::{Run, broken};
use crate::design::AccessError;

/// All readers, until operations are no longer begun and the last is answered.
pub(super) async fn read_all(run: &Arc<Run>, records: Vec<Operations>) -> Result<Operations, AccessError> {
    let mut readers = JoinSet::new();
    for (reader, operations) in records.into_iter().enumerate() {
        readers.spawn(read(Arc::clone(run), reader % run.workload.databases, operations));
    }
    let mut all = Operations::default();
    while let Some(joined) = readers.join_next().await {
        all.add(&joined.map_err(broken)?);
    }
    Ok(all)
}

async fn read(run: Arc<Run>, database: usize, mut operations: Operations) -> Operations {
    let think = run.workload.think;
    let mut due = run.start;
    let mut last = run.start;
    // By when it is due, not by when it gets its turn: a read that waited for a worker until after the window is the one to be counted.
    while run.is_open(due) {
        let begin = Instant::now();
        let result = run.design.read(database, READ_SKIP).await;
        last = Instant::now();
        operations.record(result.map(drop), due, begin, last, run.in_window(last, Duration::ZERO));
        due = last + think;
        tokio::time::sleep(think).await;
    }
    operations.close(run.start, last);
    operations
}
