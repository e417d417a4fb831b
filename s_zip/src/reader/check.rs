//! What extraction refuses before it writes, and what is done about it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Seek};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::name::{self, NameFault, shown};

use super::entry::Entry;
use super::error::ReadError;
use super::source::CHUNK_BYTES;
use super::stream::EntryReader;
use super::{Limits, StreamingZipReader};

/// How an archive is tested or extracted. By default the first entry that is refused or damaged ends it.
#[derive(Default)]
pub struct ReadOptions<'a> {
    /// Told of each entry that is refused or damaged, which is then left out. What is wrong with the whole archive, the source or the target
    /// is an error still.
    pub skip_bad: Option<&'a mut dyn FnMut(ReadError)>,
    /// Soon after this is set, by another thread, [`ReadError::Stopped`] ends it.
    pub stop_by: Option<&'a AtomicBool>,
}

impl ReadOptions<'_> {
    fn pass_over(&mut self, error: ReadError) -> Result<(), ReadError> {
        match &mut self.skip_bad {
            Some(tell) if error.is_about_an_entry() => {
                tell(error);
                Ok(())
            }
            _ => Err(error),
        }
    }
}

/// What [`StreamingZipReader::test`] and [`StreamingZipReader::extract`] went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Entries that are files.
    pub files: u64,
    /// Entries that are folders.
    pub directories: u64,
    /// Uncompressed bytes.
    pub bytes: u64,
    /// Recorded permissions that the file system would not take.
    pub unset_permissions: Option<Unset>,
    /// Recorded times that the file system would not take.
    pub unset_times: Option<Unset>,
}

/// What a file system would not take of files and folders; their data is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unset {
    /// How many files and folders lack it.
    pub entries: u64,
    /// Why the first of them does.
    pub reason: io::ErrorKind,
}

impl Summary {
    fn count(&mut self, entry: &Entry) {
        if entry.is_directory() {
            self.directories += 1;
        } else {
            self.files += 1;
        }
        self.bytes = self.bytes.saturating_add(entry.uncompressed);
    }
}

/// One way through an archive, from entry to entry.
pub(super) struct Pass<'a> {
    options: ReadOptions<'a>,
    pub bad: Rc<HashSet<usize>>,
}

impl<'a> Pass<'a> {
    /// Checks everything that can be checked before the first entry is read.
    pub fn begin<R: Read + Seek>(
        archive: &StreamingZipReader<R>,
        mut options: ReadOptions<'a>,
    ) -> Result<Self, ReadError> {
        let (entries, limits) = (archive.entries(), &archive.limits);
        let sum = |of: fn(&Entry) -> u64| entries.iter().map(of).fold(0, u64::saturating_add);
        limits.check(None, sum(|entry| entry.compressed), sum(|entry| entry.uncompressed))?;
        // Checking all names takes the time of reading them a few times, however deep their folders are.
        let (state, mut first) = (RandomState::new(), HashMap::with_capacity(entries.len()));
        for entry in entries.iter().filter(|entry| check_name(entry).is_ok()) {
            if let Some((_, hash)) = levels(&state, entry.path()).last() {
                first.entry(hash).or_insert(entry);
            }
        }
        let mut bad = HashSet::new();
        for (index, entry) in entries.iter().enumerate() {
            let place = || check_place(entry, &first, levels(&state, entry.path()));
            if let Err(error) = check(entry, limits).and_then(|()| place()) {
                options.pass_over(error)?;
                bad.insert(index);
            }
        }
        Ok(Pass { options, bad: Rc::new(bad) })
    }

    /// Has `visit` see to every entry that is not bad, in order.
    pub fn run(
        mut self,
        entries: &[Entry],
        mut visit: impl FnMut(usize, &mut Summary) -> Result<(), ReadError>,
    ) -> Result<Summary, ReadError> {
        let mut summary = Summary::default();
        for (index, entry) in entries.iter().enumerate().filter(|(index, _)| !self.bad.contains(index)) {
            match visit(index, &mut summary) {
                Ok(()) => summary.count(entry),
                Err(error) => self.options.pass_over(error)?,
            }
        }
        Ok(summary)
    }

    /// What moves data for this pass, until it is told to stop or `failed` is set.
    pub fn pump<'b>(&self, failed: Option<&'b AtomicBool>) -> Pump<'b>
    where
        'a: 'b,
    {
        Pump { buffer: vec![0; CHUNK_BYTES], stops: [self.options.stop_by, failed] }
    }
}

pub(super) struct Pump<'a> {
    buffer: Vec<u8>,
    stops: [Option<&'a AtomicBool>; 2],
}

impl Pump<'_> {
    /// Moves all data of an entry.
    pub fn pour<R: Read + Seek>(
        &mut self,
        reader: &mut EntryReader<'_, R>,
        mut into: impl FnMut(&[u8]) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        loop {
            if self.stops.iter().flatten().any(|stop| stop.load(Ordering::Relaxed)) {
                return Err(ReadError::Stopped);
            }
            match reader.step(&mut self.buffer)? {
                0 => return Ok(()),
                bytes => into(&self.buffer[..bytes])?,
            }
        }
    }
}

/// The first reason for which an entry cannot be extracted, whatever others there are.
fn check(entry: &Entry, limits: &Limits) -> Result<(), ReadError> {
    let name = || shown(&entry.name);
    if entry.not_utf8 {
        return Err(ReadError::NotUtf8 { name: name() });
    }
    check_name(entry).map_err(|fault| ReadError::BadName { name: name(), fault })?;
    if let Some(kind) = entry.special_kind() {
        return Err(ReadError::NotAFile { name: name(), kind });
    }
    entry.check_readable(limits)
}

/// Whether the entry has a path of its own, and only folders on the way to it; `first` is the first entry of each path, by its hash.
fn check_place(
    entry: &Entry,
    first: &HashMap<u64, &Entry>,
    mut levels: impl Iterator<Item = (usize, u64)>,
) -> Result<(), ReadError> {
    let path = entry.path();
    let taken = levels.find_map(|(end, hash)| {
        let other = *first.get(&hash)?;
        let itself = end == path.len();
        // A folder is named again by all that it holds, and may be by itself.
        let harmless = other.is_directory() && (!itself || entry.is_directory());
        (!std::ptr::eq(entry, other) && !harmless && path[..end] == *other.path()).then_some((other, itself))
    });
    match taken {
        None => Ok(()),
        Some((_, true)) => Err(ReadError::DuplicateName { name: shown(&entry.name) }),
        Some((other, false)) => Err(ReadError::NameConflict { name: shown(other.path()), other: shown(&entry.name) }),
    }
}

fn check_name(entry: &Entry) -> Result<(), NameFault> {
    if entry.name == name::ROOT {
        return Ok(());
    }
    name::check(&entry.name)
}

/// The folders on the way to `path` and `path` itself: where each ends, and a hash of it; all in one pass.
pub(super) fn levels<'a>(state: &RandomState, path: &'a str) -> impl Iterator<Item = (usize, u64)> + use<'a> {
    let mut hasher = state.build_hasher();
    let mut start = 0;
    path.split_inclusive('/').map(move |part| {
        let name = part.trim_end_matches('/');
        hasher.write(name.as_bytes());
        let level = (start + name.len(), hasher.finish());
        hasher.write(b"/");
        start += part.len();
        level
    })
}
