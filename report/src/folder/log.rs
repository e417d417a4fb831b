//! runs.jsonl and memory.jsonl at their ends, while a measurement is under way: one line more costs the same after ten lines and after ten
//! thousand, and a measurement may be ended between any two writes.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::Sha256;
use sha2::digest::common::hazmat::{SerializableState as _, SerializedState};

use crate::error::Error;
use crate::files;
use crate::folder::plan_file::{self, PlannedRun};
use crate::folder::runs::MemoryRun;
use crate::folder::seals::{self, Sealer};

/// Name of the file with the [`Cursor`]. A sealed round has none.
pub(crate) const CURSOR: &str = "cursor.json";

/// What follows from the first lines of runs.jsonl, so that nobody reads them again. The file may be behind, missing or torn: then the lines
/// after it, or all lines, are read once more.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cursor {
    /// How many lines.
    lines: usize,
    /// Their bytes in runs.jsonl, those of their runs in plan.tsv, and those of their seals in seals.tsv.
    bytes: u64,
    planned_bytes: u64,
    sealed_bytes: u64,
    /// State of the hash of the lines, in hexadecimal.
    hash: String,
}

/// runs.jsonl at its end.
pub(crate) struct Log {
    runs: PathBuf,
    seals: PathBuf,
    cursor: PathBuf,
    bytes: u64,
    sealed_bytes: u64,
    sealer: Sealer,
    plan: Upcoming,
}

/// plan.tsv from the next run on.
struct Upcoming {
    path: PathBuf,
    file: BufReader<File>,
    /// Number of the line that is read next.
    line: usize,
    /// Where the next run begins.
    bytes: u64,
    /// The next run, and the length of its line.
    next: Option<(PlannedRun, u64)>,
}

impl Log {
    /// Finds the end of runs.jsonl in `folder`, which need not be there yet; drops the torn line and adds the seal that an interruption may
    /// have left.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        if let Some(cursor) = known(folder)
            && let Some(log) = Self::at(folder, &cursor)?
        {
            return Ok(log);
        }
        let what = "its seals are not of the lines in runs.jsonl, which were changed meanwhile: measure anew";
        Self::at(folder, &Cursor::default())?.ok_or_else(|| Error::file(folder.join(seals::NAME), what))
    }

    /// The end of runs.jsonl, read from `cursor` on; `None` if the seals do not fit that.
    fn at(folder: &Path, cursor: &Cursor) -> Result<Option<Self>, Error> {
        let [runs, seals] = ["runs.jsonl", seals::NAME].map(|name| folder.join(name));
        let rest = whole_lines(&runs, cursor.bytes)?;
        let written = rest_of(&seals, cursor.sealed_bytes)?;
        let hash = hash_of(&cursor.hash).unwrap_or_default();
        let mut log = Log {
            plan: Upcoming::open(folder.join("plan.tsv"), cursor.lines, cursor.planned_bytes)?,
            cursor: folder.join(CURSOR),
            bytes: cursor.bytes,
            sealed_bytes: cursor.sealed_bytes,
            sealer: Sealer { lines: cursor.lines, hash },
            runs,
            seals,
        };
        let mut due = Vec::new();
        for line in rest.split_inclusive('\n') {
            due.extend(log.pass(line)?);
        }
        let older = due.len().saturating_sub(1);
        let (text, older) = (seals::to_tsv(&due), seals::to_tsv(&due[..older]));
        // Between a line and its seal we may have been ended, and within the seal.
        if !text.as_bytes().starts_with(&written) || written.len() < older.len() {
            return Ok(None);
        }
        log.sealed_bytes += written.len() as u64;
        log.seal(&text[written.len()..])?;
        Ok(Some(log))
    }

    /// What is planned for the next line, which must be called `id`.
    pub fn next(&self, id: &str) -> Result<&PlannedRun, Error> {
        due(self.plan.next.as_ref().map(|(run, _)| run), |run| run.run.clone(), id, &self.runs, self.sealer.lines)
    }

    /// Adds a whole line with one write, and the seal of the block that it completes.
    pub fn add(mut self, line: &str) -> Result<(), Error> {
        append(&self.runs, line)?;
        let seal = self.pass(line)?;
        self.seal(&seals::to_tsv(seal.as_slice()))?;
        let cursor = Cursor {
            lines: self.sealer.lines,
            bytes: self.bytes,
            planned_bytes: self.plan.bytes,
            sealed_bytes: self.sealed_bytes,
            hash: hex::encode(self.sealer.hash.serialize()),
        };
        let text = serde_json::to_string(&cursor).map_err(|source| Error::io("write", &self.cursor, source))?;
        std::fs::write(&self.cursor, text).map_err(|source| Error::io("write", &self.cursor, source))
    }

    /// Goes past a line; the seal of the block that it completes.
    fn pass(&mut self, line: &str) -> Result<Option<seals::Seal>, Error> {
        self.bytes += line.len() as u64;
        let Some(run) = self.plan.pass()? else { return Ok(None) };
        Ok(self.sealer.add(line, &run, self.plan.next.as_ref().map(|(run, _)| run)))
    }

    fn seal(&mut self, text: &str) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        // A seal must not outlive the lines that it seals.
        let synced = File::open(&self.runs).and_then(|file| file.sync_data());
        synced.map_err(|source| Error::io("write", &self.runs, source))?;
        append(&self.seals, text)?;
        self.sealed_bytes += text.len() as u64;
        Ok(())
    }
}

