//! SQLite from async code, such that reads never wait for a write: one writing thread, reading threads, a write-ahead log.
//!
//! ```
//! use sqlite_bench::pool::{Options, Pool};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("shop.db");
//! let pool = Pool::open(&path, &Options::default())?;
//! pool.write(|db| db.execute_batch("CREATE TABLE orders (id INTEGER PRIMARY KEY, sum INTEGER)")).await?;
//! let id = pool
//!     .write(|db| {
//!         db.prepare_cached("INSERT INTO orders (sum) VALUES (?1)")?.execute([1_250])?;
//!         Ok(db.last_insert_rowid())
//!     })
//!     .await?;
//! let sum: i64 = pool.read(move |db| db.query_row("SELECT sum FROM orders WHERE id = ?1", [id], |row| row.get(0))).await?;
//! assert_eq!(sum, 1_250);
//! pool.close()?;
//! # Ok(())
//! # }
//! ```
//!
//! - **Reads** run on [`Options::readers`] threads, each with a read-only connection. In a write-ahead log a reader sees the last commit and waits
//!   for nobody, however long a write takes. A read that begins after the answer to a write sees that write.
//! - **Writes** run one after the other on one thread, each as a closure inside a transaction that the pool opens and commits. All that wait share
//!   a commit ([`Options::batch`]), which is what makes small writes cheap: syncing takes as long for a hundred as for one. Each runs in a
//!   savepoint: one that fails or panics is undone alone. The answer comes after the commit, so that an acknowledged write is as safe as
//!   [`Options::durability`] says. A commit takes no further writes after 5 ms, but those that are in it wait for a slow one that comes last.
//! - **Inside a write** `BEGIN`, `COMMIT` and `ROLLBACK` are refused ("not authorized"); savepoints are allowed, and `VACUUM` needs a connection of
//!   its own. Return every error of a statement: after some of them SQLite has rolled back, and the pool then accepts nothing more of the job.
//!   If one write makes SQLite undo a whole commit ([`Error::Undone`]: a full disk, `ON CONFLICT ROLLBACK`, a deferred foreign key), the others
//!   may be tried again. `prepare_cached` spares compiling a statement each time.
//! - **The log** is copied into the database by a thread of its own, off the path of writes; at [`Options::wal_limit_pages`] the writer makes room first.
//! - **Back-pressure**: at most [`Options::queue`] operations wait in each queue. [`Pool::read`] and [`Pool::write`] wait for room, [`Pool::try_read`] and
//!   [`Pool::try_write`] refuse.
//! - **Cancelling**: an operation whose future is dropped before its turn is skipped; after that it runs to its end, and a write is committed.
//! - **Closing**: [`Pool::close`] lets everything that waits finish; dropping the last clone does, too, and blocks its thread meanwhile.
//!
//! Nothing here needs a particular runtime. A read is a trip to another thread and back, some ten microseconds.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{Builder, JoinHandle};

use flume::{Sender, TrySendError};
use rusqlite::Connection;

mod checkpoint;
mod error;
mod guard;
mod job;
mod options;
mod queue;
mod reader;
mod stats;
mod writer;

pub use error::Error;
pub use job::Work;
pub use options::{Durability, OnOpen, Options};
pub use stats::Stats;

use checkpoint::Signal;
use job::job;
use queue::{Message, Queue};
use stats::Counters;
use writer::Writer;

/// A database with a thread that writes and some that read. Clones are the same pool.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    /// Gone when the pool is closed.
    queues: RwLock<Option<Queues>>,
    /// Set when the pool is closed: a thread ends when its queue is empty.
    closing: Arc<AtomicBool>,
    threads: Mutex<Threads>,
    counters: Arc<Counters>,
}

struct Queues {
    reads: Sender<Message>,
    writes: Sender<Message>,
}

#[derive(Default)]
struct Threads {
    writer: Option<JoinHandle<Result<(), Error>>>,
    checkpoint: Option<JoinHandle<()>>,
    readers: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("path", &self.inner.path).field("stats", &self.stats()).finish()
    }
}

impl Pool {
    /// Opens the database, creating it if it is missing, and starts the threads.
    ///
    /// # Errors
    /// If it cannot be opened, has no write-ahead log, or a thread cannot be started. Blocks until then.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        let path = path.as_ref();
        // All connections are opened here, so that whatever is wrong is said here.
        let writing = options.connect_writer(path)?;
        let (checkpointing, _) = options.connect_writer(path)?;
        let reading: Vec<Connection> =
            (0..options.readers.get()).map(|_| options.connect_reader(path)).collect::<Result<_, _>>()?;

