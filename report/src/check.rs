//! `report check` and `report seal`: a results folder is believed only if every file agrees with every other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::cases::Case;
use crate::claims::Claims;
use crate::error::Error;
use crate::histogram;
use crate::manifest;
use crate::page::Page;
use crate::plan_file::{self, PlannedRun};
use crate::record::Record;
use crate::results::{self, Folder};

/// Everything that is wrong with a sealed folder, one finding per line.
#[must_use]
pub fn check(path: &Path) -> Vec<Error> {
    let mut findings = match manifest::differences(path) {
        Ok(differences) => differences,
        Err(error) => vec![error],
    };
    match Folder::open(path) {
        Ok(folder) => {
            findings.extend(structure(&folder));
            findings.extend(samples(&folder));
        }
        Err(errors) => findings.extend(errors),
    }
    findings
}

/// What the files of a folder say against each other; failed runs are no contradiction.
fn structure(folder: &Folder) -> Vec<Error> {
    let name = |file: &str| folder.path.join(file).display().to_string();
    let mut findings = Vec::new();
    let hash = plan_file::hash(&folder.claims_text, &folder.cases_text, &folder.plan_text);
    if hash != folder.meta.hash {
        findings.push(Error::file(name("plan.json"), "its hash is not that of claims.toml, cases.tsv and plan.tsv"));
    }
    if folder.meta.study != folder.claims.study {
        let what = format!("it is of the study {}, claims.toml of {}", folder.meta.study, folder.claims.study);
        findings.push(Error::file(name("plan.json"), what));
    }
    findings.extend(part_against_plan(folder, &name("plan.json")));
    findings.extend(page_against_claims(&folder.page, &folder.claims, &name("page.toml")));
    findings.extend(plan_against_cases(folder, &name("plan.tsv")));
    findings.extend(runs_against_plan(folder, &name("runs.jsonl")));
    findings.extend(memory_against_cases(folder, &name("memory.jsonl")));
    findings
}

/// What the samples of a whole folder say against it.
fn samples(folder: &Folder) -> Vec<Error> {
    let file = folder.path.join("runs.jsonl").display().to_string();
    let mut findings = digests(folder, &file);
    findings.extend(histograms(folder));
    findings.extend(failures(folder, &file));
    findings
}

/// Advice depends on claims that there are: otherwise it would never be shown.
fn page_against_claims(page: &Page, claims: &Claims, file: &str) -> Vec<Error> {
    let named = page.advice.iter().filter_map(|advice| advice.when.as_ref()).map(|when| &when.claim);
    let unknown = named.filter(|claim| claims.claim(claim).is_none());
    unknown
        .map(|claim| Error::file(file, format!("advice depends on the claim {claim}, which claims.toml lacks")))
        .collect()
}

/// A partial measurement holds its scenarios and no others, in no more blocks than it says.
fn part_against_plan(folder: &Folder, file: &str) -> Vec<Error> {
    let fault = |what: String| Error::file(file, what);
    let Some(only) = &folder.meta.only else {
        return folder.meta.blocks_cap.map(|_| fault("blocks_cap needs only".to_owned())).into_iter().collect();
    };
    let only: BTreeSet<&str> = only.iter().map(String::as_str).collect();
    let listed: BTreeSet<&str> = folder.cases.iter().map(|case| case.scenario.as_str()).collect();
    let differing = only.symmetric_difference(&listed).map(|scenario| {
        let (there, lacking) = if only.contains(scenario) { ("only", "cases.tsv") } else { ("cases.tsv", "only") };
        fault(format!("the scenario {scenario} stands in {there} and not in {lacking}"))
    });
    let cap = folder.meta.blocks_cap.unwrap_or(usize::MAX) as u64;
    let beyond = folder.plan.iter().find(|run| run.block >= cap);
    differing.chain(beyond.map(|run| fault(format!("the run {} lies beyond the {cap} blocks", run.run)))).collect()
}

/// Every case of cases.tsv is planned and run as it says there, and nothing else; no run is planned twice.
fn plan_against_cases(folder: &Folder, file: &str) -> Vec<Error> {
    let planned: BTreeSet<(&str, &str)> =
        folder.plan.iter().map(|run| (run.scenario.as_str(), run.arm.as_str())).collect();
    let listed: BTreeSet<(&str, &str)> =
        folder.cases.iter().map(|case| (case.scenario.as_str(), case.arm.as_str())).collect();
    let missing = listed.difference(&planned).map(|(scenario, arm)| {
        Error::file(file, format!("the test case {scenario} {arm} of cases.tsv is not planned"))
    });
    let unknown = planned.difference(&listed).map(|(scenario, arm)| {
        Error::file(file, format!("the test case {scenario} {arm} does not stand in cases.tsv"))
    });
    missing.chain(unknown).chain(plan_lines(folder, file)).collect()
}

