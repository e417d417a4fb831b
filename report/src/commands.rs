//! What each command does: files and streams at the edge, the library for the rest.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Error, anyhow};

use crate::cases;
use crate::claims::Claims;
use crate::cli::{Append, Command};
use crate::files::{self, Schema, TomlFile, write_whole};
use crate::machine::Machine;
use crate::output::print;
use crate::plan::{Plan, cheapest_controls, plan};
use crate::plan_file::{self, Calibration, PlanMeta, PlannedRun};
use crate::results::load;
use crate::{append, check, fmt, power, publish, render, selection};

const FOUND_FAULTS: u8 = 1;
const COULD_NOT_RUN: u8 = 2;

/// Carries out `command` and says how to exit.
///
/// # Errors
/// If it could not run.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Plan { folders, profile, seed, layouts, only, blocks, calibrate, show, results } => {
            let asked = PlanMeta {
                schema: Schema,
                study: String::new(),
                profile: <&str>::from(profile).to_owned(),
                seed,
                layouts: layouts.into(),
                // Sorted and once each, so that the order in which they were typed does not matter.
                only: only.map(|names| BTreeSet::from_iter(names).into_iter().collect()),
                blocks_cap: blocks.map(usize::from),
                calibration: None,
                hash: String::new(),
                planned_s: 0.0,
                memory_passes: 0,
                cut: false,
            };
            let made = folders.iter().map(|folder| make_plan(folder, &asked, calibrate)).collect::<Result<Vec<_>, _>>();
            match folders.as_slice() {
                _ if show => show_plans(&made?, results.as_deref()),
                [folder] => made?[0].write(folder),
                _ => Err(anyhow!("several folders can only be shown: add --show")),
            }
        }
        Command::Cases { folder, profile, judged } => {
            let (_, claims) = load(&folder, "claims.toml", Claims::parse)?;
            let (listed, cases) = load(&folder, "cases.tsv", cases::parse)?;
            print(&cases::lines_of(&listed, &selection::run(&cases, &claims, profile.into(), judged)))
        }
        Command::Passes { folder } => print(&promised_passes(&folder)?),
        Command::Append(what) => append(what),
        Command::Machine { folder, facts } => {
            let bytes = fs::read(&facts).with_context(|| format!("cannot read {}", facts.display()))?;
            // A name in another encoding loses its accents, not the round.
            let machine = Machine::from_facts(&String::from_utf8_lossy(&bytes), &facts.display().to_string())?;
            write_whole(&folder.join("machine.json"), &format!("{}\n", serde_json::to_string_pretty(&machine)?))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Seal { folder, cut } => done(check::seal(&folder, cut)),
        Command::Check { paths } => check_all(&paths),
        Command::Answers { results } => print(&render::answers_in_text(&publish::studies(&results).map_err(all)?)),
        Command::Verdicts { results, study, json } => {
            let mut studies = publish::studies(&results).map_err(all)?;
            if let Some(study) = study {
                studies.retain(|view| view.judged.study == study);
                if studies.is_empty() {
                    return Err(anyhow!("{} has no sealed measurement of {study}", results.display()));
                }
            }
            print(&if json { render::verdicts_json(&studies) } else { render::verdict_table(&studies) })
        }
        Command::Render { results, out, charts, splice } => done(publish::render(&results, &out, &charts, &splice)),
        Command::Page { folder, page } => done(check::replace_page(&folder, &page)),
    }
}

