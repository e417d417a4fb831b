//! Claims: gather, estimate, decide, and look for the cause, part by part and form by form.

use super::control::order_fault;
use super::evidence::{ALL, Evidence, Yield, no_floor, ratio_estimate};
use super::{Originals, Round, mirror, slope};
use crate::claims::rules::{self, Band, Each};
use crate::claims::{Asked, Cause, Claim, Claims, Form, Kind, Of, Part, Quantity, Replicate};
use crate::fmt;
use crate::judge::judged::{
    self, ControlState, Estimate, Judged, JudgedClaim, JudgedControl, JudgedForm, Range, Row, Scale, Verdict,
};
use crate::stats::signed_rank::p_value_below;
use crate::stats::{CONFIDENCE, binomial, holm, share};

/// Fewest blocks of single-arm processes that a duet is compared with.
const SINGLE_BLOCKS: usize = 8;

/// Starting a process takes milliseconds: the whole time of a shorter one says little of what it does.
const SHORTEST_PROCESS_S: f64 = 0.2;

/// Judges a claim on a host by its `rounds`, the newest first.
pub(super) fn judge(claim: &Claim<Asked>, rounds: &[Round], originals: &Originals, host: usize) -> JudgedClaim {
    let judge = |id: &str, form: Form, asked: &Asked| match asked {
        Asked::Absent(reason) => JudgedForm::Absent(reason.clone()),
        Asked::Pending(reason) => JudgedForm::Judged(Judged { reason: reason.clone(), ..Judged::default() }),
        Asked::Parts(parts) => {
            let of_part = |at| part_on_host(rounds, &|claims: &'_ Claims| claims.asked(id, form)?.parts().get(at));
            let mut found = all_parts((0..parts.len()).map(of_part));
            found.mirrors = originals.of(id, form);
            JudgedForm::Judged(found)
        }
    };
    let mut judged = claim.map(judge);
    if let Some(found) = judged.published.judged_mut() {
        mirror::believe(found, host);
    }
    judged
}

/// Joins the verdicts of several parts; the reason is that of the first part with the joint verdict.
fn all_parts(parts: impl Iterator<Item = Judged>) -> Judged {
    let parts: Vec<Judged> = parts.collect();
    let verdict = rules::together(parts.iter().map(|part| part.verdict));
    let reason = parts.iter().find(|part| part.verdict == verdict).map(|part| part.reason.clone());
    let kind = parts.first().map_or("", |part| part.kind);
    let mut all = Judged { kind, verdict, reason: reason.unwrap_or_default(), ..Judged::default() };
    for part in parts {
        all.rows.extend(part.rows);
        all.causes.extend(part.causes);
        all.contradicted_in.extend(part.contradicted_in);
    }
    all
}

/// What one host says of a part: of each question, which are the scenarios of its profile, the newest round that asked it, *unclear* if the
/// one before contradicts it. The question of `full` decides where it was asked; that of `quick` then stands beside.
fn part_on_host<'a>(rounds: &'a [Round<'a>], part: &dyn Fn(&'a Claims) -> Option<&'a Part>) -> Judged {
    let mut questions: Vec<(&[String], bool, Judged)> = Vec::new();
    for (at, round) in rounds.iter().enumerate() {
        let evidence = round.evidence;
        let Some(asked) = part(evidence.claims).filter(|part| part.quantity.is_measured(evidence.profile)) else {
            continue;
        };
        let scenarios = asked.quantity.scenarios(evidence.profile);
        if questions.iter().any(|(known, ..)| *known == scenarios) {
            continue;
        }
        let mut newest = judge_part(round, asked);
        let before = rounds[at + 1..].iter().filter_map(|older| {
            let asked = part(older.evidence.claims).filter(|part| part.quantity.is_measured(older.evidence.profile))?;
            (asked.quantity.scenarios(older.evidence.profile) == scenarios).then(|| (older, judge_part(older, asked)))
        });
        if newest.verdict.is_decided()
            && let Some((older, found)) = { before }.find(|(_, found)| found.verdict.is_decided())
            && found.verdict.contradicts(newest.verdict)
        {
            newest.reason = format!("{} in {}, {} in {}", newest.verdict, round.folder, found.verdict, older.folder);
            newest.verdict = Verdict::Unclear;
            newest.contradicted_in.push(older.folder.to_owned());
        }
        let is_full = scenarios == asked.quantity.scenarios(FULL);
        questions.push((scenarios, is_full, newest));
    }
    questions.sort_by_key(|(_, is_full, _)| !is_full);
    let mut questions = questions.into_iter().map(|(_, _, found)| found);
    let Some(mut decides) = questions.next() else {
        let reason = "no round of this host asked it".to_owned();
        return Judged { reason, ..Judged::default() };
    };
    decides.rows.extend(questions.flat_map(|found| found.rows).map(|row| Row { beside: true, ..row }));
    decides
}

