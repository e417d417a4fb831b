//! The writing thread: one transaction after another, each for all who wait.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flume::Receiver;
use rusqlite::{Connection, ErrorCode};

use super::checkpoint::{Mode, Signal, checkpoint};
use super::error::Error;
use super::guard::{Guard, SAVEPOINT};
use super::job::BoxedJob;
use super::options::Options;
use super::queue::Queue;
use super::stats::{Counters, count};

/// A commit that has been under way for so long takes no further writes: those that are in it wait for it.
const GROUP_TIME: Duration = Duration::from_millis(5);

// The comments keep them apart from what a job may have compiled, which the guard has to see.
const BEGIN: &str = "BEGIN IMMEDIATE /* pool */";
const COMMIT: &str = "COMMIT /* pool */";

thread_local! {
    /// What this thread has committed. SQLite's hook takes a bare function.
    static LOG: Cell<Log> = const { Cell::new(Log { pages: 0, commits: 0 }) };
}

/// What a thread has committed.
#[derive(Clone, Copy)]
struct Log {
    /// Pages in the log after the last commit.
    pages: u32,
    /// Commits that wrote something, by whomever.
    commits: u64,
}

/// The state of the writing thread.
pub(super) struct Writer {
    connection: Connection,
    guard: Guard,
    queue: Queue,
    checkpoints: Signal,
    /// Disconnected once the readers have closed their connections.
    readers_gone: Receiver<()>,
    counters: Arc<Counters>,
    batch: usize,
    checkpoint_pages: u32,
    wal_limit_pages: u32,
    /// Pages in the log at which the writer makes room by itself; beyond the limit if readers did not let it.
    next_limit: u32,
    /// So many commits to come are of one write each, to find the one that made a commit fail if it is tried again.
    alone: usize,
}

/// How a job left the transaction.
enum Ran {
    /// Done; it waits for the commit.
    Done,
    /// It failed and was undone; the transaction goes on.
    Undone,
    /// The transaction is over, and not by us. `own` is for the job, unless it has said why it failed.
    Over { own: Option<Error>, others: Error },
}

impl Writer {
    pub(super) fn new(
        (connection, guard): (Connection, Guard),
        queue: Queue,
        checkpoints: Signal,
        readers_gone: Receiver<()>,
        counters: Arc<Counters>,
        options: &Options,
    ) -> Self {
        Writer {
            connection,
            guard,
            queue,
            checkpoints,
            readers_gone,
            counters,
            batch: options.batch.get(),
            checkpoint_pages: options.checkpoint_pages,
            wal_limit_pages: options.wal_limit_pages,
            next_limit: options.wal_limit_pages,
            alone: 0,
        }
    }

    /// Commits writes until the pool is closed and the queue empty.
    ///
    /// # Errors
    /// If the last checkpoint fails; everything acknowledged is in the log then.
    pub(super) fn run(mut self) -> Result<(), Error> {
        // This takes the place of SQLite's own checkpoints, which would run on this thread.
        self.connection.wal_hook(Some(|_, pages| {
            LOG.set(Log { pages: u32::try_from(pages).unwrap_or(0), commits: LOG.get().commits + 1 });
            Ok(())
        }));
        while let Some(job) = self.queue.wait() {
            self.group(job);
            self.look_after_the_log();
        }
        // Nothing is ever sent. Readers would be in the way of the last checkpoint, and the last of them could not remove the log.
        let _ = self.readers_gone.recv();
        let last = checkpoint(&self.connection, Mode::Truncate, &self.checkpoints.turn);
        // SQLite removes the log with the last connection, but leaves it if two close at the same moment.
        self.checkpoints.end();
        last.map(drop).map_err(Error::of)
    }

    /// One transaction for `first` and those that wait behind it; nobody is waited for.
    fn group(&mut self, first: BoxedJob) {
        let batch = if self.alone > 0 { 1 } else { self.batch };
        self.alone = self.alone.saturating_sub(1);
        let waiting = self.queue.len().min(batch - 1);
        let commits = LOG.get().commits;
        // Should a rollback ever have failed, this one ends it.
        self.roll_back();
        if let Err(error) = self.execute(BEGIN) {
            return self.refuse_waiting(first, waiting, &Error::of(error));
        }
        let begin = Instant::now();
        let mut done = Vec::new();
        let mut next = Some(first);
        while let Some(mut job) = next.take() {
            match self.run_in_savepoint(&mut job, commits) {
                Ran::Done => done.push(job),
                Ran::Undone => self.refuse(job, None),
                Ran::Over { own, others } => {
                    self.refuse(job, own);
                    for job in done {
                        self.refuse(job, Some(others.clone()));
                    }
                    return;
                }
            }
            if done.len() < batch && begin.elapsed() < GROUP_TIME {
                next = self.queue.poll();
            }
        }
        self.commit(done);
    }

