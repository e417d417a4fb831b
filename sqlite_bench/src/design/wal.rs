//! This crate's pool, one per database.

use std::num::NonZero;
use std::time::Duration;

use super::{AccessError, Answer, Design, Inspection, Setup, insert_and_hold};
use crate::pool::{Options, Pool};
use crate::schema::{self, Block, JoinIndex, Row};

/// A pool per database.
pub struct Wal {
    databases: Vec<Pool>,
}

impl Wal {
    /// Opens the databases of `setup`.
    ///
    /// # Errors
    /// If one cannot be opened or filled.
    pub fn open(setup: &Setup) -> Result<Self, AccessError> {
        let options =
            Options { readers: NonZero::new(setup.readers).unwrap_or(NonZero::<usize>::MIN), ..Options::default() };
        let databases = (0..setup.databases).map(|database| {
            let file = setup.file(database);
            schema::create(&rusqlite::Connection::open(&file)?, JoinIndex::Present, setup.seed)?;
            Ok(Pool::open(&file, &options)?)
        });
        Ok(Wal { databases: databases.collect::<Result<_, AccessError>>()? })
    }
}

impl Design for Wal {
    fn read(&self, database: usize, skip: u64) -> Answer<'_, Vec<Row>> {
        Box::pin(
            async move { Ok(self.databases[database].read(move |connection| schema::read(connection, skip)).await?) },
        )
    }

    fn write(&self, database: usize, block: Block, hold: Duration) -> Answer<'_, ()> {
        Box::pin(async move {
            // The pool has opened the transaction: the hold is inside.
            Ok(self.databases[database].write(move |connection| insert_and_hold(connection, block, hold)).await?)
        })
    }

    fn inspect(&self, database: usize) -> Answer<'_, Inspection> {
        Box::pin(async move { Ok(self.databases[database].write(Inspection::of).await?) })
    }
}