impl Upcoming {
    fn open(path: PathBuf, lines: usize, bytes: u64) -> Result<Self, Error> {
        let open = || -> io::Result<BufReader<File>> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(bytes))?;
            Ok(BufReader::new(file))
        };
        let file = open().map_err(|source| Error::io("read", &path, source))?;
        let mut plan = Upcoming { path, file, line: lines + 1, bytes, next: None };
        plan.next = plan.read()?;
        Ok(plan)
    }

    /// The next line as a run, with its length.
    fn read(&mut self) -> Result<Option<(PlannedRun, u64)>, Error> {
        let mut line = String::new();
        let bytes = self.file.read_line(&mut line).map_err(|source| Error::io("read", &self.path, source))?;
        if bytes == 0 {
            return Ok(None);
        }
        let run = plan_file::from_line(line.trim_end_matches('\n'), &self.path.display().to_string(), self.line)?;
        self.line += 1;
        Ok(Some((run, bytes as u64)))
    }

    /// The run that was next; the one after it is next now.
    fn pass(&mut self) -> Result<Option<PlannedRun>, Error> {
        let following = self.read()?;
        let passed = std::mem::replace(&mut self.next, following);
        Ok(passed.map(|(run, bytes)| {
            self.bytes += bytes;
            run
        }))
    }
}

/// The cursor of `folder`, if there is one that these files can have.
fn known(folder: &Path) -> Option<Cursor> {
    let cursor: Cursor = serde_json::from_slice(&std::fs::read(folder.join(CURSOR)).ok()?).ok()?;
    let length = |name: &str| Some(folder.join(name).metadata().ok()?.len());
    let reaches = |name: &str, bytes: u64| bytes == 0 || length(name).is_some_and(|length| bytes <= length);
    let is_in_them = reaches("runs.jsonl", cursor.bytes)
        && reaches("plan.tsv", cursor.planned_bytes)
        && reaches(seals::NAME, cursor.sealed_bytes)
        && cursor.bytes.checked_sub(1).is_some_and(|last| byte_at(&folder.join("runs.jsonl"), last) == Some(b'\n'));
    (is_in_them && hash_of(&cursor.hash).is_some()).then_some(cursor)
}

fn byte_at(path: &Path, place: u64) -> Option<u8> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(place)).ok()?;
    let mut byte = [0];
    file.read_exact(&mut byte).ok()?;
    Some(byte[0])
}

fn hash_of(state: &str) -> Option<Sha256> {
    let state = SerializedState::<Sha256>::try_from(hex::decode(state).ok()?.as_slice()).ok()?;
    Sha256::deserialize(&state).ok()
}

