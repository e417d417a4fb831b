//! What each command does: files and streams at the edge, the library for the rest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Error, anyhow};

use self::check::Checked;
use crate::claims::{Claims, file::ORIGINALS};
use crate::cli::{Basis, Command, PlanArgs, Printed};
use crate::files::{self, Schema, TomlFile, write_whole};
use crate::folder::cases::{self, Case};
use crate::folder::plan_file::{self, Calibration, PlanMeta, PlannedRun};
use crate::folder::{load, machine::Machine};
use crate::output::print;
use crate::page::view::StudyView;
use crate::plan::{self, Plan, cheapest_controls, plan};
use crate::{fmt, render};

mod append;
pub mod check;
mod publish;

const FOUND_FAULTS: u8 = 1;
const COULD_NOT_RUN: u8 = 2;

/// Carries out `command` and says how to exit; an error if it could not run.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Plan { folders, asked } => make_plans(&folders, &asked),
        Command::Cases { folder, profile, judged } => {
            let (_, claims) = load(&folder, "claims.toml", Claims::parse)?;
            let (listed, cases) = load(&folder, "cases.tsv", cases::parse)?;
            print(&cases::lines_of(&listed, &plan::chosen(&cases, &claims, &profile, judged)))
        }
        Command::Passes { folder } => {
            let (promised, listed) = (plan::promised(&folder)?, files::read(&folder.join("cases.tsv"))?);
            let line = |PlannedRun { run, case, .. }: &PlannedRun| {
                format!("{}\t{}", run.trim_start_matches("memory-"), cases::lines_of(&listed, &[case.named()]))
            };
            print(&promised.iter().map(line).collect::<String>())
        }
        Command::First { folder } => print(&format!("{}\n", plan::first(&folder)?)),
        Command::Append(what) => {
            let failure = append::run(&what)?;
            if let Some(failure) = &failure {
                eprintln!("recorded as a failure: {failure}");
            }
            Ok(exit(failure.is_none()))
        }
        Command::Machine { folder, facts } => {
            let bytes = fs::read(&facts).with_context(|| format!("cannot read {}", facts.display()))?;
            // A name in another encoding loses its accents, not the round.
            let machine = Machine::from_facts(&String::from_utf8_lossy(&bytes), &facts.display().to_string())?;
            write_whole(&folder.join("machine.json"), &format!("{}\n", serde_json::to_string_pretty(&machine)?))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Seal { folder, cut } => check::seal(&folder, cut).map(|()| ExitCode::SUCCESS).map_err(all),
        Command::Check { paths, studies } => check_all(&paths, studies.as_deref()),
        Command::Verdicts { from, study, claim } => {
            let studies = some_of(judged(&check::read(&from.results)?, &from)?, study.as_slice(), &from)?;
            if let Some(id) = claim {
                let lines = studies.iter().find_map(|view| render::claim_in_words(view, &id));
                return print(&lines.ok_or_else(|| anyhow!("there is no claim {id} in claims.toml"))?);
            }
            print(&render::verdicts_json(&studies))
        }
        Command::Render { from, out, charts, splice, print: printed, study } => {
            let checked = check::read(&from.results)?;
            let studies = judged(&checked, &from)?;
            publish::render(&studies, &out, &charts, &splice).map_err(all)?;
            let is_well = print_findings(&checked)?;
            if let Some(printed) = printed {
                let studies = some_of(studies, &study, &from)?;
                print(&match printed {
                    Printed::Answers => render::answers_in_text(&studies),
                    Printed::Prices => render::prices_in_text(&studies, false),
                    Printed::Maps => render::maps_in_text(&studies),
                    Printed::Goals => render::goals_in_text(&studies),
                })?;
            }
            Ok(exit(is_well))
        }
    }
}

/// Those of the studies that are asked for; all, if none is.
fn some_of(mut studies: Vec<StudyView>, only: &[String], from: &Basis) -> Result<Vec<StudyView>, Error> {
    studies.retain(|view| only.is_empty() || only.contains(&view.judged.study));
    if studies.is_empty() {
        return Err(anyhow!("there is no sealed measurement of {} in {}", only.join(", "), from.results[0].display()));
    }
    Ok(studies)
}

fn judged(checked: &Checked, from: &Basis) -> Result<Vec<StudyView>, Error> {
    publish::studies(checked, &from.results, &from.studies).map_err(all)
}

/// Prints `error` with its causes in one line and says how to exit.
pub fn report(error: &Error) -> ExitCode {
    eprintln!("report: {error:#}");
    ExitCode::from(COULD_NOT_RUN)
}

