//! A reading thread: takes the next job of the queue it shares with the others.

use std::sync::Arc;

use rusqlite::Connection;

use super::error::Error;
use super::guard::Guard;
use super::queue::Queue;
use super::stats::{Counters, count};

/// Runs reads until the pool is closed and the queue empty.
pub(super) fn run((connection, guard): &(Connection, Guard), queue: &Queue, counters: &Arc<Counters>) {
    while let Some(mut job) = queue.wait() {
        // The job itself knows how it ended.
        let _ = guard.run(&mut job, connection, counters);
        count(counters, |stats| stats.reads += 1);
        // A job must not leave its snapshot to the next one: it would read the past, and keep the log from being reused.
        let left = if connection.is_autocommit() { Ok(()) } else { connection.execute_batch("ROLLBACK") };
        job.answer(left.err().map(Error::of));
    }
}