        let counters = Arc::new(Counters::default());
        let closing = Arc::new(AtomicBool::new(false));
        let (reads, read_queue) = flume::bounded(options.queue.get());
        let (writes, write_queue) = flume::bounded(options.queue.get());
        let (signals, signals_queue) = flume::bounded(1);
        let pool = Pool {
            inner: Arc::new(Inner {
                path: path.to_owned(),
                queues: RwLock::new(Some(Queues { reads, writes })),
                closing: Arc::clone(&closing),
                threads: Mutex::default(),
                counters: Arc::clone(&counters),
            }),
        };
        // If one of them cannot be started, dropping the pool ends the others.
        let mut threads = pool.inner.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = Arc::new(Mutex::new(()));
        let queue = Queue::new(write_queue, Arc::clone(&closing));
        let (closed, gone) = flume::bounded(0);
        let signal = Signal { sender: signals, turn: Arc::clone(&turn), gone };
        let committing = Writer::new(writing, queue, signal, Arc::clone(&counters), options);
        threads.writer = Some(spawn("sqlite-writer", move || committing.run())?);
        let own = Arc::clone(&counters);
        threads.checkpoint = Some(spawn("sqlite-checkpoint", move || {
            checkpoint::run(checkpointing, closed, &signals_queue, &turn, &own);
        })?);
        for connection in reading {
            let (queue, own) = (Queue::new(read_queue.clone(), Arc::clone(&closing)), Arc::clone(&counters));
            threads.readers.push(spawn("sqlite-reader", move || reader::run(&connection, &queue, &own))?);
        }
        drop(threads);
        Ok(pool)
    }

    /// Runs `work` on a reading thread. It sees everything that was committed before, and nothing else.
    ///
    /// # Errors
    /// What `work` returned, that it panicked, or that the pool is closed.
    pub async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        ask(self.inner.queue(|queues| &queues.reads)?, work).await
    }

    /// Runs `work` on the writing thread, in a transaction, and waits for the commit.
    ///
    /// # Errors
    /// What `work` returned, that it panicked, that the commit failed, or that the pool is closed: nothing of it was written then, unless
    /// the error is [`Error::Unknown`].
    pub async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        ask(self.inner.queue(|queues| &queues.writes)?, work).await
    }

    /// As [`Pool::read`], but refuses when the queue is full.
    ///
    /// # Errors
    /// As [`Pool::read`], and [`Error::Full`].
    pub async fn try_read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        try_ask(self.inner.queue(|queues| &queues.reads)?, work).await
    }

    /// As [`Pool::write`], but refuses when the queue is full.
    ///
    /// # Errors
    /// As [`Pool::write`], and [`Error::Full`].
    pub async fn try_write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        try_ask(self.inner.queue(|queues| &queues.writes)?, work).await
    }

    /// As [`Pool::read`], for threads that may be blocked.
    ///
    /// # Errors
    /// As [`Pool::read`].
    pub fn read_blocking<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        ask_blocking(self.inner.queue(|queues| &queues.reads)?, work)
    }

    /// As [`Pool::write`], for threads that may be blocked.
    ///
    /// # Errors
    /// As [`Pool::write`].
    pub fn write_blocking<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        ask_blocking(self.inner.queue(|queues| &queues.writes)?, work)
    }

    /// What the pool has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let queues = self.inner.queues.read().unwrap_or_else(PoisonError::into_inner);
        let lengths = queues.as_ref().map(|queues| (queues.reads.len(), queues.writes.len()));
        let (waiting_reads, waiting_writes) = lengths.unwrap_or_default();
        let stats = *self.inner.counters.lock().unwrap_or_else(PoisonError::into_inner);
        Stats { waiting_reads, waiting_writes, ..stats }
    }

    /// The database's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Lets everything that waits finish, empties the log and ends the threads; for all clones. Blocks until then.
    ///
    /// # Errors
    /// If the log cannot be copied into the database; nothing is lost then, the next opening does it.
    pub fn close(self) -> Result<(), Error> {
        self.inner.shut_down()
    }
}

async fn ask<T: Send + 'static>(queue: Sender<Message>, work: impl Work<T>) -> Result<T, Error> {
    let (job, answer) = job(work);
    queue.send_async(Message::Job(job)).await.map_err(|_| Error::Closed)?;
    drop(queue);
    answer.recv_async().await.unwrap_or(Err(Error::Closed))
}

async fn try_ask<T: Send + 'static>(queue: Sender<Message>, work: impl Work<T>) -> Result<T, Error> {
    let (job, answer) = job(work);
    queue.try_send(Message::Job(job)).map_err(|error| match error {
        TrySendError::Full(_) => Error::Full(queue.len()),
        TrySendError::Disconnected(_) => Error::Closed,
    })?;
    drop(queue);
    answer.recv_async().await.unwrap_or(Err(Error::Closed))
}

fn ask_blocking<T: Send + 'static>(queue: Sender<Message>, work: impl Work<T>) -> Result<T, Error> {
    let (job, answer) = job(work);
    queue.send(Message::Job(job)).map_err(|_| Error::Closed)?;
    drop(queue);
    answer.recv().unwrap_or(Err(Error::Closed))
}

fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>, Error> {
    Builder::new().name(name.to_owned()).spawn(work).map_err(|source| Error::Thread(Arc::new(source)))
}

impl Inner {
    /// A queue, of an open pool.
    fn queue(&self, pick: impl FnOnce(&Queues) -> &Sender<Message>) -> Result<Sender<Message>, Error> {
        let queues = self.queues.read().unwrap_or_else(PoisonError::into_inner);
        queues.as_ref().map(|queues| pick(queues).clone()).ok_or(Error::Closed)
    }

    fn shut_down(&self) -> Result<(), Error> {
        let queues = self.queues.write().unwrap_or_else(PoisonError::into_inner).take();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        self.closing.store(true, Ordering::Release);
        // The last clone may have gone with a job, on a thread that cannot wait for itself.
        let here = std::thread::current().id();
        let readers: Vec<_> = threads.readers.into_iter().filter(|thread| thread.thread().id() != here).collect();
        let writer = threads.writer.filter(|thread| thread.thread().id() != here);
        if let Some(Queues { reads, writes }) = queues {
            // A thread that has gone already does not mind.
            for _ in &readers {
                let _ = reads.send(Message::Stop);
            }
            if writer.is_some() {
                let _ = writes.send(Message::Stop);
            }
        }
        // The readers first: the writer then finds nobody in the way of the last checkpoint.
        for thread in readers {
            let _ = thread.join();
        }
        // The checkpoint thread ends with the writer.
        let Some(writer) = writer else { return Ok(()) };
        let written = writer.join().unwrap_or(Err(Error::Closed));
        if let Some(thread) = threads.checkpoint {
            let _ = thread.join();
        }
        written
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Whoever wants to know calls `close`.
        let _ = self.shut_down();
    }
}