/// Writes the plan of every folder and prints it below the study's name, with what all take together at the end.
fn make_plans(folders: &[PathBuf], asked: &PlanArgs) -> Result<ExitCode, Error> {
    let (mut runs, mut seconds, mut over) = (0, 0.0, Vec::new());
    for folder in folders {
        let (study, plan) = make_plan(folder, asked)?;
        print(&format!("{study}\n{}\n", plan.table()))?;
        over.extend(plan.over_budget().then_some(study));
        runs += plan.runs.len();
        seconds += plan.planned_s;
    }
    let studies = fmt::plural(folders.len(), "study", "studies");
    let excess = if over.is_empty() { String::new() } else { format!("; over budget: {}", over.join(", ")) };
    print(&format!("total: {studies}, {runs} runs, about {seconds:.0} s{excess}\n"))?;
    Ok(exit(over.is_empty()))
}

fn make_plan(folder: &Path, asked: &PlanArgs) -> Result<(String, Plan), Error> {
    let name = |file: &str| folder.join(file).display().to_string();
    let (claims_text, claims) = load(folder, "claims.toml", Claims::parse)?;
    let (listed, mut cases) = load(folder, "cases.tsv", cases::parse)?;
    let mut meta = PlanMeta {
        schema: Schema,
        study: claims.study.clone(),
        profile: asked.profile.clone(),
        seed: asked.seed,
        layouts: asked.layouts.into(),
        // Sorted and once each, so that the order in which they were typed does not matter.
        only: asked.only.clone().map(|names| BTreeSet::from_iter(names).into_iter().collect()),
        calibration: None,
        hash: String::new(),
        planned_s: 0.0,
        memory_passes: 0,
        cut: false,
    };
    if meta.only.is_some() && meta.profile != ORIGINALS {
        return Err(anyhow!("--only is of the profile originals: every other measures all that is asked of it"));
    }
    let known: BTreeSet<&str> = cases.iter().map(|case| case.scenario.as_str()).collect();
    if let Some(unknown) = meta.only.iter().flatten().find(|scenario| !known.contains(scenario.as_str())) {
        let known = Vec::from_iter(known).join(", ");
        return Err(anyhow!("{}: there is no scenario '{unknown}': choose of {known}", name("cases.tsv")));
    }
    cases.retain(|case| meta.holds(&case.scenario));
    if let Some(trials) = asked.calibrate {
        let controls = cheapest_controls(&claims, &cases, &meta.profile);
        if controls.is_empty() {
            return Err(anyhow!("{} has no A/A control in the profile {}", name("claims.toml"), meta.profile));
        }
        let repeated: Vec<_> = controls.iter().flat_map(|control| control.quantity.cases(&meta.profile)).collect();
        cases.retain(|case| repeated.contains(&case.named()));
        let controls = controls.into_iter().map(|control| control.id.clone()).collect();
        meta.calibration = Some(Calibration { controls, trials: trials.into() });
    }
    let cases_text = cases::lines_of(&listed, &cases.iter().map(Case::named).collect::<Vec<_>>());
    let plan = plan(&cases, &claims, TomlFile { name: &name("claims.toml"), text: &claims_text }, &meta)?;
    let runs = plan_file::to_tsv(&plan.runs);
    meta.hash = plan_file::hash(&claims_text, &cases_text, &runs);
    meta.planned_s = plan.planned_s;
    meta.memory_passes = plan::passes(&claims, &meta);
    for (file, text) in [("cases.tsv", &cases_text), ("plan.tsv", &runs), ("plan.json", &meta.to_text())] {
        write_whole(&folder.join(file), text)?;
    }
    Ok((meta.study, plan))
}

fn check_all(paths: &[PathBuf], root: Option<&Path>) -> Result<ExitCode, Error> {
    let checked = check::read(paths)?;
    let is_well = print_findings(&checked)?;
    if let Some(root) = root.filter(|_| checked.refused.is_empty()) {
        let studies = publish::studies(&checked, paths, root).map_err(all)?;
        for folder in publish::unshown(&checked, &studies) {
            print(&format!("{}: no page shows a figure of it\n", folder.display()))?;
        }
    }
    Ok(exit(is_well))
}

/// Prints what was found while results were read, a line per finding; whether that is nothing.
fn print_findings(checked: &Checked) -> Result<bool, Error> {
    let findings = || checked.refused.iter().chain(&checked.failed);
    for finding in findings() {
        print(&format!("{finding}\n"))?;
    }
    let is_well = findings().next().is_none();
    let found = if is_well { "all is well".to_owned() } else { format!("{} findings", findings().count()) };
    eprintln!("checked {} folders: {found}", checked.count);
    Ok(is_well)
}

fn exit(is_well: bool) -> ExitCode {
    if is_well { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAULTS) }
}

/// Several errors as one, of a line each.
fn all(errors: Vec<crate::error::Error>) -> Error {
    Error::msg(errors.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\nreport: "))
}
