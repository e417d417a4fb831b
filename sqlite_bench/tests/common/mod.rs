//! What the tests of the pool share.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sqlite_bench::pool::{Durability, Error, Options, Pool, Work};
use tempfile::TempDir;

/// Much longer than anything here takes.
pub const SAFETY: Duration = Duration::from_secs(20);

pub const ONE: NonZero<usize> = NonZero::<usize>::MIN;

const TABLES: &str = "
CREATE TABLE parents (id INTEGER PRIMARY KEY);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, value INTEGER NOT NULL DEFAULT 0,
    parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED, data BLOB
);";

pub type Written = JoinHandle<Result<usize, Error>>;

pub fn options() -> Options {
    // What a test waits for is not the disk.
    Options::default().durability(Durability::Normal)
}

pub fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("pool.db")
}

/// A new database with its tables.
pub fn created(path: &Path, options: &Options) -> Pool {
    let pool = Pool::open_blocking(path, options).unwrap();
    pool.write_blocking(|db| db.execute_batch(TABLES)).unwrap();
    pool
}

/// The same in a folder of its own.
pub fn opened(options: &Options) -> (TempDir, Pool) {
    let folder = tempfile::tempdir().unwrap();
    let pool = created(&file(&folder), options);
    (folder, pool)
}

pub fn insert(id: i64) -> impl FnOnce(&Connection) -> rusqlite::Result<usize> + Copy + Send + 'static {
    move |db| db.prepare_cached("INSERT INTO entries (id, value) VALUES (?1, ?1)")?.execute([id])
}

pub fn ids(db: &Connection) -> rusqlite::Result<Vec<i64>> {
    db.prepare("SELECT id FROM entries ORDER BY id")?.query_map([], |row| row.get(0))?.collect()
}

pub fn integrity(db: &Connection) -> rusqlite::Result<String> {
    db.query_row("PRAGMA integrity_check", [], |row| row.get(0))
}

/// Something that is done with the pool beside the test.
pub fn beside<T: Send + 'static>(pool: &Pool, work: impl FnOnce(Pool) -> T + Send + 'static) -> JoinHandle<T> {
    let pool = pool.clone();
    std::thread::spawn(move || work(pool))
}

/// Holds the writer up until the sender is dropped; returns once the writer is held.
pub fn held_up(pool: &Pool) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (reached, reach) = mpsc::channel::<()>();
    beside(pool, |pool| {
        pool.write_blocking(move |_| {
            reached.send(()).unwrap();
            let _ = released.recv();
            // So long that its own commit takes nobody else.
            std::thread::sleep(Duration::from_millis(10));
            Ok(())
        })
    });
    reach.recv().unwrap();
    release
}

/// A write that waits behind those that wait already.
pub fn behind(pool: &Pool, work: impl Work<usize>) -> Written {
    let before = pool.stats().waiting_writes;
    let thread = beside(pool, |pool| pool.write_blocking(work));
    let start = Instant::now();
    while pool.stats().waiting_writes == before {
        assert!(start.elapsed() < SAFETY, "the write never queued up");
        std::thread::sleep(Duration::from_millis(1));
    }
    thread
}
