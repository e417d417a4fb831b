//! What every design is asked, and how it may fail.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use crate::pool;
use crate::schema::{self, Block, Row};

/// What a design is opened with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// How many databases.
    pub databases: usize,
    /// Connections for reading of each database, in designs that have several.
    pub readers: usize,
    /// Seed of their content.
    pub seed: u64,
    /// Folder of those that are files; each run has one of its own.
    pub folder: PathBuf,
}

impl Setup {
    /// The file of a database.
    pub fn file(&self, database: usize) -> PathBuf {
        self.folder.join(format!("{database}.db"))
    }
}

/// What an operation of a design comes to.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, AccessError>> + Send + 'a>>;

/// A way for async code to reach its databases.
///
/// All designs do the same work: a read is [`schema::read`]; a write holds its database for a while and inserts a block by
/// [`schema::insert`]. Where the hold and the waiting take place is what tells them apart.
pub trait Design: Send + Sync {
    /// The newest transactions of blocks after the first `skip` ones.
    ///
    /// # Errors
    /// Through the future: if the read fails.
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>>;

    /// Holds the database for `hold` and inserts `block`. Once it has succeeded the block is there to stay.
    ///
    /// # Errors
    /// Through the future: if the write fails.
    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()>;

    /// Looks at what the database holds, for the check after a run.
    ///
    /// # Errors
    /// Through the future: if it cannot be read.
    fn inspect(&self, database: usize) -> Answer<'_, Inspection>;
}

/// What a database holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Numbers of the blocks, each with how many transactions it has.
    pub blocks: Vec<(u64, u64)>,
    /// What `PRAGMA integrity_check` says.
    pub integrity: String,
}

impl Inspection {
    /// Looks at the database of `connection`.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn of(connection: &Connection) -> rusqlite::Result<Self> {
        Ok(Inspection { blocks: schema::inventory(connection)?, integrity: schema::integrity(connection)? })
    }
}

/// Why an operation failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AccessError {
    /// The database stayed locked for longer than the busy timeout, or a table of a shared cache was locked.
    #[error("the database is locked: {0}")]
    Busy(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl From<rusqlite::Error> for AccessError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => AccessError::Busy(error.to_string()),
            _ => AccessError::Failed(error.to_string()),
        }
    }
}

impl From<pool::Error> for AccessError {
    fn from(error: pool::Error) -> Self {
        if error.is_retryable() { AccessError::Busy(error.to_string()) } else { failed(error) }
    }
}

/// An error of a library between us and SQLite.
pub fn failed(error: impl fmt::Display) -> AccessError {
    AccessError::Failed(error.to_string())
}

/// Runs `work` on the blocking pool.
///
/// # Errors
/// Those of `work`, and if it panics.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AccessError> + Send + 'static,
) -> Result<T, AccessError> {
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}
