//! No acknowledged write is lost by a power failure.
//!
//! Killing a process shows nothing of the kind: the page cache outlives it, and a database that never syncs keeps everything. Here SQLite
//! runs on a VFS that knows what was synced, and the power is cut at hundreds of moments, in the middle of commits, of checkpoints and of
//! restarts of the log. That weaker settings lose writes by the same means shows that the means work.

#![cfg(all(unix, feature = "cli"))]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, OpenFlags};
use sqlite_bench::pool::{Durability, Options, Pool};
use sqlite_bench::schema::{self, Block, SEED_BLOCKS};

#[path = "power_loss/disk.rs"]
mod disk;
#[path = "power_loss/vfs.rs"]
mod vfs;

use disk::{Action, Cut, Disk, Kind, Plan, SECTOR, Shared, Survival};

const SEED: u64 = 7;
const FILE: &str = "test.db";
/// Each with a database of its own.
const ROUNDS: u64 = 6;
/// Blocks that are written in a round.
const WRITES: u64 = 100;
const NUMBERS: std::ops::Range<u64> = SEED_BLOCKS..SEED_BLOCKS + WRITES;
/// Cuts that a series must come to; threads make their number vary, around twice as many.
const CUTS: u64 = 150;
/// Pages in the log after which it is moved into the database: few, so that this happens often.
const CHECKPOINT_PAGES: u32 = 100;

/// Of each block everything that was written, as text.
type Content = BTreeMap<u64, String>;

/// What the cuts of a series came to.
#[derive(Debug, Default)]
struct Tally {
    cuts: u64,
    acknowledged: u64,
    /// Acknowledged and not found.
    lost: u64,
    /// Most of one cut.
    most_lost: u64,
    /// Found, but not as they were written.
    torn: u64,
    /// Databases with a write that is missing although a later one is there.
    gaps: u64,
    /// Databases that were not sound.
    damaged: u64,
    moments: BTreeMap<(Action, Kind), u64>,
}

impl Tally {
    fn add(&mut self, cut: &Cut, written: &Content) {
        self.cuts += 1;
        self.acknowledged += cut.acknowledged.len() as u64;
        *self.moments.entry(cut.moment).or_default() += 1;
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in &cut.files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let Some(found) = recover(&folder.path().join(FILE)) else {
            self.damaged += 1;
            return;
        };
        let lost = cut.acknowledged.iter().filter(|number| !found.contains_key(number)).count() as u64;
        let new = found.keys().filter(|&&number| number >= SEED_BLOCKS).count() as u64;
        self.lost += lost;
        self.most_lost = self.most_lost.max(lost);
        self.torn += found.iter().filter(|&(number, content)| written.get(number) != Some(content)).count() as u64;
        self.gaps += u64::from(found.keys().copied().ne(0..SEED_BLOCKS + new));
    }

    fn assert_sound(&self) {
        assert!(self.cuts >= CUTS, "{self:?}");
        assert_eq!((self.damaged, self.torn), (0, 0), "{self:?}");
    }

    fn assert_nothing_lost(&self) {
        self.assert_sound();
        assert_eq!(self.lost, 0, "{self:?}");
    }

    /// One after the other, and none is missing before one that is there.
    fn assert_nothing_lost_in_order(&self) {
        self.assert_nothing_lost();
        assert_eq!(self.gaps, 0, "{self:?}");
    }
}

/// Opens what is left, as anybody would, and reads it, if it is sound.
fn recover(file: &Path) -> Option<Content> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
    let integrity = schema::integrity(&connection).ok()?;
    content(&connection).ok().filter(|_| integrity == "ok")
}

fn content(connection: &Connection) -> rusqlite::Result<Content> {
    let mut statement = connection.prepare(
        "SELECT b.id, concat_ws(' ', b.hash, b.parent_hash, b.timestamp, hex(b.data),
             group_concat(concat_ws(' ', t.from_address, t.to_address, t.amount) ORDER BY t.id))
         FROM blocks b LEFT JOIN transactions t ON t.block_id = b.id GROUP BY b.id",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?)))?;
    rows.collect()
}

