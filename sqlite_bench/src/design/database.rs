//! Most designs differ only in how a closure gets to a connection: [`Database`] is that difference, [`Databases`] the rest.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use super::access::{AccessError, Answer, Design, Inspection, Setup};
use crate::pool::Work;
use crate::schema::{self, Block, JoinIndex, Row};

/// One database, as a design reaches it.
pub trait Database: Send + Sync + 'static {
    /// Runs `work` on a connection for reading.
    fn read<T: Send + 'static>(&self, work: impl Work<T>) -> impl Future<Output = Result<T, AccessError>> + Send;

    /// Runs `work` on the connection for writing: the same one, where there is but one.
    fn write<T: Send + 'static>(&self, work: impl Work<T>) -> impl Future<Output = Result<T, AccessError>> + Send {
        self.read(work)
    }
}

/// Databases that are reached alike.
pub struct Databases<D> {
    /// By number.
    pub each: Vec<D>,
    /// How a block is written.
    pub put: Put,
}

impl<D: Database> Design for Databases<D> {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(self.each[database].read(move |connection| schema::read(connection, skip)))
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        let put = self.put;
        Box::pin(self.each[database].write(move |connection| put(connection, block, hold)))
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        Box::pin(self.each[database].write(Inspection::of))
    }
}

/// How a block is written: [`hold_and_insert`], [`insert_and_hold`], [`transact`] or another way.
pub type Put = fn(&Connection, Block, Duration) -> rusqlite::Result<()>;

impl<D: Database + From<Connection>> Databases<D> {
    /// One connection each, in memory, as published, filled.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn in_memory(setup: &Setup, index: JoinIndex, put: Put) -> Result<Self, AccessError> {
        let filled = (0..setup.databases).map(|_| {
            let connection = Connection::open_in_memory()?;
            schema::create(&connection, index, setup.seed)?;
            Ok(D::from(connection))
        });
        Ok(Databases { each: filled.collect::<rusqlite::Result<_>>()?, put })
    }
}

/// [`Databases::in_memory`] as the design of an arm.
///
/// # Errors
/// What SQLite says.
pub fn in_memory<D: Database + From<Connection>>(
    setup: &Setup,
    index: JoinIndex,
    put: Put,
) -> Result<Arc<dyn Design>, AccessError> {
    Ok(Arc::new(Databases::<D>::in_memory(setup, index, put)?))
}

/// Holds the database that `connection` is locked for, and inserts the block statement by statement, as published.
///
/// # Errors
/// What SQLite says.
pub fn hold_and_insert(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    std::thread::sleep(hold);
    schema::insert(connection, block)
}

/// Inserts the block into the transaction that is open, and holds the database by it.
///
/// # Errors
/// What SQLite says.
pub fn insert_and_hold(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    // In this order, because what was written is what other connections may have to wait for.
    schema::insert(connection, block)?;
    std::thread::sleep(hold);
    Ok(())
}

/// Inserts the block in a transaction that holds the database until it commits.
///
/// # Errors
/// What SQLite says.
pub fn transact(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let written = insert_and_hold(connection, block, hold).and_then(|()| connection.execute_batch("COMMIT"));
    if written.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    written
}
