//! SQLite from async code, such that reads never wait for a write: one writing thread, reading threads, a write-ahead log.
//! The page of the crate says what it promises; beyond that:
//!
//! - **Inside a job** savepoints are allowed. Return every error of a statement: after some of them SQLite has rolled back, and the pool then accepts
//!   nothing more of the job. A full disk, `ON CONFLICT ROLLBACK`, a deferred foreign key or an interrupted statement make SQLite undo a whole commit
//!   ([`Error::Undone`]). `prepare_cached` spares compiling a statement each time.
//! - **Columns**: ask the row for them (`row.as_ref()`), not the statement before it runs. After an `ALTER TABLE` a statement has the table's old columns
//!   until its first row, because SQLite compiles it anew only then.
//! - **After a job** what it set by a method of the connection, or through its handle, stays on that one connection: functions, collations, modules,
//!   hooks, limits, `set_db_config`, and a statement that is leaked before its end. The pool restores the busy timeout. `last_insert_rowid` and `changes`
//!   may answer for an earlier job.
//! - **Cancelling**: who drops a future does not learn whether its write was committed. [`Options::acquire_timeout`] and [`Options::job_timeout`] end an
//!   operation in the same way and do say: after [`Error::Waited`] and [`Error::TimedOut`] nothing was written, nor will be. SQLite stops between two of
//!   its instructions; `count(*)` of a table, `DELETE` without `WHERE`, `DROP TABLE` and a function of a huge value are one, after which the thread is free.
//!
//! Nothing here needs a particular runtime, and `*_blocking` needs none. A read is a trip to another thread and back, some ten microseconds.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use flume::{Receiver, Sender};
use futures_channel::oneshot;
use rusqlite::Connection;

mod ask;
mod connect;
mod error;
mod guard;
mod options;
mod queue;
mod shared;
mod threads;
mod ticket;
mod writer;

pub use error::Error;
pub use options::{Access, Durability, Options};
pub use queue::Work;
pub use shared::Stats;

use ask::{Full, ask};
use queue::{Message, caught};
use shared::{Shared, spawn};
use threads::Threads;

/// A database with a thread that writes and some that read. Clones are the same pool.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    /// Gone when the pool is closed; the sender when its threads have ended.
    open: RwLock<Option<(Threads, Sender<()>)>>,
    /// How closing went.
    outcome: Arc<OnceLock<Result<(), Error>>>,
    /// Disconnected when all threads have ended.
    ended: Receiver<()>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("stats", &self.stats()).finish()
    }
}

