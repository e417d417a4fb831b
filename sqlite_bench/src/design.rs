//! The ways to reach a database from async code that are compared. They differ in how a closure gets to a connection: that is [`Database`].

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use rusqlite::Connection;

use crate::pool::Work;
use crate::schema::{self, Block, Inspection, Row};

mod published;

pub use published::{ARMS, Lock, OnThread, spawn_blocking};

/// Opens the databases of a design, with the tables and blocks of the start; within a runtime, because some designs start tasks.
type Open = fn(&Setup) -> Result<Arc<dyn Design>>;

#[derive(Debug, Clone, Copy)]
pub struct Arm {
    pub name: &'static str,
    /// The document's name of it, if it has one.
    pub title: &'static str,
    /// What it is there for: `mirror`, as published; `control`, one thing changed; `best`, what an expert would ship.
    pub role: &'static str,
    pub text: &'static str,
    pub open: Open,
    /// Whether a write that was not acknowledged may have left a part of itself: every statement commits alone.
    pub commits_statements: bool,
    /// Whether a task that writes never waits, so that it must give way of itself after each write, as the published one does.
    pub must_give_way: bool,
}

impl Arm {
    /// An arm whose every statement commits alone, as published.
    pub const fn new(role: &'static str, name: &'static str, text: &'static str, open: Open) -> Self {
        Arm { name, title: name, role, text, open, commits_statements: true, must_give_way: false }
    }
}

/// The one of `arms` that is called `name`; the error lists them.
pub fn find(arms: &[&'static Arm], name: &str) -> Result<&'static Arm> {
    let choices = || arms.iter().map(|arm| arm.name).collect::<Vec<_>>().join(", ");
    let found = arms.iter().find(|arm| arm.name == name);
    found.copied().with_context(|| format!("unknown arm '{name}': choose one of {}", choices()))
}

#[derive(Debug, Clone)]
pub struct Setup {
    pub databases: usize,
    /// Connections for reading of each database, in designs that have several.
    pub readers: usize,
    pub seed: u64,
    /// Folder of those that are files, `0.db` and so on; each run has one of its own.
    pub folder: PathBuf,
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
}

/// Runs `work` on the blocking pool; a panic is an error, too.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await?
}

/// One database, as a design reaches it.
pub trait Database: Send + Sync + 'static {
    /// Runs `work` on a connection for reading.
    fn read<T: Send + 'static>(&self, work: impl Work<T>) -> impl Future<Output = Result<T>> + Send;

    /// Runs `work` on the connection for writing: the same one, where there is but one.
    fn write<T: Send + 'static>(&self, work: impl Work<T>) -> impl Future<Output = Result<T>> + Send {
        self.read(work)
    }

    /// Holds the database and inserts `block`; as published, under the lock of `connection`, before the statements, which commit one by one.
    fn put(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
        std::thread::sleep(hold);
        schema::insert(connection, block)
    }

    /// Ends its threads before the next arm begins.
    fn close(&self) {}
}

struct Databases<D: Database>(Vec<D>);

impl<D: Database> Drop for Databases<D> {
    fn drop(&mut self) {
        self.0.iter().for_each(Database::close);
    }
}

impl<D: Database> Design for Databases<D> {
    fn read(&self, database: usize, after: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(self.0[database].read(move |connection| schema::read(connection, after)))
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        Box::pin(self.0[database].write(move |connection| D::put(connection, block, hold)))
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        Box::pin(self.0[database].write(schema::inspect))
    }
}

/// A design whose databases are reached alike: `open` opens the one of a number, with the blocks of the start.
fn databases<D: Database>(setup: &Setup, open: impl FnMut(usize) -> Result<D>) -> Result<Arc<dyn Design>> {
    Ok(Arc::new(Databases((0..setup.databases).map(open).collect::<Result<_>>()?)))
}

/// A design with one connection to each database, in memory, as published; `reach` says how it is reached.
pub fn in_memory<D: Database>(setup: &Setup, reach: impl Fn(Connection) -> D) -> Result<Arc<dyn Design>> {
    databases(setup, |_| {
        let connection = Connection::open_in_memory()?;
        schema::create(&connection, setup.seed)?;
        Ok(reach(connection))
    })
}
