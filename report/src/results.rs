//! Results folders: found, read, and joined to samples.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::cases::{self, Case};
use crate::claims::Claims;
use crate::dataset::{Dataset, Sample};
use crate::error::Error;
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
    /// claims.toml as it stands.
    pub claims_text: String,
    /// cases.tsv as it stands.
    pub cases_text: String,
    /// plan.tsv as it stands.
    pub plan_text: String,
    /// What is judged.
    pub claims: Claims,
    /// How it is presented.
    pub page: Page,
    /// The test cases.
    pub cases: Vec<Case>,
    /// The planned runs.
    pub plan: Vec<PlannedRun>,
    /// What the plan says of itself.
    pub meta: PlanMeta,
    /// What came of the runs.
    pub runs: Vec<Run>,
    /// What came of the memory passes.
    pub memory: Vec<MemoryRun>,
    /// The machine.
    pub machine: Machine,
}

/// Reads the text file `name` in `folder`.
///
/// # Errors
/// If it cannot be read or is not UTF-8.
pub fn read(folder: &Path, name: &str) -> Result<String, Error> {
    let path = folder.join(name);
    fs::read_to_string(&path).map_err(|source| Error::io("read", path.display().to_string(), source))
}

/// Reads plan.json of `folder`.
///
/// # Errors
/// If it is missing or not as docs/FORMAT.md says.
pub fn read_meta(folder: &Path) -> Result<PlanMeta, Error> {
    let file = folder.join("plan.json").display().to_string();
    let text = read(folder, "plan.json")?;
    let meta: PlanMeta =
        serde_json::from_str(&text).map_err(|error| Error::line(&file, error.line(), error.to_string()))?;
    if meta.schema != 1 {
        return Err(Error::file(file, format!("schema {} is unknown: this program reads 1", meta.schema)));
    }
    Ok(meta)
}

/// The text of a file and what `parse` makes of it.
fn text_and<T>(
    folder: &Path,
    name: &str,
    parse: fn(&str, &str) -> Result<T, Error>,
) -> Result<(String, T), Vec<Error>> {
    let text = read(folder, name).map_err(one)?;
    let parsed = parse(&text, &folder.join(name).display().to_string()).map_err(one)?;
    Ok((text, parsed))
}

/// The lines of a file of JSON lines.
fn read_lines<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Vec<T>, Vec<Error>> {
    runs::read_lines(&read(folder, name).map_err(one)?, &folder.join(name).display().to_string())
}

/// The value, or its faults added to `faults`.
fn faulty<T>(faults: &mut Vec<Error>, result: Result<T, Vec<Error>>) -> Option<T> {
    result.map_err(|errors| faults.extend(errors)).ok()
}

