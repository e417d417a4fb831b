//! Claims: gather, estimate, decide, and look for the cause.

use std::collections::BTreeMap;

use super::control::order_fault;
use super::evidence::{ALL, Evidence, Yield, ratio_estimate};
use super::slope;
use crate::claims::{Bound, Cause, Claim, Kind, Quantity, Size};
use crate::judged::{self, Estimate, JudgedClaim, JudgedControl, Row, Scale, Standing, Verdict};
use crate::stats::signed_rank::{self, Alternative};
use crate::stats::{CONFIDENCE, binomial, floor::floor, holm, share};
use crate::verdict;

/// Fewest blocks of single-arm processes that a duet is compared with.
const SINGLE_BLOCKS: usize = 8;

/// Starting a process takes milliseconds: the whole time of a shorter one says little of what it does.
const SHORTEST_PROCESS_S: f64 = 0.2;

/// Judges a claim, whose controls are among `controls`.
pub(super) fn judge(evidence: Evidence<'_>, claim: &Claim, controls: &[JudgedControl]) -> JudgedClaim {
    let mut judged = JudgedClaim {
        id: claim.id.clone(),
        text: claim.text.clone(),
        original: claim.original.clone(),
        beside: claim.beside.clone(),
        kind: claim.kind.into_str(),
        ..JudgedClaim::default()
    };
    if let Some(reason) = &claim.untestable {
        judged.verdict = Verdict::NotTestable;
        judged.reason.clone_from(reason);
        return judged;
    }
    let quantity = match (&claim.pending, &claim.quantity) {
        (None, Some(quantity)) => quantity,
        (pending, _) => {
            judged.reason = pending.clone().unwrap_or_else(|| "not measured yet".to_owned());
            return judged;
        }
    };
    if !quantity.is_measured(evidence.profile) {
        judged.reason = format!("not measured ({})", evidence.profile);
        return judged;
    }

    let (rows, missing) = rows(evidence, claim, quantity);
    judged.rows = rows;
    judged.verdict = verdict::worst(judged.rows.iter().map(|row| row.verdict));
    // `every` decides on its pooled row, in which the single scenarios are heard already.
    if let (Kind::Every { .. }, Some(pooled)) = (&claim.kind, judged.rows.first()) {
        judged.verdict = pooled.verdict;
    }
    if let Some(metric) = missing {
        judged.verdict = Verdict::NotTestableHere;
        judged.reason = format!("{metric} could not be read on this machine");
        return judged;
    }
    if let Some(reason) = too_short(evidence, quantity) {
        judged.rows.iter_mut().for_each(|row| row.verdict = Verdict::Inconclusive);
        judged.verdict = Verdict::Inconclusive;
        judged.reason = reason;
    }
    if let Some(reason) = invalid(evidence, claim, quantity, controls) {
        judged.verdict = Verdict::Invalid;
        judged.reason = reason;
    }
    judged.causes = claim.causes.iter().map(|cause| judge_cause(evidence, claim, cause)).collect();
    judged
}

/// Why a claim about whole processes stays open: this machine is so fast that starting one of them is part of what was timed.
fn too_short(evidence: Evidence<'_>, quantity: &Quantity) -> Option<String> {
    if quantity.metric != "process_s" || quantity.is_duet() {
        return None;
    }
    let cases = quantity.cases(evidence.profile);
    let walls = cases
        .iter()
        .flat_map(|(scenario, arm)| evidence.samples(quantity, scenario, arm))
        .filter_map(|sample| sample.metrics.get(&quantity.metric).copied());
    let shortest = walls.fold(f64::INFINITY, f64::min);
    (shortest < SHORTEST_PROCESS_S).then(|| {
        format!("a process took {shortest:.3} s; under {SHORTEST_PROCESS_S} s its start is part of what is timed")
    })
}

/// Why a claim must not be judged: a control or the form failed.
fn invalid(evidence: Evidence<'_>, claim: &Claim, quantity: &Quantity, controls: &[JudgedControl]) -> Option<String> {
    let failed = [&claim.aa, &claim.planted].into_iter().flatten().find_map(|id| {
        let control = controls.iter().find(|control| &control.id == id)?;
        (!control.passed).then(|| format!("the control {id} failed: {}", control.reason))
    });
    failed
        .or_else(|| order_fault(evidence, quantity, claim.margin))
        .or_else(|| disagreement_with_singles(evidence, quantity))
}

