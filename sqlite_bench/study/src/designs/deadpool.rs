//! WAL through deadpool-sqlite: one pool for reading and one connection for writing per database.

use std::sync::Arc;

use deadpool_sqlite::{Config, Hook, HookError, Pool, PoolConfig, Runtime};
use rusqlite::Connection;
use sqlite_bench::design::{AccessError, Database, Databases, Design, Setup, Work, failed, transact};
use sqlite_bench::schema::{self, JoinIndex};

use super::stores::{BUSY_TIMEOUT, Store};

/// Two pools for one database.
pub struct Deadpool {
    reading: Pool,
    writing: Pool,
}

impl Deadpool {
    /// Opens the databases of `setup`.
    ///
    /// # Errors
    /// If one cannot be opened or filled.
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
