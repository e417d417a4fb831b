//! The plan: which test case runs when, and which once more under GNU time, fixed before anything is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::claims::{Claims, ControlCase};
use crate::error::Error;
use crate::files::TomlFile;
use crate::fmt;
use crate::folder::cases::{self, Case};
use crate::folder::plan_file::{self, Calibration, PlanMeta, PlannedRun};
use crate::folder::{load, read_meta};

/// Each layout of the code works on so many inputs in turn: block k of m layouts on the one with seed k / m mod this.
const INPUT_SEEDS: u64 = 3;
/// The most runs of a plan: more is a slip of the pen, and would take weeks.
const MOST_RUNS: usize = 1_000_000;

#[derive(Debug, Clone)]
pub struct Plan {
    pub runs: Vec<PlannedRun>,
    /// What they are expected to take, in seconds.
    pub planned_s: f64,
    pub budget_s: Option<f64>,
}

/// Plans a profile from its test cases and what the claims ask of them, which were read from `file`: an error has the line there of what the profile
/// does not have.
///
/// The arms of a block stand next to each other in random order; the blocks of all scenarios are shuffled, but those that are asked for first come
/// first. The blocks take the layouts in turn; an A/A twin takes the next one, so that its pairs show what layouts do.
pub fn plan(cases: &[Case], claims: &Claims, file: TomlFile<'_>, meta: &PlanMeta) -> Result<Plan, Error> {
    let PlanMeta { profile, layouts, calibration, .. } = meta;
    let calibrated = calibration.as_ref().map(|what| calibrated(claims, what, profile, file)).transpose()?;
    let claims = calibrated.as_ref().unwrap_or(claims);
    let needed = if profile == "smoke" { BTreeMap::new() } else { claims.blocks(profile) };
    let known: BTreeSet<(&str, &str)> = cases.iter().map(Case::name).collect();
    for (name, quantity) in claims.quantities().filter(|(_, quantity)| quantity.blocks.contains_key(profile)) {
        let fault = |what: String| Err(file.error_at(&format!("id = \"{name}\""), format!("{name} {what}")));
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

    let times = |case: &Case| needed.get(&case.named()).copied().unwrap_or(1);
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
    let first = claims.first_scenarios(profile);
    blocks.sort_by_key(|((scenario, _), _)| !first.contains(scenario));
    if let Some(Calibration { trials, .. }) = calibration {
        // A trial is what a measurement would have been: its blocks stand together in time.
        blocks.sort_by_key(|((scenario, block), _)| {
            let of = |control: &ControlCase| control.quantity.scenarios(profile).iter().any(|name| name == scenario);
            let at = claims.controls.iter().position(of)?;
            let of_trial = claims.controls[at].quantity.blocks.get(profile)?.checked_div(*trials)?;
            Some((at, block / of_trial.max(1) as u64))
        });
    }
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
    Ok(Plan { runs, planned_s, budget_s: claims.budget.filter(|_| profile == "quick").map(|budget| budget.quick_s) })
}

/// The controls that are calibrated, with the blocks of all their trials, as claims that ask for nothing else.
fn calibrated(claims: &Claims, what: &Calibration, profile: &str, file: TomlFile<'_>) -> Result<Claims, Error> {
    let control = |id: &String| {
        let mut control = claims.control(id).cloned();
        let blocks = control.as_mut().and_then(|control| control.quantity.blocks.get_mut(profile));
        blocks
            .map(|blocks| *blocks = blocks.saturating_mul(what.trials))
            .and(control)
            .ok_or_else(|| file.error_at(id, format!("there is no control '{id}' in {profile} to calibrate")))
    };
    let controls = what.controls.iter().map(control).collect::<Result<_, _>>()?;
    Ok(Claims { study: claims.study.clone(), controls, ..Claims::default() })
}

/// The A/A controls in `profile` that take the least time, so that they can be repeated most often: one of each form, which are times
/// and rates of processes, duets, and memory.
pub fn cheapest_controls<'a>(claims: &'a Claims, cases: &[Case], profile: &str) -> Vec<&'a ControlCase> {
    let seconds = |control: &ControlCase| -> f64 {
        let of_control = control.quantity.cases(profile);
        let is_of = |case: &&Case| of_control.contains(&case.named());
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

/// The test cases that a whole measurement runs: those that something in `claims` asks for; in smoke all, unless `judged`.
pub(crate) fn chosen(cases: &[Case], claims: &Claims, profile: &str, judged: bool) -> Vec<(String, String)> {
    let asked = claims.blocks(profile);
    let is_run = |case: &&Case| (profile == "smoke" && !judged) || asked.contains_key(&case.named());
    cases.iter().filter(is_run).map(Case::named).collect()
}

/// How many passes under GNU time follow from a plan's profile and part: smoke, a calibration and goals alone make none.
pub fn passes(claims: &Claims, meta: &PlanMeta) -> usize {
    match meta.profile.as_str() {
        _ if meta.calibration.is_some() => 0,
        "quick" => 1,
        "full" if !claims.claims.is_empty() => 3,
        _ => 0,
    }
}

/// The passes under GNU time that the plan of a folder promises.
pub fn promised(folder: &Path) -> Result<Vec<PlannedRun>, Error> {
    let (_, claims) = load(folder, "claims.toml", Claims::parse)?;
    let (_, cases) = load(folder, "cases.tsv", cases::parse)?;
    Ok(memory_passes(&cases, &claims, &read_meta(folder)?))
}

/// The passes under GNU time that a plan promises, in their order: of the cases of which something in `claims` asks for memory.
pub fn memory_passes(cases: &[Case], claims: &Claims, meta: &PlanMeta) -> Vec<PlannedRun> {
    let profile = &meta.profile;
    let of_memory = claims.quantities().map(|(_, quantity)| quantity).filter(|quantity| quantity.is_memory());
    let measured = of_memory.filter(|quantity| quantity.is_measured(profile));
    let judged: BTreeSet<(String, String)> = measured.flat_map(|quantity| quantity.cases(profile)).collect();
    let is_checked = |case: &&Case| judged.contains(&case.named());
    let pass = |pass: usize| {
        let of_pass =
            move |case: Case| PlannedRun { run: format!("memory-{pass}"), block: 0, layout: 0, seed: 0, case };
        cases.iter().filter(is_checked).cloned().map(of_pass)
    };
    (0..passes(claims, meta)).flat_map(pass).collect()
}

/// How many runs of a folder's plan make what is to be measured first.
pub fn first(folder: &Path) -> Result<usize, Error> {
    let (_, claims) = load(folder, "claims.toml", Claims::parse)?;
    let (_, plan) = load(folder, "plan.tsv", plan_file::from_tsv)?;
    let meta = read_meta(folder)?;
    let scenarios = claims.first_scenarios(&meta.profile);
    Ok(plan.iter().take_while(|run| scenarios.contains(run.case.scenario.as_str())).count())
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