/// A duet whose single-arm processes, where enough were run, say something else.
fn disagreement_with_singles(evidence: Evidence<'_>, quantity: &Quantity) -> Option<String> {
    if !quantity.is_duet() {
        return None;
    }
    let single = quantity.of_processes();
    for scenario in quantity.scenarios(evidence.profile) {
        let singles = evidence.gather(&single, scenario);
        if singles.pairs.len() < SINGLE_BLOCKS {
            continue;
        }
        let duet = ratio_estimate(&evidence.gather(quantity, scenario).pairs, CONFIDENCE)?;
        let single = ratio_estimate(&singles.pairs, CONFIDENCE)?;
        if duet.hi < single.lo || single.hi < duet.lo {
            return Some(format!(
                "in {scenario} the duet [{:.3}, {:.3}] and single-arm processes [{:.3}, {:.3}] disagree",
                duet.lo, duet.hi, single.lo, single.hi
            ));
        }
    }
    None
}

/// The rows of a claim, and the metric that is missing, if one is.
pub(super) fn rows(evidence: Evidence<'_>, claim: &Claim, quantity: &Quantity) -> (Vec<Row>, Option<String>) {
    if let Kind::Slope { x, aim } = &claim.kind {
        return slope::rows(evidence, claim, quantity, x, *aim);
    }
    let scenarios = quantity.scenarios(evidence.profile);
    let yields: Vec<Yield> = scenarios.iter().map(|scenario| evidence.gather(quantity, scenario)).collect();
    let missing = yields.iter().filter(|found| found.pairs.is_empty()).find_map(|found| found.missing.clone());
    let each = scenarios.iter().zip(&yields).map(|(scenario, found)| row(evidence, claim, quantity, scenario, found));
    let mut rows: Vec<Row> = each.collect();
    if let Kind::Every { size } = &claim.kind {
        rows.insert(0, pooled_row(evidence, claim, quantity, *size, &rows, &yields));
    }
    (rows, missing)
}

/// The row over all scenarios, whose own `rows` and `yields` may contradict it.
fn pooled_row(
    evidence: Evidence<'_>,
    claim: &Claim,
    quantity: &Quantity,
    size: Option<Size>,
    rows: &[Row],
    yields: &[Yield],
) -> Row {
    let reversed = rows.iter().zip(yields).map(|(row, found)| {
        let beyond = -row.floor.unwrap_or_default().ln_1p();
        signed_rank::p_value_against(&found.pairs, beyond, Alternative::Less)
    });
    let reversed = holm::adjust(&reversed.collect::<Vec<_>>());
    let found = evidence.pooled(quantity);
    let floor = claim_floor(evidence, claim, None, found.pairs.len());
    let row = Row { floor: Some(floor), sides: Vec::new(), ..evidence.row(quantity, ALL, &found) };
    decided(row, |estimate| verdict::every(estimate, &reversed, claim.margin, floor, size.map(Size::band)))
}

/// The floor of a claim: from the A/A pairs of the same scenario where the control has it, pooled over its scenarios where not, as for
/// the pooled row of `every` (`scenario` is `None`).
fn claim_floor(evidence: Evidence<'_>, claim: &Claim, scenario: Option<&str>, n: usize) -> f64 {
    let control = claim.aa.as_ref().and_then(|id| evidence.claims.control(id));
    let noise = control.map(|control| {
        let scenarios = control.quantity.scenarios(evidence.profile);
        match scenario.filter(|scenario| scenarios.iter().any(|other| other == scenario)) {
            Some(scenario) => evidence.gather(&control.quantity, scenario).middles(),
            None => evidence.pooled(&control.quantity).middles(),
        }
    });
    floor(&noise.unwrap_or_default(), n, claim.margin)
}

/// The row with the verdict on its estimate; without one it stays inconclusive.
fn decided(row: Row, verdict: impl FnOnce(&Estimate) -> Verdict) -> Row {
    Row { verdict: row.estimate.as_ref().map_or(Verdict::Inconclusive, verdict), ..row }
}

/// The row of one scenario.
fn row(evidence: Evidence<'_>, claim: &Claim, quantity: &Quantity, scenario: &str, found: &Yield) -> Row {
    let row = evidence.row(quantity, scenario, found);
    let floor = || claim_floor(evidence, claim, Some(scenario), found.pairs.len());
    match &claim.kind {
        Kind::Equal => decided(Row { floor: Some(floor()), ..row }, |estimate| verdict::equal(estimate, claim.margin)),
        Kind::Band(band) => decided(row, |estimate| verdict::band(estimate, *band)),
        Kind::Cause { explains, control } => {
            let estimate = explained_share(evidence, explains, quantity, scenario);
            let row = Row { scale: Scale::Share { of: explains.clone() }, estimate, p_value: None, ..row };
            decided(row, |share| verdict::cause(share, *control))
        }
        Kind::Outcome { bound, share } => outcome_row(row, quantity, found, *bound, *share),
        Kind::Ratio { size } | Kind::Every { size } => {
            let floor = floor();
            decided(Row { floor: Some(floor), ..row }, |estimate| {
                verdict::ratio(estimate, claim.margin, floor, size.map(Size::band))
            })
        }
        // Slopes are made of several scenarios and have rows of their own.
        Kind::Slope { .. } => row,
    }
}

