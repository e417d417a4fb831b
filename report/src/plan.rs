//! The plan: which test case runs when, fixed before anything is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use self::selection::named;
use crate::claims::{Claims, ControlCase, Quantity, most_blocks};
use crate::error::Error;
use crate::files::TomlFile;
use crate::fmt;
use crate::folder::cases::Case;
use crate::folder::plan_file::{Calibration, PlanMeta, PlannedRun};

pub mod selection;

/// Each layout of the code works on so many inputs in turn: block k of m layouts on the one with seed k / m mod this.
const INPUT_SEEDS: u64 = 3;
/// The most runs of a plan: more is a slip of the pen, and would take weeks.
const MOST_RUNS: usize = 1_000_000;

/// The plan of a profile.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The runs, in the order they are made.
    pub runs: Vec<PlannedRun>,
    /// What they are expected to take, in seconds.
    pub planned_s: f64,
    /// What they may take; `None` where no budget is set.
    pub budget_s: Option<f64>,
}

/// Plans a profile from its test cases and what the claims ask of them.
///
/// The arms of a block stand next to each other, because neighbours in time vary least, and in random order, because the first may differ
/// from the last; the blocks of all scenarios are shuffled, so that slow hours hit all of them alike, but those that are asked for first come first. The blocks take the layouts in turn;
/// an A/A twin takes the next one, so that its pairs show what layouts do.
///
/// # Errors
/// If a claim names a test case that the profile does not have, or asks for too much; with its line in `file`, the claims.toml that
/// `claims` were read from. What a partial measurement leaves out is no error of it.
pub fn plan(cases: &[Case], claims: &Claims, file: TomlFile<'_>, meta: &PlanMeta) -> Result<Plan, Error> {
    let PlanMeta { profile, layouts, .. } = meta;
    // The quantities that are calibrated, with the blocks of a trial.
    let mut repeated: Vec<(&Quantity, usize)> = Vec::new();
    for id in meta.calibration.iter().flat_map(|calibration| &calibration.controls) {
        let unknown = || file.error_at(id, format!("there is no control '{id}' in {profile} to calibrate"));
        let quantity = &claims.control(id).ok_or_else(unknown)?.quantity;
        repeated.push((quantity, *quantity.blocks.get(profile).ok_or_else(unknown)?));
    }
    let needed = match &meta.calibration {
        Some(Calibration { trials, .. }) => {
            most_blocks(profile, repeated.iter().map(|(quantity, blocks)| (*quantity, blocks.saturating_mul(*trials))))
        }
        None if profile.as_str() == "smoke" => BTreeMap::new(),
        None => claims.blocks(profile),
    };
    let known: BTreeSet<(&str, &str)> = cases.iter().map(Case::name).collect();
    for (name, quantity) in claims.quantities() {
        let fault = |what: String| Err(file.error_at(&format!("id = \"{name}\""), format!("{name} {what}")));
        let is_meant = meta.calibration.as_ref().is_none_or(|own| own.controls.iter().any(|id| id == name));
        if !is_meant || !quantity.blocks.contains_key(profile) {
            continue;
        }
        if quantity.scenarios(profile).is_empty() {
            return fault(format!("has blocks but no scenarios for the profile {profile}"));
        }
        for (scenario, arm) in quantity.cases(profile).into_iter().filter(|(scenario, _)| meta.holds(scenario)) {
            if !known.contains(&(scenario.as_str(), arm.as_str())) {
                let case = format!("{scenario} {arm}");
                return fault(format!("needs the test case {case}, which the study does not list in {profile}"));
            }
        }
    }

    let times = |case: &Case| needed.get(&named(case)).copied().unwrap_or(1);
    let cases: Vec<&Case> = cases.iter().filter(|case| meta.holds(&case.scenario)).collect();
    let planned = cases.iter().fold(0_usize, |runs, case| runs.saturating_add(times(case)));
    if planned > MOST_RUNS {
        return Err(Error::file(file.name, format!("the plan would have {planned} runs: {MOST_RUNS} are the most")));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(meta.seed);
    let mut blocks: BTreeMap<(&str, u64), Vec<&Case>> = BTreeMap::new();
    for case in cases {
        for block in 0..times(case) as u64 {
            blocks.entry((&case.scenario, block)).or_default().push(case);
        }
    }
    let mut blocks: Vec<_> = blocks.into_iter().collect();
    blocks.shuffle(&mut rng);
    let first = if repeated.is_empty() { claims.first_scenarios(profile) } else { BTreeSet::new() };
    blocks.sort_by_key(|((scenario, _), _)| !first.contains(scenario));
    // A trial is what a measurement would have been: its blocks stand together in time.
    blocks.sort_by_key(|((scenario, block), _)| {
        let is_of = |(of, _): &(&Quantity, usize)| of.scenarios(profile).iter().any(|name| name == scenario);
        repeated.iter().position(is_of).map(|at| (at, block / repeated[at].1.max(1) as u64))
    });
    let mut runs = Vec::new();
    for ((_, block), mut cases) in blocks {
        cases.shuffle(&mut rng);
        for case in cases {
            let run = format!("{}-{:04}", claims.study, runs.len() + 1);
            let layout = (block + u64::from(case.is_twin())) % layouts.get();
            runs.push(PlannedRun { run, block, layout, seed: block / layouts.get() % INPUT_SEEDS, case: case.clone() });
        }
    }
    let planned_s = runs.iter().map(|run| run.case.seconds).sum();
    // A budget is one of everything.
    let budget_s =
        claims.budget.get(&format!("{profile}_s")).copied().filter(|_| meta.only.is_none() && repeated.is_empty());
    Ok(Plan { runs, planned_s, budget_s })
}

/// The A/A controls in `profile` that take the least time, so that they can be repeated most often: one of each form, which are times
/// and rates of processes, duets, and memory.
pub fn cheapest_controls<'a>(claims: &'a Claims, cases: &[Case], profile: &str) -> Vec<&'a ControlCase> {
    let seconds = |control: &ControlCase| -> f64 {
        let of_control = control.quantity.cases(profile);
        let is_of = |case: &&Case| of_control.contains(&named(case));
        let block: f64 = cases.iter().filter(is_of).map(|case| case.seconds).sum();
        block * control.quantity.blocks.get(profile).copied().unwrap_or(0) as f64
    };
    let cheapest = |form: (bool, bool)| {
        let is_of = |control: &&ControlCase| {
            let of = &control.quantity;
            control.planted.is_none() && of.is_measured(profile) && (of.is_duet(), of.is_memory()) == form
        };
        claims.controls.iter().filter(is_of).min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
    };
    [(false, false), (true, false), (false, true)].into_iter().filter_map(cheapest).collect()
}

