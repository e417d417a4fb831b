//! Extraction to a folder.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, Permissions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufReader, Read, Seek, Write};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::name::printable_path;

use super::StreamingZipReader;
use super::check::{Pass, Pump, ReadOptions, Summary, Unset, levels};
use super::dir::{self, Dir};
use super::entry::Entry;
use super::error::ReadError;
use super::parallel;

impl<R: Read + Seek> StreamingZipReader<R> {
    /// Extracts everything to the folder `into`, which is created if it is missing.
    ///
    /// Nothing is written unless all entries pass the checks that [`test`](Self::test) makes before it reads. Existing files are never
    /// replaced, symbolic links in the folder never followed, not even those that others put there meanwhile. A file has a temporary
    /// name in its folder (`.s_zip-*.part`) until it is complete. Of the Unix mode the nine permission bits are applied, never set-user-id
    /// and its like; an entry without a mode follows the umask. The time of the last change is applied. What the file system does not let
    /// be set is counted in the [`Summary`], and the data stays. If an entry fails, what was extracted before it stays, and of itself
    /// nothing does. Fails as [`test`](Self::test), and if a file cannot be written.
    pub fn extract(&mut self, into: &Path) -> Result<Summary, ReadError> {
        self.extract_with(into, ReadOptions::default())
    }

    /// Like [`extract`](Self::extract) with options, which may let faults pass.
    pub fn extract_with(&mut self, into: &Path, options: ReadOptions<'_>) -> Result<Summary, ReadError> {
        let pass = Pass::begin(self, options)?;
        let entries = Arc::clone(&self.entries);
        let target = Target::open(into, &entries)?;
        let mut unpacker = Unpacker { target: &target, pump: pass.pump(None), last: None };
        target.fill(|complete| {
            pass.run(&entries, |index, summary| complete(index, unpacker.unpack(self, index), summary))
        })
    }
}

impl StreamingZipReader<BufReader<File>> {
    /// Like [`extract_with`](Self::extract_with) on up to `jobs` threads, at most 16, with the same result, errors included. Each has
    /// buffers and a decoder of its own. Up to 128 files wait under their temporary names until all before them are complete.
    pub fn extract_parallel(
        &mut self,
        into: &Path,
        options: ReadOptions<'_>,
        jobs: NonZero<usize>,
    ) -> Result<Summary, ReadError> {
        let pass = Pass::begin(self, options)?;
        let target = Target::open(into, &self.entries)?;
        target.fill(|complete| parallel::run(self, jobs, pass, &target, complete))
    }
}

/// Takes what became of an entry, in the order of the archive.
pub(super) type Complete<'a> =
    dyn FnMut(usize, Result<Unpacked, ReadError>, &mut Summary) -> Result<(), ReadError> + 'a;

/// An entry that is read to its end: what there is to complete of a file, and whether its time and mode could be set.
pub(super) struct Unpacked(Option<(Partial, [io::Result<()>; 2])>);

/// Writes entries to the folder, one after another.
pub(super) struct Unpacker<'a> {
    pub target: &'a Target<'a>,
    pub pump: Pump<'a>,
    /// The folder of the last entry, because the next one is often in it, too.
    pub last: Option<(&'a str, Arc<Dir>)>,
}

impl Unpacker<'_> {
    pub fn unpack<R: Read + Seek>(
        &mut self,
        archive: &mut StreamingZipReader<R>,
        index: usize,
    ) -> Result<Unpacked, ReadError> {
        let mut reader = archive.read(index)?;
        let entry = &self.target.entries[index];
        let folder = folder_of(entry);
        let dir = match &self.last {
            Some((last, dir)) if *last == folder => Arc::clone(dir),
            _ => Arc::clone(&self.last.insert((folder, self.target.folder(folder, index)?)).1),
        };
        if entry.is_directory() {
            return self.pump.pour(&mut reader, |_| Ok(())).map(|()| Unpacked(None));
        }
        let path = self.target.path.join(entry.path());
        let (partial, mut file) = Partial::create(dir, path, entry)?;
        let write = |data: &[u8]| file.write_all(data).map_err(|source| failed(&partial.path, source));
        self.pump.pour(&mut reader, write)?;
        let set = set(&file, entry);
        dir::close(file).map_err(|source| failed(&partial.path, source))?;
        Ok(Unpacked(Some((partial, set))))
    }
}

