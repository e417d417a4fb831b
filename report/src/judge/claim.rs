//! Claims: gather, estimate, decide, and look for the cause.

use std::collections::BTreeMap;

use super::control::{self, middles, order_fault, pooled};
use super::quantity::{Yield, gather, p_value, plain, ratio_estimate, samples, scale, sides, value_estimate};
use super::{ALL, Evidence, is_duet, slope};
use crate::claims::{Bound, Cause, Claim, Kind, Of, Quantity, Size};
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
        kind: claim.kind.name().to_owned(),
        margin: claim.margin,
        rows: Vec::new(),
        verdict: Verdict::NotMeasured,
        reason: String::new(),
        causes: Vec::new(),
        mark: "",
        holm: None,
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
    if quantity.metric != "process_s" || is_duet(quantity.form) {
        return None;
    }
    let cases = quantity.cases(evidence.profile);
    let walls = cases
        .iter()
        .flat_map(|(scenario, arm)| samples(evidence, quantity, scenario, arm))
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
    if !is_duet(quantity.form) {
        return None;
    }
    let single = quantity.of_processes();
    for scenario in quantity.scenarios(evidence.profile) {
        let singles = gather(evidence, &single, scenario);
        if singles.pairs.len() < SINGLE_BLOCKS {
            continue;
        }
        let duet = ratio_estimate(&gather(evidence, quantity, scenario).pairs, CONFIDENCE)?;
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
    let scenarios = quantity.scenarios(evidence.profile);
    match &claim.kind {
        Kind::Slope { x, aim } => slope::rows(evidence, claim, quantity, x, *aim),
        Kind::Every { size } => {
            let mut rows = vec![];
            let (pairs, failed) = pooled(evidence, quantity);
            let floor = claim_floor(evidence, claim, None, pairs.len());
            let estimate = ratio_estimate(&pairs, CONFIDENCE);
            let mut reversed = Vec::new();
            let mut missing = None;
            for scenario in scenarios {
                let found = gather(evidence, quantity, scenario);
                let row_floor = claim_floor(evidence, claim, Some(scenario), found.pairs.len());
                let beyond = -row_floor.ln_1p();
                reversed.push(signed_rank::p_value_against(&found.pairs, beyond, Alternative::Less));
                missing = missing.or(found.missing.clone().filter(|_| found.pairs.is_empty()));
                rows.push(ratio_row(evidence, quantity, scenario, &found, Some(row_floor), |estimate| {
                    verdict::ratio(estimate, claim.margin, row_floor, size.map(Size::band))
                }));
            }
            let decided = estimate.as_ref().map_or(Verdict::Inconclusive, |estimate| {
                verdict::every(estimate, &holm::adjust(&reversed), claim.margin, floor, size.map(Size::band))
            });
            let pooled = Row {
                scenario: ALL.to_owned(),
                scale: scale(quantity),
                estimate,
                sides: Vec::new(),
                floor: Some(floor),
                verdict: decided,
                p_value: p_value(&pairs),
                failed,
            };
            rows.insert(0, pooled);
            (rows, missing)
        }
        kind => {
            let mut missing = None;
            let rows = scenarios.iter().map(|scenario| {
                let found = gather(evidence, quantity, scenario);
                missing = missing.take().or(found.missing.clone().filter(|_| found.pairs.is_empty()));
                row(evidence, claim, quantity, kind, scenario, &found)
            });
            (rows.collect(), missing)
        }
    }
}

/// The floor of a claim: from the A/A pairs of the same scenario where the control has it, pooled over its scenarios where not, as for
/// the pooled row of `every` (`scenario` is `None`).
fn claim_floor(evidence: Evidence<'_>, claim: &Claim, scenario: Option<&str>, n: usize) -> f64 {
    let noise = claim.aa.as_ref().and_then(|id| evidence.claims.control(id)).map(|control| {
        let scenarios = control.quantity.scenarios(evidence.profile);
        match scenario.filter(|scenario| scenarios.iter().any(|other| other == scenario)) {
            Some(scenario) => middles(&gather(evidence, &control.quantity, scenario).pairs),
            None => middles(&control::pairs(evidence, control)),
        }
    });
    floor(&noise.unwrap_or_default(), n, claim.margin)
}

fn ratio_row(
    evidence: Evidence<'_>,
    quantity: &Quantity,
    scenario: &str,
    found: &Yield,
    floor: Option<f64>,
    decide: impl FnOnce(&Estimate) -> Verdict,
) -> Row {
    let estimate = ratio_estimate(&found.pairs, CONFIDENCE);
    Row {
        scenario: scenario.to_owned(),
        scale: scale(quantity),
        verdict: estimate.as_ref().map_or(Verdict::Inconclusive, decide),
        estimate,
        sides: sides(evidence, quantity, scenario),
        floor,
        p_value: p_value(&found.pairs),
        failed: found.failed,
    }
}

