//! A reading thread: takes the next job of the queue it shares with the others.

use std::sync::Arc;

use flume::Receiver;
use rusqlite::Connection;

use super::Error;
use super::job::BoxedJob;
use super::stats::{Counters, count};

/// Runs reads until the queue is closed and empty.
pub(super) fn run(connection: &Connection, queue: &Receiver<BoxedJob>, counters: &Arc<Counters>) {
    for mut job in queue {
        if !job.is_wanted() {
            continue;
        }
        let mut outcome = job.run(connection);
        count(&counters.reads);
        // A job must not leave its snapshot to the next one: it would read the past, and keep the log from being reused.
        if !connection.is_autocommit()
            && let Err(error) = connection.execute_batch("ROLLBACK")
        {
            outcome = outcome.and(Err(Error::of(error)));
        }
        job.answer(outcome);
    }
}
