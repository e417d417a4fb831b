//! `report check` and `report seal`: a results folder is believed only if every file agrees with every other, and with the plan as it is
//! made again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::claims::file::ORIGINALS;
use crate::claims::{Asked, Claims, Form, Kind, Of};
use crate::error::{Error, none};
use crate::files::{self, TomlFile, write_whole};
use crate::fmt;
use crate::folder::host;
use crate::folder::log;
use crate::folder::manifest;
use crate::folder::packed;
use crate::folder::plan_file::{self, PlanMeta, PlannedRun};
use crate::folder::record::{Record, is_summary};
use crate::folder::runs::{MemoryRun, Run};
use crate::folder::seals::{self, first_difference};
use crate::folder::{Folder, faulty, load, read_meta, rounds_below};
use crate::page::Page;
use crate::page::sentence::Sentence;
use crate::plan::plan;
use crate::plan::selection;

/// What is sealed below some paths, read and checked.
#[derive(Debug, Default)]
pub struct Checked {
    /// The folders that can be read.
    pub folders: Vec<Folder>,
    /// How many there are, with those that cannot.
    pub count: usize,
    /// What is wrong, one finding per line: nothing is rendered then.
    pub refused: Vec<Error>,
    /// Runs that failed, one finding per line: results, which count against their arm.
    pub failed: Vec<Error>,
}

/// Reads and checks every round at or below `paths`, each for itself and against the others.
///
/// # Errors
/// If the folders cannot be listed, or there is no round in one of the paths.
pub fn read(paths: &[PathBuf]) -> Result<Checked, Error> {
    let mut checked = Checked::default();
    for path in paths {
        let folders = rounds_below(path, &mut checked.refused)?;
        if folders.is_empty() && checked.refused.is_empty() {
            return Err(Error::file(path, "it holds no results folder: is the path right? make all-reports measures"));
        }
        checked.count += folders.len();
        for folder in folders {
            let Some(folder) = open(&folder, &mut checked.refused) else { continue };
            let failed = |(line, run): (usize, &Run)| {
                Some(folder.fault(line, format!("{} failed: {}", run.run, run.failure()?)))
            };
            checked.failed.extend((1..).zip(&folder.runs).filter_map(failed));
            checked.folders.push(folder);
        }
    }
    checked.refused.extend(repeated(&checked.folders));
    Ok(checked)
}

/// A sealed folder, if it can be read; what is wrong with it, but for failed runs, is added to `findings`.
fn open(path: &Path, findings: &mut Vec<Error>) -> Option<Folder> {
    // Before anything is opened: a pipe would never end.
    faulty(findings, files::regular_files(path))?;
    faulty(findings, manifest::verify(path));
    let folder = faulty(findings, Folder::open(path))?;
    findings.extend(name(&folder));
    for check in [structure, digests, unlike] {
        findings.extend(check(&folder));
    }
    Some(folder)
}

/// The folder is called as its plan says: results/STUDY/STAMP-PROFILE, with a stamp such as 20261121T050000Z.
fn name(folder: &Folder) -> Option<Error> {
    let meta = &folder.meta;
    let profile = match meta.profile.as_str() {
        _ if meta.calibration.is_some() => "calibration",
        profile => folder.part().unwrap_or(profile),
    };
    let place = fs::canonicalize(&folder.path).unwrap_or_else(|_| folder.path.clone());
    let mut names = place.iter().rev().map(OsStr::to_string_lossy);
    let (own, study) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let is_stamped = own.replace(|c: char| c.is_ascii_digit(), "0") == format!("00000000T000000Z-{profile}");
    let what = format!("it is called {study}/{own}, but its plan.json says {}/STAMP-{profile}", meta.study);
    (study != *meta.study || !is_stamped).then(|| Error::file(&folder.path, what))
}

/// What the files of a folder say against each other; failed runs are no contradiction.
fn structure(folder: &Folder) -> Vec<Error> {
    let file = |name: &str| folder.path.join(name);
    let found = [
        meta_against_files(folder, &file("plan.json")),
        plan_again(folder, &file("plan.tsv")),
        runs_against_plan(folder),
        memory_against_plan(folder, &packed::place(&folder.path, "memory.jsonl")),
        probes(folder, &file("machine.json")),
    ];
    found.into_iter().flatten().collect()
}

