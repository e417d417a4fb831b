//! Results folders: found, read, and joined to samples.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cases::{self, Case};
use crate::claims::Claims;
use crate::dataset::{Dataset, Sample};
use crate::error::Error;
use crate::files;
use crate::machine::Machine;
use crate::manifest;
use crate::page::Page;
use crate::plan_file::{self, PlanMeta, PlannedRun};
use crate::runs::{self, MemoryRun, Run};

/// Everything in a results folder, read and not yet checked against each other.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// Hash of claims.toml, cases.tsv and plan.tsv as they stand.
    pub hash: String,
    pub claims: Claims,
    /// How it is presented.
    pub page: Page,
    pub cases: Vec<Case>,
    pub plan: Vec<PlannedRun>,
    /// What the plan says of itself.
    pub meta: PlanMeta,
    /// What came of the runs.
    pub runs: Vec<Run>,
    /// What came of the memory passes.
    pub memory: Vec<MemoryRun>,
    pub machine: Machine,
}

/// The text of the file `name` in `folder`, and what `parse` makes of it.
///
/// # Errors
/// If it cannot be read, is not UTF-8 or not as docs/FORMAT.md says.
pub fn load<T, E: From<Error>>(
    folder: &Path,
    name: &str,
    parse: fn(&str, &str) -> Result<T, E>,
) -> Result<(String, T), E> {
    let path = folder.join(name);
    let text = files::read(&path)?;
    let parsed = parse(&text, &path.display().to_string())?;
    Ok((text, parsed))
}

/// Reads plan.json of `folder`.
///
/// # Errors
/// If it is missing or not as docs/FORMAT.md says.
pub fn read_meta(folder: &Path) -> Result<PlanMeta, Error> {
    load(folder, "plan.json", files::from_json).map(|(_, meta)| meta)
}

/// The value, or its faults added to `faults`.
fn faulty<T>(faults: &mut Vec<Error>, result: Result<T, impl Into<Vec<Error>>>) -> Option<T> {
    result.map_err(|errors| faults.extend(errors.into())).ok()
}

impl Folder {
    /// Reads the folder at `path`.
    ///
    /// # Errors
    /// The first file that is missing or cannot be read, with its line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Folder::open(path).map_err(|mut errors| errors.swap_remove(0))
    }

    /// Reads the folder at `path`, and on after a fault.
    ///
    /// # Errors
    /// Every file that is missing or cannot be read, with its line; at least one.
    pub fn open(path: &Path) -> Result<Self, Vec<Error>> {
        let mut faults = Vec::new();
        let claims = faulty(&mut faults, load(path, "claims.toml", Claims::parse));
        let page = faulty(&mut faults, load(path, "page.toml", Page::parse));
        let cases = faulty(&mut faults, load(path, "cases.tsv", cases::parse));
        let plan = faulty(&mut faults, load(path, "plan.tsv", plan_file::from_tsv));
        let meta = faulty(&mut faults, read_meta(path));
        let runs = faulty(&mut faults, load(path, "runs.jsonl", runs::read_lines));
        // A measurement without memory passes is whole, too.
        let has_memory = path.join("memory.jsonl").exists();
        let memory = has_memory.then(|| faulty(&mut faults, load(path, "memory.jsonl", runs::read_lines)));
        let machine = faulty(&mut faults, load(path, "machine.json", Machine::parse));
        let whole = || {
            let ((claims_text, claims), (cases_text, cases), (plan_text, plan)) = (claims?, cases?, plan?);
            let memory = memory.map_or(Some(Vec::new()), |read| Some(read?.1))?;
            let (page, meta, runs, machine) = (page?.1, meta?, runs?.1, machine?.1);
            let hash = plan_file::hash(&claims_text, &cases_text, &plan_text);
            let path = path.to_owned();
            Some(Folder { path, hash, claims, page, cases, plan, meta, runs, memory, machine })
        };
        whole().ok_or(faults)
    }

    /// The samples of all planned runs; a run that left nothing is a failed sample.
    pub fn dataset(&self) -> Dataset {
        let by_id: BTreeMap<&str, &Run> = self.runs.iter().map(|run| (run.run.as_str(), run)).collect();
        let mut data = Dataset::default();
        for planned in &self.plan {
            let run = by_id.get(planned.run.as_str());
            let error = run.map_or_else(|| Some("it did not run".to_owned()), |run| run.failure());
            let mut sample = Sample { block: planned.block, error, ..Sample::default() };
            if let (Some(run), None) = (run, &sample.error) {
                let process_s = run.hyperfine.as_ref().map(|export| ("process_s".to_owned(), export.wall_s));
                if let Some(record) = run.record.clone() {
                    sample.metrics = record.metrics.into_iter().chain(process_s).collect();
                    sample.pairs = record.pairs.unwrap_or_default();
                    sample.histograms = record.histograms.unwrap_or_default();
                }
            }
            data.add(&planned.case.scenario, &planned.case.arm, sample);
        }
        data
    }

    /// Failed runs as run, scenario, arm and error.
    pub fn failures(&self) -> Vec<(String, String, String, String)> {
        let planned: BTreeMap<&str, &PlannedRun> = self.plan.iter().map(|run| (run.run.as_str(), run)).collect();
        self.runs
            .iter()
            .filter_map(|run| {
                let case = &planned.get(run.run.as_str())?.case;
                Some((run.run.clone(), case.scenario.clone(), case.arm.clone(), run.failure()?))
            })
            .collect()
    }

    /// Seconds spent in the runs, by hyperfine.
    pub fn measured_s(&self) -> f64 {
        self.runs.iter().filter_map(|run| run.hyperfine.as_ref()).map(|export| export.wall_s).sum()
    }

    /// Cases whose peak memory by the record and by GNU time differ by over 5 %, and how many cases were compared. Both readings are
    /// of the same process.
    pub fn memory_check(&self) -> (Vec<(String, String, f64, f64)>, usize) {
        let mut compared = 0;
        let mut differing = Vec::new();
        for run in &self.memory {
            let peak = |metric| run.record.as_ref().and_then(|record| record.metrics.get(metric));
            // A study may record both the peak of its work and, later, that of its process.
            let own = peak("process_peak_rss_kib").or_else(|| peak("peak_rss_kib"));
            let (Some(&own), Some(time)) = (own, run.time) else {
                continue;
            };
            compared += 1;
            // GNU time's own pages count until the program takes their place: below 3 MiB the figure is its, not ours.
            if (own - time.max_rss_kib).abs() > 0.05 * own.max(3_072.0) {
                differing.push((run.scenario.clone(), run.arm.clone(), own, time.max_rss_kib));
            }
        }
        (differing, compared)
    }
}

