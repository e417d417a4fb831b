//! Claims: gather, estimate, decide, and look for the cause, part by part and form by form.

use super::control::order_fault;
use super::evidence::{ALL, Evidence, Yield, no_floor, ratio_estimate};
use super::goal::kept;
use super::{mirror, price, slope};
use crate::claims::{Asked, Bound, Cause, Claim, Kind, Of, Part, Quantity, Replicate, Size};
use crate::fmt;
use crate::judged::{
    self, ControlState, Estimate, Judged, JudgedClaim, JudgedControl, JudgedForm, Kept, Price, Row, Scale, Standing,
    Verdict,
};
use crate::rules::{self, Control, Count, Each};
use crate::stats::signed_rank::p_value_below;
use crate::stats::{CONFIDENCE, binomial, holm, share};

/// Fewest blocks of single-arm processes that a duet is compared with.
const SINGLE_BLOCKS: usize = 8;

/// Starting a process takes milliseconds: the whole time of a shorter one says little of what it does.
const SHORTEST_PROCESS_S: f64 = 0.2;

/// Judges a claim, whose controls are among `controls`.
pub(super) fn judge(evidence: Evidence<'_>, claim: &Claim<Asked>, controls: &[JudgedControl]) -> JudgedClaim {
    let mut judged = claim.map(|asked| match asked {
        Asked::Absent(reason) => JudgedForm::Absent(reason.clone()),
        Asked::Pending(reason) => JudgedForm::Judged(Judged { reason: reason.clone(), ..Judged::default() }),
        Asked::Parts(parts) => {
            let found = together(parts.iter().map(|one| part(evidence, one, controls)));
            JudgedForm::Judged(Judged { mirrors: mirror::of(evidence, asked), ..found })
        }
    });
    if let Some(found) = judged.published.judged_mut() {
        mirror::believe(found);
    }
    judged
}

/// What several parts come to: the worst verdict, with the reason of the part that has it.
fn together(parts: impl Iterator<Item = Judged>) -> Judged {
    parts
        .reduce(|mut all, part| {
            if part.verdict < all.verdict {
                (all.verdict, all.reason) = (part.verdict, part.reason);
            }
            all.rows.extend(part.rows);
            all.causes.extend(part.causes);
            let prices = all.price.into_iter().chain(part.price);
            all.price = prices.reduce(|a, b| Price { blocks: a.blocks.max(b.blocks), more_s: a.more_s + b.more_s });
            all
        })
        .unwrap_or_default()
}

fn part(evidence: Evidence<'_>, part: &Part, controls: &[JudgedControl]) -> Judged {
    let quantity = &part.quantity;
    let kind = part.kind.into_str();
    if !quantity.is_measured(evidence.profile) {
        return Judged { kind, reason: format!("not measured ({})", evidence.profile), ..Judged::default() };
    }
    let (mut rows, missing) = rows(evidence, part);
    // `every` decides on its pooled row, in which the single scenarios are heard already.
    let deciding = if matches!(part.kind, Kind::Every { .. }) { 1 } else { rows.len() };
    let too_short = too_short(evidence, quantity);
    if too_short.is_some() {
        for row in &mut rows {
            row.verdict = Verdict::Undecided;
        }
    }
    let decided = rules::worst(rows.iter().take(deciding).map(|row| row.verdict));
    let open = too_short.or_else(|| lacks_floor(evidence, part).filter(|_| decided.count() == Count::Undecided));
    let (verdict, reason) = if let Some(reason) = invalid(evidence, part, controls) {
        (Verdict::Invalid, reason)
    } else if let Some(metric) = missing {
        (Verdict::NotTestableHere, format!("{metric} could not be read on this machine"))
    } else if let Some(reason) = nothing_to_explain(evidence, part) {
        (Verdict::Undecided, reason)
    } else {
        (decided, open.unwrap_or_default())
    };
    let causes = part.causes.iter().map(|cause| judge_cause(evidence, part, cause)).collect();
    let price = price::of(evidence, part, &rows).filter(|_| verdict.count() == Count::Undecided);
    Judged { kind, rows, verdict, reason, causes, mirrors: Vec::new(), price, mark: "" }
}

/// Why a claim about whole processes stays open: this machine is so fast that starting one of them is part of what was timed.
fn too_short(evidence: Evidence<'_>, quantity: &Quantity) -> Option<String> {
    if quantity.metric != "process_s" || quantity.is_duet() {
        return None;
    }
    let cases = quantity.cases(evidence.profile);
    let walls = cases.iter().flat_map(|(scenario, arm)| evidence.recorded(quantity, scenario, arm, &quantity.metric));
    let shortest = walls.fold(f64::INFINITY, f64::min);
    (shortest < SHORTEST_PROCESS_S).then(|| {
        format!("a process took {shortest:.3} s; under {SHORTEST_PROCESS_S} s its start is part of what is timed")
    })
}