impl Pool {
    /// Opens the database, creating it if it is missing, and starts the threads. Changes its journal mode to WAL for good. A path that starts
    /// with `file:` is a URI, unless access is [`Access::Immutable`]; with `cache=shared` reads would fail, because "table is locked".
    ///
    /// # Errors
    /// If it cannot be opened, has no write-ahead log, or a thread cannot be started.
    pub async fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        let (path, options) = (path.as_ref().to_owned(), options.clone());
        let (opened, pool) = oneshot::channel();
        spawn("sqlite-open", move || {
            // If nobody wants it any more, it closes.
            let _ = opened.send(Pool::open_blocking(path, &options));
        })?;
        pool.await.unwrap_or(Err(Error::Closed))
    }

    /// As [`Pool::open`], for threads that may be blocked.
    pub fn open_blocking(path: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(options.clone()));
        let threads = caught(|| Threads::start(path.as_ref(), &shared))?;
        let (end, ended) = flume::bounded(0);
        let open = RwLock::new(Some((threads, end)));
        Ok(Pool { inner: Arc::new(Inner { shared, open, outcome: Arc::default(), ended }) })
    }

    /// Runs `work` on a reading thread. Each statement sees what was committed before it; begin the job with `BEGIN` for one snapshot of all.
    ///
    /// # Errors
    /// What `work` returned, that it panicked or took too long, or that the pool is closed.
    pub async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        self.read_and_then(plain(work)).await
    }

    /// Runs `work` on the writing thread, in a transaction, and waits for the commit.
    ///
    /// # Errors
    /// What `work` returned, that it panicked or took too long, that the commit failed, or that the pool is closed: nothing of it was
    /// written then, unless the error is [`Error::Unknown`].
    pub async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        self.write_and_then(plain(work)).await
    }

    /// As [`Pool::read`], for a job with an error of its own.
    ///
    /// ```
    /// # use sqlite_bench::pool::Pool;
    /// # async fn pay(pool: &Pool, id: i64) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// // Returning an error undoes the write.
    /// pool.write_and_then(move |db| match db.execute("UPDATE orders SET paid = 1 WHERE id = ?1", [id])? {
    ///     0 => Err("there is no such order".into()),
    ///     _ => Ok(()),
    /// })
    /// .await
    /// # }
    /// ```
    pub async fn read_and_then<T, E>(&self, work: impl Work<T, E>) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        ask(self.inner.reads()?, Full::Wait, &self.inner.shared.options, work).await
    }

    /// As [`Pool::write`], for a job with an error of its own; see [`Pool::read_and_then`].
    pub async fn write_and_then<T, E>(&self, work: impl Work<T, E>) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        ask(self.inner.writes()?, Full::Wait, &self.inner.shared.options, work).await
    }

    /// As [`Pool::read`], but answers [`Error::Full`] when the queue is full.
    pub async fn try_read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        ask(self.inner.reads()?, Full::Refuse, &self.inner.shared.options, plain(work)).await
    }

    /// As [`Pool::write`], but answers [`Error::Full`] when the queue is full.
    pub async fn try_write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        ask(self.inner.writes()?, Full::Refuse, &self.inner.shared.options, plain(work)).await
    }

    /// As [`Pool::read`], for threads that may be blocked.
    pub fn read_blocking<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        pollster::block_on(self.read(work))
    }

    /// As [`Pool::write`], for threads that may be blocked.
    pub fn write_blocking<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Error> {
        pollster::block_on(self.write(work))
    }

    /// What the pool has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let open = self.inner.open.read().unwrap_or_else(PoisonError::into_inner);
        let waiting = |(threads, _): &(Threads, _)| (threads.reads.len(), threads.writes().map_or(0, Sender::len));
        let (waiting_reads, waiting_writes) = open.as_ref().map(waiting).unwrap_or_default();
        Stats { waiting_reads, waiting_writes, ..self.inner.shared.stats() }
    }

    /// Lets everything that waits finish, empties the log and ends the threads, for all clones, and waits for it. The pool closes once the future
    /// was polled, also if that is dropped then; dropped before, it closes nothing but this clone. From a job of this pool it returns `Ok` at
    /// once and says nothing of the outcome.
    ///
    /// # Errors
    /// If the log cannot be copied into the database, [`Error::LogKept`] if another connection is in the way; nothing is lost then.
    pub async fn close(self) -> Result<(), Error> {
        self.inner.shared.closes.store(true, Ordering::Relaxed);
        self.inner.close();
        if !guard::is_inside(&self.inner.shared) {
            // Nothing is ever sent: this waits for the other end to go.
            let _ = self.inner.ended.recv_async().await;
        }
        self.inner.outcome.get().cloned().unwrap_or(Ok(()))
    }

    /// As [`Pool::close`], for threads that may be blocked.
    pub fn close_blocking(self) -> Result<(), Error> {
        pollster::block_on(self.close())
    }
}

/// A job that fails as SQLite does.
fn plain<T>(work: impl Work<T>) -> impl Work<T, Error> {
    move |connection: &Connection| work(connection).map_err(Error::from)
}

impl Inner {
    fn reads(&self) -> Result<Sender<Message>, Error> {
        self.queue(|threads| Ok(&threads.reads))
    }

    fn writes(&self) -> Result<Sender<Message>, Error> {
        self.queue(|threads| threads.writes().ok_or(Error::NoWriter))
    }

    /// A queue, of an open pool, for anybody but its own jobs.
    fn queue(&self, pick: impl FnOnce(&Threads) -> Result<&Sender<Message>, Error>) -> Result<Sender<Message>, Error> {
        if guard::is_inside(&self.shared) {
            return Err(Error::Nested);
        }
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().ok_or(Error::Closed).and_then(|(threads, _)| pick(threads)).cloned()
    }

    /// Begins to close the pool, on a thread of its own, because jobs may take their time.
    fn close(&self) {
        let Some((threads, end)) = self.open.write().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let outcome = Arc::clone(&self.outcome);
        let closing = spawn("sqlite-close", move || {
            let _ = outcome.set(threads.finish());
            drop(end);
        });
        if let Err(error) = closing {
            // Nobody can ask any more: the threads end by themselves.
            let _ = self.outcome.set(Err(error));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}
