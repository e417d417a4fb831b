//! WAL through deadpool-sqlite: one pool for reading and one connection for writing per database.

use std::time::Duration;

use deadpool_sqlite::{Config, Hook, HookError, Pool, PoolConfig, Runtime};
use rusqlite::Connection;

use super::store::{BUSY_TIMEOUT, Store};
use super::{AccessError, Answer, Design, Inspection, Setup, failed, transact};
use crate::schema::{self, Block, JoinIndex, Row};

struct Database {
    reading: Pool,
    writing: Pool,
}

/// Two pools per database.
pub struct Deadpool {
    databases: Vec<Database>,
}

impl Deadpool {
    /// Opens the databases of `setup`.
    ///
    /// # Errors
    /// If one cannot be opened or filled.
    pub fn open(setup: &Setup) -> Result<Self, AccessError> {
        let databases = (0..setup.databases).map(|database| {
            schema::create(&Store::Wal.connect(setup, database)?, JoinIndex::Present, setup.seed)?;
            Ok(Database { reading: pool(setup, database, setup.readers)?, writing: pool(setup, database, 1)? })
        });
        Ok(Deadpool { databases: databases.collect::<Result<_, AccessError>>()? })
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

async fn interact<T: Send + 'static>(
    pool: &Pool,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T, AccessError> {
    let connection = pool.get().await.map_err(failed)?;
    Ok(connection.interact(move |connection| work(connection)).await.map_err(failed)??)
}

impl Design for Deadpool {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(interact(&self.databases[database].reading, move |connection| schema::read(connection, skip)))
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        Box::pin(interact(&self.databases[database].writing, move |connection| transact(connection, block, hold)))
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        Box::pin(interact(&self.databases[database].writing, Inspection::of))
    }
}
