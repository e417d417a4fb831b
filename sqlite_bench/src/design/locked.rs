//! One connection per database under a lock, taken on the blocking pool: the published form and the matrix of locks.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::store::privates;
use super::{AccessError, Answer, Design, Inspection, Setup, blocking, hold_and_insert, transact};
use crate::schema::{self, Block, Growth, JoinIndex, Row};

/// Which lock guards the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// std's mutex: whoever comes first after an unlock takes it, be it ahead of those who wait.
    Std,
    /// parking_lot's mutex: the same, but about every 0.5 ms an unlock hands it to the thread that waits longest.
    ParkingLot,
    /// parking_lot's fair mutex: the longest waiting thread is always handed the lock.
    ParkingLotFair,
    /// tokio's mutex, first come first served, taken before a thread is.
    Tokio,
}

/// Where a write holds its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldPlace {
    /// Under the lock, outside of a transaction, as published.
    UnderLock,
    /// Before the lock is taken.
    Outside,
    /// Under the lock, inside a transaction.
    InTransaction,
}

/// How a write goes.
#[derive(Debug, Clone, Copy)]
pub struct Writing {
    /// Where the hold is.
    pub hold: HoldPlace,
    /// Whether the oldest block goes.
    pub growth: Growth,
}

impl Writing {
    /// What is done under the lock.
    fn apply(self, connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
        match self.hold {
            HoldPlace::UnderLock => hold_and_insert(connection, block, hold)?,
            HoldPlace::Outside => schema::insert(connection, block)?,
            HoldPlace::InTransaction => transact(connection, block, hold)?,
        }
        match self.growth {
            Growth::Growing => Ok(()),
            Growth::Constant => schema::delete(connection, block.number.saturating_sub(schema::SEED_BLOCKS)),
        }
    }
}

/// A lock that blocks the thread.
trait Guard: Send + Sync + 'static {
    fn new(connection: Connection) -> Self;
    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T;
}

impl Guard for std::sync::Mutex<Connection> {
    fn new(connection: Connection) -> Self {
        std::sync::Mutex::new(connection)
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        work(&self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Guard for parking_lot::Mutex<Connection> {
    fn new(connection: Connection) -> Self {
        parking_lot::Mutex::new(connection)
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        work(&self.lock())
    }
}

impl Guard for parking_lot::FairMutex<Connection> {
    fn new(connection: Connection) -> Self {
        parking_lot::FairMutex::new(connection)
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        work(&self.lock())
    }
}

/// The lock is taken by the thread that does the work.
struct LockedByThread<G> {
    databases: Vec<Arc<G>>,
    writing: Writing,
}

/// The lock is taken by the task, which then asks for a thread.
struct LockedByTask {
    databases: Vec<Arc<tokio::sync::Mutex<Connection>>>,
    writing: Writing,
}

/// Opens the databases of `setup` under `lock`.
///
/// # Errors
/// If one cannot be filled.
pub fn open(lock: Lock, writing: Writing, index: JoinIndex, setup: &Setup) -> Result<Arc<dyn Design>, AccessError> {
    let databases = privates(setup, index)?;
    Ok(match lock {
        Lock::Std => by_thread::<std::sync::Mutex<Connection>>(databases, writing),
        Lock::ParkingLot => by_thread::<parking_lot::Mutex<Connection>>(databases, writing),
        Lock::ParkingLotFair => by_thread::<parking_lot::FairMutex<Connection>>(databases, writing),
        Lock::Tokio => {
            let databases = databases.into_iter().map(|one| Arc::new(tokio::sync::Mutex::new(one))).collect();
            Arc::new(LockedByTask { databases, writing })
        }
    })
}

fn by_thread<G: Guard>(databases: Vec<Connection>, writing: Writing) -> Arc<dyn Design> {
    let databases = databases.into_iter().map(|one| Arc::new(G::new(one))).collect();
    Arc::new(LockedByThread::<G> { databases, writing })
}

impl<G: Guard> Design for LockedByThread<G> {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        let connection = Arc::clone(&self.databases[database]);
        Box::pin(blocking(move || Ok(connection.with(|connection| schema::read(connection, skip))?)))
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        let (connection, writing) = (Arc::clone(&self.databases[database]), self.writing);
        Box::pin(blocking(move || {
            if writing.hold == HoldPlace::Outside {
                std::thread::sleep(hold);
            }
            Ok(connection.with(|connection| writing.apply(connection, block, hold))?)
        }))
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        let connection = Arc::clone(&self.databases[database]);
        Box::pin(blocking(move || Ok(connection.with(Inspection::of)?)))
    }
}

impl Design for LockedByTask {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        let connection = Arc::clone(&self.databases[database]);
        Box::pin(async move {
            let connection = connection.lock_owned().await;
            blocking(move || Ok(schema::read(&connection, skip)?)).await
        })
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        let (connection, writing) = (Arc::clone(&self.databases[database]), self.writing);
        Box::pin(async move {
            let connection = connection.lock_owned().await;
            blocking(move || Ok(writing.apply(&connection, block, hold)?)).await
        })
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        let connection = Arc::clone(&self.databases[database]);
        Box::pin(async move {
            let connection = connection.lock_owned().await;
            blocking(move || Ok(Inspection::of(&connection)?)).await
        })
    }
}
