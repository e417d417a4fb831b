//! The writing thread: one transaction after another, each for all who wait; and the thread that copies the log beside it.

use std::cell::Cell;
use std::iter::once;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flume::{Receiver, Sender};
use rusqlite::{Connection, ErrorCode, MAIN_DB};

use super::connect;
use super::error::Error;
use super::guard::{DEFERS, Guard, SAVEPOINTS};
use super::queue::{BoxedJob, Message, Queue, wanted};
use super::shared::{Shared, spawn};

/// A commit that has been under way for so long takes no further writes.
const GROUP_TIME: Duration = Duration::from_millis(5);

// The comments keep them apart from what a job may have compiled, which the guard has to see.
const BEGIN: &str = "BEGIN IMMEDIATE /* pool */";
const COMMIT: &str = "COMMIT /* pool */";
// By the name that the guard keeps for the pool.
const SAVEPOINT: &str = "SAVEPOINT pool_job /* pool */";
const ROLLBACK_TO: &str = "ROLLBACK TO pool_job /* pool */";
const RELEASE: &str = "RELEASE pool_job /* pool */";

// Of this thread. SQLite's hook takes a bare function.
thread_local! {
    /// Pages in the log after the last commit; in the longest one if `on_open` attaches databases.
    static PAGES: Cell<u32> = const { Cell::new(0) };
    /// Commits that wrote something, by whomever.
    static COMMITS: Cell<u64> = const { Cell::new(0) };
    /// Transactions that were rolled back, by whomever.
    static ROLLBACKS: Cell<u64> = const { Cell::new(0) };
}

/// Copies the log once. `PASSIVE` waits for nobody, `TRUNCATE` waits for readers and shortens the log to nothing.
fn checkpoint(connection: &Connection, mode: &str, _turn: MutexGuard<'_, ()>) -> rusqlite::Result<Copied> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        let [busy, pages, copied]: [i64; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
        Ok(Copied { is_free: busy == 0, left: (pages >= 0).then_some(pages - copied) })
    })
}

/// What a copy of the log found.
struct Copied {
    /// Nobody stood in the way.
    is_free: bool,
    /// Pages that a reader, or another process, did not let it copy; unknown if another checkpoint is under way.
    left: Option<i64>,
}

/// Makes a checkpoint for each signal, until the writer is gone.
fn copy(connection: &Connection, signals: &Receiver<()>, shared: &Shared) {
    for () in signals {
        let set_up = connect::set_durability(connection, &shared.options);
        // What fails leaves the log as it was; the next signal tries again, and the writer sees to the limit.
        let Ok(copied) = set_up.and_then(|()| checkpoint(connection, "PASSIVE", shared.turn())) else { continue };
        shared.count(|stats| stats.checkpoints += 1);
        let is_little_left = copied.is_free && copied.left < Some(shared.options.checkpoint_pages.into());
        shared.copied.store(is_little_left, Ordering::Relaxed);
    }
}

/// How the writing thread is asked, and how its end went.
pub(super) struct Writing {
    pub(super) writes: Sender<Message>,
    pub(super) thread: JoinHandle<Result<(), Error>>,
}

/// Opens the connection that writes and starts both threads.
pub(super) fn start(path: &Path, shared: &Arc<Shared>) -> Result<Writing, Error> {
    let (connection, guard) = connect::writer(path, &shared.options)?;
    let (copying, _) = connect::copier(path, &shared.options)?;
    let (writes, queue) = flume::bounded(shared.options.queue.get());
    let (signals, signalled) = flume::bounded(1);
    let copier_shared = Arc::clone(shared);
    let copier = spawn("sqlite-checkpoint", move || copy(&copying, &signalled, &copier_shared))?;
    let committing = Writer {
        connection,
        guard,
        queue: Queue::new(queue),
        signals,
        copier,
        shared: Arc::clone(shared),
        next_limit: shared.options.wal_limit_pages,
        next_copy: shared.options.checkpoint_pages,
        alone: 0,
    };
    Ok(Writing { writes, thread: spawn("sqlite-writer", move || committing.run())? })
}

struct Writer {
    connection: Connection,
    guard: Guard,
    queue: Queue,
    /// Asks the checkpoint thread for a checkpoint; one that is under way will do.
    signals: Sender<()>,
    copier: JoinHandle<()>,
    shared: Arc<Shared>,
    /// Pages in the log at which the writer makes room by itself; beyond the limit if readers did not let it.
    next_limit: u32,
    /// Pages in the log at which it is copied next.
    next_copy: u32,
    /// So many commits to come are of one write each, to find the one that made a commit fail if it is tried again.
    alone: usize,
}

