//! The threads of a pool, from the first to the last.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use flume::{Receiver, Sender};

use super::checkpoint::{self, Signal};
use super::connect;
use super::error::Error;
use super::options::{Access, Options};
use super::queue::{Message, Queue};
use super::reader;
use super::stats::Counters;
use super::writer::Writer;

/// The threads of an open pool, and how they are asked.
pub(super) struct Threads {
    reads: Sender<Message>,
    readers: Vec<JoinHandle<()>>,
    /// Unless the database was opened for reading only.
    writing: Option<Writing>,
    /// Set when the pool is closed: a thread ends when its queue is empty.
    closing: Arc<AtomicBool>,
}

struct Writing {
    writes: Sender<Message>,
    writer: JoinHandle<Result<(), Error>>,
    checkpoint: JoinHandle<()>,
}

impl Threads {
    /// Opens the connections and starts the threads. Blocks until then.
    ///
    /// # Errors
    /// Whatever is wrong with the database, and if a thread cannot be started.
    pub(super) fn start(path: &Path, options: &Options, counters: &Arc<Counters>) -> Result<Self, Error> {
        let closing = Arc::new(AtomicBool::new(false));
        let (alive, readers_gone) = flume::bounded(0);
        // If anything fails, the threads that run end for want of anybody who could ask them.
        let writing = match options.access {
            Access::ReadWrite => Some(Writing::start(path, options, counters, &closing, readers_gone)?),
            Access::ReadOnly | Access::Immutable => None,
        };
        let (reads, queue) = flume::bounded(options.queue.get());
        let start = |_| {
            let connection = connect::reader(path, options)?;
            let (queue, counters) = (Queue::new(queue.clone(), Arc::clone(&closing)), Arc::clone(counters));
            let alive = alive.clone();
            spawn("sqlite-reader", move || {
                reader::run(&connection, &queue, &counters);
                drop(connection);
                drop(alive);
            })
        };
        let readers = (0..options.readers.get()).map(start).collect::<Result<_, _>>()?;
        Ok(Threads { reads, readers, writing, closing })
    }

    pub(super) fn reads(&self) -> &Sender<Message> {
        &self.reads
    }

    pub(super) fn writes(&self) -> Option<&Sender<Message>> {
        self.writing.as_ref().map(|writing| &writing.writes)
    }

    /// How many reads wait, and how many writes.
    pub(super) fn waiting(&self) -> (usize, usize) {
        (self.reads.len(), self.writes().map_or(0, Sender::len))
    }

    /// Has every thread end once its queue is empty, if something wakes it.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    /// Wakes the threads and waits until they have ended.
    ///
    /// # Errors
    /// If the last checkpoint fails.
    pub(super) fn finish(self) -> Result<(), Error> {
        // A thread that has gone already does not mind.
        for _ in &self.readers {
            let _ = self.reads.send(Message::Stop);
        }
        if let Some(writes) = self.writes() {
            let _ = writes.send(Message::Stop);
        }
        drop(self.reads);
        for thread in self.readers {
            let _ = thread.join();
        }
        let Some(Writing { writes, writer, checkpoint }) = self.writing else { return Ok(()) };
        drop(writes);
        // The writer ends after the readers, the checkpoint thread with it.
        let written = writer.join().unwrap_or(Err(Error::Closed));
        let _ = checkpoint.join();
        written
    }
}

impl Writing {
    fn start(
        path: &Path,
        options: &Options,
        counters: &Arc<Counters>,
        closing: &Arc<AtomicBool>,
        readers_gone: Receiver<()>,
    ) -> Result<Self, Error> {
        let (writing, (checkpointing, _)) = (connect::writer(path, options)?, connect::writer(path, options)?);
        let (writes, queue) = flume::bounded(options.queue.get());
        let (sender, signals) = flume::bounded(1);
        let (closed, gone) = flume::bounded(0);
        let turn = Arc::new(Mutex::new(()));
        let signal = Signal { sender, turn: Arc::clone(&turn), gone };
        let queue = Queue::new(queue, Arc::clone(closing));
        let committing = Writer::new(writing, queue, signal, readers_gone, Arc::clone(counters), options);
        let counters = Arc::clone(counters);
        Ok(Writing {
            writes,
            writer: spawn("sqlite-writer", move || committing.run())?,
            checkpoint: spawn("sqlite-checkpoint", move || {
                checkpoint::run(checkpointing, closed, &signals, &turn, &counters);
            })?,
        })
    }
}

pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    Builder::new().name(name.to_owned()).spawn(work).map_err(|source| Error::Thread(Arc::new(source)))
}
