//! `report check` and `report seal`: a results folder is believed only if every file agrees with every other, and with the plan as made again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::claims::{Claims, Kind, Of, Part};
use crate::cli::PROFILES;
use crate::error::{Error, none};
use crate::files::{self, TomlFile, write_whole};
use crate::fmt;
use crate::folder::log::{self, Log};
use crate::folder::plan_file::{self, PlanMeta, PlannedRun};
use crate::folder::record::{Record, is_summary};
use crate::folder::runs::{MemoryRun, Run};
use crate::folder::seals::{self, first_difference};
use crate::folder::{Folder, faulty, host, load, manifest, packed, read_meta, rounds_below};
use crate::page::{Page, Piece};
use crate::plan::{self, plan};

/// What is sealed below some paths, read and checked.
#[derive(Debug, Default)]
pub struct Checked {
    pub folders: Vec<Folder>,
    /// How many there are, with those that cannot.
    pub count: usize,
    /// What is wrong, one finding per line: nothing is rendered then.
    pub refused: Vec<Error>,
    /// Runs that failed, one finding per line: results, which count against their arm.
    pub failed: Vec<Error>,
}

/// Reads and checks every round at or below `paths`, each for itself and against the others; an error if there is none in one of them.
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
    [plan_again, runs_against_plan, memory_against_plan, probes].iter().flat_map(|check| check(folder)).collect()
}

/// A whole round says how fast its machine was: without its probes it would be of a host of its own, which no other round contradicts. The
/// probe is of Linux; what does not say where it was measured is taken for it.
fn probes(folder: &Folder) -> Vec<Error> {
    let kernel = folder.machine.value("kernel");
    let is_linux = kernel.is_none_or(|kernel| kernel.as_str().is_some_and(|kernel| kernel.starts_with("Linux")));
    let is_due = folder.is_shown() && is_linux;
    let is_lacking = |name: &str| !folder.machine.number(name).is_some_and(|figure| figure > 0.0);
    let lacking = host::PROBES.iter().map(|(name, ..)| name).filter(|name| is_due && is_lacking(name));
    let what = "is no figure above zero: a whole round is of a host that was probed";
    lacking.map(|name| folder.fault_in("machine.json", format!("{name} {what}"))).collect()
}

/// What a page says depends on claims and crossings that there are, and it divides what is of one thing.
pub(crate) fn page_against_claims(page: &Page, claims: &Claims, file: &Path) -> Vec<Error> {
    let fault = |piece: &Piece| match piece {
        Piece::Words(_) => None,
        Piece::Figure { claim, form, of, .. } => {
            let Some(asked) = claims.asked(claim, *form) else {
                return Some(format!("it rests on the claim {claim}, which claims.toml lacks"));
            };
            let of = of.as_ref()?;
            let is_of = |part: &Part| {
                part.text.starts_with(of) || part.quantity.scenarios.values().flatten().any(|known| known == of)
            };
            (!asked.parts().iter().any(is_of)).then(|| format!("it quotes {claim} in {of}, where that is not judged"))
        }
        Piece::Crossing { map, crossing } => {
            let mut known = claims.maps.iter().filter(|own| own.id == *map).flat_map(|own| &own.crossings);
            let what = || format!("it quotes the crossing {crossing} of the map {map}, which claims.toml lacks");
            (!known.any(|own| own.id == *crossing)).then(what)
        }
    };
    let unlike = page.quotients().filter(|(metric, per)| claims.unlike(metric, per).is_some());
    let unlike =
        unlike.map(|(metric, per)| format!("it divides {metric} by {per}, which by 'scope' is of another thing"));
    let faults = page.sentences().flat_map(|sentence| &sentence.pieces).filter_map(fault);
    faults.chain(unlike).map(|what| Error::file(file, what)).collect()
}