/// A whole round says how fast its machine was: without its probes it would be of a host of its own, which no other round contradicts. The
/// probe is of Linux; what does not say where it was measured is taken for it.
fn probes(folder: &Folder, file: &Path) -> Vec<Error> {
    let kernel = folder.machine.value("kernel");
    let is_linux = kernel.is_none_or(|kernel| kernel.as_str().is_some_and(|kernel| kernel.starts_with("Linux")));
    let is_due = (folder.judges() || folder.part().is_some()) && is_linux;
    let is_lacking = |name: &str| !folder.machine.number(name).is_some_and(|figure| figure > 0.0);
    let lacking = host::PROBES.iter().map(|(name, _)| name).filter(|name| is_due && is_lacking(name));
    let what = "is no figure above zero: a whole round is of a host that was probed";
    lacking.map(|name| Error::file(file, format!("{name} {what}"))).collect()
}

/// What a page says depends on claims that there are, and it divides what is of one thing.
pub(crate) fn page_against_claims(page: &Page, claims: &Claims, file: &Path) -> Vec<Error> {
    let unknown = page.sentences().flat_map(Sentence::claims).filter(|claim| claims.asked(claim, Form::Fair).is_none());
    let unknown = unknown.map(|claim| format!("it rests on the claim {claim}, which claims.toml lacks"));
    let unjudged = page.sentences().flat_map(Sentence::rows).filter(|(claim, form, of)| {
        let mut parts = claims.asked(claim, *form).into_iter().flat_map(Asked::parts);
        !parts.any(|part| {
            part.text.starts_with(*of) || part.quantity.scenarios.values().flatten().any(|known| known == *of)
        })
    });
    let unjudged = unjudged.map(|(claim, _, of)| format!("it quotes {claim} in {of}, where that is not judged"));
    let unlike = page.quotients().filter(|(metric, per)| claims.unlike(metric, per).is_some());
    let unlike =
        unlike.map(|(metric, per)| format!("it divides {metric} by {per}, which by 'scope' is of another thing"));
    let crossed = page.sentences().flat_map(Sentence::crossings).filter(|(map, crossing)| {
        let map = claims.maps.iter().find(|own| own.id == **map);
        !map.is_some_and(|map| map.crossings.iter().any(|own| own.id == **crossing))
    });
    let crossed = crossed
        .map(|(map, crossing)| format!("it quotes the crossing {crossing} of the map {map}, which claims.toml lacks"));
    unknown.chain(unjudged).chain(crossed).chain(unlike).map(|what| Error::file(file, what)).collect()
}

/// plan.json is of these files.
fn meta_against_files(folder: &Folder, file: &Path) -> Vec<Error> {
    let Folder { meta, claims, cases, texts, .. } = folder;
    let (passes, said) = (selection::passes(claims, meta), meta.memory_passes);
    let promised = selection::memory_passes(cases, claims, meta);
    let is_all_there = folder.runs.len() >= folder.plan.len() && folder.memory.len() >= promised.len();
    let is_profile = ["smoke", "quick", "full", ORIGINALS].contains(&meta.profile.as_str());
    let is_own = meta.hash == plan_file::hash(&texts.claims, &texts.cases, &texts.plan);
    let faults = [
        (!is_own, "its hash is not that of claims.toml, cases.tsv and plan.tsv".to_owned()),
        (meta.study != claims.study, format!("it is of the study {}, claims.toml of {}", meta.study, claims.study)),
        (!is_profile, format!("there is no profile '{}': smoke, quick, full or originals", meta.profile)),
        (said != passes, format!("memory_passes is {said}, by its profile and part it is {passes}")),
        (
            meta.cut && is_all_there,
            "cut stands there, but all planned runs and memory passes are there, too".to_owned(),
        ),
    ];
    faults.into_iter().filter_map(|(is_there, what)| is_there.then(|| Error::file(file, what))).collect()
}

