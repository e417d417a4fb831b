//! The threads of a pool, from the first to the last.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use flume::Sender;
use rusqlite::Connection;

use super::connect;
use super::error::Error;
use super::guard::Guard;
use super::options::Access;
use super::queue::{Message, Queue};
use super::shared::{Shared, spawn};
use super::writer::{self, Writing};

pub(super) struct Threads {
    pub(super) reads: Sender<Message>,
    readers: Vec<JoinHandle<()>>,
    /// Unless the database was opened for reading only.
    writing: Option<Writing>,
}

impl Threads {
    /// Opens the connections and starts the threads. Blocks until then.
    pub(super) fn start(path: &Path, shared: &Arc<Shared>) -> Result<Self, Error> {
        let options = &shared.options;
        // If anything fails, the threads that run end for want of anybody who could ask them.
        let writing = match options.access {
            Access::ReadWrite => Some(writer::start(path, shared)?),
            Access::ReadOnly | Access::Immutable => None,
        };
        let (reads, queue) = flume::bounded(options.queue.get());
        let queue = Queue::new(queue);
        let start = |_| {
            let (connection, guard) = connect::reader(path, options)?;
            let (queue, shared) = (queue.clone(), Arc::clone(shared));
            spawn("sqlite-reader", move || read(&connection, &guard, &queue, &shared))
        };
        let readers = (0..options.readers.get()).map(start).collect::<Result<_, _>>()?;
        Ok(Threads { reads, readers, writing })
    }

    pub(super) fn writes(&self) -> Option<&Sender<Message>> {
        self.writing.as_ref().map(|writing| &writing.writes)
    }

    /// Ends the threads once their queues are empty, and waits for it. The log goes with the last connection: nobody may be in the way of the
    /// last checkpoint.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Threads { reads, readers, writing } = self;
        // A thread that has gone already does not mind.
        for _ in &readers {
            let _ = reads.send(Message::Stop);
        }
        // What came behind that is answered when the last thread goes.
        drop(reads);
        for reader in readers {
            let _ = reader.join();
        }
        let Some(Writing { writes, thread }) = writing else { return Ok(()) };
        let _ = writes.send(Message::Stop);
        drop(writes);
        thread.join().unwrap_or(Err(Error::Closed))
    }
}

/// Runs reads until the pool is closed and the queue empty.
fn read(connection: &Connection, guard: &Guard, queue: &Queue, shared: &Arc<Shared>) {
    while let Some(mut job) = queue.wait() {
        // The job itself knows how it ended.
        let _ = guard.run(&mut job, connection, shared);
        shared.count(|stats| stats.reads += 1);
        // A job must not leave its snapshot to the next one: it would read the past, and keep the log from being reused.
        let left = if connection.is_autocommit() { Ok(()) } else { connection.execute_batch("ROLLBACK") };
        job.answer(left.err().map(Error::from));
    }
}
