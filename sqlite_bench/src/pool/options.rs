//! How a pool is set up.

use std::fmt;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::Error;
use super::guard::Guard;

/// Compiled statements that each connection keeps; SQLite's binding keeps 16, of which the writer needs five itself.
const CACHED_STATEMENTS: usize = 64;

/// What is done to every connection when it is opened.
pub type OnOpen = Arc<dyn Fn(&Connection) -> rusqlite::Result<()> + Send + Sync>;

/// How a pool is set up.
#[derive(Clone)]
pub struct Options {
    /// Threads that read, each with a connection of its own.
    pub readers: NonZero<usize>,
    /// Operations that may wait, in each of the two queues; beyond it `read` and `write` wait for room.
    pub queue: NonZero<usize>,
    /// Most writes in one commit; 1 commits each alone.
    pub batch: NonZero<usize>,
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How long a lock of another process is waited for.
    pub busy_timeout: Duration,
    /// Pages of the log after which they are copied into the database, beside the writer.
    pub checkpoint_pages: u32,
    /// Pages of the log after which the writer waits for the readers to make room, so that the log cannot grow for ever.
    pub wal_limit_pages: u32,
    /// The SQLite VFS to use, by name.
    pub vfs: Option<String>,
    /// Called with every connection when it is opened: functions, a cache size, a key. On the connection that writes, the pool needs the
    /// WAL hook; an authorizer or a commit hook set here takes the place of those that keep jobs from committing by themselves.
    pub on_open: Option<OnOpen>,
}

/// What an acknowledged write survives. The names are those of SQLite's `synchronous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A power failure: the log is synced before a commit is acknowledged.
    #[default]
    Full,
    /// The end of the process. A power failure may take the last commits and leaves the database sound.
    Normal,
    /// The end of the process. A power failure may destroy the database.
    Off,
}

impl Default for Options {
    /// Two readers, queues of 1,024, up to 256 writes in a commit, full durability, 5 s for the locks of others, a checkpoint every 1,000
    /// pages and a limit of 25,000 (about 4 and 100 MB).
    fn default() -> Self {
        Options {
            readers: const { NonZero::new(2).unwrap() },
            queue: const { NonZero::new(1024).unwrap() },
            batch: const { NonZero::new(256).unwrap() },
            durability: Durability::Full,
            busy_timeout: Duration::from_secs(5),
            checkpoint_pages: 1_000,
            wal_limit_pages: 25_000,
            vfs: None,
            on_open: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("readers", &self.readers)
            .field("queue", &self.queue)
            .field("batch", &self.batch)
            .field("durability", &self.durability)
            .field("busy_timeout", &self.busy_timeout)
            .field("checkpoint_pages", &self.checkpoint_pages)
            .field("wal_limit_pages", &self.wal_limit_pages)
            .field("vfs", &self.vfs)
            .field("on_open", &self.on_open.as_ref().map(|_| "set"))
            .finish()
    }
}

impl Options {
    /// A connection to a database that has a write-ahead log. While its guard is up, jobs cannot end the transaction they run in.
    pub(super) fn connect_writer(&self, path: &Path) -> Result<(Connection, Guard), Error> {
        let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let (connection, guard) = self.connect(path, access, Guard::of)?;
        let open = |source| Error::open(path, source);
        let mode: String =
            connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(open)?;
        if mode != "wal" {
            return Err(Error::NotWal { path: path.to_owned(), mode });
        }
        connection.pragma_update(None, "synchronous", format!("{:?}", self.durability)).map_err(open)?;
        Ok((connection, guard))
    }

    /// A connection that only reads.
    pub(super) fn connect_reader(&self, path: &Path) -> Result<Connection, Error> {
        let (connection, ()) = self.connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, |_| Ok(()))?;
        connection.pragma_update(None, "query_only", true).map_err(|source| Error::open(path, source))?;
        Ok(connection)
    }

    /// Opens, guards, and sets up.
    fn connect<G>(
        &self,
        path: &Path,
        access: OpenFlags,
        guard: impl FnOnce(&Connection) -> rusqlite::Result<G>,
    ) -> Result<(Connection, G), Error> {
        // Each connection is used by one thread at a time, so that SQLite need not lock it.
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match &self.vfs {
            Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs.as_str()),
            None => Connection::open_with_flags(path, flags),
        };
        let set_up = |connection: Connection| {
            connection.busy_timeout(self.busy_timeout)?;
            connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
            let guard = guard(&connection)?;
            if let Some(on_open) = &self.on_open {
                on_open(&connection)?;
            }
            Ok((connection, guard))
        };
        connection.and_then(set_up).map_err(|source| Error::open(path, source))
    }
}