/// Planned runs whose id was there before, or that run a case in another way than cases.tsv says.
fn plan_lines(folder: &Folder, file: &str) -> Vec<Error> {
    let cases: BTreeMap<(&str, &str), &Case> =
        folder.cases.iter().map(|case| ((case.scenario.as_str(), case.arm.as_str()), case)).collect();
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (index, run) in folder.plan.iter().enumerate() {
        if !seen.insert(run.run.as_str()) {
            findings.push(Error::line(file, index + 1, format!("the run {} is planned twice", run.run)));
        }
        let is_other = |case: &&Case| (&case.build, &case.arguments) != (&run.build, &run.arguments);
        if cases.get(&(run.scenario.as_str(), run.arm.as_str())).is_some_and(is_other) {
            let what = format!("the run {} has another build or other arguments than cases.tsv says", run.run);
            findings.push(Error::line(file, index + 1, what));
        }
    }
    findings
}

/// Every planned run stands in runs.jsonl once, in the order of the plan, with a record that fits.
fn runs_against_plan(folder: &Folder, file: &str) -> Vec<Error> {
    let planned: BTreeMap<&str, (usize, &PlannedRun)> =
        folder.plan.iter().enumerate().map(|(place, run)| (run.run.as_str(), (place, run))).collect();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    let mut last = None;
    for (index, run) in folder.runs.iter().enumerate() {
        let line = index + 1;
        if !seen.insert(run.run.as_str()) {
            findings.push(Error::line(file, line, format!("the run {} stands twice", run.run)));
            continue;
        }
        let Some(&(place, plan)) = planned.get(run.run.as_str()) else {
            findings.push(Error::line(file, line, format!("the run {} is not planned", run.run)));
            continue;
        };
        if last.is_some_and(|last| place < last) {
            findings.push(Error::line(file, line, format!("the run {} is out of the plan's order", run.run)));
        }
        last = Some(place);
        if let Some(record) = &run.record {
            findings.extend(misfit(record, plan, &folder.claims.study).map(|what| Error::line(file, line, what)));
        }
    }
    let missing = folder.plan.iter().filter(|plan| !seen.contains(plan.run.as_str()));
    findings
        .extend(missing.map(|plan| {
            Error::file(file, format!("the run {} ({} {}) is missing", plan.run, plan.scenario, plan.arm))
        }));
    findings
}

/// Every line of the memory passes is of a case in cases.tsv, once per pass, with a record of that case.
fn memory_against_cases(folder: &Folder, file: &str) -> Vec<Error> {
    let listed: BTreeSet<(&str, &str)> =
        folder.cases.iter().map(|case| (case.scenario.as_str(), case.arm.as_str())).collect();
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (index, run) in folder.memory.iter().enumerate() {
        let case = (run.scenario.as_str(), run.arm.as_str());
        let named = format!("the test case {} {}", run.scenario, run.arm);
        let misfit = |record: &Record| {
            let fits = record.scenario == run.scenario && record.case_arm() == run.arm;
            record.fault().or_else(|| (!fits).then(|| format!("the record is not of {named}")))
        };
        let fault = if !listed.contains(&case) {
            Some(format!("{named} does not stand in cases.tsv"))
        } else if !seen.insert((run.pass, case)) {
            Some(format!("{named} stands twice in pass {}", run.pass))
        } else {
            run.record.as_ref().and_then(misfit)
        };
        findings.extend(fault.map(|what| Error::line(file, index + 1, what)));
    }
    findings
}

/// How a record differs from what was planned, or is wrong in itself.
fn misfit(record: &Record, plan: &PlannedRun, study: &str) -> Option<String> {
    let wrong = |what: &str, got: &str, expected: &str| {
        (got != expected).then(|| format!("the record of {} has the {what} '{got}', planned is '{expected}'", plan.run))
    };
    record
        .fault()
        .or_else(|| wrong("run", &record.run, &plan.run))
        .or_else(|| wrong("study", &record.study, study))
        .or_else(|| wrong("scenario", &record.scenario, &plan.scenario))
        .or_else(|| wrong("arm", &record.case_arm(), &plan.arm))
        .or_else(|| wrong("seed", &record.seed.to_string(), &plan.seed.to_string()))
        .or_else(|| wrong("block", &record.block.to_string(), &plan.block.to_string()))
}

