//! Results folders: found, read, and joined to samples.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use self::cases::Case;
use self::dataset::{CORE_TO_CORE, Dataset, Sample};
use self::machine::Machine;
use crate::claims::Claims;
use crate::error::Error;
use crate::files;

use self::plan_file::{PlanMeta, PlannedRun};
use self::record::Record;
use self::runs::{MemoryRun, Run};

pub mod cases;
pub mod dataset;
pub mod host;
pub mod hyperfine;
pub(crate) mod log;
pub mod machine;
pub mod manifest;
pub(crate) mod packed;
pub mod plan_file;
pub mod record;
pub mod runs;
pub mod seals;

/// Everything in a results folder, read and not yet checked against each other.
#[derive(Debug, Clone)]
pub struct Folder {
    pub path: PathBuf,
    pub claims: Claims,
    pub cases: Vec<Case>,
    pub plan: Vec<PlannedRun>,
    pub meta: PlanMeta,
    pub runs: Vec<Run>,
    pub memory: Vec<MemoryRun>,
    pub machine: Machine,
    /// The texts of its files by name, as they stand, for what is checked by the byte.
    texts: BTreeMap<&'static str, String>,
}

/// The text of the file `name` in `folder`, and what `parse` makes of it.
pub(crate) fn load<T, E: From<Error>>(
    folder: &Path,
    name: &str,
    parse: fn(&str, &str) -> Result<T, E>,
) -> Result<(String, T), E> {
    let text = packed::read(folder, name)?;
    let parsed = parse(&text, &packed::place(folder, name).display().to_string())?;
    Ok((text, parsed))
}

pub fn read_meta(folder: &Path) -> Result<PlanMeta, Error> {
    load(folder, "plan.json", |text, file| files::json(text, file, 1)).map(|(_, meta)| meta)
}

/// The value, or its faults added to `faults`.
pub(crate) fn faulty<T>(faults: &mut Vec<Error>, result: Result<T, impl Into<Vec<Error>>>) -> Option<T> {
    result.map_err(|errors| faults.extend(errors.into())).ok()
}

impl Folder {
    /// Reads the folder at `path`, and on after a fault.
    pub(crate) fn open(path: &Path) -> Result<Self, Vec<Error>> {
        let (mut texts, mut faults) = (BTreeMap::new(), Vec::new());
        let meta = faulty(&mut faults, read_meta(path));
        let read = &mut (path, &mut texts, &mut faults);
        let claims = part(read, "claims.toml", Claims::parse);
        let cases = part(read, "cases.tsv", cases::parse);
        let plan = part(read, "plan.tsv", plan_file::from_tsv);
        let runs = part(read, "runs.jsonl", runs::read_lines);
        part(read, seals::NAME, |_, _| Ok::<_, Error>(()));
        // A measurement without memory passes is whole, too.
        let is_bare = !packed::place(path, "memory.jsonl").exists();
        let memory = if is_bare { Vec::new() } else { part(read, "memory.jsonl", runs::read_lines) };
        let machine = part(read, "machine.json", Machine::parse);
        let Some(meta) = meta.filter(|_| faults.is_empty()) else { return Err(faults) };
        Ok(Folder { path: path.to_owned(), claims, cases, plan, meta, runs, memory, machine, texts })
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// The last part of its path: when it was measured, and the profile.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its path below the results root.
    pub fn below(&self) -> String {
        format!("{}/{}", self.meta.study, self.name())
    }

    /// Whether it judges claims: it measured all of its profile.
    pub fn judges(&self) -> bool {
        let PlanMeta { calibration, only, profile, .. } = &self.meta;
        let is_whole = calibration.is_none() && only.is_none() && self.part().is_none();
        is_whole && matches!(profile.as_str(), "quick" | "full")
    }

    /// Whether pages show its figures: it judges, or it was asked for prices, maps or goals alone.
    pub fn is_shown(&self) -> bool {
        self.judges() || self.part().is_some()
    }

    /// What it was asked and nothing else: `prices`, `maps` or `goals`; `None` of any other round.
    pub fn part(&self) -> Option<&'static str> {
        let Claims { claims, controls, goals, prices, maps, .. } = &self.claims;
        match [prices.is_empty(), maps.is_empty(), goals.is_empty()] {
            _ if !(claims.is_empty() && controls.is_empty()) => None,
            [false, true, true] => Some("prices"),
            [true, false, true] => Some("maps"),
            [true, true, false] => Some("goals"),
            _ => None,
        }
    }

    /// How many blocks were run, and how many planned: a measurement that was cut off has fewer.
    pub fn blocks(&self) -> (usize, usize) {
        let blocks = |runs: usize| self.plan[..runs].iter().map(PlannedRun::block_name).collect::<BTreeSet<_>>().len();
        (blocks(self.runs.len().min(self.plan.len())), blocks(self.plan.len()))
    }

