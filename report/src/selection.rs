//! Which test cases of a study a profile runs, and which of them once more under GNU time.

use std::collections::BTreeSet;

use crate::cases::Case;
use crate::claims::Claims;
use crate::plan_file::{PlanMeta, PlannedRun};

/// What the quick profile runs though nothing in claims.toml asks for it takes at most so long, in seconds: a figure that nobody judges
/// is worth half a second of a user's time.
const UNASKED_S: f64 = 0.5;

/// A test case by scenario and arm.
type Named = (String, String);

/// The test cases that a whole measurement runs: all of them, but in quick only those that something in `claims` asks for, and short ones.
pub fn run(cases: &[Case], claims: &Claims, profile: &str) -> Vec<Named> {
    let asked = claims.blocks(profile);
    let is_run = |case: &&Case| profile != "quick" || case.seconds <= UNASKED_S || asked.contains_key(&named(case));
    cases.iter().filter(is_run).map(named).collect()
}

/// Those whose peak memory is cross-checked: all of them, but in quick only those of which something in `claims` asks for memory.
pub fn cross_checked(cases: &[Case], claims: &Claims, profile: &str) -> Vec<Named> {
    let of_memory = claims.quantities().map(|(_, quantity)| quantity).filter(|quantity| quantity.is_memory());
    let judged: BTreeSet<Named> = of_memory
        .filter(|quantity| quantity.is_measured(profile))
        .flat_map(|quantity| quantity.cases(profile))
        .collect();
    let is_checked = |case: &&Case| profile != "quick" || judged.contains(&named(case));
    cases.iter().filter(is_checked).map(named).collect()
}

/// The passes under GNU time that a plan promises, in their order.
pub fn memory_passes(cases: &[Case], claims: &Claims, meta: &PlanMeta) -> Vec<PlannedRun> {
    let checked: BTreeSet<Named> = cross_checked(cases, claims, &meta.profile).into_iter().collect();
    let is_checked = |case: &&Case| checked.contains(&named(case));
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
    (0..meta.memory_passes).flat_map(pass).collect()
}

fn named(case: &Case) -> Named {
    (case.scenario.clone(), case.arm.clone())
}
