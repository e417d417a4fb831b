//! What the connections of a design share: a file, or memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::Setup;
use crate::schema::{self, JoinIndex};

/// How long a connection waits for another one's lock before it gives up.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// A file system in memory, where there is one.
const MEMORY_FOLDER: &str = "/dev/shm";

/// Where the files of a run lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In memory.
    Memory,
    /// On the disk of the data folder.
    Disk,
}

impl Place {
    /// The folder below which a run makes its own; `data` is the study's data folder.
    #[must_use]
    pub fn folder(self, data: PathBuf) -> PathBuf {
        match self {
            Place::Memory if Path::new(MEMORY_FOLDER).is_dir() => PathBuf::from(MEMORY_FOLDER),
            Place::Memory => std::env::temp_dir(),
            Place::Disk => data,
        }
    }
}

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
    /// Whether it is a file.
    #[must_use]
    pub fn is_file(self) -> bool {
        matches!(self, Store::Wal | Store::Rollback)
    }

    /// Opens a connection to database number `database`; the first one creates it.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn connect(self, setup: &Setup, database: usize) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // The folder of a run is its own, so that its name keeps apart what runs of one process share by name in memory.
        let own = setup.folder.file_name().unwrap_or_default().to_string_lossy();
        let connection = match self {
            Store::Wal | Store::Rollback => Connection::open_with_flags(setup.file(database), flags)?,
            Store::Memdb => Connection::open_with_flags(format!("file:/{own}-{database}?vfs=memdb"), flags)?,
            Store::SharedCache => {
                Connection::open_with_flags(format!("file:{own}-{database}?mode=memory&cache=shared"), flags)?
            }
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        match self {
            Store::Wal => connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?,
            // FULL may lose the last commit with this journal: the deletion of the journal is not synced.
            Store::Rollback => connection.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;")?,
            Store::Memdb | Store::SharedCache => {}
        }
        Ok(connection)
    }
}

/// A database of one connection in memory, as published, filled.
///
/// # Errors
/// What SQLite says.
pub fn private(setup: &Setup, index: JoinIndex) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    schema::create(&connection, index, setup.seed)?;
    Ok(connection)
}

/// One such database for each of the setup.
///
/// # Errors
/// What SQLite says.
pub fn privates(setup: &Setup, index: JoinIndex) -> rusqlite::Result<Vec<Connection>> {
    (0..setup.databases).map(|_| private(setup, index)).collect()
}