/// The profile that measures what was published at its full size.
const FULL: &str = "full";

/// Judges a part by the samples of a single round, unless a control that guards it failed.
fn judge_part(round: &Round, part: &Part) -> Judged {
    let evidence = round.evidence;
    let quantity = &part.quantity;
    let kind = part.kind.into_str();
    let (mut rows, missing) = rows(evidence, part);
    for row in &mut rows {
        round.folder.clone_into(&mut row.round);
    }
    let too_short = too_short(evidence, quantity);
    if too_short.is_some() {
        for row in &mut rows {
            row.verdict = Verdict::Unclear;
        }
    }
    let decided = rules::together(rows.iter().filter(|row| !row.beside).map(|row| row.verdict));
    let open = too_short.or_else(|| lacks_floor(evidence, part).filter(|_| decided == Verdict::Unclear));
    let (verdict, reason) = if let Some(reason) = disbelieved(evidence, part, &round.controls) {
        (Verdict::Unclear, reason)
    } else if let Some(metric) = missing {
        (Verdict::NotTested, format!("{metric} could not be read on this machine"))
    } else if let Some(reason) = nothing_to_explain(evidence, part) {
        (Verdict::Unclear, reason)
    } else {
        (decided, open.unwrap_or_default())
    };
    let causes = part.causes.iter().map(|cause| judge_cause(evidence, part, cause)).collect();
    Judged { kind, rows, verdict, reason, causes, ..Judged::default() }
}

/// The reason why a claim about whole processes stays open: on a fast machine the start of a process is a part of what was timed.
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

/// The reason why a test that needs a floor stays open: a scenario of it has too few A/A pairs for a floor.
fn lacks_floor(evidence: Evidence<'_>, part: &Part) -> Option<String> {
    let mut scenarios = part.quantity.scenarios(evidence.profile).iter().filter(|_| part.has_floor());
    scenarios.find_map(|scenario| no_floor(copies(evidence, part, Some(scenario)).len()))
}

/// The reason why a test must not be believed: a control or the replicate failed.
fn disbelieved(evidence: Evidence<'_>, part: &Part, controls: &[JudgedControl]) -> Option<String> {
    let failed = evidence.claims.guards(part).find_map(|guard| {
        let control = controls.iter().find(|control| control.id == guard.id)?;
        (control.state == ControlState::Failed)
            .then(|| format!("the control {} failed: {}", control.id, control.reason))
    });
    failed
        .or_else(|| order_fault(evidence, &part.quantity, part.margin))
        .or_else(|| disagreement_with_singles(evidence, part))
}

/// The reason why a duet must not be believed: single-arm processes, where enough were run, contradict it.
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
        row.figure = part.figure;
        match &mut row.scale {
            Scale::Ratio { unit, .. } | Scale::Slope { range: Some(Range { levels: Some((_, unit)), .. }), .. } => {
                *unit = part.unit;
            }
            _ => {}
        }
    }
    (rows, missing)
}

fn by_scenario(evidence: Evidence<'_>, part: &Part) -> (Vec<Row>, Option<String>) {
    let scenarios = part.quantity.scenarios(evidence.profile);
    let yields: Vec<Yield> = scenarios.iter().map(|scenario| evidence.gather(&part.quantity, scenario)).collect();
    let missing = yields.iter().filter(|found| found.pairs.is_empty()).find_map(|found| found.missing.clone());
    let mut rows: Vec<Row> =
        scenarios.iter().zip(&yields).map(|(scenario, found)| row(evidence, part, scenario, found)).collect();
    if let Kind::Every = part.kind {
        let pooled = pooled_row(evidence, part, &rows, &yields);
        // The single scenarios are heard in the pooled row already.
        for row in &mut rows {
            row.beside = true;
        }
        rows.insert(0, pooled);
    }
    (rows, missing)
}

/// The row over all scenarios, whose own `rows` and `yields` may contradict it.
fn pooled_row(evidence: Evidence<'_>, part: &Part, rows: &[Row], yields: &[Yield]) -> Row {
    let margin = part.margin.ln_1p();
    let below = yields.iter().map(|found| p_value_below(&found.values(), margin));
    let below = holm::adjust(&below.collect::<Vec<_>>());
    let each = rows
        .iter()
        .zip(below)
        .map(|(row, p_value)| Some(Each { estimate: row.estimate?, floor: row.floor.unwrap_or(part.margin), p_value }));
    let each: Option<Vec<Each>> = each.collect();
    let found = evidence.pooled(&part.quantity);
    let row = Row { sides: Vec::new(), ..evidence.row(&part.quantity, ALL, &found) };
    let (row, floor) = floored(evidence, part, None, &found, row);
    decided(row, |estimate| match (&each, floor) {
        (Some(each), Some(floor)) => rules::every(estimate, each, part.margin, floor),
        // Of a scenario without an estimate nothing can be said, and so not of every one.
        _ => Verdict::Unclear,
    })
}

