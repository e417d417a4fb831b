//! `report append`: one line more in runs.jsonl or memory.jsonl, while a measurement is under way.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::cli::Left;
use crate::error::Error;
use crate::files;
use crate::folder::hyperfine::Export;
use crate::folder::log::{Log, Passes};
use crate::folder::read_meta;
use crate::folder::record::Record;
use crate::folder::runs::{GnuTime, Run, failure};
use crate::plan::selection;

/// Adds the run `id` to runs.jsonl of `folder`, and the seal of its block if the run completes it. Returns the reason if the run counts as
/// failed. A run that is not next in the plan, or whose record is that of another run, is an error, and nothing is added.
pub fn run(folder: &Path, id: &str, left: &Left, export: Option<&Path>) -> Result<Option<String>, Error> {
    let meta = read_meta(folder)?;
    let log = Log::open(folder)?;
    let next = log.next(id)?;
    let (hyperfine, _) = left.piece::<Export>(export.filter(|_| left.exit == 0), str::trim)?;
    let (record, record_text) = left.piece::<Record>(left.record.as_deref(), str::trim)?;
    let run = Run { run: id.to_owned(), exit: left.exit, hyperfine, record };
    if let Some(what) = run.misfit(next, &meta.study) {
        return Err(left.fault(what));
    }
    let (name, exit) = (quoted(id), left.exit);
    let kept = serde_json::json!(run.hyperfine);
    log.add(&format!("{{\"run\":{name},\"exit\":{exit},\"hyperfine\":{kept},\"record\":{record_text}}}\n"))?;
    Ok(run.failure())
}

/// Adds a pass under GNU time to memory.jsonl of `folder`. Returns the reason if the pass counts as failed. A pass that is not next in the
/// plan, or whose record is that of another pass, is an error, and nothing is added.
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
    let log = Passes::open(folder.join("memory.jsonl"), &promised)?;
    let next = log.next(&format!("memory-{pass} {scenario} {arm}"))?;
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
    /// Reads a file that the command left: its value, and its text on a single line. A file that is missing or empty is `None`, and so is a
    /// torn file of a failed command.
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