/// Whole measurements before the newest that the report compares with it, at most.
const EARLIER_ROUNDS: usize = 3;

/// The newest whole folder of a study, those before it, and what supplements it.
#[derive(Debug, Clone, PartialEq)]
pub struct Newest {
    /// Its newest sealed folder.
    pub folder: PathBuf,
    /// The whole ones before it, the newest first: as many as the report compares.
    pub earlier: Vec<PathBuf>,
    /// Sealed partial measurements and the newest whole one of the other profile, the newest first.
    pub supplements: Vec<PathBuf>,
    /// The newest sealed calibration.
    pub calibration: Option<PathBuf>,
}

/// Finds the newest sealed quick or full folder of every study below `root`, sorted by study. A study of which only parts were measured
/// is left out.
///
/// # Errors
/// If the folders cannot be listed.
pub fn newest(root: &Path) -> Result<Vec<Newest>, Error> {
    let mut found = Vec::new();
    for path in folders(root)? {
        let mut sealed = folders(&path)?;
        sealed.retain(|folder| folder.join(manifest::NAME).exists());
        // The newest first.
        sealed.reverse();
        let calibration = sealed.iter().find(|folder| profile_of(folder) == "calibration").cloned();
        sealed.retain(|folder| matches!(profile_of(folder), "quick" | "full"));
        let (mut supplements, whole): (Vec<PathBuf>, Vec<PathBuf>) =
            sealed.into_iter().partition(|folder| is_partial(folder));
        let Some((folder, earlier)) = whole.split_first() else {
            continue;
        };
        // The newest whole one of the other profile has scenarios and blocks that this one lacks.
        supplements.extend(earlier.iter().find(|other| profile_of(other) != profile_of(folder)).cloned());
        supplements.sort_by(|a, b| b.cmp(a));
        found.push(Newest {
            folder: folder.clone(),
            earlier: earlier.iter().take(EARLIER_ROUNDS).cloned().collect(),
            supplements,
            calibration,
        });
    }
    Ok(found)
}

/// Every sealed folder at or below `path`.
///
/// # Errors
/// If the folders cannot be listed.
pub fn sealed_below(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if path.join("plan.tsv").exists() || path.join(manifest::NAME).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for folder in folders(path)? {
        found.extend(sealed_below(&folder)?);
    }
    Ok(found)
}

/// Whether a sealed folder holds some scenarios only. One whose plan cannot be read counts as whole, so that reading it says why.
fn is_partial(folder: &Path) -> bool {
    read_meta(folder).is_ok_and(|meta| meta.only.is_some())
}

/// What stands after the stamp in a folder's name.
fn profile_of(folder: &Path) -> &str {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit_once('-').map_or("", |(_, profile)| profile)
}

/// The folders in `path` that are not hidden, sorted by name, which is by time.
fn folders(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::io("read", path, source);
    let mut folders = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}
