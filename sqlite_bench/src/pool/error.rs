//! Why a pool could not be opened, or an operation did not succeed.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ErrorCode;

thread_local! {
    /// The statement that was denied last on this thread, for the error that follows: SQLite's does not name it.
    pub(super) static DENIED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Why a pool could not be opened, or an operation did not succeed. Cheap to clone: writes that shared a commit share the reason.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot open {}: {source} ({})", path.display(), remedy(source))]
    Open { path: PathBuf, source: Arc<rusqlite::Error> },
    #[error("{} has the journal '{mode}' instead of a write-ahead log: use a file on a local disk, not :memory: and not a network share", path.display())]
    NotWal { path: PathBuf, mode: String },
    /// The log or rollback journal of a file that is to be opened as [`Access::Immutable`](super::Access::Immutable) would be ignored.
    #[error("{} would be read without {}: open it once for writing and close it", path.display(), log.display())]
    LogLeft { path: PathBuf, log: PathBuf },
    #[error("cannot start a thread for the pool: {0}")]
    Thread(Arc<std::io::Error>),
    /// The job's own statements failed; nothing of it is in the database.
    #[error(transparent)]
    Sqlite(Arc<rusqlite::Error>),
    /// The job used a statement that would end its transaction or change the connection for the jobs that follow; it was not done.
    #[error("not authorized in a job: {0}; transactions are the pool's, settings and temporary tables go into on_open")]
    Denied(String),
    /// A job failed with an error of its caller's own; only those whose writes were undone with it see this.
    #[error("a job returned an error of its own")]
    Job,
    /// A job was given up by its caller while it ran; only those whose writes were undone with it see this.
    #[error("a job was given up while it ran")]
    Cancelled,
    /// A job asked its own pool. Nothing was done.
    #[error("a job asked its own pool, which may wait for ever: use the job's connection, or ask after it")]
    Nested,
    /// The turn of the operation did not come within the acquire timeout; nothing was done, and it may be tried again.
    #[error("{0:?} were not enough to get a connection: try again later, or answer fewer requests")]
    Waited(Duration),
    /// The job took longer than the job timeout and was interrupted; nothing of it was written.
    #[error("the job took longer than {0:?} and was interrupted")]
    TimedOut(Duration),
    /// Another connection held the write lock for longer than the busy timeout; nothing was written.
    #[error("another connection keeps the database locked for longer than the busy timeout: {0}")]
    Busy(Arc<rusqlite::Error>),
    /// The log has reached [`Options::wal_max_pages`](super::Options::wal_max_pages), of which this is the number of pages; nothing was written.
    #[error("a reader keeps the log from being emptied at {0} pages: end long reads in all processes, then try again")]
    LogFull(u32),
    /// Closing could not copy the log into the database. Nothing is lost: whoever has the database open, or opens it next, copies it.
    #[error("the pool is closed, but another connection kept the log from being copied: keep it beside the database")]
    LogKept,
    /// The disk is full; nothing was written.
    #[error("the disk or the database is full: free some space, then try again ({0})")]
    DiskFull(Arc<rusqlite::Error>),
    #[error("this is read-only: writes go through `write`, and the file and its folder must be writable ({0})")]
    ReadOnly(Arc<rusqlite::Error>),
    /// The file is damaged, or is no database. Nothing was written.
    #[error("the database is damaged: restore a copy, or save what is left with `.recover` of the sqlite3 shell ({0})")]
    Corrupt(Arc<rusqlite::Error>),
    /// The commit failed and nothing of the write is in the database. If the disk refused to sync the log, a crash right afterwards may still
    /// bring it back, as with every use of SQLite.
    #[error("the commit failed and was undone: {0}")]
    Commit(Arc<rusqlite::Error>),
    /// Another write of the same commit made SQLite undo all of it; nothing of this one was written, and it may be tried again.
    #[error("undone together with the other writes of its commit, because one of them failed: {0}; try again")]
    Undone(Arc<Error>),
    /// The transaction was rolled back while the job ran, and the job ignored the error that said so; nothing of it was written.
    #[error("SQLite rolled the transaction back and the job went on: it must return the errors of its statements")]
    TransactionEnded,
    /// A job committed by itself, which needs the pool's authorizer and commit hook to be replaced. Whether this write was kept is unknown.
    #[error("a job committed by itself, without the pool's authorizer: whether this write was kept is unknown")]
    Unknown,
    #[error("the pool was opened for reading only")]
    NoWriter,
    /// The queue is full; only `try_read` and `try_write` say so, the others wait.
    #[error("{0} operations wait already: try again later, or answer fewer requests")]
    Full(usize),
    /// The job panicked, or `on_open`; nothing of it is in the database.
    #[error("the job or `on_open` panicked: {0}")]
    Panicked(String),
    /// The pool was closed before the operation began; nothing was written.
    #[error("the pool is closed")]
    Closed,
}

impl Error {
    /// Whether the same operation may succeed later, without anything else being done: nothing of it was written.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Error::Open { source, .. } => source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy),
            Error::Busy(_) | Error::Full(_) | Error::LogFull(_) | Error::Undone(_) | Error::Waited(_) => true,
            _ => false,
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(source: rusqlite::Error) -> Self {
        let code = source.sqlite_error_code();
        if code == Some(ErrorCode::AuthorizationForStatementDenied)
            && let Some(statement) = DENIED.take()
        {
            return Error::Denied(statement);
        }
        let source = Arc::new(source);
        match code {
            Some(ErrorCode::DatabaseBusy) => Error::Busy(source),
            Some(ErrorCode::DiskFull) => Error::DiskFull(source),
            Some(ErrorCode::ReadOnly) => Error::ReadOnly(source),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Corrupt(source),
            _ => Error::Sqlite(source),
        }
    }
}

/// What can be done about a database that cannot be opened.
fn remedy(source: &rusqlite::Error) -> &'static str {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "this file is no SQLite database, or is encrypted, or damaged",
        Some(ErrorCode::DatabaseCorrupt) => "restore a copy, or save what is left with `.recover` of the sqlite3 shell",
        Some(ErrorCode::DatabaseBusy) => "another connection keeps it locked for longer than the busy timeout",
        Some(ErrorCode::DiskFull) => "free some space",
        _ => {
            "its folder must exist, and both must be writable, for the log beside the file; one that nobody changes may be \
             opened as Access::Immutable; or too many files are open (`ulimit -n`)"
        }
    }
}
