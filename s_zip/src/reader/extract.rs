//! Extraction to a folder.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::name::printable_path;

use super::StreamingZipReader;
use super::check::{Pass, ReadOptions, Summary, Unset, levels};
use super::dir::Dir;
use super::entry::Entry;
use super::error::ReadError;

/// Checks, then writes entry by entry.
pub(super) fn extract<R: Read + Seek>(
    archive: &mut StreamingZipReader<R>,
    into: &Path,
    options: ReadOptions<'_>,
) -> Result<Summary, ReadError> {
    let pass = Pass::begin(archive, options)?;
    let root = fs::create_dir_all(into).and_then(|()| Dir::open(into)).map_err(|source| failed(into, source))?;
    let mut target = Target::new(into, root, &archive.entries);
    let mut summary = pass.run(archive, |reader, pass| {
        let entry = reader.entry();
        let (modified, mode, path) = (entry.modified_unix, entry.unix_mode, entry.path().to_owned());
        if entry.is_directory() {
            target.folder(&path)?;
            return pass.pour(reader, |_| Ok(()));
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let mut partial = Partial::create(target.folder(folder)?, name, into.join(&path), mode)?;
        pass.pour(reader, |data| partial.write(data))?;
        set(&partial.file, modified, mode, &mut pass.summary);
        partial.complete()
    })?;
    target.finish_folders(&archive.entries, &mut summary)?;
    Ok(summary)
}

/// The folder that is extracted to.
struct Target<'a> {
    path: &'a Path,
    root: Dir,
    state: RandomState,
    /// The modes of folders, by the hash of their path.
    recorded: HashMap<u64, Option<u32>>,
    /// Folders that this extraction made, by the hash of their path: only they get the mode and time of their entries.
    created: HashSet<u64>,
    /// The folder that was asked for last, because the next file is often in it, too.
    last: Option<(String, Dir)>,
}

impl<'a> Target<'a> {
    fn new(path: &'a Path, root: Dir, entries: &[Entry]) -> Self {
        let (state, mut recorded) = (RandomState::new(), HashMap::new());
        for entry in entries.iter().filter(|entry| entry.is_directory()) {
            if let Some((_, hash)) = levels(&state, entry.path()).last() {
                // The first entry of a folder counts.
                recorded.entry(hash).or_insert(entry.unix_mode);
            }
        }
        Target { path, root, state, recorded, created: HashSet::new(), last: None }
    }

    /// A folder below the root, with all above it; each is entered by its handle, so that none is a link.
    fn folder(&mut self, path: &str) -> Result<&Dir, ReadError> {
        if self.last.as_ref().is_none_or(|(last, _)| last != path) {
            let mut here: Option<Dir> = None;
            let mut start = 0;
            for (end, hash) in levels(&self.state, path) {
                let (above, name) = (here.as_ref().unwrap_or(&self.root), &path[start..end]);
                let entered = match above.enter(name) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        self.created.insert(hash);
                        let mode = self.recorded.get(&hash).copied().flatten();
                        above.make(name, mode.unwrap_or(0o777)).and_then(|()| above.enter(name))
                    }
                    result => result,
                };
                here = Some(entered.map_err(|source| {
                    let path = self.path.join(&path[..end]);
                    match source.kind() {
                        io::ErrorKind::NotADirectory => ReadError::NotAFolder { path: printable_path(&path) },
                        _ => failed(&path, source),
                    }
                })?);
                start = end + 1;
            }
            self.last = here.map(|dir| (path.to_owned(), dir));
        }
        Ok(self.last.as_ref().map_or(&self.root, |(_, dir)| dir))
    }

    /// Gives folders their times and modes, the innermost first: writing into a folder changes its time and needs its permission.
    fn finish_folders(&mut self, entries: &[Entry], summary: &mut Summary) -> Result<(), ReadError> {
        // The first entry of a folder counts.
        let mut made = |path| levels(&self.state, path).last().is_some_and(|(_, hash)| self.created.remove(&hash));
        let mut entries: Vec<&Entry> =
            entries.iter().filter(|entry| entry.is_directory() && made(entry.path())).collect();
        entries.sort_by_key(|entry| Reverse(entry.name.len()));
        for entry in entries {
            self.folder(entry.path())?;
            if let Some(folder) = self.last.take().and_then(|(_, dir)| dir.into_file()) {
                set(&folder, entry.modified_unix, entry.unix_mode, summary);
            }
        }
        Ok(())
    }
}

/// A file under a temporary name, which is removed unless it is completed.
struct Partial<'a> {
    dir: &'a Dir,
    temporary: String,
    name: &'a str,
    path: PathBuf,
    file: File,
    complete: bool,
}

impl<'a> Partial<'a> {
    /// Creates a file that is to have a name where there is nothing, not even a link. Others can never do more with it than its mode says.
    fn create(dir: &'a Dir, name: &'a str, path: PathBuf, mode: Option<u32>) -> Result<Self, ReadError> {
        if dir.holds(name) {
            return Err(ReadError::AlreadyExists { path: printable_path(&path) });
        }
        let temporary = format!(".s_zip-{:016x}.part", RandomState::new().build_hasher().finish());
        let file = dir.create(&temporary, mode.unwrap_or(0o666)).map_err(|source| failed(&path, source))?;
        Ok(Partial { dir, temporary, name, path, file, complete: false })
    }

    fn write(&mut self, data: &[u8]) -> Result<(), ReadError> {
        self.file.write_all(data).map_err(|source| failed(&self.path, source))
    }

    fn complete(mut self) -> Result<(), ReadError> {
        self.dir.rename(&self.temporary, self.name).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ReadError::AlreadyExists { path: printable_path(&self.path) },
            _ => failed(&self.path, error),
        })?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for Partial<'_> {
    fn drop(&mut self) {
        if !self.complete {
            // The error that led here says more than a failure to clean up.
            let _ = self.dir.remove(&self.temporary);
        }
    }
}

/// Gives a file or folder its time, and its mode if there is one. What the file system refuses is no reason to lose the data.
fn set(file: &File, modified: i64, mode: Option<u32>, summary: &mut Summary) {
    Unset::note(&mut summary.unset_times, set_modified(file, modified));
    Unset::note(&mut summary.unset_permissions, set_mode(file, mode));
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

#[cfg(unix)]
fn set_mode(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    mode.map_or(Ok(()), |mode| file.set_permissions(std::fs::Permissions::from_mode(mode & 0o777)))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same as on Unix")]
fn set_mode(_: &File, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

fn failed(path: &Path, source: io::Error) -> ReadError {
    ReadError::Write { path: printable_path(path), source }
}
