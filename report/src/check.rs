//! `report check` and `report seal`: a results folder is believed only if every file agrees with every other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::cases::Case;
use crate::claims::Claims;
use crate::error::Error;
use crate::files::{self, write_whole};
use crate::histogram;
use crate::manifest;
use crate::page::Page;
use crate::plan_file::PlannedRun;
use crate::record::Record;
use crate::results::{Folder, load};
use crate::runs::Run;

/// Everything that is wrong with a sealed folder, one finding per line.
pub fn check(path: &Path) -> Vec<Error> {
    let mut findings = manifest::differences(path).unwrap_or_else(Vec::from);
    findings.extend(Folder::open(path).map_or_else(
        |errors| errors,
        |folder| {
            let found = [structure(&folder), digests(&folder), histograms(&folder), failures(&folder)];
            found.into_iter().flatten().collect()
        },
    ));
    findings
}

/// What the files of a folder say against each other; failed runs are no contradiction.
fn structure(folder: &Folder) -> Vec<Error> {
    let meta = folder.path.join("plan.json");
    let mut findings = Vec::new();
    if folder.hash != folder.meta.hash {
        findings.push(Error::file(&meta, "its hash is not that of claims.toml, cases.tsv and plan.tsv"));
    }
    if folder.meta.study != folder.claims.study {
        let what = format!("it is of the study {}, claims.toml of {}", folder.meta.study, folder.claims.study);
        findings.push(Error::file(&meta, what));
    }
    findings.extend(part_against_plan(folder, &meta));
    findings.extend(page_against_claims(&folder.page, &folder.claims, &folder.path.join("page.toml")));
    findings.extend(plan_against_cases(folder, &folder.path.join("plan.tsv")));
    findings.extend(runs_against_plan(folder, &folder.path.join("runs.jsonl")));
    findings.extend(memory_against_cases(folder, &folder.path.join("memory.jsonl")));
    findings
}

/// Advice depends on claims that there are: otherwise it would never be shown.
fn page_against_claims(page: &Page, claims: &Claims, file: &Path) -> Vec<Error> {
    let named = page.advice.iter().filter_map(|advice| advice.when.as_ref()).map(|when| &when.claim);
    let unknown = named.filter(|claim| claims.claim(claim).is_none());
    unknown
        .map(|claim| Error::file(file, format!("advice depends on the claim {claim}, which claims.toml lacks")))
        .collect()
}