    /// What was planned and what came of it, of all runs that were made: they are the first of the plan, or the folder is refused.
    fn results(&self) -> impl Iterator<Item = (&PlannedRun, &Run)> {
        self.plan.iter().zip(&self.runs)
    }

    pub fn dataset(&self) -> Dataset {
        let mut data = Dataset::default();
        for (PlannedRun { block, case, .. }, run) in self.results() {
            let mut sample = Sample { block: *block, error: run.failure(), ..Sample::default() };
            if let (Some(record), None) = (run.record.clone(), &sample.error) {
                let process_s = run.hyperfine.as_ref().map(|export| ("process_s".to_owned(), export.wall_s));
                sample.metrics = record.metrics.into_iter().chain(process_s).collect();
                sample.pairs = record.pairs.unwrap_or_default();
            }
            data.add(&case.scenario, &case.arm, sample);
        }
        data
    }

    pub(crate) fn fault_in(&self, name: &str, what: String) -> Error {
        Error::file(self.path.join(name), what)
    }

    /// An error of a line (from 1) of runs.jsonl.
    pub(crate) fn fault(&self, line: usize, what: String) -> Error {
        Error::line(packed::place(&self.path, "runs.jsonl"), line, what)
    }

    /// The records of the runs that succeeded, with their lines (from 1) in runs.jsonl.
    pub fn records(&self) -> impl Iterator<Item = (usize, &Record)> {
        let lines = self.runs.iter().enumerate().filter(|(_, run)| run.failure().is_none());
        lines.filter_map(|(index, run)| Some((index + 1, run.record.as_ref()?)))
    }

    /// The time of a cache line from core to core after each run that says so, in ns.
    pub fn core_to_core_ns(&self) -> Vec<f64> {
        self.records().filter_map(|(_, record)| record.metrics.get(CORE_TO_CORE).copied()).collect()
    }

    /// Failed runs as run, scenario, arm and error.
    pub fn failures(&self) -> Vec<(String, String, String, String)> {
        let failed = |(PlannedRun { run, case, .. }, made): (&PlannedRun, &Run)| {
            Some((run.clone(), case.scenario.clone(), case.arm.clone(), made.failure()?))
        };
        self.results().filter_map(failed).collect()
    }

    /// Cases whose peak memory by the record and by GNU time, both of one process, differ by over 5 %, and how many cases were compared.
    pub fn memory_check(&self) -> (Vec<(String, String, f64, f64)>, usize) {
        let mut compared = 0;
        let mut differing = Vec::new();
        for run in &self.memory {
            let peak = |metric| run.record.as_ref().and_then(|record| record.metrics.get(metric));
            // A study may record both the peak of its work and, later, that of its process.
            let own = peak("process_peak_rss_kib").or_else(|| peak("peak_rss_kib"));
            let (Some(&own), Some(time)) = (own, run.time) else { continue };
            compared += 1;
            // GNU time's own pages count until the program takes their place: below 3 MiB the figure is its, not ours.
            if (own - time.max_rss_kib).abs() > 0.05 * own.max(3_072.0) {
                differing.push((run.scenario.clone(), run.arm.clone(), own, time.max_rss_kib));
            }
        }
        (differing, compared)
    }
}

/// One of the files that are read, whose text is kept; empty after a fault.
fn part<T: Default, E: From<Error> + Into<Vec<Error>>>(
    (path, texts, faults): &mut (&Path, &mut BTreeMap<&'static str, String>, &mut Vec<Error>),
    name: &'static str,
    parse: fn(&str, &str) -> Result<T, E>,
) -> T {
    let (text, parsed) = faulty(faults, load(path, name, parse)).unwrap_or_default();
    texts.insert(name, text);
    parsed
}

/// Every folder at or below `path` that holds a round, sealed or not, sorted by name, which is by time; to `faults` what is neither folder nor file.
pub(crate) fn rounds_below(path: &Path, faults: &mut Vec<Error>) -> Result<Vec<PathBuf>, Error> {
    let is_there = |name: &str| path.join(name).symlink_metadata().is_ok();
    if is_there("plan.tsv") || is_there(manifest::NAME) {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for (name, kind) in files::entries(path)? {
        let entry = path.join(&name);
        if name.to_string_lossy().starts_with('.') || kind.is_file() {
            continue;
        }
        if kind.is_dir() {
            found.extend(rounds_below(&entry, faults)?);
        } else {
            faults.push(Error::file(entry, "it is neither a folder nor a file: remove it"));
        }
    }
    Ok(found)
}