/// The row of one scenario for the kinds that judge scenarios one by one.
fn row(evidence: Evidence<'_>, claim: &Claim, quantity: &Quantity, kind: &Kind, scenario: &str, found: &Yield) -> Row {
    match kind {
        Kind::Equal => {
            let floor = claim_floor(evidence, claim, Some(scenario), found.pairs.len());
            ratio_row(evidence, quantity, scenario, found, Some(floor), |estimate| {
                verdict::equal(estimate, claim.margin)
            })
        }
        Kind::Band(band) if matches!(quantity.of, Of::Ratio { .. }) => {
            ratio_row(evidence, quantity, scenario, found, None, |estimate| verdict::band(estimate, *band))
        }
        Kind::Band(band) => {
            let estimate = value_estimate(&found.pairs);
            Row {
                scenario: scenario.to_owned(),
                scale: scale(quantity),
                verdict: estimate.as_ref().map_or(Verdict::Inconclusive, |estimate| verdict::band(estimate, *band)),
                estimate,
                sides: sides(evidence, quantity, scenario),
                floor: None,
                p_value: None,
                failed: found.failed,
            }
        }
        Kind::Cause { explains, control } => {
            let estimate = explained_share(evidence, explains, quantity, scenario);
            Row {
                scenario: scenario.to_owned(),
                scale: Scale::Share { of: explains.clone() },
                verdict: estimate.as_ref().map_or(Verdict::Inconclusive, |share| verdict::cause(share, *control)),
                estimate,
                sides: sides(evidence, quantity, scenario),
                floor: None,
                p_value: None,
                failed: found.failed,
            }
        }
        Kind::Outcome { bound, share } => outcome_row(evidence, quantity, scenario, found, *bound, *share),
        Kind::Ratio { size } | Kind::Every { size } => {
            let floor = claim_floor(evidence, claim, Some(scenario), found.pairs.len());
            ratio_row(evidence, quantity, scenario, found, Some(floor), |estimate| {
                verdict::ratio(estimate, claim.margin, floor, size.map(Size::band))
            })
        }
        // Slopes are made of several scenarios and have rows of their own.
        Kind::Slope { .. } => ratio_row(evidence, quantity, scenario, found, None, |_| Verdict::Inconclusive),
    }
}

fn outcome_row(
    evidence: Evidence<'_>,
    quantity: &Quantity,
    scenario: &str,
    found: &Yield,
    bound: Bound,
    share: f64,
) -> Row {
    let is_ratio = matches!(quantity.of, Of::Ratio { .. });
    let value = |end: f64| if is_ratio { end.exp() } else { end };
    // What is known only to within a step, or not at all, counts if the criterion is met all the same.
    let met = found.pairs.iter().filter(|pair| bound.met_by(value(pair.lo)) && bound.met_by(value(pair.hi))).count();
    let n = found.pairs.len();
    let (lo, hi) = binomial::interval(met, n, CONFIDENCE);
    let limit = match bound {
        Bound::AtMost(limit) => format!("<= {limit}"),
        Bound::AtLeast(limit) => format!(">= {limit}"),
    };
    #[expect(clippy::cast_precision_loss, reason = "numbers of blocks are small")]
    let point = if n == 0 { f64::NAN } else { met as f64 / n as f64 };
    Row {
        scenario: scenario.to_owned(),
        scale: Scale::Blocks { criterion: format!("{} {limit}", quantity.metric) },
        estimate: (n > 0).then_some(Estimate { point, lo, hi, n, level: 1.0 - CONFIDENCE }),
        sides: sides(evidence, quantity, scenario),
        floor: None,
        verdict: verdict::outcome(met, n, share),
        p_value: None,
        failed: found.failed,
    }
}

/// The share of the effect of the claim called `explains` that the ratios of `control` amount to.
fn explained_share(evidence: Evidence<'_>, explains: &str, control: &Quantity, scenario: &str) -> Option<Estimate> {
    let mirror = evidence.claims.claim(explains)?.quantity.as_ref()?;
    let mirror_scenarios = mirror.scenarios(evidence.profile);
    let mirror_scenario =
        if mirror_scenarios.iter().any(|other| other == scenario) { scenario } else { mirror_scenarios.first()? };
    let effect = gather(evidence, mirror, mirror_scenario);
    let explained = gather(evidence, control, scenario);
    let by_block: BTreeMap<u64, f64> = explained.blocks.iter().copied().zip(middles(&explained.pairs)).collect();
    let (control, mirror): (Vec<f64>, Vec<f64>) = effect
        .blocks
        .iter()
        .zip(middles(&effect.pairs))
        .filter_map(|(block, effect)| Some((*by_block.get(block)?, effect)))
        .unzip();
    share::explained(&control, &mirror, CONFIDENCE).map(|interval| plain(&interval))
}

/// Judges a cause by its evidence.
fn judge_cause(evidence: Evidence<'_>, claim: &Claim, cause: &Cause) -> judged::Cause {
    let quantity = &cause.quantity;
    let scenario = quantity.scenarios(evidence.profile).first().cloned().unwrap_or_default();
    let found = gather(evidence, quantity, &scenario);
    let is_ratio = matches!(quantity.of, Of::Ratio { .. });
    let mut row = Row {
        scenario: scenario.clone(),
        scale: scale(quantity),
        estimate: if is_ratio { ratio_estimate(&found.pairs, CONFIDENCE) } else { value_estimate(&found.pairs) },
        sides: sides(evidence, quantity, &scenario),
        floor: None,
        verdict: Verdict::Inconclusive,
        p_value: None,
        failed: found.failed,
    };
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
    match share {
        Some(share) if share.level < 1.0 && share.point >= verdict::EXPLAINS && share.lo > verdict::EXPLAINS_NOT => {
            Standing::Cause
        }
        Some(share) if share.level < 1.0 && share.point <= verdict::EXPLAINS_NOT && share.hi < verdict::EXPLAINS => {
            Standing::NotCause
        }
        Some(share) if share.level < 1.0 && share.lo > 0.0 && share.point > verdict::EXPLAINS_NOT => Standing::Part,
        _ => Standing::Unknown,
    }
}