/// memory.jsonl at its end, and the passes that the plan promises.
pub(crate) struct Passes<'a> {
    path: PathBuf,
    promised: &'a [PlannedRun],
    lines: usize,
}

impl<'a> Passes<'a> {
    /// Finds the end of the file at `path`, which need not be there yet, by its last line; drops the torn one that an interruption may have left.
    pub fn open(path: PathBuf, promised: &'a [PlannedRun]) -> Result<Self, Error> {
        let lines = match last_line(&path)? {
            None => 0,
            Some(line) => {
                let MemoryRun { pass, scenario, arm, .. } = files::json(&line, &path, 1)?;
                let name = format!("memory-{pass} {scenario} {arm}");
                let unplanned = || Error::file(&path, format!("its last line is of {name}, which is not planned"));
                promised.iter().position(|run| name_of(run) == name).ok_or_else(unplanned)? + 1
            }
        };
        Ok(Passes { path, promised, lines })
    }

    /// What is planned for the next line, which must be called `name`.
    pub fn next(&self, name: &str) -> Result<&'a PlannedRun, Error> {
        due(self.promised.get(self.lines), name_of, name, &self.path, self.lines)
    }

    /// Adds a whole line with one write.
    pub fn add(self, line: &str) -> Result<(), Error> {
        append(&self.path, line)
    }
}

fn name_of(run: &PlannedRun) -> String {
    format!("{} {} {}", run.run, run.case.scenario, run.case.arm)
}

/// `next`, which is called `name`, unless something else is `asked` for as the line after these `lines`.
fn due<'a>(
    next: Option<&'a PlannedRun>,
    name: impl FnOnce(&PlannedRun) -> String,
    asked: &str,
    path: &Path,
    lines: usize,
) -> Result<&'a PlannedRun, Error> {
    let what = match next.map(|next| (next, name(next))) {
        None => format!("all of the {lines} that were planned are there, {asked} is one too many"),
        Some((next, name)) if name == asked => return Ok(next),
        Some((_, name)) => format!("{name} comes next, not {asked}"),
    };
    Err(Error::line(path, lines + 1, what))
}

fn append(path: &Path, text: &str) -> Result<(), Error> {
    let write = || OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes());
    write().map_err(|source| Error::io("write", path, source))
}

/// What stands in a file from byte `start` on; nothing if it is not there.
fn rest_of(path: &Path, start: u64) -> Result<Vec<u8>, Error> {
    let read = || -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        file.read_to_end(&mut rest)?;
        Ok(rest)
    };
    match read() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|source| Error::io("read", path, source)),
    }
}

/// The whole lines of a file from byte `start` on; a torn one at its end is cut off.
fn whole_lines(path: &Path, start: u64) -> Result<String, Error> {
    let mut rest = rest_of(path, start)?;
    let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    if whole < rest.len() {
        let shorten = || OpenOptions::new().write(true).open(path)?.set_len(start + whole as u64);
        shorten().map_err(|source| Error::io("write", path, source))?;
        rest.truncate(whole);
    }
    String::from_utf8(rest).map_err(|_| Error::file(path, "it is no UTF-8"))
}

/// The last whole line of a file, if there is one; a torn one after it is cut off.
fn last_line(path: &Path) -> Result<Option<String>, Error> {
    const FIRST_GUESS: u64 = 1 << 16;
    let length = path.metadata().map_or(0, |file| file.len());
    let mut start = length.saturating_sub(FIRST_GUESS);
    loop {
        let rest = rest_of(path, start)?;
        let is_break = |byte: &u8| *byte == b'\n';
        let (first, last) = (rest.iter().position(is_break), rest.iter().rposition(is_break));
        // Two line breaks enclose it, or the beginning of the file and one.
        if start == 0 || first != last {
            // What was read may begin inside a character, so that its first line does not count.
            let skipped = first.filter(|_| start > 0).map_or(0, |at| at as u64 + 1);
            let lines = whole_lines(path, start + skipped)?;
            return Ok(lines.lines().last().map(str::to_owned));
        }
        start = start.saturating_sub(length - start);
    }
}
