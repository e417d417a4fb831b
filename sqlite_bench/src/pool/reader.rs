//! A reading thread: takes the next job of the queue it shares with the others.

use rusqlite::Connection;

use super::error::Error;
use super::queue::Queue;
use super::stats::{Counters, count};

/// Runs reads until the pool is closed and the queue empty.
pub(super) fn run(connection: &Connection, queue: &Queue, counters: &Counters) {
    while let Some(mut job) = queue.wait() {
        let mut outcome = job.run(connection);
        count(counters, |stats| stats.reads += 1);
        // A job must not leave its snapshot to the next one: it would read the past, and keep the log from being reused.
        if !connection.is_autocommit()
            && let Err(error) = connection.execute_batch("ROLLBACK")
        {
            outcome = outcome.and(Err(Error::of(error)));
        }
        job.answer(outcome);
    }
}
