//! Which test cases of a study a profile runs, and which of them once more under GNU time.

use std::collections::BTreeSet;
use std::path::Path;

use crate::claims::Claims;
use crate::error::Error;
use crate::folder::cases::{self, Case};
use crate::folder::plan_file::{self, PlanMeta, PlannedRun};
use crate::folder::{load, read_meta};

/// A test case by scenario and arm.
type Named = (String, String);

/// The test cases that a whole measurement runs: in quick, and with `judged` in any profile, those that something in `claims` asks for, else all.
pub(crate) fn run(cases: &[Case], claims: &Claims, profile: &str, judged: bool) -> Vec<Named> {
    let asked = claims.blocks(profile);
    let is_run = |case: &&Case| (profile != "quick" && !judged) || asked.contains_key(&named(case));
    cases.iter().filter(is_run).map(named).collect()
}

/// How many passes under GNU time follow from a plan's profile and part: a calibration makes none, nor do smoke, which judges
/// nothing, and goals alone, which are judged by what the arms say of themselves.
pub fn passes(claims: &Claims, meta: &PlanMeta) -> usize {
    let of_profile = match meta.profile.as_str() {
        "quick" => 1,
        "full" if !claims.claims.is_empty() => 3,
        _ => 0,
    };
    if meta.calibration.is_some() { 0 } else { of_profile }
}

/// The passes under GNU time that the plan of a folder promises.
///
/// # Errors
/// If a file that they follow from is missing, or not as docs/FORMAT.md says.
pub fn promised(folder: &Path) -> Result<Vec<PlannedRun>, Error> {
    let (_, claims) = load(folder, "claims.toml", Claims::parse)?;
    let (_, cases) = load(folder, "cases.tsv", cases::parse)?;
    Ok(memory_passes(&cases, &claims, &read_meta(folder)?))
}

/// The passes under GNU time that a plan promises, in their order: of all cases, but in quick only of those of which something in `claims`
/// asks for memory.
pub fn memory_passes(cases: &[Case], claims: &Claims, meta: &PlanMeta) -> Vec<PlannedRun> {
    let profile = &meta.profile;
    let of_memory = claims.quantities().map(|(_, quantity)| quantity).filter(|quantity| quantity.is_memory());
    let measured = of_memory.filter(|quantity| quantity.is_measured(profile));
    let judged: BTreeSet<Named> = measured.flat_map(|quantity| quantity.cases(profile)).collect();
    let is_checked = |case: &&Case| profile != "quick" || judged.contains(&named(case));
    let pass = |pass: usize| {
        let of_pass = move |case: &Case| PlannedRun {
            run: format!("memory-{pass}"),
            block: 0,
            layout: 0,
            seed: 0,
            case: case.clone(),
        };
        cases.iter().filter(is_checked).map(of_pass)
    };
    (0..passes(claims, meta)).flat_map(pass).collect()
}

/// How many runs of a folder's plan make what is to be measured first.
///
/// # Errors
/// As [`promised`].
pub fn first(folder: &Path) -> Result<usize, Error> {
    let (_, claims) = load(folder, "claims.toml", Claims::parse)?;
    let (_, plan) = load(folder, "plan.tsv", plan_file::from_tsv)?;
    let meta = read_meta(folder)?;
    let scenarios = claims.first_scenarios(&meta.profile);
    Ok(plan.iter().take_while(|run| scenarios.contains(run.case.scenario.as_str())).count())
}

/// The name of a test case.
pub(crate) fn named(case: &Case) -> Named {
    (case.scenario.clone(), case.arm.clone())
}