/// plan.tsv is, to the byte, what follows from claims.toml, cases.tsv and plan.json: no run was left out, added or moved. What the plan says
/// of its time is what its runs are expected to take.
fn plan_again(folder: &Folder, file: &Path) -> Vec<Error> {
    let claims = folder.path.join("claims.toml").display().to_string();
    let claims = TomlFile { name: &claims, text: &folder.texts.claims };
    let again = match plan(&folder.cases, &folder.claims, claims, &folder.meta) {
        Err(error) => return vec![error],
        Ok(again) => again,
    };
    let (due, found) = (plan_file::to_tsv(&again.runs), &folder.texts.plan);
    let (seed, planned_s) = (folder.meta.seed, folder.meta.planned_s);
    if let Some(line) = first_difference(&due, found) {
        let line_of = |text: &str| text.lines().nth(line - 1).map(|line| format!("'{}'", line.replace('\t', " ")));
        let [due, found] = [&due, found].map(|text| line_of(text).unwrap_or_else(|| "nothing".to_owned()));
        let what = format!("planned again from the seed {seed} it reads {due}, here stands {found}");
        return vec![Error::line(file, line, what)];
    }
    // What is written as JSON and read again may differ in the last digit.
    let differs = (again.planned_s - planned_s).abs() > 1e-6;
    let what = format!("planned_s is {planned_s}, planned again it is {}", again.planned_s);
    differs.then(|| Error::file(folder.path.join("plan.json"), what)).into_iter().collect()
}

/// The runs are those of the plan, in its order and with records that fit; a measurement that was cut off has whole blocks only.
fn runs_against_plan(folder: &Folder) -> Vec<Error> {
    let Folder { plan, runs, meta, .. } = folder;
    let name = |PlannedRun { run, case, .. }: &PlannedRun| format!("the run {run} ({} {})", case.scenario, case.arm);
    // Behind the first line of another run every one is of another.
    let other = (1..).zip(runs.iter().zip(plan)).find(|(_, (run, planned))| run.run != planned.run);
    if let Some((line, (run, planned))) = other {
        return vec![folder.fault(line, format!("here stands the run {}, planned is {}", run.run, name(planned)))];
    }
    let misfit = |(line, (run, planned)): (usize, (&Run, &PlannedRun))| {
        Some(folder.fault(line, run.misfit(planned, &meta.study)?))
    };
    let mut findings: Vec<Error> = (1..).zip(runs.iter().zip(plan)).filter_map(misfit).collect();
    if let Some(run) = runs.get(plan.len()) {
        findings.push(folder.fault(plan.len() + 1, format!("the run {} is not planned", run.run)));
    } else if let Some(next) = plan.get(runs.len()) {
        let last = runs.len().checked_sub(1).map(|last| plan[last].block_name());
        if !meta.cut {
            let (missing, behind) = (name(next), plan.len() - runs.len() - 1);
            let what = format!(
                "{missing} is missing, and {behind} behind it: go on measuring, or keep the whole blocks by report seal --cut"
            );
            findings.push(folder.fault(runs.len() + 1, what));
        } else if last == Some(next.block_name()) {
            let what = format!("it ends inside block {} of {}", next.block, next.case.scenario);
            findings.push(folder.fault(runs.len(), what));
        }
    }
    if findings.is_empty() {
        // Lines that are wrong in themselves have been named by now.
        let due = seals::to_tsv(&seals::of(plan, &folder.texts.runs));
        let what =
            "the seal is not that of the lines which runs.jsonl has: they were changed after the block was complete";
        let fault = |line| Error::line(folder.path.join(seals::NAME), line, what);
        findings.extend(first_difference(&due, &folder.texts.seals).map(fault));
    }
    findings
}