fn append(what: Append) -> Result<ExitCode, Error> {
    let failure = match what {
        Append::Runs { folder, run, left, hyperfine } => append::run(&folder, &run, &left, hyperfine.as_deref())?,
        Append::Memory { folder, pass, scenario, arm, left, time } => {
            append::memory(&folder, pass, &scenario, &arm, &left, time.as_deref())?
        }
    };
    if let Some(failure) = &failure {
        eprintln!("recorded as a failure: {failure}");
    }
    Ok(exit(failure.is_none()))
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

/// The passes under GNU time that the plan of a folder promises, one per line.
fn promised_passes(folder: &Path) -> Result<String, Error> {
    let (promised, listed) = (selection::promised(folder)?, files::read(&folder.join("cases.tsv"))?);
    let line = |PlannedRun { run, case, .. }: &PlannedRun| {
        let pass = run.trim_start_matches("memory-");
        format!("{pass}\t{}", cases::lines_of(&listed, &[selection::named(case)]))
    };
    Ok(promised.iter().map(line).collect())
}

/// A plan with what it follows from.
struct Made {
    claims: Claims,
    cases_text: String,
    plan: Plan,
    meta: PlanMeta,
}

fn make_plan(folder: &Path, asked: &PlanMeta, trials: Option<u16>) -> Result<Made, Error> {
    let name = |file: &str| folder.join(file).display().to_string();
    let (claims_text, claims) = load(folder, "claims.toml", Claims::parse)?;
    let (listed, mut cases) = load(folder, "cases.tsv", cases::parse)?;
    let mut meta = PlanMeta { study: claims.study.clone(), ..asked.clone() };
    let known: BTreeSet<&str> = cases.iter().map(|case| case.scenario.as_str()).collect();
    if let Some(unknown) = meta.only.iter().flatten().find(|scenario| !known.contains(scenario.as_str())) {
        let known = Vec::from_iter(known).join(", ");
        return Err(anyhow!("{}: there is no scenario '{unknown}': choose of {known}", name("cases.tsv")));
    }
    cases.retain(|case| meta.holds(&case.scenario));
    if let Some(trials) = trials {
        let controls = cheapest_controls(&claims, &cases, &meta.profile);
        if controls.is_empty() {
            return Err(anyhow!("{} has no A/A control in the profile {}", name("claims.toml"), meta.profile));
        }
        let repeated: Vec<_> = controls.iter().flat_map(|control| control.quantity.cases(&meta.profile)).collect();
        cases.retain(|case| repeated.contains(&selection::named(case)));
        let controls = controls.into_iter().map(|control| control.id.clone()).collect();
        meta.calibration = Some(Calibration { controls, trials: trials.into() });
    }
    let cases_text = cases::lines_of(&listed, &cases.iter().map(selection::named).collect::<Vec<_>>());
    let plan = plan(&cases, &claims, TomlFile { name: &name("claims.toml"), text: &claims_text }, &meta)?;
    meta.hash = plan_file::hash(&claims_text, &cases_text, &plan_file::to_tsv(&plan.runs));
    meta.planned_s = plan.planned_s;
    meta.memory_passes = selection::passes(&meta);
    Ok(Made { claims, cases_text, plan, meta })
}

impl Made {
    fn write(&self, folder: &Path) -> Result<ExitCode, Error> {
        write_whole(&folder.join("cases.tsv"), &self.cases_text)?;
        write_whole(&folder.join("plan.tsv"), &plan_file::to_tsv(&self.plan.runs))?;
        write_whole(&folder.join("plan.json"), &self.meta.to_text())?;
        // A plan that is over its budget is measured all the same if someone asks for it; only showing it judges.
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints each plan below its study's name, what it can be expected to find, and what all take together.
fn show_plans(plans: &[Made], results: Option<&Path>) -> Result<ExitCode, Error> {
    for Made { claims, plan, meta, .. } in plans {
        print(&format!("{}\n{}", claims.study, plan.table()))?;
        // Without results, or with such as cannot be read, nothing is known of the noise.
        let before = results.and_then(|results| publish::studies(&results.join(&claims.study)).ok());
        for view in before.into_iter().flatten() {
            let table = power::table(claims, &meta.profile, &view.judged);
            if !table.is_empty() {
                let what = "how often it would find the published size, by the noise of the last round";
                print(&format!("\n{what}:\n{table}"))?;
            }
        }
        print("\n")?;
    }
    let runs: usize = plans.iter().map(|made| made.plan.runs.len()).sum();
    let seconds: f64 = plans.iter().map(|made| made.plan.planned_s).sum();
    let over: Vec<&str> =
        plans.iter().filter(|made| made.plan.over_budget()).map(|made| made.claims.study.as_str()).collect();
    let studies = fmt::plural(plans.len(), "study", "studies");
    let excess = if over.is_empty() { String::new() } else { format!("; over budget: {}", over.join(", ")) };
    print(&format!("total: {studies}, {runs} runs, about {seconds:.0} s{excess}\n"))?;
    Ok(exit(over.is_empty()))
}

fn check_all(paths: &[PathBuf]) -> Result<ExitCode, Error> {
    let checked = check::read(paths)?;
    let findings = [checked.refused, checked.failed].concat();
    for finding in &findings {
        print(&format!("{finding}\n"))?;
    }
    let found = if findings.is_empty() { "all is well".to_owned() } else { format!("{} findings", findings.len()) };
    eprintln!("checked {} folders: {found}", checked.count);
    Ok(exit(findings.is_empty()))
}

/// How a command that ran exits.
fn exit(is_well: bool) -> ExitCode {
    if is_well { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAULTS) }
}

/// Several errors as one, of a line each.
fn all(errors: Vec<crate::error::Error>) -> Error {
    Error::msg(errors.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\nreport: "))
}

fn done(result: Result<(), Vec<crate::error::Error>>) -> Result<ExitCode, Error> {
    result.map(|()| ExitCode::SUCCESS).map_err(all)
}
