//! The ways to reach a database from async code that are compared, behind one trait.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use crate::pool;
use crate::schema::{self, Block, Row};

pub mod arm;
mod checked_out;
mod deadpool;
mod dedicated;
mod direct;
mod locked;
mod store;
mod wal;

pub use arm::{Arm, Kind, Setup};
pub use store::Place;

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
fn failed(error: impl fmt::Display) -> AccessError {
    AccessError::Failed(error.to_string())
}

/// Runs `work` on the blocking pool.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AccessError> + Send + 'static,
) -> Result<T, AccessError> {
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

/// Opens the databases that `arm` needs, with the tables and blocks of the start.
///
/// # Errors
/// If a database cannot be opened or filled.
pub fn open(arm: Arm, setup: &Setup) -> Result<Arc<dyn Design>, AccessError> {
    Ok(match arm.kind() {
        Kind::Direct => Arc::new(direct::Direct::open(setup)?),
        Kind::DirectAsyncLock => Arc::new(direct::DirectAsyncLock::open(setup)?),
        Kind::Locked { lock, hold, index, growth } => {
            locked::open(lock, locked::Writing { hold, growth }, index, setup)?
        }
        Kind::Dedicated => Arc::new(dedicated::Dedicated::open(setup)?),
        Kind::CheckedOut { store, reads } => Arc::new(checked_out::CheckedOut::open(store, reads, setup)?),
        Kind::Deadpool => Arc::new(deadpool::Deadpool::open(setup)?),
        Kind::Wal => Arc::new(wal::Wal::open(setup)?),
    })
}

/// Holds the database that `connection` is locked for, and inserts the block statement by statement, as published.
fn hold_and_insert(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    std::thread::sleep(hold);
    schema::insert(connection, block)
}

/// Inserts the block into the transaction that is open, and holds the database by it.
fn insert_and_hold(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    // In this order, because what was written is what other connections may have to wait for.
    schema::insert(connection, block)?;
    std::thread::sleep(hold);
    Ok(())
}

/// Inserts the block in a transaction that holds the database until it commits.
fn transact(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let written = insert_and_hold(connection, block, hold).and_then(|()| connection.execute_batch("COMMIT"));
    if written.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    written
}