    /// Refuses `first` and those who have waited for the same lock in vain, instead of letting each wait for it again.
    fn refuse_waiting(&self, first: BoxedJob, waiting: usize, error: &Error) {
        self.refuse(first, Some(error.clone()));
        for job in (0..waiting).map_while(|_| self.queue.poll()) {
            self.refuse(job, Some(error.clone()));
        }
    }

    /// Commits, then acknowledges.
    fn commit(&mut self, done: Vec<BoxedJob>) {
        match self.execute(COMMIT) {
            Ok(()) => {
                count(&self.counters, |stats| {
                    stats.commits += 1;
                    stats.writes += done.len() as u64;
                });
                for job in done {
                    job.answer(None);
                }
            }
            Err(error) => {
                self.roll_back();
                // A deferred foreign key: one of them is to blame, and SQLite does not say which.
                let blame = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
                let error = match (blame, done.len()) {
                    (true, 1) => Error::of(error),
                    (true, count) => {
                        self.alone = count;
                        Error::Undone(Arc::new(Error::of(error)))
                    }
                    (false, _) => Error::of_commit(error),
                };
                for job in done {
                    self.refuse(job, Some(error.clone()));
                }
            }
        }
    }

    /// Answers a job that is not in the database; with its own error if there is no other.
    fn refuse(&self, job: BoxedJob, error: Option<Error>) {
        count(&self.counters, |stats| stats.failed_writes += 1);
        job.answer(error);
    }

    /// Runs a job so that it can be undone alone. `commits` is what [`LOG`] said before the transaction.
    fn run_in_savepoint(&self, job: &mut BoxedJob, commits: u64) -> Ran {
        if let Err(error) = self.savepoint("SAVEPOINT") {
            return self.over(Ok(()), Error::of(error), commits);
        }
        let ran = self.guard.run(job, &self.connection, &self.counters);
        if self.connection.is_autocommit() {
            return self.over(ran, Error::TransactionEnded, commits);
        }
        let undone = match &ran {
            Ok(()) => Ok(()),
            // A damaged page spoils its transaction: whatever follows fails, the commit included, although a savepoint can be undone.
            Err(error @ Error::Corrupt(_)) => {
                let error = error.clone();
                return self.over(ran, error, commits);
            }
            Err(_) => self.savepoint("ROLLBACK TO"),
        };
        match (undone.and_then(|()| self.savepoint("RELEASE")), ran) {
            (Ok(()), Ok(())) => Ran::Done,
            (Ok(()), Err(_)) => Ran::Undone,
            (Err(error), ran) => self.over(ran, Error::of(error), commits),
        }
    }

    fn savepoint(&self, what: &str) -> rusqlite::Result<()> {
        self.execute(&format!("{what} {SAVEPOINT}"))
    }

    /// Runs a statement that every write needs, and that is therefore worth keeping.
    fn execute(&self, statement: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement)?.execute([]).map(drop)
    }

    /// What became of a transaction that is not ours any more: because of what the job said, or else of `error`.
    fn over(&self, ran: Result<(), Error>, error: Error, commits: u64) -> Ran {
        self.roll_back();
        if LOG.get().commits != commits {
            return Ran::Over { own: Some(Error::Unknown), others: Error::Unknown };
        }
        let own = ran.is_ok().then(|| error.clone());
        Ran::Over { own, others: Error::Undone(Arc::new(ran.err().unwrap_or(error))) }
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            // If even that fails, the next BEGIN says so to its caller.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// Has the log copied beside the next writes, or, at its limit, before them.
    fn look_after_the_log(&mut self) {
        let Log { pages, commits } = LOG.get();
        count(&self.counters, |stats| stats.wal_pages = u64::from(pages));
        if pages < self.wal_limit_pages {
            // The log has begun anew since.
            self.next_limit = self.wal_limit_pages;
        }
        if pages >= self.next_limit {
            // Waits for readers no longer than for other processes. If one does not let go, the log grows by as much again first.
            let made_room = checkpoint(&self.connection, Mode::Truncate, &self.checkpoints.turn).unwrap_or(false);
            if made_room {
                count(&self.counters, |stats| stats.forced_checkpoints += 1);
                LOG.set(Log { pages: 0, commits });
            }
            self.next_limit = if made_room { self.wal_limit_pages } else { pages.saturating_add(self.wal_limit_pages) };
        } else if pages >= self.checkpoint_pages {
            // One that is under way will do.
            let _ = self.checkpoints.sender.try_send(());
        }
    }
}
