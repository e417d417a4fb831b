//! Designs that exist only to be compared: other locks, other ways to write, several connections per database.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_sqlite::PoolBuilder;
use deadpool_sqlite::{Config, Hook, HookError, PoolConfig, Runtime};
use parking_lot::lock_api::{Mutex, RawMutex};
use rusqlite::Connection;
use sqlite_bench::design::{
    AccessError, Database, Design, Lock, OnThread, Put, Setup, blocking, databases, failed, hold_and_insert, transact,
};
use sqlite_bench::pool::Work;
use sqlite_bench::schema::{self, Block, JoinIndex, SEED_BLOCKS};
use tokio::sync::Semaphore;

/// How long a connection waits for another one's lock before it gives up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// parking_lot's mutex. Whoever comes first after an unlock takes it, be it ahead of those who wait; with a `RawMutex` about every 0.5 ms
/// an unlock hands it to the thread that waits longest, with a `RawFairMutex` each does.
pub struct ParkingLot<R>(pub Mutex<R, Connection>);

impl<R: RawMutex + Send + Sync + 'static> Lock for ParkingLot<R> {
    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        work(&self.0.lock())
    }
}

/// SQLite called from the task, under a lock that is awaited: a worker is blocked by SQLite and the hold, and by waiting no more.
pub struct AwaitedLock(pub tokio::sync::Mutex<Connection>);

impl Database for AwaitedLock {
    const MUST_GIVE_WAY: bool = true;

    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        Ok(work(&*self.0.lock().await)?)
    }
}

/// tokio's mutex, first come first served, taken by the task, which then asks for a thread.
pub struct LockedByTask(pub Arc<tokio::sync::Mutex<Connection>>);

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
pub struct HoldOutside(pub OnThread<std::sync::Mutex<Connection>>);

impl Database for HoldOutside {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        self.0.read(work).await
    }

    async fn put(&self, _: Put, block: Block, hold: Duration) -> Result<(), AccessError> {
        let lock = Arc::clone(&self.0.0);
        blocking(move || {
            std::thread::sleep(hold);
            Ok(lock.with(|connection| schema::insert(connection, block))?)
        })
        .await
    }
}

/// Where several connections of one database meet, and what each of them sets.
pub type Store = (fn(&Setup, usize) -> PathBuf, &'static str);

pub const WAL: Store = (Setup::file, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
// FULL may lose the last commit with this journal: the deletion of the journal is not synced.
pub const ROLLBACK: Store = (Setup::file, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;");
pub const MEMDB: Store = (|setup, database| format!("file:/{}-{database}?vfs=memdb", own(setup)).into(), "");
pub const SHARED_CACHE: Store =
    (|setup, database| format!("file:{}-{database}?mode=memory&cache=shared", own(setup)).into(), "");

/// The folder of a run is its own, so that its name keeps apart what runs of one process share by name in memory.
fn own(setup: &Setup) -> Cow<'_, str> {
    setup.folder.file_name().unwrap_or_default().to_string_lossy()
}

/// Opens a connection to a database, which the first one creates.
fn join((place, pragmas): Store, setup: &Setup, database: usize) -> rusqlite::Result<Connection> {
    let connection = Connection::open(place(setup, database))?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

/// The first one, with the blocks of the start.
fn create(store: Store, setup: &Setup, database: usize) -> rusqlite::Result<Connection> {
    let connection = join(store, setup, database)?;
    schema::create(&connection, JoinIndex::Present, setup.seed)?;
    Ok(connection)
}

/// Where reads run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    Blocking,
    /// In the task: it blocks its worker for as long as the query takes, and for no lock.
    Inline,
}

/// Reads and writes go different ways.
pub struct Split<R, W> {
    pub reading: R,
    pub writing: W,
}

impl<R: Database, W: Database> Database for Split<R, W> {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        self.reading.read(work).await
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        self.writing.write(work).await
    }
}

/// Several connections, checked out by tasks.
pub struct CheckedOut {
    /// As many permits as there are connections.
    free: Arc<Semaphore>,
    connections: Arc<parking_lot::Mutex<Vec<Connection>>>,
    reads: Reads,
}

impl CheckedOut {
    fn new(connections: Vec<Connection>, reads: Reads) -> Self {
        let free = Arc::new(Semaphore::new(connections.len()));
        CheckedOut { free, connections: Arc::new(connections.into()), reads }
    }

    pub fn open(file: &Path, size: usize, reads: Reads) -> Result<Self, AccessError> {
        Ok(CheckedOut::new((0..size).map(|_| connect(file)).collect::<Result<_, _>>()?, reads))
    }
}

/// Opens databases with connections to check out.
pub fn checked_out(setup: &Setup, store: Store, reads: Reads) -> Result<Arc<dyn Design>, AccessError> {
    databases(setup, transact, |database| {
        let writer = create(store, setup, database)?;
        let readers = (0..setup.readers).map(|_| join(store, setup, database));
        let reading = CheckedOut::new(readers.collect::<rusqlite::Result<_>>()?, reads);
        Ok(Split { reading, writing: LockedByTask(Arc::new(writer.into())) })
    })
}

impl Database for CheckedOut {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        let permit = Arc::clone(&self.free).acquire_owned().await.map_err(failed)?;
        let connections = Arc::clone(&self.connections);
        // Whoever asked may be gone before the thread is done: permit and connection go back from where the work is.
        let work = move || {
            let connection = connections.lock().pop().ok_or_else(|| failed("no connection is left"))?;
            let answer = work(&connection);
            connections.lock().push(connection);
            drop(permit);
            Ok(answer?)
        };
        match self.reads {
            Reads::Inline => work(),
            Reads::Blocking => blocking(work).await,
        }
    }
}

