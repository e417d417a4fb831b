//! The threads of a pool, from the first to the last.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use flume::{Receiver, Sender};
use rusqlite::Connection;

use super::connect;
use super::error::Error;
use super::guard::Guard;
use super::options::{Access, Options};
use super::queue::{Message, Queue};
use super::stats::{Counters, count};
use super::writer::{Writer, checkpoint};

/// The threads of an open pool, and how they are asked.
pub(super) struct Threads {
    pub(super) reads: Sender<Message>,
    readers: Vec<JoinHandle<()>>,
    /// Unless the database was opened for reading only.
    writing: Option<Writing>,
}

struct Writing {
    writes: Sender<Message>,
    writer: JoinHandle<Writer>,
    checkpoint: JoinHandle<()>,
}

impl Threads {
    /// Opens the connections and starts the threads. Blocks until then.
    pub(super) fn start(path: &Path, options: &Options, counters: &Arc<Counters>) -> Result<Self, Error> {
        // If anything fails, the threads that run end for want of anybody who could ask them.
        let writing = match options.access {
            Access::ReadWrite => Some(Writing::start(path, options, counters)?),
            Access::ReadOnly | Access::Immutable => None,
        };
        let (reads, queue) = flume::bounded(options.queue.get());
        let start = |_| {
            let (connection, guard) = connect::reader(path, options)?;
            let (queue, counters) = (Queue::new(queue.clone()), Arc::clone(counters));
            spawn("sqlite-reader", move || read(&connection, &guard, &queue, &counters))
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
        // A thread that has gone already does not mind.
        for _ in &self.readers {
            let _ = self.reads.send(Message::Stop);
        }
        drop(self.reads);
        for reader in self.readers {
            let _ = reader.join();
        }
        let Some(Writing { writes, writer, checkpoint }) = self.writing else { return Ok(()) };
        let _ = writes.send(Message::Stop);
        drop(writes);
        let writer = writer.join().map_err(|_| Error::Closed)?;
        writer.finish(checkpoint)
    }
}

impl Writing {
    fn start(path: &Path, options: &Options, counters: &Arc<Counters>) -> Result<Self, Error> {
        let (writing, (copying, _)) = (connect::writer(path, options)?, connect::writer(path, options)?);
        let (writes, queue) = flume::bounded(options.queue.get());
        let (signals, signalled) = flume::bounded(1);
        let turn = Arc::new(Mutex::new(()));
        let (own_turn, own_counters) = (Arc::clone(&turn), Arc::clone(counters));
        let committing = Writer::new(writing, Queue::new(queue), signals, turn, Arc::clone(counters), options.clone());
        Ok(Writing {
            writes,
            writer: spawn("sqlite-writer", move || committing.run())?,
            checkpoint: spawn("sqlite-checkpoint", move || copy(&copying, &signalled, &own_turn, &own_counters))?,
        })
    }
}

/// Runs reads until the pool is closed and the queue empty.
fn read(connection: &Connection, guard: &Guard, queue: &Queue, counters: &Arc<Counters>) {
    while let Some(mut job) = queue.wait() {
        // The job itself knows how it ended.
        let _ = guard.run(&mut job, connection, counters);
        count(counters, |stats| stats.reads += 1);
        // A job must not leave its snapshot to the next one: it would read the past, and keep the log from being reused.
        let left = if connection.is_autocommit() { Ok(()) } else { connection.execute_batch("ROLLBACK") };
        job.answer(left.err().map(Error::from));
    }
}

/// Makes a checkpoint for each signal, until the writer is gone.
fn copy(connection: &Connection, signals: &Receiver<()>, turn: &Mutex<()>, counters: &Counters) {
    for () in signals {
        // One that fails leaves the log as it was; the next signal tries again, and the writer sees to the limit.
        if checkpoint(connection, "PASSIVE", turn).is_ok() {
            count(counters, |stats| stats.checkpoints += 1);
        }
    }
}

pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    Builder::new().name(name.to_owned()).spawn(work).map_err(|source| Error::Thread(Arc::new(source)))
}