/// Why a test whose verdict rests on a floor stays open: too few A/A pairs show one in a scenario of it.
fn lacks_floor(evidence: Evidence<'_>, part: &Part) -> Option<String> {
    let mut scenarios = part.quantity.scenarios(evidence.profile).iter().filter(|_| part.has_floor());
    scenarios.find_map(|scenario| no_floor(copies(evidence, part, Some(scenario)).len()))
}

/// Why a test must not be believed: a control or the replicate failed.
fn invalid(evidence: Evidence<'_>, part: &Part, controls: &[JudgedControl]) -> Option<String> {
    let failed = evidence.claims.guards(part).find_map(|guard| {
        let control = controls.iter().find(|control| control.id == guard.id)?;
        (control.state == ControlState::Failed)
            .then(|| format!("the control {} failed: {}", control.id, control.reason))
    });
    failed
        .or_else(|| order_fault(evidence, &part.quantity, part.margin))
        .or_else(|| disagreement_with_singles(evidence, part))
}

/// A duet whose single-arm processes, where enough were run, say something else.
fn disagreement_with_singles(evidence: Evidence<'_>, part: &Part) -> Option<String> {
    let quantity = &part.quantity;
    let single = Quantity { replicate: Replicate::Process, ..quantity.clone() };
    quantity.scenarios(evidence.profile).iter().filter(|_| quantity.is_duet()).find_map(|scenario| {
        let estimate = |quantity: &Quantity| ratio_estimate(&evidence.gather(quantity, scenario), CONFIDENCE);
        let (duet, single) = (estimate(quantity)?, estimate(&single)?);
        (single.n >= SINGLE_BLOCKS && rules::disagree(&duet, &single, part.margin)).then(|| {
            format!(
                "in {scenario} the duet [{:.3}, {:.3}] and single-arm processes [{:.3}, {:.3}] disagree",
                duet.lo, duet.hi, single.lo, single.hi
            )
        })
    })
}

/// The rows of a test, and the metric that is missing, if one is.
pub(super) fn rows(evidence: Evidence<'_>, part: &Part) -> (Vec<Row>, Option<String>) {
    let (mut rows, missing) = match &part.kind {
        Kind::Slope { x, aim } => slope::rows(evidence, part, x, *aim),
        _ => by_scenario(evidence, part),
    };
    for row in &mut rows {
        row.part.clone_from(&part.text);
    }
    (rows, missing)
}

fn by_scenario(evidence: Evidence<'_>, part: &Part) -> (Vec<Row>, Option<String>) {
    let scenarios = part.quantity.scenarios(evidence.profile);
    let yields: Vec<Yield> = scenarios.iter().map(|scenario| evidence.gather(&part.quantity, scenario)).collect();
    let missing = yields.iter().filter(|found| found.pairs.is_empty()).find_map(|found| found.missing.clone());
    let mut rows: Vec<Row> =
        scenarios.iter().zip(&yields).map(|(scenario, found)| row(evidence, part, scenario, found)).collect();
    if let Kind::Every { size } = &part.kind {
        rows.insert(0, pooled_row(evidence, part, *size, &rows, &yields));
    }
    (rows, missing)
}

/// The row over all scenarios, whose own `rows` and `yields` may contradict it.
fn pooled_row(evidence: Evidence<'_>, part: &Part, size: Option<Size>, rows: &[Row], yields: &[Yield]) -> Row {
    let margin = part.margin.ln_1p();
    let below = yields.iter().map(|found| p_value_below(&found.values(), margin));
    let below = holm::adjust(&below.collect::<Vec<_>>());
    let each = rows
        .iter()
        .zip(below)
        .map(|(row, p_value)| Some(Each { estimate: row.estimate?, floor: row.floor.unwrap_or(part.margin), p_value }));
    let each: Option<Vec<Each>> = each.collect();
    let found = evidence.pooled(&part.quantity);
    let row = Row { sides: Vec::new(), claimed: size, ..evidence.row(&part.quantity, ALL, &found) };
    let (row, floor) = floored(evidence, part, None, &found, row);
    decided(row, |estimate| match (&each, floor) {
        (Some(each), Some(floor)) => rules::every(estimate, each, part.margin, floor, size.map(Size::band)),
        // Of a scenario without an estimate nothing can be said, and so not of every one.
        _ => Verdict::Undecided,
    })
}

