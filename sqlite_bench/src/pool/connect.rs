//! How the connections of a pool are opened.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::Error;
use super::guard::Guard;
use super::options::{Access, Options};

/// Compiled statements that each connection keeps; SQLite's binding keeps 16, of which the writer needs five itself.
const CACHED_STATEMENTS: usize = 64;

/// The pause before what a lock prevented is tried again.
pub(super) const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(5);

/// A connection to a database that has a write-ahead log, or gets one.
pub(super) fn writer(path: &Path, options: &Options) -> Result<(Connection, Guard), Error> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let (opened, mode): (_, String) = patiently(path, options, || {
        let opened = connect(path, access, options)?;
        let mode = opened.0.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
        set_durability(&opened.0, options)?;
        Ok((opened, mode))
    })?;
    if mode != "wal" {
        return Err(Error::NotWal { path: path.to_owned(), mode });
    }
    Ok(opened)
}

pub(super) fn set_durability(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    // On macOS a sync without it leaves what it syncs in the disk's cache.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "synchronous", format!("{:?}", options.durability))
}

/// A connection that copies the log of a database which [`writer`] has opened. It asks SQLite for nothing before it is used.
pub(super) fn copier(path: &Path, options: &Options) -> Result<(Connection, Guard), Error> {
    patiently(path, options, || connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options))
}

/// A connection that only reads.
pub(super) fn reader(path: &Path, options: &Options) -> Result<(Connection, Guard), Error> {
    let mut access = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let mut name = path.as_os_str().to_owned();
    if options.access == Access::Immutable {
        if let Some(log) = log_left(path) {
            return Err(Error::LogLeft { path: path.to_owned(), log });
        }
        name = immutable(path);
        access |= OpenFlags::SQLITE_OPEN_URI;
    }
    let opened = patiently(path, options, || {
        let opened = connect(Path::new(&name), access, options)?;
        // SQLite opens the files when it is asked for something.
        opened.0.pragma_query(None, "schema_version", |_| Ok(()))?;
        opened.0.pragma_update(None, "query_only", true)?;
        Ok(opened)
    })?;
    // A database in memory, or a temporary one, would be another one for each reader.
    if opened.0.path().is_none_or(str::is_empty) {
        return Err(Error::NotWal { path: path.to_owned(), mode: "memory".into() });
    }
    Ok(opened)
}

/// The log, or the rollback journal, that SQLite would read before a file that is not immutable.
fn log_left(path: &Path) -> Option<PathBuf> {
    // It lies beside the file that a link leads to. A path that leads nowhere is for SQLite to name.
    let target = path.canonicalize().ok()?;
    let beside = |end| {
        let mut name = target.clone().into_os_string();
        name.push(end);
        PathBuf::from(name)
    };
    ["-wal", "-journal"].map(beside).into_iter().find(|log| match File::open(log) {
        // One that is used up is empty or begins with a zero.
        Ok(mut log) => {
            let mut first = [0];
            log.read(&mut first).is_err() || first != [0]
        }
        Err(error) => error.kind() != ErrorKind::NotFound,
    })
}

/// The URI of a file that does not change.
fn immutable(path: &Path) -> OsString {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        // Nothing can go wrong: the string grows.
        let _ = write!(uri, "%{byte:02x}");
    }
    uri.push_str("?immutable=1");
    uri.into()
}

/// Opens anew until no lock is in the way, within the busy timeout: SQLite itself waits for some locks only. The change to a write-ahead log,
/// here or in `on_open`, fails at once if another connection uses the database.
fn patiently<T>(path: &Path, options: &Options, open: impl Fn() -> rusqlite::Result<T>) -> Result<T, Error> {
    let begin = Instant::now();
    loop {
        match open() {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begin.elapsed() < options.busy_timeout =>
            {
                std::thread::sleep(BETWEEN_ATTEMPTS);
            }
            opened => return opened.map_err(|source| Error::Open { path: path.to_owned(), source: source.into() }),
        }
    }
}

/// Opens, guards, and sets up.
fn connect(path: &Path, access: OpenFlags, options: &Options) -> rusqlite::Result<(Connection, Guard)> {
    // Each connection is used by one thread at a time, so that SQLite need not lock it.
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    let writes = access.contains(OpenFlags::SQLITE_OPEN_READ_WRITE);
    let guard = Guard::of(&connection, writes)?;
    if let Some(on_open) = &options.on_open {
        (on_open.0)(&connection)?;
        // A statement that is kept is not judged again when a job uses it.
        connection.flush_prepared_statement_cache();
    }
    Ok((connection, guard))
}