/// How a job left the transaction.
enum Ran {
    Done,
    /// It failed and was undone; the transaction goes on.
    Undone,
    /// The transaction is over, and not by us. `own` is for the job, unless it has said why it failed.
    Over {
        own: Option<Error>,
        others: Error,
    },
}

impl Writer {
    /// Commits writes until the pool is closed and the queue empty, then empties the log, if somebody wants to hear how that went. If it fails,
    /// everything acknowledged is in the log.
    fn run(mut self) -> Result<(), Error> {
        // This takes the place of SQLite's own checkpoints, which would run on this thread.
        self.connection.wal_hook(Some(|log, pages| {
            // Of a commit to several databases the main one's comes first.
            let longest = if log.name() == MAIN_DB { 0 } else { PAGES.get() };
            PAGES.set(u32::try_from(pages).unwrap_or(0).max(longest));
            COMMITS.set(COMMITS.get() + 1);
            Ok(())
        }));
        self.connection.rollback_hook(Some(|| ROLLBACKS.set(ROLLBACKS.get() + 1)))?;
        while let Some(job) = self.queue.wait() {
            self.group(job);
            self.look_after_the_log();
        }
        // SQLite removes the log with the last connection, but leaves it if two close at the same moment.
        drop(self.signals);
        let _ = self.copier.join();
        if !self.shared.closes.load(Ordering::Relaxed) {
            // The last connection to the database does it by itself.
            return Ok(());
        }
        let begin = Instant::now();
        loop {
            match checkpoint(&self.connection, "TRUNCATE", self.shared.turn())? {
                Copied { is_free: true, .. } | Copied { left: Some(0), .. } => return Ok(()),
                // SQLite does not wait for the checkpoint of another process.
                Copied { left: None, .. } if begin.elapsed() < self.shared.options.busy_timeout => {
                    std::thread::sleep(connect::BETWEEN_ATTEMPTS);
                }
                _ => return Err(Error::LogKept),
            }
        }
    }

    /// One transaction for `first` and those that wait behind it; nobody is waited for.
    fn group(&mut self, first: BoxedJob) {
        let batch = if self.alone > 0 { 1 } else { self.shared.options.batch.get() };
        self.alone = self.alone.saturating_sub(1);
        let waiting = self.queue.len().min(batch - 1);
        let commits = COMMITS.get();
        // Should a rollback ever have failed, this one ends it.
        self.roll_back();
        if let Err(error) = self.make_room().and_then(|()| Ok(self.execute(BEGIN)?)) {
            // Those behind it have waited for the same lock in vain: each need not wait for it again.
            let behind = (0..waiting).map_while(|_| self.queue.poll());
            return self.refuse_all(once(first).chain(behind), &error);
        }
        DEFERS.set(false);
        let begin = Instant::now();
        let mut done = Vec::new();
        // It may have been given up while BEGIN waited for the lock.
        let mut next = wanted(first).or_else(|| self.queue.poll());
        while let Some(mut job) = next.take() {
            // As long as there is nothing else in the transaction, a job is undone with all of it.
            let is_bare = done.is_empty() && !SAVEPOINTS.get();
            match self.run_job(&mut job, is_bare, commits) {
                Ran::Done => done.push(job),
                Ran::Undone => {
                    self.refuse(job, None);
                    if is_bare {
                        return;
                    }
                }
                Ran::Over { own, others } => {
                    self.refuse(job, own);
                    return self.refuse_all(done, &others);
                }
            }
            // What a job has deferred must not be deferred for the next one, nor may its savepoints be there.
            let leaves_nothing = !(DEFERS.get() || is_bare && SAVEPOINTS.get());
            if done.len() < batch && begin.elapsed() < GROUP_TIME && leaves_nothing {
                next = self.queue.poll();
            }
        }
        if done.is_empty() { self.roll_back() } else { self.commit(done) }
    }

    fn commit(&mut self, done: Vec<BoxedJob>) {
        match self.execute(COMMIT) {
            Ok(()) => {
                self.shared.count(|stats| {
                    stats.commits += 1;
                    stats.writes += done.len() as u64;
                });
                for job in done {
                    job.answer(None);
                }
            }
            Err(error) => {
                self.roll_back();
                let is_constraint = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
                let error = match Error::from(error) {
                    // A deferred foreign key: one of them is to blame, and SQLite does not say which.
                    error if is_constraint && done.len() > 1 => {
                        self.alone = done.len();
                        Error::Undone(Arc::new(error))
                    }
                    Error::Sqlite(source) if !is_constraint => Error::Commit(source),
                    error => error,
                };
                self.refuse_all(done, &error);
            }
        }
    }