/// Arms of one scenario and input seed give one answer.
fn digests(folder: &Folder, file: &str) -> Vec<Error> {
    let mut first: BTreeMap<(&str, u64), (&str, String)> = BTreeMap::new();
    let mut findings = Vec::new();
    for (index, run) in folder.runs.iter().enumerate() {
        let Some(record) = run.record.as_ref().filter(|record| !record.digest.is_empty()) else {
            continue;
        };
        let (digest, arm) =
            first.entry((&record.scenario, record.seed)).or_insert_with(|| (&record.digest, record.case_arm()));
        if *digest != record.digest {
            let what = format!(
                "{} gives another answer than {arm} in {} with seed {}",
                record.case_arm(),
                record.scenario,
                record.seed
            );
            findings.push(Error::line(file, index + 1, what));
        }
    }
    findings
}

/// Histograms that cannot be decoded.
fn histograms(folder: &Folder) -> Vec<Error> {
    let runs = folder.runs.iter().enumerate().map(|(index, run)| ("runs.jsonl", index, &run.record));
    let memory = folder.memory.iter().enumerate().map(|(index, run)| ("memory.jsonl", index, &run.record));
    let mut findings = Vec::new();
    for (file, index, record) in runs.chain(memory) {
        for (name, text) in record.iter().filter_map(|record| record.histograms.as_ref()).flatten() {
            if let Err(what) = histogram::decode(text) {
                let file = folder.path.join(file).display().to_string();
                findings.push(Error::line(&file, index + 1, format!("the histogram '{name}' cannot be read: {what}")));
            }
        }
    }
    findings
}

/// Failed runs, one finding each.
fn failures(folder: &Folder, file: &str) -> Vec<Error> {
    let runs = folder.runs.iter().enumerate();
    runs.filter_map(|(index, run)| {
        Some(Error::line(file, index + 1, format!("{} failed: {}", run.run, run.failure()?)))
    })
    .collect()
}

/// Seals `path`: every planned run must be there and fit; then the manifest is written.
///
/// # Errors
/// Everything that is missing or does not fit. What the samples say, such as a failed run, is no hindrance: it is a result.
pub fn seal(path: &Path) -> Result<(), Vec<Error>> {
    let folder = Folder::open(path)?;
    let findings = structure(&folder);
    if !findings.is_empty() {
        return Err(findings);
    }
    let sums = manifest::sums(path).map_err(|error| vec![error])?;
    write_whole(&path.join(manifest::NAME), &manifest::to_text(&sums)).map_err(|error| vec![error])
}

/// Replaces page.toml of the sealed folder `path` by `page`, and its line in the manifest.
///
/// # Errors
/// If the folder does not agree with its manifest, or the page cannot be read.
pub fn replace_page(path: &Path, page: &Path) -> Result<(), Vec<Error>> {
    let one = |error| vec![error];
    let differences = manifest::differences(path).map_err(one)?;
    if !differences.is_empty() {
        return Err(differences);
    }
    let name = page.display().to_string();
    let text = fs::read_to_string(page).map_err(|source| one(Error::io("read", name.clone(), source)))?;
    let new = Page::parse(&text, &name).map_err(one)?;
    let claims_name = path.join("claims.toml").display().to_string();
    let claims = results::read(path, "claims.toml").and_then(|text| Claims::parse(&text, &claims_name)).map_err(one)?;
    let findings = page_against_claims(&new, &claims, &name);
    if !findings.is_empty() {
        return Err(findings);
    }
    // Of all other files the sums stay as they were sealed, whatever happens to the files meanwhile.
    let mut sums = manifest::read(path).map_err(one)?;
    sums.insert("page.toml".to_owned(), manifest::sum(text.as_bytes()));
    write_whole(&path.join("page.toml"), &text).map_err(one)?;
    write_whole(&path.join(manifest::NAME), &manifest::to_text(&sums)).map_err(one)
}

/// Writes `path` under a temporary name beside it and renames it, unless it says the same already.
///
/// # Errors
/// If it cannot be written; what stood there is whole then.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    let write = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // Others may read what we write: temporary files are private unless told otherwise.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut file: NamedTempFile = builder.tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| Error::io("write", path.display().to_string(), source))
}