/// The path of the folder that an entry is, or stands in.
fn folder_of(entry: &Entry) -> &str {
    if entry.is_directory() { entry.path() } else { entry.path().rsplit_once('/').map_or("", |(folder, _)| folder) }
}

/// The folder that is extracted to.
pub(super) struct Target<'a> {
    path: &'a Path,
    root: Arc<Dir>,
    entries: &'a [Entry],
    state: RandomState,
    /// The modes of folders, by the hash of their path.
    recorded: HashMap<u64, Option<u32>>,
    /// Folders that this extraction made, by the hash of their path, with the first entry that needs them: only they
    /// get the mode and time of their entries.
    created: Mutex<HashMap<u64, usize>>,
}

impl<'a> Target<'a> {
    fn open(path: &'a Path, entries: &'a [Entry]) -> Result<Self, ReadError> {
        let root = fs::create_dir_all(path).and_then(|()| Dir::open(path)).map_err(|source| failed(path, source))?;
        let (state, mut recorded) = (RandomState::new(), HashMap::new());
        for entry in entries.iter().filter(|entry| entry.is_directory()) {
            if let Some((_, hash)) = levels(&state, entry.path()).last() {
                // The first entry of a folder counts.
                recorded.entry(hash).or_insert(entry.unix_mode);
            }
        }
        Ok(Target { path, root: Arc::new(root), entries, state, recorded, created: Mutex::default() })
    }

    /// Has `run` go through the entries, and completes them and their folders.
    fn fill(&self, run: impl FnOnce(&mut Complete<'_>) -> Result<Summary, ReadError>) -> Result<Summary, ReadError> {
        let mut at = 0;
        let result = run(&mut |index, unpacked, summary| {
            at = index;
            let Unpacked(Some((partial, set))) = unpacked? else { return Ok(()) };
            partial.complete().map(|()| note(set, summary))
        });
        match result {
            Ok(mut summary) => self.finish_folders(&mut summary).map(|()| summary),
            Err(error) => {
                self.unmake_folders(at);
                Err(error)
            }
        }
    }

    fn created(&self) -> MutexGuard<'_, HashMap<u64, usize>> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A folder below the root, with all above it, for an entry; each is entered by its handle, so that none is a link.
    fn folder(&self, path: &str, index: usize) -> Result<Arc<Dir>, ReadError> {
        let mut here = Arc::clone(&self.root);
        let mut start = 0;
        for (end, hash) in levels(&self.state, path) {
            let name = &path[start..end];
            let entered = match here.enter(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.make(&here, name, hash, index),
                result => result,
            };
            here = Arc::new(entered.map_err(|source| {
                let path = self.path.join(&path[..end]);
                match source.kind() {
                    io::ErrorKind::NotADirectory => ReadError::NotAFolder { path: printable_path(&path) },
                    _ => failed(&path, source),
                }
            })?);
            self.created().entry(hash).and_modify(|first| *first = index.min(*first));
            start = end + 1;
        }
        Ok(here)
    }

    /// Makes and enters a folder, unless another thread was faster.
    fn make(&self, above: &Dir, name: &str, hash: u64, index: usize) -> io::Result<Dir> {
        let mut created = self.created();
        match above.enter(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                above.make(name, self.recorded.get(&hash).copied().flatten().unwrap_or(0o777))?;
                created.insert(hash, index);
                above.enter(name)
            }
            result => result,
        }
    }