fn one(error: Error) -> Vec<Error> {
    vec![error]
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
        let claims_file = faulty(&mut faults, text_and(path, "claims.toml", Claims::parse));
        let page_file = faulty(&mut faults, text_and(path, "page.toml", Page::parse));
        let cases_file = faulty(&mut faults, text_and(path, "cases.tsv", cases::parse));
        let plan_file = faulty(&mut faults, text_and(path, "plan.tsv", plan_file::from_tsv));
        let meta = faulty(&mut faults, read_meta(path).map_err(one));
        let runs = faulty(&mut faults, read_lines(path, "runs.jsonl"));
        // A measurement without memory passes is whole, too.
        let has_memory = path.join("memory.jsonl").exists();
        let memory = if has_memory { faulty(&mut faults, read_lines(path, "memory.jsonl")) } else { Some(Vec::new()) };
        let machine = faulty(&mut faults, text_and(path, "machine.json", Machine::parse));
        match (claims_file, page_file, cases_file, plan_file, meta, runs, memory, machine) {
            (
                Some((claims_text, claims)),
                Some((_, page)),
                Some((cases_text, cases)),
                Some((plan_text, plan)),
                Some(meta),
                Some(runs),
                Some(memory),
                Some((_, machine)),
            ) => {
                let path = path.to_owned();
                Ok(Folder {
                    path,
                    claims_text,
                    cases_text,
                    plan_text,
                    claims,
                    page,
                    cases,
                    plan,
                    meta,
                    runs,
                    memory,
                    machine,
                })
            }
            _ => Err(faults),
        }
    }

    /// The samples of all planned runs; a run that left nothing is a failed sample.
    #[must_use]
    pub fn dataset(&self) -> Dataset {
        let by_id: BTreeMap<&str, &Run> = self.runs.iter().map(|run| (run.run.as_str(), run)).collect();
        let mut data = Dataset::default();
        for planned in &self.plan {
            let run = by_id.get(planned.run.as_str());
            let error = run.map_or_else(|| Some("it did not run".to_owned()), |run| run.failure());
            let record = run.and_then(|run| run.record.as_ref()).filter(|_| error.is_none());
            let mut metrics = record.map(|record| record.metrics.clone()).unwrap_or_default();
            if let (Some(export), None) = (run.and_then(|run| run.hyperfine.as_ref()), &error) {
                metrics.insert("process_s".to_owned(), export.wall_s());
            }
            let sample = Sample {
                run: planned.run.clone(),
                block: planned.block,
                seed: planned.seed,
                metrics,
                pairs: record.and_then(|record| record.pairs.clone()).unwrap_or_default(),
                histograms: record.and_then(|record| record.histograms.clone()).unwrap_or_default(),
                digest: record.map(|record| record.digest.clone()).unwrap_or_default(),
                error,
            };
            data.add(&planned.scenario, &planned.arm, sample);
        }
        data
    }

    /// Failed runs as run, scenario, arm and error.
    #[must_use]
    pub fn failures(&self) -> Vec<(String, String, String, String)> {
        let planned: BTreeMap<&str, &PlannedRun> = self.plan.iter().map(|run| (run.run.as_str(), run)).collect();
        self.runs
            .iter()
            .filter_map(|run| {
                let case = planned.get(run.run.as_str())?;
                Some((run.run.clone(), case.scenario.clone(), case.arm.clone(), run.failure()?))
            })
            .collect()
    }

    /// Seconds spent in the runs, by hyperfine.
    #[must_use]
    pub fn measured_s(&self) -> f64 {
        self.runs.iter().filter_map(|run| run.hyperfine.as_ref()).map(crate::hyperfine::Export::wall_s).sum()
    }

    /// Cases whose peak memory by the record and by GNU time differ by over 5 %, and how many cases were compared. Both readings are
    /// of the same process.
    #[must_use]
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

/// The newest whole folder of a study to be rendered, those before it, and what supplements it.
#[derive(Debug, Clone, PartialEq)]
pub struct Newest {
    /// The study.
    pub study: String,
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
    for study in folders(root)? {
        let sealed: Vec<PathBuf> =
            folders(&study)?.into_iter().filter(|folder| folder.join(manifest::NAME).exists()).collect();
        let calibration = sealed.iter().rev().find(|folder| profile_of(folder) == "calibration").cloned();
        let sealed = sealed.into_iter().filter(|folder| matches!(profile_of(folder), "quick" | "full"));
        let sealed: Vec<PathBuf> = sealed.collect();
        let (partial, sealed): (Vec<PathBuf>, Vec<PathBuf>) = sealed.into_iter().partition(|folder| is_partial(folder));
        let Some(last) = sealed.last() else {
            continue;
        };
        let is_same = |folder: &&PathBuf| profile_of(folder) == profile_of(last);
        let earlier = sealed.iter().rev().skip(1).take(EARLIER_ROUNDS).cloned().collect();
        // The newest whole one of the other profile has scenarios and blocks that this one lacks.
        let mut supplements: Vec<PathBuf> =
            partial.into_iter().chain(sealed.iter().rev().find(|folder| !is_same(folder)).cloned()).collect();
        supplements.sort();
        supplements.reverse();
        let study = study.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push(Newest { study, folder: last.clone(), earlier, supplements, calibration });
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
    let failed = |source| Error::io("read", path.display().to_string(), source);
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