/// plan.tsv is, to the byte, what follows from claims.toml, cases.tsv and plan.json: no run was left out, added or moved. So is what plan.json says.
fn plan_again(folder: &Folder) -> Vec<Error> {
    let Folder { meta, claims, cases, .. } = folder;
    let [of_claims, of_cases, found] = ["claims.toml", "cases.tsv", "plan.tsv"].map(|name| folder.text(name));
    let name = folder.path.join("claims.toml").display().to_string();
    let again = match plan(cases, claims, TomlFile { name: &name, text: of_claims }, meta) {
        Err(error) => return vec![error],
        Ok(again) => again,
    };
    let promised = plan::memory_passes(cases, claims, meta);
    let is_all_there = folder.runs.len() >= folder.plan.len() && folder.memory.len() >= promised.len();
    let profile = PROFILES.into_iter().find(|name| *name == meta.profile).unwrap_or("one that there is");
    // What is written as JSON and read again may differ in the last digit.
    let seconds = |seconds: f64| ((seconds * 1e6).round() / 1e6).to_string();
    let facts = [
        ("hash", meta.hash.clone(), plan_file::hash(of_claims, of_cases, found)),
        ("study", meta.study.clone(), claims.study.clone()),
        ("profile", meta.profile.clone(), profile.to_owned()),
        ("memory_passes", meta.memory_passes.to_string(), plan::passes(claims, meta).to_string()),
        ("planned_s", seconds(meta.planned_s), seconds(again.planned_s)),
        ("cut", meta.cut.to_string(), (meta.cut && !is_all_there).to_string()),
    ];
    let wrong = facts.into_iter().filter(|(_, own, due)| own != due);
    let what = |(key, own, due)| format!("{key} is {own}, by what else is there it is {due}");
    let mut findings: Vec<Error> = wrong.map(|fact| folder.fault_in("plan.json", what(fact))).collect();
    let due = plan_file::to_tsv(&again.runs);
    if let Some(line) = first_difference(&due, found) {
        let line_of = |text: &str| text.lines().nth(line - 1).map(|line| format!("'{}'", line.replace('\t', " ")));
        let [due, found] = [&due, found].map(|text| line_of(text).unwrap_or_else(|| "nothing".to_owned()));
        let what = format!("planned again from the seed {} it reads {due}, here stands {found}", meta.seed);
        findings.push(Error::line(folder.path.join("plan.tsv"), line, what));
    }
    findings
}

/// The lines of a log, each with its name and what is wrong with it, are those that are planned, in their order; one that was cut off may lack some.
fn log_against_plan(folder: &Folder, log: &str, planned: &[String], found: &[(String, Option<String>)]) -> Vec<Error> {
    let file = packed::place(&folder.path, log);
    // Behind the first line of another run every one is of another.
    let other = (0..).zip(found).find(|(at, (name, _))| planned.get(*at) != Some(name));
    if let Some((at, (name, _))) = other {
        let due = planned.get(at).map_or("nothing", String::as_str);
        return vec![Error::line(file, at + 1, format!("here stands {name}, planned is {due}"))];
    }
    let misfits = (1..).zip(found).filter_map(|(line, (_, misfit))| Some(Error::line(&file, line, misfit.as_ref()?)));
    let missing = planned.get(found.len()).filter(|_| !folder.meta.cut).map(|name| {
        let remedy = "go on measuring, or keep the whole blocks by report seal --cut";
        let what = format!("{name} is missing, and {} behind it: {remedy}", planned.len() - found.len() - 1);
        Error::line(&file, found.len() + 1, what)
    });
    misfits.chain(missing).collect()
}

/// The runs are those of the plan, with records that fit; a measurement that was cut off has whole blocks only.
fn runs_against_plan(folder: &Folder) -> Vec<Error> {
    let Folder { plan, runs, meta, .. } = folder;
    let name = |run: &str| format!("the run {run}");
    let planned: Vec<String> = plan.iter().map(|planned| name(&planned.run)).collect();
    let misfit = |at: usize, run: &Run| run.misfit(plan.get(at)?, &meta.study);
    let found: Vec<_> = runs.iter().enumerate().map(|(at, run)| (name(&run.run), misfit(at, run))).collect();
    let mut findings = log_against_plan(folder, "runs.jsonl", &planned, &found);
    if let (Some(last), Some(next)) = (runs.len().checked_sub(1).and_then(|last| plan.get(last)), plan.get(runs.len()))
        && meta.cut
        && last.block_name() == next.block_name()
    {
        let what = format!("it ends inside block {} of {}", next.block, next.case.scenario);
        findings.push(folder.fault(runs.len(), what));
    }
    if findings.is_empty() {
        // Lines that are wrong in themselves have been named by now.
        let due = seals::to_tsv(&seals::of(plan, folder.text("runs.jsonl")));
        let what =
            "the seal is not that of the lines which runs.jsonl has: they were changed after the block was complete";
        let fault = |line| Error::line(folder.path.join(seals::NAME), line, what);
        findings.extend(first_difference(&due, folder.text(seals::NAME)).map(fault));
    }
    findings
}