/// The memory passes are those that the plan promises, in its order and with records that fit; a measurement that was cut off may lack some.
fn memory_against_plan(folder: &Folder, file: &Path) -> Vec<Error> {
    let mut promised = selection::memory_passes(&folder.cases, &folder.claims, &folder.meta).into_iter();
    let name = |run: &str, scenario: &str, arm: &str| format!("the pass {run} of the test case {scenario} {arm}");
    let mut findings = Vec::new();
    for (line, MemoryRun { pass, scenario, arm, record, .. }) in (1..).zip(&folder.memory) {
        let own = name(&format!("memory-{pass}"), scenario, arm);
        let fault = match promised.next() {
            Some(plan) if own == name(&plan.run, &plan.case.scenario, &plan.case.arm) => {
                record.as_ref().and_then(|record| record.misfit(&plan, &folder.meta.study))
            }
            _ => Some(format!("the plan does not promise {own} here")),
        };
        findings.extend(fault.map(|what| Error::line(file, line, what)));
    }
    let missing = promised.next().filter(|_| !folder.meta.cut);
    let what = |PlannedRun { run, case, .. }| format!("{} is missing", name(&run, &case.scenario, &case.arm));
    findings.extend(missing.map(|run| Error::file(file, what(run))));
    findings
}

/// Arms of one scenario and input seed give one answer.
fn digests(folder: &Folder) -> Vec<Error> {
    let mut first: BTreeMap<(&str, u64), &Record> = BTreeMap::new();
    let mut findings = Vec::new();
    for (line, run) in (1..).zip(&folder.runs) {
        let Some(record) = run.record.as_ref().filter(|record| !record.digest.is_empty()) else { continue };
        let Record { scenario, seed, .. } = record;
        let other = first.entry((scenario, *seed)).or_insert(record);
        if other.digest != record.digest {
            let (arm, other) = (record.case_arm(), other.case_arm());
            let what = format!("{arm} gives another answer than {other} in {scenario} with seed {seed}");
            findings.push(folder.fault(line, what));
        }
    }
    findings
}

/// Records of one test case that differ in the names of their metrics, or in their number of pairs: a run without a metric is no sample of
/// it, so that whoever takes the metric out of a run takes out the run. A mean or percentile of nothing is no number, and may be missing
/// where nothing in claims.toml asks for it.
fn unlike(folder: &Folder) -> Vec<Error> {
    let asked = asked(&folder.claims);
    let mut cases: BTreeMap<(&str, String), Vec<(usize, &Record)>> = BTreeMap::new();
    // What is wrong with a record in itself has been named by now.
    for (line, record) in folder.records().filter(|(_, record)| record.fault().is_none()) {
        cases.entry((&record.scenario, record.case_arm())).or_default().push((line, record));
    }
    let pairs = |record: &Record| record.pairs.as_ref().map_or(0, Vec::len);
    let difference = |one: &Record, other: &Record| {
        let lacking = |has: &Record, lacks: &Record| {
            let is_due = |metric: &&String| !is_summary(metric) || asked.contains(metric.as_str());
            let metric = has.metrics.keys().filter(is_due).find(|metric| !lacks.metrics.contains_key(*metric))?;
            Some(format!("{} has no {metric}, {} has", lacks.run, has.run))
        };
        let [own, others] = [one, other].map(pairs);
        let unlike = || (own != others).then(|| format!("{} has {others} pairs, {} {own}", other.run, one.run));
        lacking(one, other).or_else(|| lacking(other, one)).or_else(unlike)
    };
    let findings = cases.into_iter().filter_map(|((scenario, arm), records)| {
        let (_, first) = records.first()?;
        let (line, what) = records.iter().find_map(|(line, record)| Some((*line, difference(first, record)?)))?;
        Some(folder.fault(line, format!("{what}, both of {scenario} {arm}")))
    });
    findings.collect()
}

/// Every metric that something in claims.toml asks for, of whichever test case.
fn asked(claims: &Claims) -> BTreeSet<&str> {
    let x = claims.parts().filter_map(|(_, part)| if let Kind::Slope { x, .. } = &part.kind { Some(x) } else { None });
    let own = claims.quantities().flat_map(|(_, quantity)| {
        let per = if let Of::Value { per, .. } = &quantity.of { per.as_ref() } else { None };
        [&quantity.metric].into_iter().chain(per)
    });
    own.chain(x).map(String::as_str).collect()
}