    /// Gives folders their times and modes, the innermost first: writing into a folder changes its time and needs its permission.
    fn finish_folders(&self, summary: &mut Summary) -> Result<(), ReadError> {
        let mut created = std::mem::take(&mut *self.created());
        // The first entry of a folder counts.
        let mut made = |path| levels(&self.state, path).last().is_some_and(|(_, hash)| created.remove(&hash).is_some());
        let folders = self.entries.iter().enumerate();
        let mut folders: Vec<_> = folders.filter(|(_, entry)| entry.is_directory() && made(entry.path())).collect();
        folders.sort_by_key(|(_, entry)| Reverse(entry.name.len()));
        for (index, entry) in folders {
            let folder = self.folder(entry.path(), index)?.file();
            let folder = folder.map_err(|source| failed(&self.path.join(entry.path()), source))?;
            note(set(&folder, entry), summary);
        }
        Ok(())
    }

    /// Removes the folders that were made only for entries behind the last one that counts.
    fn unmake_folders(&self, last: usize) {
        /// Handles that are open at once: the lowest go first, however many levels there are.
        const LEVELS: usize = 64;
        let created = self.created();
        let end = created.values().max().map_or(0, |index| index + 1);
        for entry in self.entries.iter().take(end).skip(last + 1) {
            let path = folder_of(entry);
            loop {
                let (mut here, mut start, mut lowest) = (Arc::clone(&self.root), 0, VecDeque::new());
                for (end, hash) in levels(&self.state, path) {
                    let name = &path[start..end];
                    let Ok(dir) = here.enter(name) else { break };
                    let above = std::mem::replace(&mut here, Arc::new(dir));
                    if created.get(&hash).is_some_and(|first| *first > last) {
                        lowest.push_back((above, name));
                    }
                    lowest.drain(..lowest.len().saturating_sub(LEVELS));
                    start = end + 1;
                }
                // What others put there stays, and what a later entry needs, too, until its turn.
                if lowest.iter().rev().filter(|(above, name)| above.remove_folder(name).is_ok()).count() == 0 {
                    break;
                }
            }
        }
    }
}

/// A file under a temporary name, which is removed unless it is completed.
struct Partial {
    dir: Arc<Dir>,
    temporary: String,
    path: PathBuf,
    name: Box<str>,
    complete: bool,
}

impl Partial {
    /// Creates a file that is to have a name where there is nothing, not even a link. Others can never do more with it than its mode says.
    fn create(dir: Arc<Dir>, path: PathBuf, entry: &Entry) -> Result<(Self, File), ReadError> {
        let name: Box<str> = entry.path().rsplit('/').next().unwrap_or_default().into();
        if dir.holds(&name) {
            return Err(ReadError::AlreadyExists { path: printable_path(&path) });
        }
        let temporary = format!(".s_zip-{:016x}.part", RandomState::new().build_hasher().finish());
        let file = dir.create(&temporary, entry.unix_mode.unwrap_or(0o666)).map_err(|source| failed(&path, source))?;
        Ok((Partial { dir, temporary, path, name, complete: false }, file))
    }

    fn complete(mut self) -> Result<(), ReadError> {
        self.dir.rename(&self.temporary, &self.name).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ReadError::AlreadyExists { path: printable_path(&self.path) },
            _ => failed(&self.path, error),
        })?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.complete {
            // The error that led here says more than a failure to clean up.
            let _ = self.dir.remove(&self.temporary);
        }
    }
}

/// Gives a file or folder its time, and its mode if there is one. What the file system refuses is no reason to lose the data.
fn set(file: &File, entry: &Entry) -> [io::Result<()>; 2] {
    let set_mode = |mode| file.set_permissions(Permissions::from_mode(mode & 0o777));
    [set_modified(file, entry.modified_unix), entry.unix_mode.map_or(Ok(()), set_mode)]
}

fn note(attempts: [io::Result<()>; 2], summary: &mut Summary) {
    for (attempt, unset) in attempts.into_iter().zip([&mut summary.unset_times, &mut summary.unset_permissions]) {
        if let Err(error) = attempt {
            unset.get_or_insert(Unset { entries: 0, reason: error.kind() }).entries += 1;
        }
    }
}

fn set_modified(file: &File, seconds: i64) -> io::Result<()> {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds >= 0 {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    };
    // A time that the system cannot name is no reason to lose the data.
    time.map_or(Ok(()), |time| file.set_modified(time))
}

fn failed(path: &Path, source: io::Error) -> ReadError {
    ReadError::Write { path: printable_path(path), source }
}
