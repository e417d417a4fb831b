//! Designs that exist only to be compared: other locks, several connections per database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use deadpool_sqlite::{Config, Hook, HookError, PoolConfig, Runtime};
use parking_lot::FairMutex;
use rusqlite::Connection;
use sqlite_bench::design::{Database, Lock, blocking};
use sqlite_bench::pool::Work;
use tokio::sync::Semaphore;

/// How long a connection waits for another one's lock before it gives up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// parking_lot's fair mutex: an unlock hands it to the thread that waits longest.
pub struct FairLock(pub FairMutex<Connection>);

impl Lock for FairLock {
    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        work(&self.0.lock())
    }
}

/// SQLite called from the task, under a lock that is awaited: a worker is blocked by SQLite and the hold, and by waiting no more.
pub struct AwaitedLock(pub tokio::sync::Mutex<Connection>);

impl Database for AwaitedLock {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        Ok(work(&*self.0.lock().await)?)
    }
}

/// tokio's mutex, first come first served, taken by the task, which then asks for a thread.
pub struct LockedByTask(pub Arc<tokio::sync::Mutex<Connection>>);

impl Database for LockedByTask {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let connection = Arc::clone(&self.0).lock_owned().await;
        blocking(move || Ok(work(&connection)?)).await
    }
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
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.reading.read(work).await
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
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
    pub fn open(file: &Path, size: usize, reads: Reads) -> Result<Self> {
        let connections: Vec<_> = (0..size).map(|_| connect(file)).collect::<Result<_, _>>()?;
        Ok(CheckedOut { free: Arc::new(Semaphore::new(size)), connections: Arc::new(connections.into()), reads })
    }
}

impl Database for CheckedOut {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let permit = Arc::clone(&self.free).acquire_owned().await?;
        let connections = Arc::clone(&self.connections);
        // Whoever asked may be gone before the thread is done: permit and connection go back from where the work is.
        let work = move || {
            let connection = connections.lock().pop().context("no connection is left")?;
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
pub fn connect(file: &Path) -> Result<Connection> {
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
    pub fn new(size: usize, open: impl Fn() -> Result<D>) -> Result<Self> {
        Ok(InTurn { each: (0..size).map(|_| open()).collect::<Result<_, _>>()?, next: AtomicUsize::new(0) })
    }
}

impl InTurn<tokio_rusqlite::Connection> {
    /// A thread per connection.
    pub fn tokio_rusqlite(file: &Path, size: usize) -> Result<Self> {
        InTurn::new(size, || Ok(connect(file)?.into()))
    }
}

impl<D: Database> Database for InTurn<D> {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.each[self.next.fetch_add(1, Ordering::Relaxed) % self.each.len()].read(work).await
    }
}

/// One pool for reading, and one of one connection for writing.
pub fn split<P: Database>(file: &Path, readers: usize, open: fn(&Path, usize) -> Result<P>) -> Result<Split<P, P>> {
    Ok(Split { reading: open(file, readers)?, writing: open(file, 1)? })
}

/// deadpool-sqlite: connections that are used on the blocking pool.
pub struct Deadpool(deadpool_sqlite::Pool);

impl Deadpool {
    pub fn open(file: &Path, size: usize) -> Result<Self> {
        let mut config = Config::new(file);
        config.pool = Some(PoolConfig::new(size));
        let set_up = Hook::async_fn(|object, _| {
            Box::pin(async move {
                let done = object.interact(|connection| set_up(connection)).await;
                done.map_err(|error| HookError::message(error.to_string()))?.map_err(HookError::Backend)
            })
        });
        let builder = config.builder(Runtime::Tokio1)?.post_create(set_up);
        Ok(Deadpool(builder.build()?))
    }
}

impl Database for Deadpool {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let connection = self.0.get().await?;
        Ok(connection.interact(move |connection| work(connection)).await.map_err(|error| anyhow!("{error}"))??)
    }
}
