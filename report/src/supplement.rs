//! Supplements: partial measurements whose scenarios stand in for those that the whole one of a study did not run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::dataset::Dataset;
use crate::error::Error;
use crate::judge::Addition;
use crate::machine::Machine;
use crate::render::Supplement;
use crate::results::Folder;

/// Reads the partial measurements at `paths`, the newest first, as far as they hold scenarios that neither `main` nor a newer one ran.
///
/// # Errors
/// If one cannot be read.
pub fn read(main: &Folder, paths: &[PathBuf], results: &Path) -> Result<Vec<(Supplement, Addition)>, Error> {
    let mut taken: BTreeSet<String> = main.plan.iter().map(|run| run.scenario.clone()).collect();
    let mut found = Vec::new();
    for path in paths {
        let folder = Folder::read(path)?;
        let ran: BTreeSet<String> = folder.plan.iter().map(|run| run.scenario.clone()).collect();
        let scenarios: BTreeSet<String> = ran.difference(&taken).cloned().collect();
        if scenarios.is_empty() {
            continue;
        }
        let is_taken = |scenario: &str| scenarios.contains(scenario);
        let supplement = Supplement {
            folder: path.strip_prefix(results).unwrap_or(path).display().to_string(),
            profile: folder.meta.profile.clone(),
            plan_seed: folder.meta.seed,
            plan_hash: folder.meta.hash.clone(),
            runs: folder.plan.iter().filter(|run| is_taken(&run.scenario)).count(),
            failed: folder.failures().iter().filter(|(_, scenario, ..)| is_taken(scenario)).count(),
            scenarios: scenarios.clone(),
            other_machine: (!folder.machine.is_like(&main.machine)).then(|| in_words(&folder.machine)),
        };
        let mut data = Dataset::default();
        data.extend(&folder.dataset(), &scenarios);
        let mark = supplement.mark();
        let addition = Addition { profile: folder.meta.profile.clone(), data, scenarios: scenarios.clone(), mark };
        taken.extend(scenarios);
        found.push((supplement, addition));
    }
    Ok(found)
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
