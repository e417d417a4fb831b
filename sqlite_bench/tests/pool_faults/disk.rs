//! Faults of the file and of the disk it is on.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use rusqlite::Connection;
use sqlite_bench::pool::{Error, Pool, Work};

use super::common::{SAFETY, behind, created, file, held_up, ids, insert, integrity, opened, options};

/// Whether what `arguments` say could be mounted at `folder`.
fn mount(folder: &Path, arguments: &[&str]) -> bool {
    let mounted = Command::new("mount").args(arguments).arg(folder).stderr(Stdio::null()).status();
    mounted.is_ok_and(|status| status.success())
}

/// Unmounts a folder when it is dropped.
pub struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).stderr(Stdio::null()).status();
    }
}

/// Makes a folder one that this user cannot write to; `None`, with a word, if that cannot be done.
pub fn read_only(folder: &Path) -> Option<Mounted<'_>> {
    let mounted = Mounted(folder);
    if !mount(folder, &["--bind", folder.to_str()?]) || !mount(folder, &["-o", "remount,ro,bind"]) {
        let mut permissions = std::fs::metadata(folder).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(folder, permissions).unwrap();
    }
    let probe = folder.join("probe");
    if std::fs::write(&probe, "").is_err() {
        return Some(mounted);
    }
    std::fs::remove_file(probe).unwrap();
    eprintln!("skipped: this user may write everywhere and may not mount");
    None
}

/// A database whose table `entries` is damaged and whose table `sound` is not.
fn damaged(folder: &tempfile::TempDir) -> Pool {
    let path = file(folder);
    let pool = created(&path, &options());
    pool.write_blocking(|db| db.execute_batch("CREATE TABLE sound (id INTEGER PRIMARY KEY)")).unwrap();
    let fill = "WITH RECURSIVE n (x) AS (VALUES (0) UNION ALL SELECT x + 1 FROM n LIMIT 50)
        INSERT INTO entries (id, data) SELECT x, randomblob(2000) FROM n";
    pool.write_blocking(move |db| db.execute(fill, [])).unwrap();
    let find = "SELECT rootpage FROM sqlite_schema WHERE name = 'entries'";
    let root: u32 = pool.read_blocking(move |db| db.query_row(find, [], |row| row.get(0))).unwrap();
    pool.close_blocking().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let start = usize::try_from(root - 1).unwrap() * 4096;
    bytes[start..start + 4096].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    Pool::open_blocking(&path, &options()).unwrap()
}

fn into_sound(id: i64) -> impl Work<usize> {
    move |db: &Connection| db.execute("INSERT INTO sound VALUES (?1)", [id])
}

#[test]
fn a_damaged_page_is_named_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let pool = damaged(&folder);
    for id in 0..20 {
        let said = [pool.read_blocking(ids).map(drop), pool.write_blocking(insert(1_000)).map(drop)];
        for said in said {
            let error = said.unwrap_err();
            assert!(matches!(error, Error::Corrupt(_)) && error.to_string().contains("restore a copy"), "{error}");
        }
        // At once, as the next one in the queue would be.
        pool.write_blocking(into_sound(id)).unwrap();
    }
    // Who shares a commit with it may try again, and then succeeds.
    let release = held_up(&pool);
    let writes = [behind(&pool, into_sound(20)), behind(&pool, insert(1_000)), behind(&pool, into_sound(21))];
    drop(release);
    let [one, own, two] = writes.map(|write| write.join().unwrap());
    assert!(matches!(own, Err(Error::Corrupt(_))), "{own:?}");
    for (id, written) in [(20, one), (21, two)] {
        if let Err(error) = written {
            assert!(matches!(error, Error::Undone(_)) && error.is_retryable(), "{error}");
            pool.write_blocking(into_sound(id)).unwrap();
        }
    }
    let sound = |db: &Connection| db.query_row("SELECT COUNT(*) FROM sound", [], |row| row.get::<_, i64>(0));
    assert_eq!(pool.read_blocking(sound).unwrap(), 22);
}

/// Writes until there is no room; what was acknowledged, and nothing else, is there.
fn fill(pool: &Pool) -> Vec<i64> {
    let mut acknowledged = Vec::new();
    let start = Instant::now();
    let error = loop {
        let id = i64::try_from(acknowledged.len()).unwrap();
        let write =
            move |db: &Connection| db.execute("INSERT INTO entries (id, data) VALUES (?1, randomblob(3000))", [id]);
        match pool.write_blocking(write) {
            Ok(_) => acknowledged.push(id),
            Err(error) => break error,
        }
        assert!(start.elapsed() < SAFETY, "it was never full");
    };
    assert!(matches!(error, Error::DiskFull(_)) && error.to_string().contains("free some space"), "{error}");
    assert!(acknowledged.len() > 20, "only {} writes had room", acknowledged.len());
    assert_eq!(pool.read_blocking(ids).unwrap(), acknowledged);
    assert_eq!(pool.read_blocking(integrity).unwrap(), "ok");
    acknowledged
}

#[test]
fn a_full_database_says_so_and_keeps_what_it_had() {
    let (_folder, pool) = opened(&options().on_open(|db| db.execute_batch("PRAGMA max_page_count = 40")));
    fill(&pool);
    pool.write_blocking(|db| db.execute("DELETE FROM entries", [])).unwrap();
}

#[test]
fn a_full_disk_is_named_and_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    if !mount(folder.path(), &["-t", "tmpfs", "-o", "size=512k", "tmpfs"]) {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    }
    let _disk = Mounted(folder.path());
    let pool = created(&file(&folder), &options().checkpoint_pages(20).wal_limit_pages(40));
    let acknowledged = fill(&pool);
    // The disk has no room for what is in the log.
    assert!(matches!(pool.close_blocking(), Ok(()) | Err(Error::DiskFull(_))));
    let pool = Pool::open_blocking(file(&folder), &options()).unwrap();
    assert_eq!(pool.read_blocking(ids).unwrap(), acknowledged);
    // Before the disk goes.
    let _ = pool.close_blocking();
}