/// What both libraries' connections are set up with; they are WAL by the file, which the first connection made.
pub fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch("PRAGMA synchronous = FULL")
}

/// A connection as everybody has it.
pub fn connect(file: &Path) -> Result<Connection, AccessError> {
    let connection = Connection::open(file)?;
    set_up(&connection)?;
    Ok(connection)
}

/// Databases of one file that are asked in turn.
pub struct InTurn<D> {
    each: Vec<D>,
    next: AtomicUsize,
}

impl<D> InTurn<D> {
    pub fn new(size: usize, open: impl Fn() -> Result<D, AccessError>) -> Result<Self, AccessError> {
        Ok(InTurn { each: (0..size).map(|_| open()).collect::<Result<_, _>>()?, next: AtomicUsize::new(0) })
    }
}

impl InTurn<tokio_rusqlite::Connection> {
    /// A thread per connection.
    pub fn tokio_rusqlite(file: &Path, size: usize) -> Result<Self, AccessError> {
        InTurn::new(size, || Ok(connect(file)?.into()))
    }
}

impl<D: Database> Database for InTurn<D> {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        self.each[self.next.fetch_add(1, Ordering::Relaxed) % self.each.len()].read(work).await
    }
}

/// WAL through a library: `open` opens a pool of so many connections to a file.
pub fn library<P: Database>(
    setup: &Setup,
    open: fn(&Path, usize) -> Result<P, AccessError>,
) -> Result<Arc<dyn Design>, AccessError> {
    databases(setup, transact, |database| {
        create(WAL, setup, database)?;
        split(&setup.file(database), setup.readers, open)
    })
}

/// One pool for reading, and one of one connection for writing.
pub fn split<P: Database>(
    file: &Path,
    readers: usize,
    open: fn(&Path, usize) -> Result<P, AccessError>,
) -> Result<Split<P, P>, AccessError> {
    Ok(Split { reading: open(file, readers)?, writing: open(file, 1)? })
}

/// deadpool-sqlite: connections that are used on the blocking pool.
pub struct Deadpool(deadpool_sqlite::Pool);

impl Deadpool {
    pub fn open(file: &Path, size: usize) -> Result<Self, AccessError> {
        let mut config = Config::new(file);
        config.pool = Some(PoolConfig::new(size));
        let set_up = Hook::async_fn(|object, _| {
            Box::pin(async move {
                let done = object.interact(|connection| set_up(connection)).await;
                done.map_err(|error| HookError::message(error.to_string()))?.map_err(HookError::Backend)
            })
        });
        let builder = config.builder(Runtime::Tokio1).map_err(failed)?.post_create(set_up);
        Ok(Deadpool(builder.build().map_err(failed)?))
    }
}

impl Database for Deadpool {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        let connection = self.0.get().await.map_err(failed)?;
        Ok(connection.interact(move |connection| work(connection)).await.map_err(failed)??)
    }
}

/// async-sqlite: a thread per connection.
pub struct AsyncSqlite(async_sqlite::Pool);

impl AsyncSqlite {
    pub fn open(file: &Path, size: usize) -> Result<Self, AccessError> {
        let pool = PoolBuilder::new().path(file).num_conns(size).open_blocking().map_err(failed)?;
        pool.conn_for_each_blocking(set_up).into_iter().collect::<Result<(), _>>().map_err(failed)?;
        Ok(AsyncSqlite(pool))
    }
}

impl Database for AsyncSqlite {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, AccessError> {
        self.0.conn(work).await.map_err(failed)
    }
}
