//! What each command does: files and streams at the edge, the library for the rest.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Error, anyhow};

use report::cases;
use report::check;
use report::claims::Claims;
use report::files::{self, Schema, TomlFile, write_whole};
use report::plan::{Part, Plan, cheapest_control, plan};
use report::plan_file::{self, Calibration, PlanMeta};
use report::publish;
use report::render;
use report::results::{self, load};
use report::selection;

use crate::cli::{Command, Profile};

/// Ran, and found something wrong.
const FOUND_FAULTS: u8 = 1;
/// Could not run.
const COULD_NOT_RUN: u8 = 2;

/// Carries out `command`.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Plan { folder, profile, seed, only, blocks, calibrate, show } => {
            let part = Part { only: only.map(in_order), blocks_cap: blocks.map(usize::from), calibration: None };
            make_plan(&folder, profile, seed, part, calibrate.map(usize::from), show)
        }
        Command::Cases { folder, profile, cross_checked } => print(&select_cases(&folder, profile, cross_checked)?),
        Command::Seal { folder } => Ok(all(check::seal(&folder))),
        Command::Check { paths } => check_all(&paths),
        Command::Verdicts { results, study, json } => {
            let mut studies = publish::studies(&results)?;
            if let Some(study) = study {
                studies.retain(|view| view.judged.study == study);
                if studies.is_empty() {
                    return Err(anyhow!("{} has no sealed measurement of {study}", results.display()));
                }
            }
            print(&if json { render::verdicts_json(&studies) } else { render::verdict_table(&studies) })
        }
        Command::Render { results, out, charts, splice } => {
            publish::render(&results, &out, &charts, &splice)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Page { folder, page } => Ok(all(check::replace_page(&folder, &page))),
    }
}

/// Prints `error` with its causes in one line and says how to exit.
pub fn report(error: &Error) -> ExitCode {
    // Whoever reads our output has had enough of it: that is no failure of ours.
    let is_broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    eprintln!("report: {error:#}");
    ExitCode::from(COULD_NOT_RUN)
}

/// Names sorted and once each, so that the order in which they were typed does not matter.
fn in_order(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

/// The lines of cases.tsv that the profile runs, or those of them that are cross-checked.
fn select_cases(folder: &Path, profile: Profile, cross_checked: bool) -> Result<String, Error> {
    let (_, claims) = load(folder, "claims.toml", Claims::parse)?;
    let (listed, cases) = load(folder, "cases.tsv", cases::parse)?;
    let select = if cross_checked { selection::cross_checked } else { selection::run };
    Ok(cases::lines_of(&listed, &select(&cases, &claims, profile.into())))
}

fn make_plan(
    folder: &Path,
    profile: Profile,
    seed: u64,
    mut part: Part,
    trials: Option<usize>,
    show: bool,
) -> Result<ExitCode, Error> {
    let profile: &str = profile.into();
    let name = |file: &str| folder.join(file).display().to_string();
    let (claims_text, claims) = load(folder, "claims.toml", Claims::parse)?;
    let claims_file = name("claims.toml");
    let listed = files::read(&folder.join("cases.tsv"))?;
    let mut cases_text = part.lines_of(&listed, &name("cases.tsv"))?;
    if let Some(trials) = trials {
        let cases = cases::parse(&cases_text, &name("cases.tsv"))?;
        let control = cheapest_control(&claims, &cases, profile)
            .ok_or_else(|| anyhow!("{claims_file} has no A/A control in the profile {profile}"))?;
        cases_text = cases::lines_of(&cases_text, &control.quantity.cases(profile));
        part.calibration = Some(Calibration { control: control.id.clone(), trials });
    }
    let cases = cases::parse(&cases_text, &name("cases.tsv"))?;
    let file = TomlFile { name: &claims_file, text: &claims_text };
    let plan: Plan = plan(&cases, &claims, file, profile, seed, &part)?;
    if show {
        print(&plan.table())?;
    } else {
        let text = plan_file::to_tsv(&plan.runs);
        let meta = PlanMeta {
            schema: Schema,
            study: claims.study,
            profile: profile.to_owned(),
            seed,
            hash: plan_file::hash(&claims_text, &cases_text, &text),
            planned_s: plan.planned_s,
            only: part.only,
            blocks_cap: part.blocks_cap,
            calibration: part.calibration,
        };
        let meta = format!("{}\n", serde_json::to_string_pretty(&meta)?);
        for (name, text) in [("cases.tsv", &cases_text), ("plan.tsv", &text), ("plan.json", &meta)] {
            write_whole(&folder.join(name), text)?;
        }
    }
    // A plan that is over its budget is measured all the same if someone asks for it; only showing it judges.
    Ok(if show && plan.over_budget() { ExitCode::from(FOUND_FAULTS) } else { ExitCode::SUCCESS })
}

fn check_all(paths: &[PathBuf]) -> Result<ExitCode, Error> {
    let mut findings = Vec::new();
    let mut folders = 0;
    for path in paths {
        let below = results::sealed_below(path)?;
        if below.is_empty() {
            return Err(anyhow!("{} holds no results folder: is the path right?", path.display()));
        }
        folders += below.len();
        findings.extend(below.iter().flat_map(|folder| check::check(folder)).map(Error::from));
    }
    for finding in &findings {
        print(&format!("{finding:#}\n"))?;
    }
    let found = if findings.is_empty() { "all is well".to_owned() } else { format!("{} findings", findings.len()) };
    eprintln!("checked {folders} folders: {found}");
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAULTS) })
}

/// Prints several errors at once, one line each, and says how to exit.
fn all(result: Result<(), Vec<report::error::Error>>) -> ExitCode {
    let Err(errors) = result else {
        return ExitCode::SUCCESS;
    };
    for error in errors {
        eprintln!("report: {:#}", Error::from(error));
    }
    ExitCode::from(COULD_NOT_RUN)
}

fn print(text: &str) -> Result<ExitCode, Error> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}