    fn refuse_all(&self, jobs: impl IntoIterator<Item = BoxedJob>, error: &Error) {
        for job in jobs {
            self.refuse(job, Some(error.clone()));
        }
    }

    /// Answers a job that is not in the database; with its own error if there is no other.
    fn refuse(&self, job: BoxedJob, error: Option<Error>) {
        self.shared.count(|stats| stats.failed_writes += 1);
        job.answer(error);
    }

    /// Runs a job so that it can be undone alone: with all of a transaction that has nothing else in it, or in a savepoint. `commits` is what
    /// [`COMMITS`] said before the transaction.
    fn run_job(&self, job: &mut BoxedJob, is_bare: bool, commits: u64) -> Ran {
        if !is_bare && let Err(error) = self.execute(SAVEPOINT) {
            return self.over(Ok(()), Error::from(error), commits);
        }
        let rollbacks = ROLLBACKS.get();
        let ran = self.guard.run(job, &self.connection, &self.shared);
        // A savepoint of the job may have begun another transaction since.
        let is_over = self.connection.is_autocommit() || ROLLBACKS.get() != rollbacks;
        // A damaged page spoils its transaction: whatever follows fails, the commit included, although a savepoint can be undone.
        let is_spoiled = !is_bare && matches!(ran, Err(Error::Corrupt(_)));
        if is_spoiled || is_over || COMMITS.get() != commits {
            return self.over(ran, Error::TransactionEnded, commits);
        }
        let ended = match (&ran, is_bare) {
            (Ok(()), true) => Ok(()),
            (Err(_), true) => {
                self.roll_back();
                Ok(())
            }
            (Ok(()), false) => self.execute(RELEASE),
            (Err(_), false) => self.execute(ROLLBACK_TO).and_then(|()| self.execute(RELEASE)),
        };
        match (ended, ran) {
            (Err(error), ran) => self.over(ran, Error::from(error), commits),
            (Ok(()), Ok(())) => Ran::Done,
            (Ok(()), Err(_)) => Ran::Undone,
        }
    }

    /// Runs a statement that every write needs, and that is therefore worth keeping.
    fn execute(&self, statement: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement)?.execute([]).map(drop)
    }

    /// What became of a transaction that is not ours any more: because of what the job said, or else of `error`.
    fn over(&self, ran: Result<(), Error>, error: Error, commits: u64) -> Ran {
        self.roll_back();
        if COMMITS.get() != commits {
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
        let (pages, limit) = (PAGES.get(), self.shared.options.wal_limit_pages);
        let next_copy = pages.saturating_add(self.shared.options.checkpoint_pages);
        self.shared.count(|stats| stats.wal_pages = u64::from(pages));
        if pages < limit {
            // The log has begun anew since.
            self.next_limit = limit;
        }
        self.next_copy = self.next_copy.min(next_copy);
        if pages >= self.next_limit {
            // If a reader does not let go, the log grows by as much again first.
            let is_empty = self.empty_the_log().unwrap_or(false);
            self.next_limit = if is_empty { limit } else { pages.saturating_add(limit) };
        } else if self.shared.copied.load(Ordering::Relaxed)
            && let Ok(turn) = self.shared.turn.try_lock()
        {
            self.shared.copied.store(false, Ordering::Relaxed);
            // Little is left to copy, and nobody adds to it meanwhile: under writes that never pause the log would not begin anew otherwise.
            let _ = checkpoint(&self.connection, "PASSIVE", turn);
            // Should a reader prevent that, it is tried again soon.
            self.next_copy = pages.saturating_add(self.shared.options.checkpoint_pages / 8);
        } else if pages >= self.next_copy {
            self.next_copy = next_copy;
            // One that is under way will do.
            let _ = self.signals.try_send(());
        }
    }

    /// Fails if the log is at its last limit and cannot be emptied.
    fn make_room(&self) -> Result<(), Error> {
        let pages = PAGES.get();
        if pages < self.shared.options.wal_max_pages || self.empty_the_log()? {
            Ok(())
        } else {
            Err(Error::LogFull(pages))
        }
    }

    /// Empties the log, unless somebody needs it; waits for them no longer than for other processes.
    fn empty_the_log(&self) -> rusqlite::Result<bool> {
        let emptied = checkpoint(&self.connection, "TRUNCATE", self.shared.turn()).map(|copied| copied.is_free);
        if emptied == Ok(true) {
            PAGES.set(0);
        }
        self.shared.count(|stats| match emptied {
            Ok(true) => stats.forced_checkpoints += 1,
            _ => stats.blocked_checkpoints += 1,
        });
        emptied
    }
}
