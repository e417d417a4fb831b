//! Supplements: other measurements of a study that stand in for what the newest whole one did not run.

use std::collections::BTreeSet;
use std::path::Path;

use crate::claims::{Claims, Quantity};
use crate::dataset::Dataset;
use crate::fmt::plural;
use crate::results::Folder;

/// The mark of what is taken from another measurement.
pub const MARK: &str = "†";

/// Another measurement of the same host, as far as it stands in for the newest whole one.
#[derive(Debug, Clone, Default)]
pub struct Supplement {
    /// Path of the results folder, relative to the results root.
    pub folder: String,
    pub profile: String,
    pub plan_seed: u64,
    pub plan_hash: String,
    /// Runs of what is taken from it.
    pub runs: usize,
    pub failed: usize,
    /// The test cases that are shown from it, by scenario and arm.
    pub cases: BTreeSet<(String, String)>,
    /// The scenarios of which goals and claims are judged from it.
    pub judged: BTreeSet<String>,
    /// The scenarios that the whole measurement ran, too, with other arms or in fewer blocks.
    pub shared: BTreeSet<String>,
    /// What is taken from it.
    pub data: Dataset,
}

impl Supplement {
    /// What is taken from it: names of scenarios, with the number of arms where the whole measurement has the others.
    pub fn taken(&self, name: impl Fn(&str) -> String) -> Vec<String> {
        let scenarios: BTreeSet<&String> =
            self.cases.iter().map(|(scenario, _)| scenario).chain(&self.judged).collect();
        let of = |scenario: &String| match self.cases.iter().filter(|(of, _)| of == scenario).count() {
            arms if arms > 0 && self.shared.contains(scenario) => {
                format!("{} ({})", name(scenario), plural(arms, "arm", "arms"))
            }
            _ => name(scenario),
        };
        scenarios.into_iter().map(of).collect()
    }

    /// Whether the test case is shown from it.
    pub fn has(&self, scenario: &str, arm: &str) -> bool {
        self.cases.contains(&(scenario.to_owned(), arm.to_owned()))
    }
}

/// What `folders`, the newest first, hold that neither `main` nor a newer one has.
pub fn read(main: &Folder, folders: &[&Folder], results: &Path) -> Vec<Supplement> {
    let shared: BTreeSet<String> = main.made().iter().map(|run| run.case.scenario.clone()).collect();
    let mut shown = cases_of(main);
    let mut all_judged = BTreeSet::new();
    let mut found = Vec::new();
    for folder in folders {
        let profile = &folder.meta.profile;
        let ran = cases_of(folder);
        let cases: BTreeSet<(String, String)> = ran.difference(&shown).cloned().collect();
        // What is judged together comes from one measurement: whole scenarios, whatever the main one ran of them.
        let mut judged = not_measured(&main.claims, &main.meta.profile, profile);
        judged.retain(|scenario| ran.iter().any(|(of, _)| of == scenario) && !all_judged.contains(scenario));
        if cases.is_empty() && judged.is_empty() {
            continue;
        }
        shown.extend(cases.iter().cloned());
        all_judged.extend(judged.iter().cloned());
        let mut data = Dataset::default();
        data.extend(&folder.dataset(), |scenario, arm| {
            judged.contains(scenario) || cases.contains(&(scenario.to_owned(), arm.to_owned()))
        });
        found.push(Supplement {
            folder: folder.below(results),
            profile: profile.clone(),
            plan_seed: folder.meta.seed,
            plan_hash: folder.meta.hash.clone(),
            runs: data.all().count(),
            failed: data.all().filter(|sample| sample.error.is_some()).count(),
            shared: shared.clone(),
            judged,
            cases,
            data,
        });
    }
    found
}

/// The test cases that a measurement ran, by scenario and arm.
fn cases_of(folder: &Folder) -> BTreeSet<(String, String)> {
    folder.made().iter().map(|run| (run.case.scenario.clone(), run.case.arm.clone())).collect()
}

/// The scenarios that `profile` asks for and `main_profile` does not judge.
fn not_measured(claims: &Claims, main_profile: &str, profile: &str) -> BTreeSet<String> {
    let lacks = |quantity: &&Quantity| !quantity.is_measured(main_profile) && quantity.is_measured(profile);
    let goals = claims.goals.iter().map(|goal| &goal.quantity);
    let claims = claims.parts().map(|(_, part)| &part.quantity);
    goals.chain(claims).filter(lacks).flat_map(|quantity| quantity.scenarios(profile).to_vec()).collect()
}
