//! One connection per database under other locks, and other ways to write.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::lock_api::{Mutex, RawMutex};
use rusqlite::Connection;
use sqlite_bench::design::{
    AccessError, Answer, Database, Databases, Design, Inspection, Lock, OnThread, Setup, Work, blocking,
    hold_and_insert,
};
use sqlite_bench::schema::{self, Block, JoinIndex, Row, SEED_BLOCKS};

/// parking_lot's mutex. Whoever comes first after an unlock takes it, be it ahead of those who wait; with a `RawMutex` about every 0.5 ms
/// an unlock hands it to the thread that waits longest, with a `RawFairMutex` each does.
pub struct ParkingLot<R>(Mutex<R, Connection>);

impl<R: RawMutex> From<Connection> for ParkingLot<R> {
    fn from(connection: Connection) -> Self {
        ParkingLot(Mutex::new(connection))
    }
}

impl<R: RawMutex + Send + Sync + 'static> Lock for ParkingLot<R> {
    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        work(&self.0.lock())
    }
}

/// SQLite called from the task, under a lock that is awaited: a worker is blocked by SQLite and the hold, and by waiting no more.
pub struct AwaitedLock(tokio::sync::Mutex<Connection>);

impl From<Connection> for AwaitedLock {
    fn from(connection: Connection) -> Self {
        AwaitedLock(connection.into())
    }
}

impl Database for AwaitedLock {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        Ok(work(&*self.0.lock().await)?)
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        let written = work(&*self.0.lock().await);
        // As the direct design.
        tokio::task::yield_now().await;
        Ok(written?)
    }
}

/// tokio's mutex, first come first served, taken by the task, which then asks for a thread.
pub struct LockedByTask(Arc<tokio::sync::Mutex<Connection>>);

impl From<Connection> for LockedByTask {
    fn from(connection: Connection) -> Self {
        LockedByTask(Arc::new(connection.into()))
    }
}

impl Database for LockedByTask {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        let connection = Arc::clone(&self.0).lock_owned().await;
        blocking(move || Ok(work(&connection)?)).await
    }
}

/// Holds and inserts as published, and lets the oldest block go: the table keeps its size.
///
/// # Errors
/// What SQLite says.
pub fn insert_and_drop_oldest(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
    hold_and_insert(connection, block, hold)?;
    let oldest = [block.number.saturating_sub(SEED_BLOCKS).cast_signed()];
    connection.prepare_cached("DELETE FROM transactions WHERE block_id = ?1")?.execute(oldest)?;
    connection.prepare_cached("DELETE FROM blocks WHERE id = ?1")?.execute(oldest)?;
    Ok(())
}

/// As `spawn_blocking`, but the hold comes before the lock, on the thread that takes it.
struct HoldOutside(Databases<OnThread<std::sync::Mutex<Connection>>>);

/// Opens databases whose lock is taken after the hold.
///
/// # Errors
/// What SQLite says.
pub fn hold_outside(setup: &Setup) -> Result<Arc<dyn Design>, AccessError> {
    Ok(Arc::new(HoldOutside(Databases::in_memory(setup, JoinIndex::Absent, hold_and_insert)?)))
}

impl Design for HoldOutside {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        self.0.read(database, skip)
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        let lock = Arc::clone(&self.0.each[database].0);
        Box::pin(blocking(move || {
            std::thread::sleep(hold);
            Ok(lock.with(|connection| schema::insert(connection, block))?)
        }))
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        self.0.inspect(database)
    }
}
