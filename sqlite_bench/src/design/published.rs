//! The three designs of the published comparison, and this crate's pool.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use rusqlite::Connection;

use super::{Arm, Database, blocking, databases, in_memory};
use crate::pool::{Options, Pool, Work};
use crate::schema::{self, Block};

pub static ARMS: [Arm; 4] = [
    Arm {
        title: "Direct Blocking",
        must_give_way: true,
        ..Arm::new("mirror", "direct", "SQLite called from the task, under a std mutex", |setup| {
            in_memory(setup, Mutex::new)
        })
    },
    Arm::new("mirror", "spawn_blocking", "SQLite called on the blocking pool, under a std mutex", |setup| {
        in_memory(setup, spawn_blocking)
    }),
    Arm {
        title: "tokio-rusqlite",
        ..Arm::new("mirror", "tokio_rusqlite", "A thread per database, asked through a channel", |setup| {
            in_memory(setup, tokio_rusqlite::Connection::from)
        })
    },
    Arm {
        title: "WAL pool",
        commits_statements: false,
        ..Arm::new("best", "wal_threads", "This crate's pool: WAL, a writer thread, reader threads", |setup| {
            let options = Options::default().readers(NonZero::new(setup.readers).unwrap_or(NonZero::<usize>::MIN));
            databases(setup, |database| {
                let file = setup.folder.join(format!("{database}.db"));
                let connection = Connection::open(&file)?;
                schema::create(&connection, setup.seed)?;
                connection.execute_batch(schema::JOIN_INDEX)?;
                Ok(Pool::open_blocking(&file, &options)?)
            })
        })
    },
];

/// Direct: the mutex is locked and held by the worker, which is blocked meanwhile.
impl Database for Mutex<Connection> {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        Ok(self.with(work)?)
    }
}

/// A lock that blocks the thread.
pub trait Lock: Send + Sync + 'static {
    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T;
}

impl Lock for Mutex<Connection> {
    fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        work(&self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The blocking pool: the lock is taken by the thread that does the work.
pub struct OnThread<L>(pub Arc<L>);

pub fn spawn_blocking(connection: Connection) -> OnThread<Mutex<Connection>> {
    OnThread(Arc::new(Mutex::new(connection)))
}

impl<L: Lock> Database for OnThread<L> {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let lock = Arc::clone(&self.0);
        blocking(move || Ok(lock.with(work)?)).await
    }
}

impl Database for tokio_rusqlite::Connection {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.call(move |connection| work(connection)).await.map_err(|error| match error {
            tokio_rusqlite::Error::Error(source) => source.into(),
            other => other.into(),
        })
    }
}

impl Database for Pool {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        Ok(Pool::read(self, work).await?)
    }

    async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        Ok(Pool::write(self, work).await?)
    }

    /// The pool has opened the transaction: the hold is inside, after what was written, for which other connections may have to wait.
    fn put(connection: &Connection, block: Block, hold: Duration) -> rusqlite::Result<()> {
        schema::insert(connection, block)?;
        std::thread::sleep(hold);
        Ok(())
    }

    fn close(&self) {
        // Whatever is wrong with the database, the check of the run says it.
        let _ = self.clone().close_blocking();
    }
}