/// The memory passes are those that the plan promises, with records that fit.
fn memory_against_plan(folder: &Folder) -> Vec<Error> {
    let promised = plan::memory_passes(&folder.cases, &folder.claims, &folder.meta);
    let name = |run: &str, scenario: &str, arm: &str| format!("the pass {run} of the test case {scenario} {arm}");
    let of_plan = |PlannedRun { run, case, .. }: &PlannedRun| name(run, &case.scenario, &case.arm);
    let planned: Vec<String> = promised.iter().map(of_plan).collect();
    let found = folder.memory.iter().enumerate().map(|(at, MemoryRun { pass, scenario, arm, record, .. })| {
        let misfit = record.as_ref().zip(promised.get(at)).and_then(|(own, due)| own.misfit(due, &folder.meta.study));
        (name(&format!("memory-{pass}"), scenario, arm), misfit)
    });
    log_against_plan(folder, "memory.jsonl", &planned, &found.collect::<Vec<_>>())
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

/// Records of one test case that differ in the names of their metrics, or in their number of pairs: whoever takes a metric out of a run takes out the
/// run. A mean or percentile of nothing is no number, and may be missing where nothing in claims.toml asks for it.
fn unlike(folder: &Folder) -> Vec<Error> {
    let asked = asked(&folder.claims);
    let mut firsts: BTreeMap<(&str, String), &Record> = BTreeMap::new();
    let mut findings = BTreeMap::new();
    let pairs = |record: &Record| record.pairs.as_ref().map_or(0, Vec::len);
    let is_due = |metric: &&String| !is_summary(metric) || asked.contains(metric.as_str());
    let lacking = |has: &Record, lacks: &Record| {
        let metric = has.metrics.keys().filter(is_due).find(|metric| !lacks.metrics.contains_key(*metric))?;
        Some(format!("{} has no {metric}, {} has", lacks.run, has.run))
    };
    // What is wrong with a record in itself has been named by now.
    for (line, record) in folder.records().filter(|(_, record)| record.fault().is_none()) {
        let case = (record.scenario.as_str(), record.case_arm());
        let first = *firsts.entry(case.clone()).or_insert(record);
        let [own, others] = [first, record].map(pairs);
        let unlike = || (own != others).then(|| format!("{} has {others} pairs, {} {own}", record.run, first.run));
        if let Some(what) = lacking(first, record).or_else(|| lacking(record, first)).or_else(unlike) {
            let what = format!("{what}, both of {} {}", case.0, case.1);
            findings.entry(case).or_insert_with(|| folder.fault(line, what));
        }
    }
    findings.into_values().collect()
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
    let pairs = (0..).zip(folders).flat_map(|(at, folder)| folders[..at].iter().map(move |other| (folder, other)));
    let of_study = pairs.filter(|(folder, other)| folder.meta.study == other.meta.study);
    let findings = of_study.filter_map(|(folder, other)| {
        let theirs: BTreeMap<_, _> = other.records().map(|(_, record)| (&record.run, record)).collect();
        let shared = folder.records().filter(|(_, record)| theirs.get(&record.run) == Some(record));
        let lines: Vec<usize> = shared.map(|(line, _)| line).collect();
        let (first, other) = (*lines.first()?, packed::place(&other.path, "runs.jsonl").display().to_string());
        let runs = fmt::plural(lines.len(), "run is", "runs are");
        let what = format!("{runs} the same as in {other}: remove one of the two folders");
        (lines.len() > 1 || folder.records().count() == 1).then(|| folder.fault(first, what))
    });
    findings.collect()
}

/// Seals `path`: every planned run must be there and fit, or the error is what is missing or does not; then the manifest is written. With `cut`
/// what follows the last complete block is dropped, and plan.json says so. A failed run is no hindrance: it is a result.
pub fn seal(path: &Path, cut: bool) -> Result<(), Vec<Error>> {
    files::regular_files(path)?;
    if path.join("runs.jsonl").exists() {
        // The measurement may have been ended between a line and its seal, or in a line, which is no run then.
        Log::open(path)?;
    }
    if cut {
        cut_off(path)?;
    }
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

/// Drops what follows the last complete block, and says in plan.json that there should have been more.
fn cut_off(path: &Path) -> Result<(), Error> {
    let (_, plan) = load(path, "plan.tsv", plan_file::from_tsv)?;
    let (log, runs) = (path.join("runs.jsonl"), packed::read(path, "runs.jsonl")?);
    let Some(last) = seals::of(&plan, &runs).pop() else {
        return Err(Error::file(log, "no block is complete: there is nothing to keep"));
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
    let is_whole = last.lines == plan.len() && passes.lines().count() >= plan::promised(path)?.len();
    write_whole(&path.join("plan.json"), &PlanMeta { cut: !is_whole, ..read_meta(path)? }.to_text())
}
