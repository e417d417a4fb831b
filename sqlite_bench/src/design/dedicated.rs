//! tokio-rusqlite, as published: each database has a thread, which is asked through a channel.

use std::time::Duration;

use tokio_rusqlite::Connection;

use super::store::privates;
use super::{AccessError, Answer, Design, Inspection, Setup, failed, hold_and_insert};
use crate::schema::{self, Block, JoinIndex, Row};

/// A connection per database, each with its thread.
pub struct Dedicated {
    databases: Vec<Connection>,
}

impl Dedicated {
    /// Opens the databases of `setup`.
    ///
    /// # Errors
    /// If one cannot be filled.
    pub fn open(setup: &Setup) -> Result<Self, AccessError> {
        Ok(Dedicated { databases: privates(setup, JoinIndex::Absent)?.into_iter().map(Connection::from).collect() })
    }

    fn call<T: Send + 'static>(
        &self,
        database: usize,
        work: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Answer<'_, T> {
        Box::pin(async move {
            let answer = self.databases[database].call(move |connection| work(connection)).await;
            answer.map_err(|error| match error {
                tokio_rusqlite::Error::Error(source) => source.into(),
                other => failed(other),
            })
        })
    }
}

impl Design for Dedicated {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        self.call(database, move |connection| schema::read(connection, skip))
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        self.call(database, move |connection| hold_and_insert(connection, block, hold))
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        self.call(database, Inspection::of)
    }
}
