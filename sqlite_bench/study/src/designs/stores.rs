//! A writing connection and several reading ones per database, checked out by tasks: WAL without threads of its own, and the stores
//! that look as if they did the same.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};
use sqlite_bench::design::{AccessError, Database, Databases, Design, Setup, Work, blocking, failed, transact};
use sqlite_bench::schema::{self, JoinIndex};
use tokio::sync::Semaphore;

/// How long a connection waits for another one's lock before it gives up.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

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
    ///
    /// # Errors
    /// What SQLite says.
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

struct CheckedOut {
    writer: Arc<tokio::sync::Mutex<Connection>>,
    /// As many permits as there are reading connections.
    free: Arc<Semaphore>,
    readers: Arc<Mutex<Vec<Connection>>>,
    reads: Reads,
}

/// Opens databases with connections to check out.
///
/// # Errors
/// If one cannot be opened or filled.
pub fn checked_out(setup: &Setup, store: Store, reads: Reads) -> Result<Arc<dyn Design>, AccessError> {
    let open = |database| {
        let writer = store.connect(setup, database)?;
        schema::create(&writer, JoinIndex::Present, setup.seed)?;
        let readers = (0..setup.readers).map(|_| store.connect(setup, database));
        Ok(CheckedOut {
            writer: Arc::new(writer.into()),
            free: Arc::new(Semaphore::new(setup.readers)),
            readers: Arc::new(Mutex::new(readers.collect::<rusqlite::Result<_>>()?)),
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
