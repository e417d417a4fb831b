//! `report append`: one line more in runs.jsonl or memory.jsonl, while a measurement is under way.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::json;

use crate::cli::{Append, Left};
use crate::error::Error;
use crate::files;
use crate::folder::log::{self, Log};
use crate::folder::runs::{GnuTime, Run, failure};
use crate::folder::{hyperfine::Export, read_meta, record::Record};
use crate::plan;

/// Adds a run, and the seal of its block if it completes it, or a pass under GNU time. Returns the reason if that counts as failed. What is not
/// next in the plan, or whose record is that of another run, is an error, and nothing is added.
pub fn run(what: &Append) -> Result<Option<String>, Error> {
    match what {
        Append::Runs { folder, run: id, left, hyperfine } => {
            let meta = read_meta(folder)?;
            let log = Log::open(folder)?;
            let next = log.next(id)?;
            let export = hyperfine.as_deref().filter(|_| left.exit == 0);
            let (hyperfine, _) = left.piece::<Export>(export, str::trim)?;
            let (record, record_text) = left.piece::<Record>(left.record.as_deref(), str::trim)?;
            let run = Run { run: id.clone(), exit: left.exit, hyperfine, record };
            left.refuse(run.misfit(next, &meta.study))?;
            let (name, exit, kept) = (json!(id), left.exit, json!(run.hyperfine));
            log.add(&format!("{{\"run\":{name},\"exit\":{exit},\"hyperfine\":{kept},\"record\":{record_text}}}\n"))?;
            Ok(run.failure())
        }
        Append::Memory { folder, pass, scenario, arm, left, time } => {
            let meta = read_meta(folder)?;
            let (promised, path) = (plan::promised(folder)?, folder.join("memory.jsonl"));
            let next = log::next_pass(&path, &promised, &format!("memory-{pass} {scenario} {arm}"))?;
            // Of a failed command GNU time says so in a line before ours.
            let last_line: fn(&str) -> &str = |text| text.rsplit('\n').next().unwrap_or_default();
            let (_, time) = left.piece::<GnuTime>(time.as_deref(), last_line)?;
            let (record, text) = left.piece::<Record>(left.record.as_deref(), str::trim)?;
            left.refuse(record.as_ref().and_then(|record| record.misfit(next, &meta.study)))?;
            let (exit, [scenario, arm]) = (left.exit, [scenario, arm].map(|name| json!(name)));
            let case = format!("\"pass\":{pass},\"scenario\":{scenario},\"arm\":{arm}");
            log::append(&path, &format!("{{{case},\"exit\":{exit},\"time\":{time},\"record\":{text}}}\n"))?;
            Ok(failure(record.as_ref(), exit))
        }
    }
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
        match files::json(&line, path, 1) {
            _ if line.is_empty() => nothing(),
            Err(_) if self.exit != 0 => nothing(),
            read => Ok((Some(read?), line)),
        }
    }

    /// An error of the record, if something is wrong with it.
    fn refuse(&self, misfit: Option<String>) -> Result<(), Error> {
        let record = self.record.as_deref().unwrap_or(Path::new("the record"));
        misfit.map_or(Ok(()), |what| Err(Error::line(record, 1, what)))
    }
}
