//! What every design is asked. They differ in how a closure gets to a connection: that is [`Database`].

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use rusqlite::Connection;

use crate::pool::Work;
use crate::schema::{self, Block, Inspection, JoinIndex, Row};

#[derive(Debug, Clone)]
pub struct Setup {
    pub databases: usize,
    /// Connections for reading of each database, in designs that have several.
    pub readers: usize,
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

pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A way for async code to reach its databases. All do the same work; where the hold and the waiting take place is what tells them apart.
pub trait Design: Send + Sync {
    /// The newest transactions of blocks after the one of number `after`.
    fn read(&self, database: usize, after: u64) -> Answer<'_, Vec<Row>>;

    /// Holds the database for `hold` and inserts `block`. Once it has succeeded the block is there to stay.
    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()>;

    /// Looks at what the database holds, for the check after a run.
    fn inspect(&self, database: usize) -> Answer<'_, Inspection>;

    /// Whether a task that writes never waits, so that it must give way of itself after each write, as the published one does.
    fn must_give_way(&self) -> bool {
        false
    }
}

/// Runs `work` on the blocking pool; a panic is an error, too.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await?
}

/// One database, as a design reaches it.
pub trait Database: Send + Sync + 'static {
    /// See [`Design::must_give_way`].
    const MUST_GIVE_WAY: bool = false;

    /// Runs `work` on a connection for reading.
    fn read<T: Send + 'static>(&self, work: impl Work<T>) -> impl Future<Output = Result<T>> + Send;

    /// Runs `work` on the connection for writing: the same one, where there is but one.
    fn write<T: Send + 'static>(&self, work: impl Work<T>) -> impl Future<Output = Result<T>> + Send {
        self.read(work)
    }

    /// Ends its threads before the next arm begins.
    fn close(&self) {}
}

/// How a block is written: [`hold_and_insert`] or [`insert_and_hold`].
type Put = fn(&Connection, Block, Duration) -> rusqlite::Result<()>;

struct Databases<D: Database> {
    each: Vec<D>,
    put: Put,
}

impl<D: Database> Drop for Databases<D> {
    fn drop(&mut self) {
        self.each.iter().for_each(Database::close);
    }
}

impl<D: Database> Design for Databases<D> {
    fn read(&self, database: usize, after: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(self.each[database].read(move |connection| schema::read(connection, after)))
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        let put = self.put;
        Box::pin(self.each[database].write(move |connection| put(connection, block, hold)))
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        Box::pin(self.each[database].write(schema::inspect))
    }

    fn must_give_way(&self) -> bool {
        D::MUST_GIVE_WAY
    }
}

/// A design whose databases are reached alike: `open` opens the one of a number, with the blocks of the start, and `put` writes to it.
pub fn databases<D: Database>(
    setup: &Setup,
    put: Put,
    open: impl FnMut(usize) -> Result<D>,
) -> Result<Arc<dyn Design>> {
    Ok(Arc::new(Databases { each: (0..setup.databases).map(open).collect::<Result<_, _>>()?, put }))
}

/// A design with one connection to each database, in memory, as published; `reach` says how it is reached.
pub fn in_memory<D: Database>(setup: &Setup, reach: impl Fn(Connection) -> D) -> Result<Arc<dyn Design>> {
    databases(setup, hold_and_insert, |_| {
        let connection = Connection::open_in_memory()?;
        schema::create(&connection, JoinIndex::Absent, setup.seed)?;
        Ok(reach(connection))
    })
}

/// Holds the database that `connection` is locked for, and inserts the block statement by statement, as published.
fn hold_and_insert(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    std::thread::sleep(hold);
    schema::insert(connection, block)
}

/// Inserts the block into the transaction that is open, and holds the database by it.
pub fn insert_and_hold(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    // In this order, because what was written is what other connections may have to wait for.
    schema::insert(connection, block)?;
    std::thread::sleep(hold);
    Ok(())
}
