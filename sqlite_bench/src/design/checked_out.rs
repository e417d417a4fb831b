//! A writing connection and several reading ones per database, checked out by tasks: WAL without threads of its own, and the stores
//! that look as if they did the same.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::store::Store;
use super::{AccessError, Answer, Design, Inspection, Setup, blocking, failed, transact};
use crate::schema::{self, Block, JoinIndex, Row};

/// Where reads run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// On the blocking pool.
    Blocking,
    /// In the task: it blocks its worker for as long as the query takes, and for no lock.
    Inline,
}

struct Database {
    writer: Arc<tokio::sync::Mutex<Connection>>,
    /// As many permits as there are reading connections.
    free: Arc<Semaphore>,
    readers: Arc<Mutex<Vec<Connection>>>,
}

/// Databases with connections to check out.
pub struct CheckedOut {
    databases: Vec<Database>,
    reads: Reads,
}

impl CheckedOut {
    /// Opens the databases of `setup`.
    ///
    /// # Errors
    /// If one cannot be opened or filled.
    pub fn open(store: Store, reads: Reads, setup: &Setup) -> Result<Self, AccessError> {
        let databases = (0..setup.databases).map(|database| {
            let writer = store.connect(setup, database)?;
            schema::create(&writer, JoinIndex::Present, setup.seed)?;
            let readers =
                (0..setup.readers).map(|_| store.connect(setup, database)).collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(Database {
                writer: Arc::new(tokio::sync::Mutex::new(writer)),
                free: Arc::new(Semaphore::new(readers.len())),
                readers: Arc::new(Mutex::new(readers)),
            })
        });
        Ok(CheckedOut { databases: databases.collect::<rusqlite::Result<_>>()?, reads })
    }

    async fn with_writer<T: Send + 'static>(
        &self,
        database: usize,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, AccessError> {
        let writer = Arc::clone(&self.databases[database].writer).lock_owned().await;
        blocking(move || Ok(work(&writer)?)).await
    }
}

impl Design for CheckedOut {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(async move {
            let database = &self.databases[database];
            let permit = Arc::clone(&database.free).acquire_owned().await.map_err(failed)?;
            let readers = Arc::clone(&database.readers);
            // Whoever asked may be gone before the thread is done: permit and connection go back from where the work is.
            let work = move || {
                let reader = readers.lock().pop().ok_or_else(|| failed("no reading connection is left"))?;
                let rows = schema::read(&reader, skip);
                readers.lock().push(reader);
                drop(permit);
                Ok(rows?)
            };
            match self.reads {
                Reads::Inline => work(),
                Reads::Blocking => blocking(work).await,
            }
        })
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        Box::pin(self.with_writer(database, move |connection| transact(connection, block, hold)))
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        Box::pin(self.with_writer(database, Inspection::of))
    }
}