/// The A/A pairs, with their layouts, that show the noise of a test: those of the same scenario where the control has some, those of all
/// its scenarios, each for itself, where not. Those of the pooled row of `every` (`scenario` is `None`) are their means, as the row is.
fn copies(evidence: Evidence<'_>, part: &Part, scenario: Option<&str>) -> Vec<(u64, f64)> {
    let Some(control) = part.aa.as_ref().and_then(|id| evidence.claims.control(id)) else { return Vec::new() };
    let Some(scenario) = scenario else {
        return evidence.by_layout(&evidence.pooled(&control.quantity));
    };
    let scenarios = control.quantity.scenarios(evidence.profile);
    let gather = |scenario: &String| evidence.by_layout(&evidence.gather(&control.quantity, scenario));
    let same = scenarios.iter().find(|other| *other == scenario).map(gather);
    same.filter(|found| !found.is_empty()).unwrap_or_else(|| scenarios.iter().flat_map(gather).collect())
}

/// The row with its margin and floor, and the floor to judge it by: none where A/A pairs show none. What has none by definition is judged by
/// the margin alone.
fn floored(evidence: Evidence<'_>, part: &Part, scenario: Option<&str>, own: &Yield, row: Row) -> (Row, Option<f64>) {
    let row = Row { margin: Some(part.margin), ..row };
    if !part.has_floor() {
        return (row, Some(part.margin));
    }
    let copies = copies(evidence, part, scenario);
    let floor = evidence.noise_floor(&part.quantity, &copies, own, part.margin);
    (Row { floor: Some(floor), ..row }, no_floor(copies.len()).is_none().then_some(floor))
}

/// The row with the verdict on its estimate; without one it stays undecided.
fn decided(row: Row, verdict: impl FnOnce(&Estimate) -> Verdict) -> Row {
    Row { verdict: row.estimate.as_ref().map_or(Verdict::Undecided, verdict), ..row }
}

/// The row of one scenario.
fn row(evidence: Evidence<'_>, part: &Part, scenario: &str, found: &Yield) -> Row {
    let quantity = &part.quantity;
    let row = evidence.row(quantity, scenario, found);
    match &part.kind {
        Kind::Ratio { size } | Kind::Every { size } => {
            let (row, floor) = floored(evidence, part, Some(scenario), found, Row { claimed: *size, ..row });
            decided(row, |estimate| match floor {
                Some(floor) => rules::ratio(estimate, part.margin, floor, size.map(Size::band)),
                None => Verdict::Undecided,
            })
        }
        Kind::Equal => {
            // The floor stands beside it: what is inside of the margin is so in spite of noise, and what is outside beyond any.
            let (row, _) = floored(evidence, part, Some(scenario), found, row);
            decided(row, |estimate| rules::equal(estimate, part.margin))
        }
        Kind::Band(band) => {
            decided(Row { claimed: Some(Size::Range(*band)), ..row }, |estimate| rules::value(estimate, *band))
        }
        Kind::Cause { explains, control, .. } => {
            let effect = explained(evidence, part, scenario).map(|effect| evidence.gather(&effect.quantity, scenario));
            let estimate = effect.and_then(|effect| explained_share(&effect, found));
            let row = Row { scale: Scale::Share { of: explains.clone() }, estimate, ..row };
            decided(row, |share| rules::cause(share, *control))
        }
        Kind::Outcome { bound, share } => outcome_row(row, quantity, found, *bound, *share),
        // Slopes are made of several scenarios and have rows of their own.
        Kind::Slope { .. } => row,
    }
}

/// The test that is a ratio of arms in `scenario`, measured as the `control` of its cause is: the effect whose cause is looked for.
fn explained<'a>(evidence: Evidence<'a>, control: &Part, scenario: &str) -> Option<&'a Part> {
    let Kind::Cause { explains, form, .. } = &control.kind else { return None };
    let parts = evidence.claims.asked(explains, *form).map(Asked::parts).unwrap_or_default();
    let is_there = |part: &&Part| part.quantity.scenarios(evidence.profile).iter().any(|other| other == scenario);
    let is_alike = |part: &&Part| part.quantity.is_ratio() && part.quantity.replicate == control.quantity.replicate;
    parts.iter().filter(is_alike).find(is_there)
}

/// Why a cause cannot be judged: the effect is not there as it is claimed, and so has none.
fn nothing_to_explain(evidence: Evidence<'_>, part: &Part) -> Option<String> {
    let Kind::Cause { explains, .. } = &part.kind else { return None };
    part.quantity.scenarios(evidence.profile).iter().find_map(|scenario| {
        let effect = explained(evidence, part, scenario)?;
        let verdict = row(evidence, effect, scenario, &evidence.gather(&effect.quantity, scenario)).verdict;
        (verdict.count() != Count::Holds)
            .then(|| format!("the effect it explains is not shown: {explains} reads {verdict}"))
    })
}