/// Folders that hold the runs of one measurement under two names: it would confirm itself. Two runs never come out alike in all they
/// record, so two that do are one; a single pair may be chance unless there is no other.
fn repeated(folders: &[Folder]) -> Vec<Error> {
    let pairs =
        folders.iter().enumerate().flat_map(|(at, folder)| folders[..at].iter().map(move |other| (folder, other)));
    let of_study = pairs.filter(|(folder, other)| folder.meta.study == other.meta.study);
    let findings = of_study.filter_map(|(folder, other)| {
        let theirs: BTreeMap<_, _> = other.records().map(|(_, record)| (&record.run, record)).collect();
        let shared = folder.records().filter(|(_, record)| theirs.get(&record.run) == Some(record));
        let lines: Vec<usize> = shared.map(|(line, _)| line).collect();
        let (first, other) = (*lines.first()?, packed::place(&other.path, "runs.jsonl"));
        let what = format!(
            "{} the same as in {}: remove one of the two folders",
            fmt::plural(lines.len(), "run is", "runs are"),
            other.display()
        );
        (lines.len() > 1 || folder.records().count() == 1).then(|| folder.fault(first, what))
    });
    findings.collect()
}

/// Seals `path`: every planned run must be there and fit; then the manifest is written. With `cut` a measurement that its machine ended
/// stands with the blocks that were complete: what follows them is dropped, and plan.json says so.
///
/// # Errors
/// Everything that is missing or does not fit. What the samples say, such as a failed run, is no hindrance: it is a result.
pub fn seal(path: &Path, cut: bool) -> Result<(), Vec<Error>> {
    files::regular_files(path)?;
    complete_seals(path, cut)?;
    let folder = Folder::open(path)?;
    none(structure(&folder))?;
    files::remove_if_there(&path.join(log::CURSOR))?;
    packed::pack(path)?;
    let mut sums = manifest::sums(path)?;
    sums.retain(|name, _| !packed::LOGS.contains(&name.as_str()));
    write_whole(&path.join(manifest::NAME), &manifest::to_text(&sums))?;
    // Last of all: whoever is ended before this seals once more.
    Ok(packed::drop_plain(path)?)
}

/// Adds the seal that is missing if the measurement was ended between a line and its seal; with `cut` drops what follows the last
/// complete block, and says in plan.json that there should have been more.
fn complete_seals(path: &Path, cut: bool) -> Result<(), Vec<Error>> {
    let (_, plan) = load(path, "plan.tsv", plan_file::from_tsv)?;
    let log = path.join("runs.jsonl");
    let runs = packed::read(path, "runs.jsonl")?;
    let due = seals::of(&plan, &runs);
    let (seals, file) = (seals::to_tsv(&due), path.join(seals::NAME));
    let older = seals::to_tsv(&due[..due.len().saturating_sub(1)]);
    let written = files::bytes_if_there(&file)?;
    // Seals that do not fit, or of which more than the newest is gone, stay as they are, and are found when all is checked.
    if seals.as_bytes().starts_with(&written) && written.len() >= older.len() {
        write_whole(&file, &seals)?;
    }
    if !cut {
        return Ok(());
    }
    let Some(last) = due.last() else {
        return Err(Error::file(log, "no block is complete: there is nothing to keep").into());
    };
    let whole_lines = |text: &str, most: usize| -> String {
        text.split_inclusive('\n').filter(|line| line.ends_with('\n')).take(most).collect()
    };
    write_whole(&log, &whole_lines(&runs, last.lines))?;
    let mut passes = String::new();
    if packed::place(path, "memory.jsonl").exists() {
        passes = whole_lines(&packed::read(path, "memory.jsonl")?, usize::MAX);
        write_whole(&path.join("memory.jsonl"), &passes)?;
    }
    let is_whole = last.lines == plan.len() && passes.lines().count() >= selection::promised(path)?.len();
    Ok(write_whole(&path.join("plan.json"), &PlanMeta { cut: !is_whole, ..read_meta(path)? }.to_text())?)
}
