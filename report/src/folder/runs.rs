//! runs.jsonl and memory.jsonl: what came of every run.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, none};
use crate::files;
use crate::folder::{hyperfine::Export, plan_file::PlannedRun, record::Record};

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub run: String,
    /// Exit code of the command, as hyperfine or the shell saw it.
    pub exit: i32,
    /// What hyperfine exported; `None` of a failed command. It must be said: by itself serde takes a missing key for null.
    #[serde(deserialize_with = "Option::deserialize")]
    pub hyperfine: Option<Export>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub record: Option<Record>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRun {
    pub pass: u32,
    pub scenario: String,
    pub arm: String,
    pub exit: i32,
    #[serde(deserialize_with = "Option::deserialize")]
    pub time: Option<GnuTime>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub record: Option<Record>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GnuTime {
    pub max_rss_kib: f64,
    pub minor_faults_count: f64,
    pub major_faults_count: f64,
    pub voluntary_switches_count: f64,
    pub involuntary_switches_count: f64,
    pub wall_s: f64,
    pub user_s: f64,
    pub system_s: f64,
}

impl Run {
    /// The first difference from what was planned of `study`, or an impossible time, in words; a failed run fits.
    pub fn misfit(&self, plan: &PlannedRun, study: &str) -> Option<String> {
        let record = self.record.as_ref()?;
        let process_s = self.hyperfine.as_ref().map_or(f64::INFINITY, |export| export.wall_s);
        // Both clocks are monotonic and read in nanoseconds, and the process outlives its span by a millisecond: there is nothing to tolerate.
        let impossible = |seconds: &f64| !(*seconds > 0.0 && *seconds <= process_s);
        record.misfit(plan, study).or_else(|| {
            let seconds = record.timed_s().filter(impossible)?;
            let span = format!("a span of {seconds} s, but 0 < work_s <= process_s = {process_s} s");
            Some(format!("the record of {} has {span}", plan.run))
        })
    }

    pub fn failure(&self) -> Option<String> {
        let timeless = || self.hyperfine.is_none().then(|| "hyperfine left no time".to_owned());
        failure(self.record.as_ref(), self.exit).or_else(timeless)
    }
}

/// Why a command counts as failed by its record and exit code; `None` if it succeeded.
pub(crate) fn failure(record: Option<&Record>, exit: i32) -> Option<String> {
    let error =
        record.and_then(|record| record.error.clone()).or_else(|| (exit != 0).then(|| format!("exit code {exit}")));
    error.or_else(|| record.is_none().then(|| "it left no record".to_owned()))
}

/// Reads a file of JSON lines, the last of which must be ended, too; an error names `file` and the line of everything that cannot be read.
pub fn read_lines<T: DeserializeOwned>(text: &str, file: &str) -> Result<Vec<T>, Vec<Error>> {
    let mut errors = Vec::new();
    let lines = (1..).zip(text.split_inclusive('\n')).filter_map(|(number, line)| {
        let what = "the last line is not ended: the measurement was interrupted, start it again";
        let whole = line.strip_suffix('\n').ok_or_else(|| Error::line(file, number, what));
        whole.and_then(|line| files::json(line, file, number)).map_err(|error| errors.push(error)).ok()
    });
    let read = lines.collect();
    none(errors).map(|()| read)
}
