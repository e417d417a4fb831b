//! The writing thread: one transaction after another, each for all who wait.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flume::{Receiver, Sender};
use rusqlite::{Connection, ErrorCode};

use super::checkpoint::{Mode, checkpoint};
use super::job::BoxedJob;
use super::stats::{Counters, count};
use super::{Error, Options};

/// A commit that has been under way for so long takes no further writes: those that are in it wait for it.
const GROUP_TIME: Duration = Duration::from_millis(5);

thread_local! {
    /// Pages in the log after the last commit of this thread. SQLite's hook takes a bare function.
    static WAL_PAGES: Cell<u32> = const { Cell::new(0) };
}

/// The state of the writing thread.
pub(super) struct Writer {
    connection: Connection,
    queue: Receiver<BoxedJob>,
    checkpoints: Sender<()>,
    /// Whose turn it is to make a checkpoint.
    turn: Arc<Mutex<()>>,
    counters: Arc<Counters>,
    batch: usize,
    checkpoint_pages: u32,
    wal_limit_pages: u32,
    /// Pages in the log at which the writer makes room by itself; beyond the limit if readers did not let it.
    next_limit: u32,
}

/// How a job left the transaction.
enum Ran {
    /// Done; it waits for the commit.
    Done,
    /// Undone, with its reason; the transaction goes on.
    Undone(Error),
    /// The transaction is over, and not by us.
    Over { own: Error, others: Error },
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        queue: Receiver<BoxedJob>,
        checkpoints: Sender<()>,
        turn: Arc<Mutex<()>>,
        counters: Arc<Counters>,
        options: &Options,
    ) -> Self {
        Writer {
            connection,
            queue,
            checkpoints,
            turn,
            counters,
            batch: options.batch.get(),
            checkpoint_pages: options.checkpoint_pages,
            wal_limit_pages: options.wal_limit_pages,
            next_limit: options.wal_limit_pages,
        }
    }

    /// Commits writes until the queue is closed and empty.
    ///
    /// # Errors
    /// If the last checkpoint fails; everything acknowledged is in the log then.
    pub(super) fn run(mut self) -> Result<(), Error> {
        // This takes the place of SQLite's own checkpoints, which would run on this thread.
        self.connection.wal_hook(Some(|_, pages| {
            WAL_PAGES.set(u32::try_from(pages).unwrap_or(0));
            Ok(())
        }));
        while let Ok(job) = self.queue.recv() {
            if job.is_wanted() {
                self.group(job);
                self.look_after_the_log();
            }
        }
        checkpoint(&self.connection, Mode::Truncate, &self.turn).map(drop).map_err(Error::of)
    }

    /// One transaction for `first` and those that wait behind it; nobody is waited for.
    fn group(&self, first: BoxedJob) {
        if let Err(error) = self.execute("BEGIN IMMEDIATE") {
            return self.refuse(first, Error::of(error));
        }
        let begin = Instant::now();
        let mut done = Vec::new();
        let mut next = Some(first);
        while let Some(mut job) = next.take() {
            if job.is_wanted() {
                match self.run_in_savepoint(&mut job) {
                    Ran::Done => done.push(job),
                    Ran::Undone(error) => self.refuse(job, error),
                    Ran::Over { own, others } => {
                        self.refuse(job, own);
                        for job in done {
                            self.refuse(job, others.clone());
                        }
                        return;
                    }
                }
            }
            if done.len() < self.batch && begin.elapsed() < GROUP_TIME {
                next = self.queue.try_recv().ok();
            }
        }
        self.commit(done);
    }

    /// Commits, then acknowledges.
    fn commit(&self, done: Vec<BoxedJob>) {
        match self.execute("COMMIT") {
            Ok(()) => {
                count(&self.counters.commits);
                self.counters.writes.fetch_add(done.len() as u64, Ordering::Relaxed);
                for job in done {
                    job.answer(Ok(()));
                }
            }
            Err(error) => {
                self.roll_back();
                let error = Error::Commit(Arc::new(error));
                for job in done {
                    self.refuse(job, error.clone());
                }
            }
        }
    }

    fn refuse(&self, job: BoxedJob, error: Error) {
        count(&self.counters.failed_writes);
        job.answer(Err(error));
    }

    /// Runs a job so that it can be undone alone.
    fn run_in_savepoint(&self, job: &mut BoxedJob) -> Ran {
        if let Err(error) = self.execute("SAVEPOINT job") {
            return self.over(Error::of(error));
        }
        let ran = job.run(&self.connection);
        if self.connection.is_autocommit() {
            return self.over(ran.err().unwrap_or(Error::TransactionEnded));
        }
        let (undone, own) = match ran {
            Ok(()) => (Ok(()), None),
            Err(error) => (self.execute("ROLLBACK TO job"), Some(error)),
        };
        match (undone.and_then(|()| self.execute("RELEASE job")), own) {
            (Ok(()), None) => Ran::Done,
            (Ok(()), Some(error)) => Ran::Undone(error),
            // Without its savepoint the job has ended the transaction and begun another.
            (Err(_), own) => self.over(own.unwrap_or(Error::TransactionEnded)),
        }
    }

    /// Runs a statement that every write needs, and that is therefore worth keeping.
    fn execute(&self, statement: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement)?.execute([]).map(drop)
    }

    /// What became of a transaction that is not ours any more.
    fn over(&self, own: Error) -> Ran {
        self.roll_back();
        // On these SQLite undoes a whole transaction by itself: then nothing of it is there, which is certain.
        let undone_by_sqlite = match &own {
            Error::DiskFull(source) | Error::Busy(source) | Error::Sqlite(source) => source
                .sqlite_error_code()
                .is_some_and(|code| {
                    matches!(
                        code,
                        ErrorCode::DiskFull
                            | ErrorCode::SystemIoFailure
                            | ErrorCode::OutOfMemory
                            | ErrorCode::DatabaseBusy
                            | ErrorCode::OperationInterrupted
                            | ErrorCode::DatabaseCorrupt
                    )
                })
                .then(|| Arc::clone(source)),
            _ => None,
        };
        let others = undone_by_sqlite.map_or(Error::TransactionEnded, Error::Commit);
        Ran::Over { own, others }
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            // If even that fails, the next BEGIN says so to its caller.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// Has the log copied beside the next writes, or, at its limit, before them.
    fn look_after_the_log(&mut self) {
        let pages = WAL_PAGES.get();
        self.counters.wal_pages.store(u64::from(pages), Ordering::Relaxed);
        if pages < self.wal_limit_pages {
            // The log has begun anew since.
            self.next_limit = self.wal_limit_pages;
        }
        if pages >= self.next_limit {
            // Waits for readers no longer than for other processes. If one does not let go, the log grows by as much again first.
            let made_room = checkpoint(&self.connection, Mode::Truncate, &self.turn).unwrap_or(false);
            if made_room {
                count(&self.counters.forced_checkpoints);
                WAL_PAGES.set(0);
            }
            self.next_limit = if made_room { self.wal_limit_pages } else { pages.saturating_add(self.wal_limit_pages) };
        } else if pages >= self.checkpoint_pages {
            // One that is under way will do.
            let _ = self.checkpoints.try_send(());
        }
    }
}
