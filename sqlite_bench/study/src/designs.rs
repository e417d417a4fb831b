//! Designs that exist only to be compared: other locks, other ways to write, several connections per database.

use std::sync::Arc;
use std::time::Duration;

use async_sqlite::PoolBuilder;
use deadpool_sqlite::{Config, Hook, HookError, Pool, PoolConfig, Runtime};
use parking_lot::lock_api::{Mutex, RawMutex};
use rusqlite::{Connection, OpenFlags};
use sqlite_bench::design::{
    AccessError, Answer, Database, Databases, Design, Inspection, Lock, OnThread, Setup, blocking, failed,
    hold_and_insert, transact,
};
use sqlite_bench::pool::Work;
use sqlite_bench::schema::{self, Block, JoinIndex, Row, SEED_BLOCKS};
use tokio::sync::Semaphore;

/// How long a connection waits for another one's lock before it gives up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

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

/// What several connections of one database share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// A file with a write-ahead log.
    Wal,
    /// A file with a rollback journal.
    Rollback,
    /// Memory, by the VFS `memdb`.
    Memdb,
    /// Memory, by a shared cache.
    SharedCache,
}

impl Store {
    /// Opens a connection to database number `database`; the first one creates it.
    pub fn connect(self, setup: &Setup, database: usize) -> rusqlite::Result<Connection> {
        // The folder of a run is its own, so that its name keeps apart what runs of one process share by name in memory.
        let own = setup.folder.file_name().unwrap_or_default().to_string_lossy();
        let (place, pragmas) = match self {
            Store::Wal => (setup.file(database), "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"),
            // FULL may lose the last commit with this journal: the deletion of the journal is not synced.
            Store::Rollback => (setup.file(database), "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;"),
            Store::Memdb => (format!("file:/{own}-{database}?vfs=memdb").into(), ""),
            Store::SharedCache => (format!("file:{own}-{database}?mode=memory&cache=shared").into(), ""),
        };
        let connection = Connection::open_with_flags(place, OpenFlags::default())?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.execute_batch(pragmas)?;
        Ok(connection)
    }
}

/// Where reads run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// On the blocking pool.
    Blocking,
    /// In the task: it blocks its worker for as long as the query takes, and for no lock.
    Inline,
}

/// A writing connection and several reading ones, checked out by tasks.
struct CheckedOut {
    writer: Arc<tokio::sync::Mutex<Connection>>,
    /// As many permits as there are reading connections.
    free: Arc<Semaphore>,
    readers: Arc<parking_lot::Mutex<Vec<Connection>>>,
    reads: Reads,
}

/// Opens databases with connections to check out.
pub fn checked_out(setup: &Setup, store: Store, reads: Reads) -> Result<Arc<dyn Design>, AccessError> {
    let open = |database| {
        let writer = store.connect(setup, database)?;
        schema::create(&writer, JoinIndex::Present, setup.seed)?;
        let readers = (0..setup.readers).map(|_| store.connect(setup, database));
        Ok(CheckedOut {
            writer: Arc::new(writer.into()),
            free: Arc::new(Semaphore::new(setup.readers)),
            readers: Arc::new(parking_lot::Mutex::new(readers.collect::<rusqlite::Result<_>>()?)),
            reads,
        })
    };
    let each = (0..setup.databases).map(open).collect::<rusqlite::Result<_>>()?;
    Ok(Arc::new(Databases { each, put: transact }))
}

impl Database for CheckedOut {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        let permit = Arc::clone(&self.free).acquire_owned().await.map_err(failed)?;
        let readers = Arc::clone(&self.readers);
        // Whoever asked may be gone before the thread is done: permit and connection go back from where the work is.
        let work = move || {
            let reader = readers.lock().pop().ok_or_else(|| failed("no reading connection is left"))?;
            let answer = work(&reader);
            readers.lock().push(reader);
            drop(permit);
            Ok(answer?)
        };
        match self.reads {
            Reads::Inline => work(),
            Reads::Blocking => blocking(work).await,
        }
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        let writer = Arc::clone(&self.writer).lock_owned().await;
        blocking(move || Ok(work(&writer)?)).await
    }
}

/// WAL through deadpool-sqlite: one pool for reading and one connection for writing.
pub struct Deadpool {
    reading: Pool,
    writing: Pool,
}

impl Deadpool {
    /// Opens the databases of `setup`.
    pub fn open(setup: &Setup) -> Result<Arc<dyn Design>, AccessError> {
        let open = |database| {
            schema::create(&Store::Wal.connect(setup, database)?, JoinIndex::Present, setup.seed)?;
            Ok(Deadpool { reading: pool(setup, database, setup.readers)?, writing: pool(setup, database, 1)? })
        };
        let each = (0..setup.databases).map(open).collect::<Result<_, AccessError>>()?;
        Ok(Arc::new(Databases { each, put: transact }))
    }
}

fn pool(setup: &Setup, database: usize, size: usize) -> Result<Pool, AccessError> {
    let mut config = Config::new(setup.file(database));
    config.pool = Some(PoolConfig::new(size));
    let set_up = Hook::async_fn(|object, _| {
        Box::pin(async move {
            let pragmas = |connection: &mut Connection| {
                connection.busy_timeout(BUSY_TIMEOUT)?;
                connection.execute_batch("PRAGMA synchronous = FULL")
            };
            let done = object.interact(pragmas).await.map_err(|error| HookError::message(error.to_string()))?;
            done.map_err(HookError::Backend)
        })
    });
    config.builder(Runtime::Tokio1).map_err(failed)?.post_create(set_up).build().map_err(failed)
}

async fn interact<T: Send + 'static>(pool: &Pool, work: impl Work<T>) -> Result<T, AccessError> {
    let connection = pool.get().await.map_err(failed)?;
    Ok(connection.interact(move |connection| work(connection)).await.map_err(failed)??)
}

impl Database for Deadpool {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        interact(&self.reading, work).await
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        interact(&self.writing, work).await
    }
}

/// WAL through async-sqlite: a thread per connection, one pool for reading and one connection for writing.
pub struct AsyncSqlite {
    reading: async_sqlite::Pool,
    writing: async_sqlite::Pool,
}

impl AsyncSqlite {
    /// Opens the databases of `setup`.
    pub fn open(setup: &Setup) -> Result<Arc<dyn Design>, AccessError> {
        let pool = |database, size| {
            let pool = PoolBuilder::new().path(setup.file(database)).num_conns(size).open_blocking().map_err(failed)?;
            let pragmas = |connection: &Connection| {
                connection.busy_timeout(BUSY_TIMEOUT)?;
                connection.execute_batch("PRAGMA synchronous = FULL")
            };
            pool.conn_for_each_blocking(pragmas).into_iter().collect::<Result<(), _>>().map_err(failed)?;
            Ok::<_, AccessError>(pool)
        };
        let open = |database| {
            schema::create(&Store::Wal.connect(setup, database)?, JoinIndex::Present, setup.seed)?;
            Ok(AsyncSqlite { reading: pool(database, setup.readers)?, writing: pool(database, 1)? })
        };
        let each = (0..setup.databases).map(open).collect::<Result<_, AccessError>>()?;
        Ok(Arc::new(Databases { each, put: transact }))
    }
}

impl Database for AsyncSqlite {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        self.reading.conn(work).await.map_err(failed)
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        self.writing.conn(work).await.map_err(failed)
    }
}
