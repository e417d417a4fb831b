//! Extraction to a folder.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::name::{self, shown};

use super::archive::{Archive, Summary};
use super::entry::Entry;
use super::error::ReadError;
use super::source::CHUNK_BYTES;
use super::stream::EntryReader;

/// Everything that can be refused before the first byte is written.
pub(super) fn check<R: Read + Seek>(archive: &Archive<R>) -> Result<(), ReadError> {
    let mut names = HashSet::with_capacity(archive.entries.len());
    let mut files = HashSet::new();
    for entry in &archive.entries {
        let shown = || shown(&entry.name);
        name::check(&entry.name).map_err(|fault| ReadError::BadName { name: shown(), fault })?;
        if let Some(kind) = entry.special_kind() {
            return Err(ReadError::NotAFile { name: shown(), kind });
        }
        archive.check_readable(entry)?;
        if entry.is_directory() && entry.uncompressed > 0 {
            return Err(ReadError::NotAFile { name: shown(), kind: "a folder with data" });
        }
        let path = entry.name.trim_end_matches('/');
        if !names.insert(path) {
            return Err(ReadError::DuplicateName { name: shown() });
        }
        if !entry.is_directory() {
            files.insert(path);
        }
    }
    for entry in &archive.entries {
        let path = entry.name.trim_end_matches('/');
        let folder = path.match_indices('/').find_map(|(at, _)| path.get(..at).and_then(|part| files.get(part)));
        if let Some(file) = folder {
            return Err(ReadError::NameConflict { name: shown(file), other: shown(&entry.name) });
        }
    }
    archive.check_sum()
}

/// Checks, then writes entry by entry.
pub(super) fn extract<R: Read + Seek>(archive: &mut Archive<R>, into: &Path) -> Result<Summary, ReadError> {
    check(archive)?;
    // The folder itself may be a link: the caller named it.
    fs::create_dir_all(into).map_err(|source| failed(into, source))?;
    let mut target = Target { root: into, created: HashSet::new() };
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut summary = Summary::default();
    for index in 0..archive.entries.len() {
        let mut reader = EntryReader::start(archive, index)?;
        let entry = reader.entry();
        summary.count(entry);
        let (modified, mode) = (entry.modified_unix, entry.unix_mode);
        let name = entry.name.trim_end_matches('/').to_owned();
        if entry.is_directory() {
            target.folder(&name)?;
            while reader.step(&mut buffer)? > 0 {}
            continue;
        }
        if let Some((folder, _)) = name.rsplit_once('/') {
            target.folder(folder)?;
        }
        let mut partial = Partial::create(into.join(&name))?;
        loop {
            let bytes = reader.step(&mut buffer)?;
            if bytes == 0 {
                break;
            }
            partial.write(buffer.get(..bytes).unwrap_or_default())?;
        }
        partial.complete(modified, mode)?;
    }
    target.finish_folders(&archive.entries)?;
    Ok(summary)
}

/// The folder that is extracted to.
struct Target<'a> {
    root: &'a Path,
    /// Folders that this extraction made: only they get the mode and time of their entries.
    created: HashSet<PathBuf>,
}

impl Target<'_> {
    /// Makes sure that a folder and those above it, up to the root, are folders and not links.
    fn folder(&mut self, name: &str) -> Result<(), ReadError> {
        let mut path = self.root.to_owned();
        for part in name.split('/') {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(ReadError::NotAFolder { path: path.display().to_string() }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir(&path).map_err(|source| failed(&path, source))?;
                    self.created.insert(path.clone());
                }
                Err(source) => return Err(failed(&path, source)),
            }
        }
        Ok(())
    }

    /// Gives folders their times and modes, the innermost first: writing into a folder changes its time and needs its permission.
    fn finish_folders(&self, entries: &[Entry]) -> Result<(), ReadError> {
        let mut folders: Vec<&Entry> = entries.iter().filter(|entry| entry.is_directory()).collect();
        folders.sort_unstable_by(|one, other| other.name.cmp(&one.name));
        for entry in folders {
            let path = self.root.join(entry.name.trim_end_matches('/'));
            if self.created.contains(&path) {
                finish_folder(&path, entry.modified_unix, entry.unix_mode).map_err(|source| failed(&path, source))?;
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn finish_folder(path: &Path, modified: i64, mode: Option<u32>) -> io::Result<()> {
    let folder = File::open(path)?;
    set_modified(&folder, modified)?;
    set_mode(&folder, mode)
}

/// Elsewhere a folder cannot be opened as a file; it keeps the time at which it was made.
#[cfg(not(unix))]
fn finish_folder(_: &Path, _: i64, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// A file that is removed again unless it is completed.
struct Partial {
    path: PathBuf,
    file: Option<File>,
}

impl Partial {
    /// Creates a file where there is nothing, not even a link.
    fn create(path: PathBuf) -> Result<Self, ReadError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // Until it has its own mode, nobody else can read it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(file) => Ok(Partial { path, file: Some(file) }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ReadError::AlreadyExists { path: path.display().to_string() })
            }
            Err(source) => Err(failed(&path, source)),
        }
    }

    fn write(&mut self, data: &[u8]) -> Result<(), ReadError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(data).map_err(|source| failed(&self.path, source))
    }

    fn complete(mut self, modified: i64, mode: Option<u32>) -> Result<(), ReadError> {
        let Some(file) = &self.file else { return Ok(()) };
        // A mode without write permission would do no harm here: the file is open already.
        let result = set_modified(file, modified).and_then(|()| set_mode(file, Some(mode.unwrap_or(0o644))));
        result.map_err(|source| failed(&self.path, source))?;
        self.file = None;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // Some systems do not remove open files.
            drop(file);
            // The error that led here says more than a failure to clean up.
            let _ = fs::remove_file(&self.path);
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

#[cfg(unix)]
fn set_mode(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    mode.map_or(Ok(()), |mode| file.set_permissions(fs::Permissions::from_mode(mode & 0o777)))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same as on Unix")]
fn set_mode(_: &File, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

fn failed(path: &Path, source: io::Error) -> ReadError {
    ReadError::Write { path: path.display().to_string(), source }
}