fn outcome_row(row: Row, quantity: &Quantity, found: &Yield, bound: Bound, share: f64) -> Row {
    let is_ratio = quantity.is_ratio();
    let value = |pair: f64| if is_ratio { pair.exp() } else { pair };
    let met = found.pairs.values().filter(|pair| bound.met_by(value(**pair))).count();
    // A block in which nothing is known may or may not have met it.
    let unknown = found.pairs.values().filter(|pair| pair.is_nan()).count();
    let n = found.pairs.len();
    let (lo, _) = binomial::interval(met, n, CONFIDENCE);
    let (_, hi) = binomial::interval(met + unknown, n, CONFIDENCE);
    let estimate = Estimate { point: met as f64 / n as f64, lo, hi, n, level: 1.0 - CONFIDENCE };
    let scale = Scale::Blocks { criterion: criterion(quantity, bound) };
    decided(Row { scale, estimate: (n > 0).then_some(estimate), ..row }, |met| rules::outcome(met, share))
}

/// "p99 or failed, threads ÷ tokio, at least 10", "whole or crash of `spawn_tasks` at most 60 s".
fn criterion(quantity: &Quantity, bound: Bound) -> String {
    let words = fmt::metric_in_words(&quantity.metric);
    let (of, unit) = match &quantity.of {
        Of::Ratio { numerator, denominator } => (format!("{words}, {numerator} ÷ {denominator},"), ""),
        Of::Value { arm, unit, .. } => (format!("{words} of {arm}"), unit.as_str()),
        Of::Each(_) => (words, ""),
    };
    let (side, limit) = match bound {
        Bound::AtMost(limit) => ("at most", limit),
        Bound::AtLeast(limit) => ("at least", limit),
    };
    format!("{of} {side} {}", fmt::join(&fmt::plain(limit), fmt::symbol_of(unit)))
}

/// The share of an effect that what `control` came to in the same blocks amounts to.
fn explained_share(effect: &Yield, control: &Yield) -> Option<Estimate> {
    let both = effect.pairs.iter().filter_map(|(block, effect)| Some((*control.pairs.get(block)?, *effect)));
    let (control, effect): (Vec<f64>, Vec<f64>) = both.unzip();
    share::explained(&control, &effect, CONFIDENCE)
}

/// Judges a cause by its evidence, which rests on blocks of the test itself: in every scenario, as the test is judged, and the worst counts. A
/// slope is one effect over all of them, of which a control arm explains a share by its own slope.
fn judge_cause(evidence: Evidence<'_>, part: &Part, cause: &Cause) -> judged::Cause {
    let row = |scenario: &str, gather: &dyn Fn(&Quantity) -> Yield| {
        let control = gather(&cause.quantity);
        let row = Row { part: part.text.clone(), ..evidence.row(&cause.quantity, scenario, &control) };
        if cause.bound.is_some() {
            return row;
        }
        let estimate = explained_share(&gather(&part.quantity), &control);
        let row = Row { scale: Scale::Share { of: "the effect".to_owned() }, estimate, ..row };
        decided(row, |share| rules::cause(share, Control::Claimed))
    };
    let rows: Vec<Row> = match &part.kind {
        Kind::Slope { x, .. } if cause.bound.is_none() => {
            vec![row(ALL, &|quantity| slope::gather(evidence, quantity, x))]
        }
        _ => {
            let of = |scenario: &String| row(scenario, &|quantity| evidence.gather(quantity, scenario));
            cause.quantity.scenarios(evidence.profile).iter().map(of).collect()
        }
    };
    let standing = match cause.bound {
        Some(bound) => {
            let kept =
                rows.iter().map(|row| row.estimate.map_or(Kept::Undecided, |estimate| counted(&estimate, bound)));
            Standing::Counter(kept.min().unwrap_or(Kept::Undecided))
        }
        None => Standing::Share(rules::worst(rows.iter().map(|row| row.verdict))),
    };
    judged::Cause { short: cause.short.clone(), text: cause.text.clone(), evidence: rows, standing }
}

/// A counter bears a cause out if its interval keeps the bound, or its single figure where it was measured once.
fn counted(estimate: &Estimate, bound: Bound) -> Kept {
    match estimate.n {
        1 if bound.met_by(estimate.point) => Kept::Met,
        1 => Kept::Missed,
        _ => kept(estimate, bound),
    }
}