/// A partial measurement holds its scenarios and no others, in no more blocks than it says.
fn part_against_plan(folder: &Folder, file: &Path) -> Vec<Error> {
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
fn plan_against_cases(folder: &Folder, file: &Path) -> Vec<Error> {
    let planned: BTreeSet<(&str, &str)> = folder.plan.iter().map(|run| run.case.name()).collect();
    let listed: BTreeMap<(&str, &str), &Case> = folder.cases.iter().map(|case| (case.name(), case)).collect();
    let missing = listed.keys().filter(|case| !planned.contains(*case)).map(|(scenario, arm)| {
        Error::file(file, format!("the test case {scenario} {arm} of cases.tsv is not planned"))
    });
    let unknown = planned.iter().filter(|case| !listed.contains_key(*case)).map(|(scenario, arm)| {
        Error::file(file, format!("the test case {scenario} {arm} does not stand in cases.tsv"))
    });
    let mut findings: Vec<Error> = missing.chain(unknown).collect();
    let mut seen = BTreeSet::new();
    for (index, run) in folder.plan.iter().enumerate() {
        if !seen.insert(run.run.as_str()) {
            findings.push(Error::line(file, index + 1, format!("the run {} is planned twice", run.run)));
        }
        let is_other = |case: &&Case| (&case.build, &case.arguments) != (&run.case.build, &run.case.arguments);
        if listed.get(&run.case.name()).is_some_and(is_other) {
            let what = format!("the run {} has another build or other arguments than cases.tsv says", run.run);
            findings.push(Error::line(file, index + 1, what));
        }
    }
    findings
}

/// Every planned run stands in runs.jsonl once, in the order of the plan, with a record that fits.
fn runs_against_plan(folder: &Folder, file: &Path) -> Vec<Error> {
    let planned: BTreeMap<&str, (usize, &PlannedRun)> =
        folder.plan.iter().enumerate().map(|(place, run)| (run.run.as_str(), (place, run))).collect();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    let mut last = None;
    for (index, run) in folder.runs.iter().enumerate() {
        let fault = |what: String| Error::line(file, index + 1, what);
        if !seen.insert(run.run.as_str()) {
            findings.push(fault(format!("the run {} stands twice", run.run)));
            continue;
        }
        let Some(&(place, plan)) = planned.get(run.run.as_str()) else {
            findings.push(fault(format!("the run {} is not planned", run.run)));
            continue;
        };
        if last.is_some_and(|last| place < last) {
            findings.push(fault(format!("the run {} is out of the plan's order", run.run)));
        }
        last = Some(place);
        findings.extend(run.record.as_ref().and_then(|record| misfit(record, plan, &folder.claims.study)).map(fault));
    }
    let missing = folder.plan.iter().filter(|plan| !seen.contains(plan.run.as_str()));
    let missing = missing
        .map(|PlannedRun { run, case, .. }| format!("the run {run} ({} {}) is missing", case.scenario, case.arm));
    findings.extend(missing.map(|what| Error::file(file, what)));
    findings
}

/// Every line of the memory passes is of a case in cases.tsv, once per pass, with a record of that case.
fn memory_against_cases(folder: &Folder, file: &Path) -> Vec<Error> {
    let listed: BTreeSet<(&str, &str)> = folder.cases.iter().map(Case::name).collect();
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
        .or_else(|| wrong("scenario", &record.scenario, &plan.case.scenario))
        .or_else(|| wrong("arm", &record.case_arm(), &plan.case.arm))
        .or_else(|| wrong("seed", &record.seed.to_string(), &plan.seed.to_string()))
        .or_else(|| wrong("block", &record.block.to_string(), &plan.block.to_string()))
}

/// Arms of one scenario and input seed give one answer.
fn digests(folder: &Folder) -> Vec<Error> {
    let mut first: BTreeMap<(&str, u64), (&str, String)> = BTreeMap::new();
    let mut findings = Vec::new();
    for (index, run) in folder.runs.iter().enumerate() {
        let Some(record) = run.record.as_ref().filter(|record| !record.digest.is_empty()) else {
            continue;
        };
        let (arm, Record { scenario, seed, .. }) = (record.case_arm(), record);
        let (digest, other) = first.entry((scenario, *seed)).or_insert_with(|| (&record.digest, arm.clone()));
        if *digest != record.digest {
            let what = format!("{arm} gives another answer than {other} in {scenario} with seed {seed}");
            findings.push(Error::line(folder.path.join("runs.jsonl"), index + 1, what));
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
                let what = format!("the histogram '{name}' cannot be read: {what}");
                findings.push(Error::line(folder.path.join(file), index + 1, what));
            }
        }
    }
    findings
}

/// Failed runs, one finding each.
fn failures(folder: &Folder) -> Vec<Error> {
    let failed = |(index, run): (usize, &Run)| {
        let what = format!("{} failed: {}", run.run, run.failure()?);
        Some(Error::line(folder.path.join("runs.jsonl"), index + 1, what))
    };
    folder.runs.iter().enumerate().filter_map(failed).collect()
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
    Ok(write_whole(&path.join(manifest::NAME), &manifest::to_text(&manifest::sums(path)?))?)
}

/// Replaces page.toml of the sealed folder `path` by `page`, and its line in the manifest.
///
/// # Errors
/// If the folder does not agree with its manifest, or the page cannot be read.
pub fn replace_page(path: &Path, page: &Path) -> Result<(), Vec<Error>> {
    let differences = manifest::differences(path)?;
    if !differences.is_empty() {
        return Err(differences);
    }
    let text = files::read(page)?;
    let new = Page::parse(&text, &page.display().to_string())?;
    let (_, claims) = load(path, "claims.toml", Claims::parse)?;
    let findings = page_against_claims(&new, &claims, page);
    if !findings.is_empty() {
        return Err(findings);
    }
    // Of all other files the sums stay as they were sealed, whatever happens to the files meanwhile.
    let mut sums = manifest::read(path)?;
    sums.insert("page.toml".to_owned(), manifest::sum(text.as_bytes()));
    write_whole(&path.join("page.toml"), &text)?;
    Ok(write_whole(&path.join(manifest::NAME), &manifest::to_text(&sums))?)
}