/// The A/A pairs, with their layouts, that show the noise of a test: those of the same scenario where the control has some, those of all
/// its scenarios, each for itself, where not. Those of the pooled row of `every` (`scenario` is `None`) are their means, as the row is.
fn copies(evidence: Evidence<'_>, part: &Part, scenario: Option<&str>) -> Vec<(u64, f64)> {
    let Some(control) = evidence.claims.aa(part) else { return Vec::new() };
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

/// The row with the verdict on its estimate; without one it stays unclear.
fn decided(row: Row, verdict: impl FnOnce(&Estimate) -> Verdict) -> Row {
    Row { verdict: row.estimate.as_ref().map_or(Verdict::Unclear, verdict), ..row }
}

/// The row of one scenario.
fn row(evidence: Evidence<'_>, part: &Part, scenario: &str, found: &Yield) -> Row {
    let quantity = &part.quantity;
    let row = evidence.row(quantity, scenario, found);
    match &part.kind {
        Kind::Ratio | Kind::Every => {
            let (row, floor) = floored(evidence, part, Some(scenario), found, row);
            decided(row, |estimate| match floor {
                Some(floor) => rules::ratio(estimate, part.margin, floor),
                None => Verdict::Unclear,
            })
        }
        Kind::Equal => {
            // The floor stands beside it: what is inside of the margin is so in spite of noise, and what is outside beyond any.
            let (row, _) = floored(evidence, part, Some(scenario), found, row);
            decided(row, |estimate| rules::equal(estimate, part.margin))
        }
        Kind::Band(band) => {
            let row = Row { margin: quantity.is_ratio().then_some(part.margin), ..row };
            decided(row, |estimate| rules::value(estimate, *band))
        }
        Kind::Cause { explains, .. } => {
            let effect = explained(evidence, part, scenario).map(|effect| evidence.gather(&effect.quantity, scenario));
            let estimate = effect.and_then(|effect| explained_share(&effect, found));
            let row = Row { scale: Scale::Share { of: explains.clone() }, estimate, ..row };
            decided(row, rules::cause)
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
        let effect = row(evidence, effect, scenario, &evidence.gather(&effect.quantity, scenario));
        (!effect.shows_effect()).then(|| format!("{explains} shows no effect that could have a cause"))
    })
}

fn outcome_row(row: Row, quantity: &Quantity, found: &Yield, bound: Band, share: f64) -> Row {
    let is_ratio = quantity.is_ratio();
    let value = |pair: f64| if is_ratio { pair.exp() } else { pair };
    let met = found.pairs.values().filter(|pair| bound.holds(value(**pair))).count();
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
fn criterion(quantity: &Quantity, bound: Band) -> String {
    let words = fmt::metric_in_words(&quantity.metric);
    let (of, unit) = match &quantity.of {
        Of::Ratio { numerator, denominator } => (format!("{words}, {numerator} ÷ {denominator},"), ""),
        Of::Value { arm, unit, .. } => (format!("{words} of {arm}"), unit.as_str()),
        Of::Each(_) => (words, ""),
    };
    let (_, side, limit) = bound.limit();
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
        decided(row, rules::cause)
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
    let verdict = match cause.bound {
        Some(bound) => rules::together(
            rows.iter().map(|row| row.estimate.map_or(Verdict::Unclear, |estimate| counted(&estimate, bound))),
        ),
        None => rules::together(rows.iter().map(|row| row.verdict)),
    };
    // Nothing was measured of it.
    let verdict = if verdict == Verdict::NotTested { Verdict::Unclear } else { verdict };
    judged::Cause { short: cause.short.clone(), text: cause.text.clone(), evidence: rows, verdict }
}

/// A counter explains an effect if its interval keeps the bound, or its single figure where it was measured once.
fn counted(estimate: &Estimate, bound: Band) -> Verdict {
    let kept = match estimate.n {
        1 if bound.holds(estimate.point) => Verdict::Holds,
        1 => Verdict::DoesNotHold,
        _ => rules::value(estimate, bound),
    };
    match kept {
        Verdict::Holds => Verdict::ExplainsIt,
        Verdict::DoesNotHold => Verdict::DoesNot,
        other => other,
    }
}
