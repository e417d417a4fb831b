//! runs.jsonl and memory.jsonl at their ends, while a measurement is under way: of the lines before only the newest are read again, and a
//! measurement may be ended between any two writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::folder::load;
use crate::folder::plan_file::{self, PlannedRun};
use crate::folder::seals::{self, Sealer};

/// Name of the file with the [`Sealer`] of the lines so far. It may be behind, missing or torn: then the lines after it, or all, are read once more. A
/// sealed round has none.
pub(crate) const CURSOR: &str = "cursor.json";

/// runs.jsonl at its end.
pub(crate) struct Log {
    runs: PathBuf,
    seals: PathBuf,
    sealer: Sealer,
    plan: Vec<PlannedRun>,
}

impl Log {
    /// Finds the end of runs.jsonl in `folder`, which need not be there yet; drops the torn line and adds the seal that an interruption may
    /// have left.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let (_, plan) = load(folder, "plan.tsv", plan_file::from_tsv)?;
        let [runs, seals] = ["runs.jsonl", seals::NAME].map(|name| folder.join(name));
        let known = fs::read(folder.join(CURSOR)).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let mut log = Log { runs, seals, sealer: Sealer::default(), plan };
        for sealer in known.into_iter().chain([Sealer::default()]) {
            log.sealer = sealer;
            if log.go_on()? {
                return Ok(log);
            }
        }
        let what = "its seals are not of the lines in runs.jsonl, which were changed meanwhile: measure anew";
        Err(Error::file(log.seals, what))
    }

    /// Goes to the end; `false` if the lines or the seals do not fit what is known.
    fn go_on(&mut self) -> Result<bool, Error> {
        let written = rest_of(&self.seals, self.sealer.sealed_bytes)?;
        let (Some(written), Some(rest)) = (written, lines_from(&self.runs, self.sealer.bytes)?) else {
            return Ok(false);
        };
        let due = self.sealer.add(&self.plan, &rest);
        let (text, older) = (seals::to_tsv(&due), seals::to_tsv(&due[..due.len().saturating_sub(1)]));
        // Between a line and its seal we may have been ended, and within the seal.
        let is_fit = text.as_bytes().starts_with(&written) && written.len() >= older.len();
        if is_fit {
            self.seal(&text[written.len()..])?;
        }
        Ok(is_fit)
    }

    /// What is planned for the next line, which must be called `id`.
    pub fn next(&self, id: &str) -> Result<&PlannedRun, Error> {
        due(&self.plan, self.sealer.lines, |run| run.run.clone(), id, &self.runs)
    }

    /// Adds a whole line with one write, and the seal of the block that it completes.
    pub fn add(mut self, line: &str) -> Result<(), Error> {
        append(&self.runs, line)?;
        let due = self.sealer.add(&self.plan, line);
        self.seal(&seals::to_tsv(&due))?;
        let path = self.runs.with_file_name(CURSOR);
        let cursor = serde_json::json!(self.sealer).to_string();
        fs::write(&path, cursor).map_err(|source| Error::io("write", &path, source))
    }

    fn seal(&self, text: &str) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        // A seal must not outlive the lines that it seals.
        let synced = File::open(&self.runs).and_then(|file| file.sync_data());
        synced.map_err(|source| Error::io("write", &self.runs, source))?;
        append(&self.seals, text)
    }
}

/// What is promised for the next line of memory.jsonl at `path`, which must be called `name`; drops the torn line that an interruption may have
/// left there.
pub(crate) fn next_pass<'a>(path: &Path, promised: &'a [PlannedRun], name: &str) -> Result<&'a PlannedRun, Error> {
    let lines = lines_from(path, 0)?.unwrap_or_default().lines().count();
    let name_of = |PlannedRun { run, case, .. }: &PlannedRun| format!("{run} {} {}", case.scenario, case.arm);
    due(promised, lines, name_of, name, path)
}

/// What is planned after so many `lines`, unless that has another name than is `asked` for.
fn due<'a>(
    plan: &'a [PlannedRun],
    lines: usize,
    name: impl Fn(&PlannedRun) -> String,
    asked: &str,
    path: &Path,
) -> Result<&'a PlannedRun, Error> {
    let what = match plan.get(lines) {
        None => format!("all of the {lines} that were planned are there, {asked} is one too many"),
        Some(next) if name(next) == asked => return Ok(next),
        Some(next) => format!("{} comes next, not {asked}", name(next)),
    };
    Err(Error::line(path, lines + 1, what))
}

/// Adds to a file with one write.
pub(crate) fn append(path: &Path, text: &str) -> Result<(), Error> {
    let write = || OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes());
    write().map_err(|source| Error::io("write", path, source))
}

/// What stands in a file from byte `start` on, `None` if it ends before; one that is not there is empty.
fn rest_of(path: &Path, start: u64) -> Result<Option<Vec<u8>>, Error> {
    let read = || -> io::Result<Option<Vec<u8>>> {
        let mut file = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((start == 0).then(Vec::new)),
            file => file?,
        };
        let mut rest = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.read_to_end(&mut rest)?;
        Ok((file.metadata()?.len() >= start).then_some(rest))
    };
    read().map_err(|source| Error::io("read", path, source))
}

/// The whole lines of a file from byte `start` on, `None` if no line begins there; a torn one at its end is cut off.
fn lines_from(path: &Path, start: u64) -> Result<Option<String>, Error> {
    // With the break before it.
    let before = start.min(1);
    let Some(mut rest) = rest_of(path, start - before)? else { return Ok(None) };
    if before > 0 && rest.first() != Some(&b'\n') {
        return Ok(None);
    }
    let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    if whole < rest.len() {
        let shorten = || OpenOptions::new().write(true).open(path)?.set_len(start - before + whole as u64);
        shorten().map_err(|source| Error::io("write", path, source))?;
    }
    let lines = rest.drain(..whole).skip(usize::from(before > 0)).collect();
    String::from_utf8(lines).map(Some).map_err(|_| Error::file(path, "it is no UTF-8"))
}