/// Cuts the power of what `write` does, again and again: after up to `within` plain writes each.
fn series(journal: &str, within: u64, survival: Survival, write: impl Fn(&Path, &Shared)) -> Tally {
    let mut tally = Tally::default();
    for round in 0..ROUNDS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        // The blocks of the start are there, whatever happens to the power.
        let connection = Connection::open(&file).unwrap();
        connection.pragma_update(None, "journal_mode", journal).unwrap();
        schema::create(&connection, SEED).unwrap();
        connection.execute_batch(schema::JOIN_INDEX).unwrap();
        drop(connection);
        let disk = Shared::default();
        vfs::register(vfs_of(&file), &disk);
        disk.lock().unwrap().cut(Plan { seed: SEED + round, within, survival });
        write(&file, &disk);
        let written = recover(&file).expect("it is sound");
        assert!(written.keys().copied().eq(0..NUMBERS.end), "without a power cut everything is there");
        for cut in disk.lock().unwrap().cuts() {
            tally.add(&cut, &written);
        }
    }
    println!("{tally:?}");
    tally
}

/// Each file has a VFS of its own, which is named after it.
fn vfs_of(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// One connection, which commits each block.
fn plainly(journal: &str, synchronous: &str) -> impl Fn(&Path, &Shared) {
    move |file, disk| {
        let connection = Connection::open_with_flags_and_vfs(file, OpenFlags::default(), vfs_of(file)).unwrap();
        // Of these only `wal` is a property of the file.
        connection.pragma_update(None, "journal_mode", journal).unwrap();
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).unwrap();
        connection.pragma_update(None, "synchronous", synchronous).unwrap();
        for number in NUMBERS {
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            schema::insert(&connection, Block::written(number, SEED)).unwrap();
            connection.execute_batch("COMMIT").unwrap();
            disk.lock().unwrap().acknowledge(number);
        }
    }
}

/// The pool, asked by so many at a time, of whose writes up to `batch` share a commit.
fn pooled(durability: Durability, writers: u64, batch: usize) -> impl Fn(&Path, &Shared) {
    move |file, disk| {
        let options = Options::default()
            .durability(durability)
            .batch(NonZero::new(batch).unwrap())
            .checkpoint_pages(CHECKPOINT_PAGES)
            .wal_limit_pages(2 * CHECKPOINT_PAGES);
        let pool = Pool::open_blocking(format!("file:{0}?vfs={0}", vfs_of(file)), &options).unwrap();
        let next = AtomicU64::new(NUMBERS.start);
        let write = || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            for number in numbers.take_while(|number| NUMBERS.contains(number)) {
                pool.write_blocking(move |db| schema::insert(db, Block::written(number, SEED))).unwrap();
                disk.lock().unwrap().acknowledge(number);
            }
        };
        std::thread::scope(|scope| (0..writers).for_each(|_| drop(scope.spawn(write))));
        let stats = pool.stats();
        assert_eq!(stats.commits < WRITES, batch > 1, "{stats:?}");
        // The power may fail during this, too.
        pool.close_blocking().unwrap();
    }
}

#[test]
fn a_disk_keeps_what_was_synced_and_forgets_the_rest() {
    let mut disk = Disk::default();
    let known = disk.open(FILE, Some(b"before".to_vec()));
    let new = disk.open("test.db-wal", None);
    disk.write(known, 0, b"B");
    let changes = disk.unsynced(known);
    disk.write(known, 1, b"E");
    disk.synced(known, changes, false);
    disk.write(new, 2, b"log");
    disk.synced(new, 1, false);
    disk.cut(Plan { seed: SEED, within: 1, survival: Survival::None });
    // The power fails before each of these three.
    disk.synced(new, 0, true);
    disk.acknowledge(1);
    disk.truncate(known, 3);
    disk.synced(known, 2, false);
    let files =
        |files: &[(&str, &[u8])]| files.iter().map(|&(name, bytes)| (name.to_owned(), bytes.to_vec())).collect();
    let [first, second, third] = <[Cut; 3]>::try_from(disk.cuts()).unwrap();
    assert_eq!(first.files, files(&[(FILE, b"Before")]), "a file has no name before its folder is synced");
    assert_eq!(second.files, files(&[(FILE, b"Before"), ("test.db-wal", b"\0\0log")]));
    assert_eq!((third.files, third.moment), (second.files, (Action::Sync, Kind::Database)));
    assert_eq!((first.acknowledged, second.acknowledged), (vec![], vec![1]));
}

