//! Why a pool could not be opened, or an operation did not succeed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;

/// Why a pool could not be opened, or an operation did not succeed.
///
/// Cheap to clone: writes that shared a commit share the reason of its failure.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be opened or set up.
    #[error("cannot open {}: {source} (the file and its folder must be writable, for the log beside it)", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Arc<rusqlite::Error>,
    },
    /// The file system or the kind of database has no write-ahead log.
    #[error("{} has the journal '{mode}' instead of a write-ahead log: use a file on a local disk, not :memory: and not a network share", path.display())]
    NotWal {
        /// The file.
        path: PathBuf,
        /// The journal it has.
        mode: String,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread for the pool: {0}")]
    Thread(Arc<std::io::Error>),
    /// The job's own statements failed; nothing of it is in the database.
    #[error(transparent)]
    Sqlite(Arc<rusqlite::Error>),
    /// Another process held the write lock for longer than the busy timeout; nothing was written.
    #[error("another process keeps the database locked for longer than the busy timeout: {0}")]
    Busy(Arc<rusqlite::Error>),
    /// The disk is full; nothing was written.
    #[error("the disk or the database is full: free some space, then try again ({0})")]
    DiskFull(Arc<rusqlite::Error>),
    /// The database cannot be written.
    #[error("the database is read-only: make the file and its folder writable ({0})")]
    ReadOnly(Arc<rusqlite::Error>),
    /// The transaction that the write was part of could not be committed; nothing of it was written.
    #[error("the commit failed and was undone: {0}")]
    Commit(Arc<rusqlite::Error>),
    /// A job of the same commit ended the transaction by itself. Whether this write was kept is not known.
    #[error(
        "a job ended the pool's transaction by a COMMIT or ROLLBACK of its own; whether this write was kept is unknown"
    )]
    TransactionEnded,
    /// The queue is full; only `try_read` and `try_write` say so, the others wait.
    #[error("{0} operations wait already: try again later, or answer fewer requests")]
    Full(usize),
    /// The job panicked; nothing of it is in the database.
    #[error("the job panicked: {0}")]
    Panicked(String),
    /// The pool was closed before the operation began; nothing was written.
    #[error("the pool is closed")]
    Closed,
}

impl Error {
    /// Whether the same operation may succeed later, without anything else being done: nothing of it was written.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Error::Busy(_) | Error::Full(_))
    }

    /// What an error of SQLite means to the caller.
    pub(super) fn of(source: rusqlite::Error) -> Self {
        let code = source.sqlite_error_code();
        let source = Arc::new(source);
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy(source),
            Some(ErrorCode::DiskFull) => Error::DiskFull(source),
            Some(ErrorCode::ReadOnly) => Error::ReadOnly(source),
            _ => Error::Sqlite(source),
        }
    }

    pub(super) fn open(path: &Path, source: rusqlite::Error) -> Self {
        Error::Open { path: path.to_owned(), source: Arc::new(source) }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(source: rusqlite::Error) -> Self {
        Error::of(source)
    }
}
