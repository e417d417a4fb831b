//! Which test cases of a study a profile runs, and which of them once more under GNU time.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cases::{self, Case};
use crate::claims::Claims;
use crate::error::Error;
use crate::plan::Terms;
use crate::plan_file::PlannedRun;
use crate::results::{load, read_meta};

/// What the quick profile runs though nothing in claims.toml asks for it takes at most so long, in seconds: a figure that nobody judges
/// is worth half a second of a user's time.
const UNASKED_S: f64 = 0.5;

/// How often a profile runs its cases once more under GNU time; smoke, which judges nothing, never does.
const PASSES: [(&str, u32); 2] = [("quick", 1), ("full", 3)];

/// A test case by scenario and arm.
type Named = (String, String);

/// The test cases that a whole measurement runs: all of them, but in quick only those that something in `claims` asks for, and short ones; with
/// `judged` only what is asked for, in any profile.
pub(crate) fn run(cases: &[Case], claims: &Claims, profile: &str, judged: bool) -> Vec<Named> {
    let asked = claims.blocks(profile);
    let is_free = |case: &Case| !judged && (profile != "quick" || case.seconds <= UNASKED_S);
    cases.iter().filter(|case| is_free(case) || asked.contains_key(&named(case))).map(named).collect()
}

/// How many passes under GNU time follow from `terms`: a partial measurement makes no more of them than blocks, a calibration none.
pub fn passes(terms: &Terms) -> u32 {
    let of_profile = PASSES.iter().find(|(profile, _)| *profile == terms.profile).map_or(0, |(_, passes)| *passes);
    let most = terms.blocks_cap.and_then(|cap| u32::try_from(cap).ok()).unwrap_or(u32::MAX);
    if terms.calibration.is_some() { 0 } else { of_profile.min(most) }
}

/// The passes under GNU time that the plan of a folder promises.
///
/// # Errors
/// If a file that they follow from is missing, or not as docs/FORMAT.md says.
pub fn promised(folder: &Path) -> Result<Vec<PlannedRun>, Error> {
    let (_, claims) = load(folder, "claims.toml", Claims::parse)?;
    let (_, cases) = load(folder, "cases.tsv", cases::parse)?;
    Ok(memory_passes(&cases, &claims, &Terms::from(&read_meta(folder)?)))
}

/// The passes under GNU time that a plan promises, in their order: of all cases, but in quick only of those of which something in `claims`
/// asks for memory.
pub fn memory_passes(cases: &[Case], claims: &Claims, terms: &Terms) -> Vec<PlannedRun> {
    let profile = &terms.profile;
    let of_memory = claims.quantities().map(|(_, quantity)| quantity).filter(|quantity| quantity.is_memory());
    let measured = of_memory.filter(|quantity| quantity.is_measured(profile));
    let judged: BTreeSet<Named> = measured.flat_map(|quantity| quantity.cases(profile)).collect();
    let is_checked = |case: &&Case| profile != "quick" || judged.contains(&named(case));
    let pass = |pass: u32| {
        let of_pass = move |case: &Case| PlannedRun {
            run: format!("memory-{pass}"),
            block: 0,
            layout: 0,
            seed: 0,
            case: case.clone(),
        };
        cases.iter().filter(is_checked).map(of_pass)
    };
    (0..passes(terms)).flat_map(pass).collect()
}

fn named(case: &Case) -> Named {
    (case.scenario.clone(), case.arm.clone())
}