#[test]
fn sectors_survive_whole_or_not_at_all() {
    let mut disk = Disk::default();
    let file = disk.open(FILE, Some(vec![0; 4 * SECTOR]));
    disk.write(file, 0, &[1; 3 * SECTOR]);
    disk.write(file, SECTOR, &[2; 3 * SECTOR]);
    disk.cut(Plan { seed: SEED, within: 1, survival: Survival::SomeSectors });
    (0..200).for_each(|_| disk.synced(file, 0, false));
    let mut seen: [BTreeSet<u8>; 4] = Default::default();
    let mut kinds = BTreeSet::new();
    for cut in disk.cuts() {
        let image = &cut.files[FILE];
        assert_eq!(image.len(), 4 * SECTOR);
        for (sector, seen) in image.chunks(SECTOR).zip(&mut seen) {
            assert!(sector.iter().all(|&byte| byte == sector[0]));
            seen.insert(sector[0]);
        }
        kinds.insert(image.iter().step_by(SECTOR).copied().collect::<Vec<_>>());
    }
    assert_eq!(seen.map(Vec::from_iter), [vec![0, 1], vec![0, 1, 2], vec![0, 1, 2], vec![0, 2]]);
    assert!(kinds.contains(&vec![0, 2, 0, 2]), "later sectors survive without earlier ones: {kinds:?}");
}

#[test]
fn what_is_synced_in_full_loses_nothing() {
    for survival in [Survival::None, Survival::SomeSectors] {
        let tally = series("wal", 150, survival, plainly("wal", "FULL"));
        tally.assert_nothing_lost_in_order();
        // Of a commit, of a checkpoint, and of a log that begins anew.
        for action in [(Action::Write, Kind::Log), (Action::Write, Kind::Database), (Action::WriteHeader, Kind::Log)] {
            assert!(tally.moments.contains_key(&action), "no cut fell in {action:?}: {tally:?}");
        }
        assert!(tally.moments.contains_key(&(Action::Sync, Kind::Log)), "{tally:?}");
        series("truncate", 600, survival, plainly("truncate", "FULL")).assert_nothing_lost_in_order();
    }
}

#[test]
fn the_pool_loses_nothing() {
    for survival in [Survival::None, Survival::SomeSectors] {
        // Every write has its own commit, or some share one.
        series("wal", 280, survival, pooled(Durability::Full, 1, 1)).assert_nothing_lost_in_order();
        series("wal", 60, survival, pooled(Durability::Full, 8, 64)).assert_nothing_lost();
    }
}

#[test]
fn a_log_synced_at_checkpoints_loses_the_newest_writes_and_stays_sound() {
    for survival in [Survival::None, Survival::SomeSectors] {
        let plain = series("wal", 150, survival, plainly("wal", "NORMAL"));
        assert_eq!(plain.gaps, 0, "{plain:?}");
        for tally in [plain, series("wal", 45, survival, pooled(Durability::Normal, 8, 64))] {
            tally.assert_sound();
            assert!(tally.lost > 0, "the power cuts do nothing: {tally:?}");
        }
    }
}

#[test]
fn a_log_that_is_never_synced_loses_writes_and_leaves_damage_when_sectors_survive_by_chance() {
    let pooled = series("wal", 45, Survival::None, pooled(Durability::Off, 8, 64));
    for tally in [series("wal", 150, Survival::None, plainly("wal", "OFF")), pooled] {
        assert!(tally.lost > 0, "the power cuts do nothing: {tally:?}");
    }
    let tally = series("wal", 150, Survival::SomeSectors, plainly("wal", "OFF"));
    assert!(tally.damaged > 0, "the sectors that survive do nothing: {tally:?}");
}

#[test]
fn a_rollback_journal_that_is_deleted_comes_back_with_one_write_unless_the_folder_is_synced() {
    let tally = series("delete", 600, Survival::None, plainly("delete", "FULL"));
    tally.assert_sound();
    assert!(tally.lost > 0 && tally.most_lost == 1, "{tally:?}");
    series("delete", 600, Survival::None, plainly("delete", "EXTRA")).assert_nothing_lost();
}