fn outcome_row(row: Row, quantity: &Quantity, found: &Yield, bound: Bound, share: f64) -> Row {
    let is_ratio = quantity.is_ratio();
    let value = |end: f64| if is_ratio { end.exp() } else { end };
    // What is known only to within a step, or not at all, counts if the criterion is met all the same.
    let met = found.pairs.iter().filter(|pair| bound.met_by(value(pair.lo)) && bound.met_by(value(pair.hi))).count();
    let n = found.pairs.len();
    let (lo, hi) = binomial::interval(met, n, CONFIDENCE);
    let point = met as f64 / n as f64;
    Row {
        scale: Scale::Blocks { criterion: format!("{} {bound}", quantity.metric) },
        estimate: (n > 0).then_some(Estimate { point, lo, hi, n, level: 1.0 - CONFIDENCE }),
        verdict: verdict::outcome(met, n, share),
        p_value: None,
        ..row
    }
}

/// The share of the effect of the claim called `explains` that the ratios of `control` amount to.
fn explained_share(evidence: Evidence<'_>, explains: &str, control: &Quantity, scenario: &str) -> Option<Estimate> {
    let mirror = evidence.claims.claim(explains)?.quantity.as_ref()?;
    let mirror_scenarios = mirror.scenarios(evidence.profile);
    let mirror_scenario =
        if mirror_scenarios.iter().any(|other| other == scenario) { scenario } else { mirror_scenarios.first()? };
    let effect = evidence.gather(mirror, mirror_scenario);
    let explained = evidence.gather(control, scenario);
    let by_block: BTreeMap<u64, f64> = explained.blocks.iter().copied().zip(explained.middles()).collect();
    let blocks = effect.blocks.iter().zip(effect.middles());
    let (control, mirror): (Vec<f64>, Vec<f64>) =
        blocks.filter_map(|(block, effect)| Some((*by_block.get(block)?, effect))).unzip();
    share::explained(&control, &mirror, CONFIDENCE)
}

/// Judges a cause by its evidence.
fn judge_cause(evidence: Evidence<'_>, claim: &Claim, cause: &Cause) -> judged::Cause {
    let quantity = &cause.quantity;
    let scenario = quantity.scenarios(evidence.profile).first().cloned().unwrap_or_default();
    let found = evidence.gather(quantity, &scenario);
    let mut row = Row { p_value: None, ..evidence.row(quantity, &scenario, &found) };
    let standing = if let Some(bound) = cause.bound {
        counter_standing(row.estimate.as_ref(), bound)
    } else {
        row.scale = Scale::Share { of: claim.id.clone() };
        row.estimate = explained_share(evidence, &claim.id, quantity, &scenario);
        share_standing(row.estimate.as_ref())
    };
    judged::Cause { short: cause.short.clone(), text: cause.text.clone(), evidence: row, standing }
}

/// A counter bears a cause out if its interval, or its single figure, keeps the bound.
fn counter_standing(estimate: Option<&Estimate>, bound: Bound) -> Standing {
    let Some(estimate) = estimate else {
        return Standing::Unknown;
    };
    let (worst, best) = match (bound, estimate.level < 1.0) {
        (_, false) if estimate.n == 1 => (estimate.point, estimate.point),
        (_, false) => return Standing::Unknown,
        (Bound::AtLeast(_), true) => (estimate.lo, estimate.hi),
        (Bound::AtMost(_), true) => (estimate.hi, estimate.lo),
    };
    if bound.met_by(worst) {
        Standing::Cause
    } else if bound.met_by(best) {
        Standing::Unknown
    } else {
        Standing::NotCause
    }
}

/// A share is a cause, part of it or none by its estimate, if its interval excludes the opposite.
fn share_standing(share: Option<&Estimate>) -> Standing {
    use verdict::{EXPLAINS, EXPLAINS_NOT};
    match share.filter(|share| share.level < 1.0) {
        Some(share) if share.point >= EXPLAINS && share.lo > EXPLAINS_NOT => Standing::Cause,
        Some(share) if share.point <= EXPLAINS_NOT && share.hi < EXPLAINS => Standing::NotCause,
        Some(share) if share.lo > 0.0 && share.point > EXPLAINS_NOT => Standing::Part,
        _ => Standing::Unknown,
    }
}
