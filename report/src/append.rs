//! `report append`: one line more in runs.jsonl or memory.jsonl, while a measurement is under way.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::cli::Left;
use crate::error::Error;
use crate::files;
use crate::hyperfine::Export;
use crate::plan_file::{self, PlannedRun};
use crate::record::Record;
use crate::results::{load, read_meta};
use crate::runs::{GnuTime, Run, failure};
use crate::seals;
use crate::selection;

/// Adds the run `id` to runs.jsonl of `folder`, and the seal of its block if it was the last of it; why it counts as failed, if it does.
/// Nothing is added if it is not the next run of the plan, or what it left is not of it.
pub fn run(folder: &Path, id: &str, left: &Left, export: Option<&Path>) -> Result<Option<String>, Error> {
    let meta = read_meta(folder)?;
    let (_, plan) = load(folder, "plan.tsv", plan_file::from_tsv)?;
    let log = Log::open(folder.join("runs.jsonl"))?;
    let next = log.next(&plan, |run| run.run.clone(), id)?;
    let (hyperfine, hyperfine_text) = left.piece::<Export>(export.filter(|_| left.exit == 0), str::trim)?;
    let (record, record_text) = left.piece::<Record>(left.record.as_deref(), str::trim)?;
    let run = Run { run: id.to_owned(), exit: left.exit, hyperfine, record };
    if let Some(what) = run.misfit(next, &meta.study) {
        return Err(left.fault(what));
    }
    let (name, exit) = (quoted(id), left.exit);
    let line = format!("{{\"run\":{name},\"exit\":{exit},\"hyperfine\":{hyperfine_text},\"record\":{record_text}}}\n");
    let sealed = log.add(&line)?;
    if plan.get(sealed.lines).is_none_or(|after| after.block_name() != next.block_name()) {
        add_seals(folder, &plan, &sealed)?;
    }
    Ok(run.failure())
}

/// The most seals that a block which is complete adds: its own, and that of the one before if we were ended between its last line and its seal.
const ADDED: usize = 2;

/// Adds to seals.tsv what is missing in it.
fn add_seals(folder: &Path, plan: &[PlannedRun], log: &Log) -> Result<(), Error> {
    let due = seals::of(plan, &log.text);
    let seals = Log::open(folder.join(seals::NAME))?;
    if let Some(missing) = due.get(seals.lines..)
        && missing.len() <= ADDED
        && seals.text == seals::to_tsv(&due[..seals.lines])
    {
        // A seal must not outlive the lines that it seals.
        let synced = File::open(&log.path).and_then(|file| file.sync_data());
        synced.map_err(|source| Error::io("write", &log.path, source))?;
        return seals.add(&seals::to_tsv(missing)).map(drop);
    }
    let what = "its seals are not of the lines in runs.jsonl, which were changed meanwhile: measure anew";
    Err(Error::file(&seals.path, what))
}

/// Adds a pass under GNU time to memory.jsonl of `folder`; why it counts as failed, if it does.
/// Nothing is added if it is not the next of the passes that the plan promises, or what it left is not of it.
pub fn memory(
    folder: &Path,
    pass: u32,
    scenario: &str,
    arm: &str,
    left: &Left,
    time: Option<&Path>,
) -> Result<Option<String>, Error> {
    let meta = read_meta(folder)?;
    let promised = selection::promised(folder)?;
    let log = Log::open(folder.join("memory.jsonl"))?;
    let name_of = |run: &PlannedRun| format!("{} {} {}", run.run, run.case.scenario, run.case.arm);
    let next = log.next(&promised, name_of, &format!("memory-{pass} {scenario} {arm}"))?;
    // Of a failed command GNU time says so in a line before ours.
    let (_, time_text) = left.piece::<GnuTime>(time, |text| text.rsplit('\n').next().unwrap_or_default())?;
    let (record, record_text) = left.piece::<Record>(left.record.as_deref(), str::trim)?;
    if let Some(what) = record.as_ref().and_then(|record| record.misfit(next, &meta.study)) {
        return Err(left.fault(what));
    }
    let (exit, [scenario, arm]) = (left.exit, [scenario, arm].map(quoted));
    let line = format!(
        "{{\"pass\":{pass},\"scenario\":{scenario},\"arm\":{arm},\"exit\":{exit},\"time\":{time_text},\"record\":{record_text}}}\n"
    );
    log.add(&line)?;
    Ok(failure(record.as_ref(), exit))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Left {
    /// What one of the files says, and its text in one line. Missing, empty, or of a failed command and torn, it says nothing.
    fn piece<T: DeserializeOwned>(
        &self,
        path: Option<&Path>,
        part: fn(&str) -> &str,
    ) -> Result<(Option<T>, String), Error> {
        let nothing = || Ok((None, "null".to_owned()));
        let Some(path) = path else { return nothing() };
        let bytes = files::bytes_if_there(path)?;
        // Between the tokens of JSON a line break is a space, and within them there is none.
        let line = part(String::from_utf8_lossy(&bytes).trim()).replace(['\r', '\n'], "");
        if line.is_empty() {
            return nothing();
        }
        match files::json(&line, path, 1) {
            Err(_) if self.exit != 0 => nothing(),
            read => Ok((Some(read?), line)),
        }
    }

    /// An error of the record.
    fn fault(&self, what: String) -> Error {
        Error::line(self.record.as_deref().unwrap_or(Path::new("the record")), 1, what)
    }
}

/// A file of lines that grows.
struct Log {
    path: PathBuf,
    text: String,
    /// How many.
    lines: usize,
}

impl Log {
    /// Reads the whole lines of a file, which need not be there yet, and drops the torn one that an interruption may have left.
    fn open(path: PathBuf) -> Result<Self, Error> {
        let mut bytes = files::bytes_if_there(&path)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        if whole < bytes.len() {
            let shorten = || OpenOptions::new().write(true).open(&path)?.set_len(whole as u64);
            shorten().map_err(|source| Error::io("write", &path, source))?;
            bytes.truncate(whole);
        }
        let text = String::from_utf8(bytes).map_err(|_| Error::file(&path, "it is no UTF-8"))?;
        let lines = text.matches('\n').count();
        Ok(Log { path, text, lines })
    }

    /// What is planned for the next line, which must be called `name`.
    fn next<'a>(
        &self,
        planned: &'a [PlannedRun],
        name_of: impl Fn(&PlannedRun) -> String,
        name: &str,
    ) -> Result<&'a PlannedRun, Error> {
        let line = self.lines + 1;
        let Some(next) = planned.get(self.lines) else {
            let what = format!("all of the {} that were planned are there, {name} is one too many", planned.len());
            return Err(Error::line(&self.path, line, what));
        };
        let due = name_of(next);
        if due == name { Ok(next) } else { Err(Error::line(&self.path, line, format!("{due} comes next, not {name}"))) }
    }

    /// Adds whole lines with one write.
    fn add(mut self, text: &str) -> Result<Self, Error> {
        let write = || OpenOptions::new().append(true).create(true).open(&self.path)?.write_all(text.as_bytes());
        write().map_err(|source| Error::io("write", &self.path, source))?;
        self.text += text;
        self.lines += text.matches('\n').count();
        Ok(self)
    }
}
