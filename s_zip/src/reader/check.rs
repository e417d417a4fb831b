//! What extraction refuses before it writes, and what is done about it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Seek};
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
    skip: Option<&'a mut dyn FnMut(ReadError)>,
    stop: Option<&'a AtomicBool>,
}

impl<'a> ReadOptions<'a> {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves out entries that are refused or damaged, and tells of each. What is wrong with the whole archive, the source or the target
    /// is an error still.
    #[must_use]
    pub fn skip_bad(mut self, tell: &'a mut dyn FnMut(ReadError)) -> Self {
        self.skip = Some(tell);
        self
    }

    /// Ends with [`ReadError::Stopped`] soon after `stop` is set, by another thread.
    #[must_use]
    pub fn stop_by(mut self, stop: &'a AtomicBool) -> Self {
        self.stop = Some(stop);
        self
    }

    fn pass_over(&mut self, error: ReadError) -> Result<(), ReadError> {
        match &mut self.skip {
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
    bad: HashSet<usize>,
    buffer: Vec<u8>,
}

impl<'a> Pass<'a> {
    /// Checks everything that can be checked before the first entry is read.
    pub fn begin<R: Read + Seek>(
        archive: &StreamingZipReader<R>,
        mut options: ReadOptions<'a>,
    ) -> Result<Self, ReadError> {
        let StreamingZipReader { entries, limits, .. } = archive;
        let sum = |of: fn(&Entry) -> u64| entries.iter().map(of).fold(0, u64::saturating_add);
        limits.check(None, sum(|entry| entry.compressed), sum(|entry| entry.uncompressed))?;
        let mut bad = HashSet::new();
        for (index, error) in faults(entries, limits) {
            options.pass_over(error)?;
            bad.insert(index);
        }
        Ok(Pass { options, bad, buffer: vec![0; CHUNK_BYTES] })
    }

    /// Has `visit` read every entry that is not bad; what it is given beside the entry reads it to its end.
    pub fn run<R: Read + Seek>(
        mut self,
        archive: &mut StreamingZipReader<R>,
        mut visit: impl FnMut(&mut EntryReader<'_, R>, &mut Pour<'_>) -> Result<(), ReadError>,
    ) -> Result<Summary, ReadError> {
        let mut summary = Summary::default();
        for index in (0..archive.entries.len()).filter(|index| !self.bad.contains(index)) {
            let mut pour = Pour { buffer: &mut self.buffer, stop: self.options.stop };
            match EntryReader::start(archive, index).and_then(|mut reader| visit(&mut reader, &mut pour)) {
                Ok(()) => archive.entries.get(index).into_iter().for_each(|entry| summary.count(entry)),
                Err(error) => self.options.pass_over(error)?,
            }
        }
        Ok(summary)
    }
}

/// Moves the data of an entry.
pub(super) struct Pour<'a> {
    buffer: &'a mut [u8],
    stop: Option<&'a AtomicBool>,
}

impl Pour<'_> {
    pub fn pour<R: Read + Seek>(
        &mut self,
        reader: &mut EntryReader<'_, R>,
        mut into: impl FnMut(&[u8]) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        loop {
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(ReadError::Stopped);
            }
            match reader.step(self.buffer)? {
                0 => return Ok(()),
                bytes => into(self.buffer.get(..bytes).unwrap_or_default())?,
            }
        }
    }
}

/// The entries that cannot be extracted, in order, each with the first reason. The time is that of reading all names a few times, however
/// deep their folders are.
fn faults(entries: &[Entry], limits: &Limits) -> Vec<(usize, ReadError)> {
    let state = RandomState::new();
    let mut first = HashMap::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        if let (Ok(()), Some((_, hash))) = (check_name(entry), levels(&state, entry.path()).last()) {
            first.entry(hash).or_insert(index);
        }
    }
    let taken = |index: usize, entry: &Entry| {
        let path = entry.path();
        levels(&state, path).find_map(|(end, hash)| {
            let other = *first.get(&hash)?;
            let found = entries.get(other)?;
            let itself = end == path.len();
            // A folder is named again by all that it holds, and may be by itself.
            let harmless = found.is_directory() && (!itself || entry.is_directory());
            if other == index || harmless || path.get(..end) != Some(found.path()) {
                return None;
            }
            let (name, other) = (shown(found.path()), shown(&entry.name));
            Some(if itself {
                ReadError::DuplicateName { name: other }
            } else {
                ReadError::NameConflict { name, other }
            })
        })
    };
    let fault = |index: usize, entry: &Entry| {
        let name = || shown(&entry.name);
        if entry.not_utf8 {
            return Some(ReadError::NotUtf8 { name: name() });
        }
        if let Err(fault) = check_name(entry) {
            return Some(ReadError::BadName { name: name(), fault });
        }
        if let Some(kind) = entry.special_kind() {
            return Some(ReadError::NotAFile { name: name(), kind });
        }
        entry.method(limits).err().or_else(|| taken(index, entry))
    };
    entries.iter().enumerate().filter_map(|(index, entry)| fault(index, entry).map(|error| (index, error))).collect()
}

fn check_name(entry: &Entry) -> Result<(), NameFault> {
    name::check(&entry.name)?;
    if cfg!(windows) { name::check_windows(&entry.name) } else { Ok(()) }
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
