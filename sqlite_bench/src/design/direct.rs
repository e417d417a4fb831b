//! SQLite called from the task: the worker thread is blocked meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::store::privates;
use super::{AccessError, Answer, Design, Inspection, Setup, hold_and_insert};
use crate::schema::{self, Block, JoinIndex, Row};

/// As published: a std mutex, locked and held by the worker.
pub struct Direct {
    databases: Vec<Mutex<Connection>>,
}

impl Direct {
    /// Opens the databases of `setup`.
    ///
    /// # Errors
    /// If one cannot be filled.
    pub fn open(setup: &Setup) -> Result<Self, AccessError> {
        Ok(Direct { databases: privates(setup, JoinIndex::Absent)?.into_iter().map(Mutex::new).collect() })
    }

    fn lock(&self, database: usize) -> MutexGuard<'_, Connection> {
        self.databases[database].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Design for Direct {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(async move { Ok(schema::read(&self.lock(database), skip)?) })
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        Box::pin(async move {
            let written = hold_and_insert(&self.lock(database), block, hold);
            // As published: a task that never waits must give way of itself.
            tokio::task::yield_now().await;
            Ok(written?)
        })
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        Box::pin(async move { Ok(Inspection::of(&self.lock(database))?) })
    }
}

/// The same with a lock that is awaited: a worker is blocked by SQLite and the hold, and by waiting no more.
pub struct DirectAsyncLock {
    databases: Vec<Arc<tokio::sync::Mutex<Connection>>>,
}

impl DirectAsyncLock {
    /// Opens the databases of `setup`.
    ///
    /// # Errors
    /// If one cannot be filled.
    pub fn open(setup: &Setup) -> Result<Self, AccessError> {
        let databases = privates(setup, JoinIndex::Absent)?;
        Ok(DirectAsyncLock {
            databases: databases.into_iter().map(|one| Arc::new(tokio::sync::Mutex::new(one))).collect(),
        })
    }
}

impl Design for DirectAsyncLock {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(async move { Ok(schema::read(&*self.databases[database].lock().await, skip)?) })
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        Box::pin(async move {
            let written = hold_and_insert(&*self.databases[database].lock().await, block, hold);
            tokio::task::yield_now().await;
            Ok(written?)
        })
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        Box::pin(async move { Ok(Inspection::of(&*self.databases[database].lock().await)?) })
    }
}
