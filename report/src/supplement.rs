//! Supplements: other measurements of a study that stand in for what the newest whole one did not run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::claims::Claims;
use crate::error::Error;
use crate::judge::Addition;
use crate::machine::Machine;
use crate::render::Supplement;
use crate::results::Folder;

/// Reads the measurements at `paths`, the newest first, as far as they hold what neither `main` nor a newer one has.
///
/// # Errors
/// If one cannot be read.
pub fn read(main: &Folder, paths: &[PathBuf], results: &Path) -> Result<Vec<(Supplement, Addition)>, Error> {
    let ran_by_main: BTreeSet<String> = main.plan.iter().map(|run| run.scenario.clone()).collect();
    let mut shown = cases_of(main);
    let mut judged: BTreeSet<(String, String)> = BTreeSet::new();
    let mut found = Vec::new();
    for path in paths {
        let folder = Folder::read(path)?;
        let profile = &folder.meta.profile;
        let ran = cases_of(&folder);
        let cases: BTreeSet<(String, String)> = ran.difference(&shown).cloned().collect();
        // What is judged together comes from one measurement: whole scenarios, whatever the main one ran of them.
        let lacking = not_measured(&main.claims, &main.meta.profile, profile);
        let scenarios: BTreeSet<String> = ran
            .iter()
            .map(|(scenario, _)| scenario)
            .filter(|scenario| lacking.contains(*scenario) && !judged.contains(&(profile.clone(), (*scenario).clone())))
            .cloned()
            .collect();
        if cases.is_empty() && scenarios.is_empty() {
            continue;
        }
        let is_taken = |scenario: &str, arm: &str| {
            scenarios.contains(scenario) || cases.contains(&(scenario.to_owned(), arm.to_owned()))
        };
        let supplement = Supplement {
            folder: path.strip_prefix(results).unwrap_or(path).display().to_string(),
            profile: profile.clone(),
            plan_seed: folder.meta.seed,
            plan_hash: folder.meta.hash.clone(),
            runs: folder.plan.iter().filter(|run| is_taken(&run.scenario, &run.arm)).count(),
            failed: folder.failures().iter().filter(|(_, scenario, arm, _)| is_taken(scenario, arm)).count(),
            shared: ran_by_main.clone(),
            judged: scenarios.clone(),
            cases: cases.clone(),
            other_machine: (!folder.machine.is_like(&main.machine)).then(|| in_words(&folder.machine)),
        };
        let mark = supplement.mark();
        shown.extend(cases.iter().cloned());
        judged.extend(scenarios.iter().map(|scenario| (profile.clone(), scenario.clone())));
        let addition = Addition { profile: profile.clone(), data: folder.dataset(), cases, scenarios, mark };
        found.push((supplement, addition));
    }
    Ok(found)
}

/// The test cases that a measurement ran, by scenario and arm.
fn cases_of(folder: &Folder) -> BTreeSet<(String, String)> {
    folder.plan.iter().map(|run| (run.scenario.clone(), run.arm.clone())).collect()
}

/// The scenarios that `profile` asks for and `main_profile` does not judge.
fn not_measured(claims: &Claims, main_profile: &str, profile: &str) -> BTreeSet<String> {
    let lacks =
        |quantity: &&crate::claims::Quantity| !quantity.is_measured(main_profile) && quantity.is_measured(profile);
    let goals = claims.goals.iter().map(|goal| &goal.quantity);
    let claims = claims.claims.iter().filter_map(|claim| claim.quantity.as_ref());
    goals.chain(claims).filter(lacks).flat_map(|quantity| quantity.scenarios(profile).to_vec()).collect()
}

/// "on another machine (Made-up CPU, 4 cores)".
fn in_words(machine: &Machine) -> String {
    let value = |name: &str| match machine.values.get(name) {
        Some(Some(serde_json::Value::String(text))) => text.clone(),
        Some(Some(other)) => other.to_string(),
        _ => "unknown".to_owned(),
    };
    format!("on another machine ({}, {} processors)", value("cpu_model"), value("cpu_count"))
}