impl Plan {
    /// Whether the plan takes longer than it may.
    pub fn over_budget(&self) -> bool {
        self.budget_s.is_some_and(|budget| self.planned_s > budget)
    }

    /// The plan for people: per scenario its arms, blocks and seconds.
    pub fn table(&self) -> String {
        let mut scenarios: BTreeMap<&str, (BTreeMap<&str, usize>, f64)> = BTreeMap::new();
        for Case { scenario, arm, seconds: of_run, .. } in self.runs.iter().map(|run| &run.case) {
            let (arms, seconds) = scenarios.entry(scenario).or_default();
            *arms.entry(arm).or_default() += 1;
            *seconds += of_run;
        }
        let mut text = format!("{:<26} {:>8}  arms (blocks)\n", "scenario", "seconds");
        for (scenario, (arms, seconds)) in scenarios {
            let arms = arms.iter().map(|(arm, blocks)| format!("{arm} ({blocks})"));
            let arms = fmt::lines(arms, ", ", |line| line.len() <= 82).join(&format!("\n{:37}", ""));
            let _ = writeln!(text, "{scenario:<26} {seconds:>8.1}  {arms}");
        }
        let _ = write!(text, "{} runs, about {:.0} s", self.runs.len(), self.planned_s);
        if let Some(budget) = self.budget_s {
            let verdict = if self.over_budget() { "over" } else { "within" };
            let _ = write!(text, ", {verdict} the budget of {budget:.0} s");
        }
        text.push('\n');
        text
    }
}
