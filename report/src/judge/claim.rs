//! Claims: gather, estimate, decide, and look for the cause, part by part and form by form.

use super::control::order_fault;
use super::pairs::Pairs;
use super::round::{ALL, Round, no_floor, ratio_estimate};
use super::{mirror, slope};
use crate::claims::rules::{self, Band, Each};
use crate::claims::{Asked, Cause, Claim, Claims, Form, Kind, Of, Part, Quantity, Replicate, Test};
use crate::fmt;
use crate::judge::judged::{self, ControlState, Estimate, Judged, JudgedClaim, Row, Scale, Verdict};
use crate::stats::{CONFIDENCE, binomial, holm, share, signed_rank::p_value_below};

/// Fewest blocks of single-arm processes that a duet is compared with.
const SINGLE_BLOCKS: usize = 8;
/// Starting a process takes milliseconds: the whole time of a shorter one says little of what it does.
const SHORTEST_PROCESS_S: f64 = 0.2;
/// The profile that measures what was published at its full size.
const FULL: &str = "full";

/// Judges a claim on a host by its `rounds`, the newest first, and by those of all hosts that are `mirrored`.
pub(super) fn judge(claim: &Claim<Asked>, rounds: &[&Round], mirrored: &[&Round], host: usize) -> JudgedClaim {
    claim.map(|&Test { ref id, form, ref of, .. }| match of {
        Asked::Absent(reason) => Err(reason.clone()),
        Asked::Pending(reason) => Ok(Judged { reason: reason.clone(), ..Judged::default() }),
        Asked::Parts(parts) => {
            let of_part = |at| part_on_host(rounds, |claims| claims.asked(id, form)?.parts().get(at));
            let parts: Vec<Judged> = (0..parts.len()).map(of_part).collect();
            let verdict = rules::together(parts.iter().map(|part| part.verdict));
            let reason = parts.iter().find(|part| part.verdict == verdict).map(|part| part.reason.clone());
            let mirrors = mirror::compare(mirrored, id, form);
            let mut found = Judged { verdict, reason: reason.unwrap_or_default(), mirrors, ..Judged::default() };
            for part in parts {
                found.rows.extend(part.rows);
                found.causes.extend(part.causes);
                found.contradicted_in.extend(part.contradicted_in);
            }
            if form == Form::Published {
                mirror::believe(&mut found, host);
            }
            Ok(found)
        }
    })
}

/// What the newest round of a host says of each question of a part. That of `full` decides where it was asked; that of `quick` then stands beside.
fn part_on_host<'a>(rounds: &[&'a Round], part: impl Fn(&'a Claims) -> Option<&'a Part>) -> Judged {
    let mut questions: Vec<(_, Vec<(&Round, &Part)>)> = Vec::new();
    for &round in rounds {
        let Some(part) = part(&round.claims) else { continue };
        let scenarios = round.asked(&part.quantity);
        match questions.iter_mut().find(|(same, _)| *same == scenarios) {
            _ if scenarios.is_empty() => {}
            Some((_, asked)) => asked.push((round, part)),
            None => questions.push((scenarios, vec![(round, part)])),
        }
    }
    questions.sort_by_key(|(scenarios, asked)| *scenarios != asked[0].1.quantity.scenarios(FULL));
    let mut found = questions.iter().filter_map(|(_, asked)| by_newest(asked));
    let Some(mut decides) = found.next() else {
        return Judged { reason: "no round of this host asked it".to_owned(), ..Judged::default() };
    };
    decides.rows.extend(found.flat_map(|found| found.rows).map(|row| Row { beside: true, ..row }));
    decides
}

/// What the newest of the rounds that were asked a question says: *unclear* if the one before that decides contradicts it.
fn by_newest(rounds: &[(&Round, &Part)]) -> Option<Judged> {
    let mut judged = rounds.iter().map(|(round, part)| (&round.at.round, judge_part(round, part)));
    let (folder, mut newest) = judged.next()?;
    if newest.verdict.is_decided()
        && let Some((older, found)) = judged.find(|(_, found)| found.verdict.is_decided())
        && found.verdict.contradicts(newest.verdict)
    {
        newest.reason = format!("{} in {folder}, {} in {older}", newest.verdict, found.verdict);
        newest.verdict = Verdict::Unclear;
        newest.contradicted_in.push(older.clone());
    }
    Some(newest)
}

/// Judges a part by the samples of a single round, unless a control that guards it failed.
fn judge_part(round: &Round, part: &Part) -> Judged {
    let mut rows = match &part.kind {
        Kind::Slope { x, aim } => slope::rows(round, part, x, *aim),
        _ => by_scenario(round, part),
    };
    let (too_few, too_short) = (too_few(round, part), too_short(round, &part.quantity));
    for row in &mut rows {
        row.part.clone_from(&part.text);
        row.figure = part.figure;
        if too_short.is_some() {
            row.verdict = Verdict::Unclear;
        }
        if too_few.is_some() {
            row.verdict = Verdict::NotTested;
        }
        if let Scale::Ratio { unit, .. } = &mut row.scale {
            *unit = part.unit;
        }
    }
    let decided = rules::together(rows.iter().filter(|row| !row.beside).map(|row| row.verdict));
    let (verdict, reason) = if let Some(reason) = too_few {
        (Verdict::NotTested, reason)
    } else if let Some(reason) = disbelieved(round, part) {
        (Verdict::Unclear, reason)
    } else if let Some(metric) = missing(round, part).filter(|_| rows.iter().any(|row| row.estimate.is_none())) {
        (Verdict::NotTested, format!("{metric} could not be read on this machine"))
    } else if let Some(reason) = nothing_to_explain(round, part) {
        (Verdict::Unclear, reason)
    } else {
        // A scenario may have too few A/A pairs for a floor.
        let lacks_floor = |scenario: &String| no_floor(copies(round, part, scenario).len());
        let mut scenarios = round.scenarios(&part.quantity).iter();
        let open = || scenarios.find_map(lacks_floor).filter(|_| part.has_floor() && decided == Verdict::Unclear);
        (decided, too_short.or_else(open).unwrap_or_default())
    };
    let causes = part.causes.iter().map(|cause| judge_cause(round, part, cause)).collect();
    Judged { rows, verdict, reason, causes, ..Judged::default() }
}

/// Why a claim cannot be tested on the machine of a round: it has too few processors.
fn too_few(round: &Round, part: &Part) -> Option<String> {
    let (least, cpus) = part.least_cpus.zip(round.cpus).filter(|(least, cpus)| cpus < least)?;
    Some(format!("it takes {least} processors, and this machine has {cpus}"))
}

/// Why a claim about whole processes stays open: on a fast machine the start of a process is a part of what was timed.
fn too_short(round: &Round, quantity: &Quantity) -> Option<String> {
    let cases = quantity.cases(&round.profile);
    let walls = cases.iter().flat_map(|(scenario, arm)| round.recorded(quantity, scenario, arm, "process_s"));
    let shortest = walls.fold(f64::INFINITY, f64::min);
    let is_short = quantity.metric == "process_s" && !quantity.is_duet() && shortest < SHORTEST_PROCESS_S;
    let why = "its start is part of what is timed";
    is_short.then(|| format!("a process took {shortest:.3} s; under {SHORTEST_PROCESS_S} s {why}"))
}

/// Why a test must not be believed: a control or the replicate failed.
fn disbelieved(round: &Round, part: &Part) -> Option<String> {
    let failed = round
        .claims
        .guards(part)
        .find_map(|guard| round.controls().iter().find(|of| of.id == guard.id && of.state == ControlState::Failed));
    failed
        .map(|control| format!("the control {} failed: {}", control.id, control.reason))
        .or_else(|| order_fault(round, &part.quantity, part.margin))
        .or_else(|| disagreement_with_singles(round, part))
}

/// Why a duet must not be believed: single-arm processes, where enough were run, contradict it.
fn disagreement_with_singles(round: &Round, part: &Part) -> Option<String> {
    let quantity = &part.quantity;
    let single = Quantity { replicate: Replicate::Process, ..quantity.clone() };
    round.scenarios(quantity).iter().filter(|_| quantity.is_duet()).find_map(|scenario| {
        let estimate = |quantity| ratio_estimate(&round.gather(quantity, scenario), CONFIDENCE);
        let (duet, single) = (estimate(quantity)?, estimate(&single)?);
        let in_words = |of: &Estimate| format!("[{:.3}, {:.3}]", of.lo, of.hi);
        let [of_duet, of_single] = [&duet, &single].map(in_words);
        (single.n >= SINGLE_BLOCKS && rules::disagree(&duet, &single, part.margin))
            .then(|| format!("in {scenario} the duet {of_duet} and single-arm processes {of_single} disagree"))
    })
}

/// The metric that a part rests on and that no run of one of its test cases recorded although some succeeded.
fn missing<'a>(round: &Round, Part { kind, quantity, .. }: &'a Part) -> Option<&'a String> {
    let per = if let Of::Value { per, .. } = &quantity.of { per.as_ref() } else { None };
    let x = if let Kind::Slope { x, .. } = kind { Some(x) } else { None };
    let own = Some(&quantity.metric).filter(|_| !quantity.is_duet());
    let lacks = |metric: &str, (scenario, arm): &(String, String)| {
        let samples = round.samples(quantity, scenario, arm);
        let mut ran = samples.iter().filter(|sample| sample.error.is_none()).peekable();
        ran.peek().is_some() && ran.all(|sample| !sample.metrics.contains_key(metric))
    };
    let cases = quantity.cases(&round.profile);
    own.into_iter().chain(per).chain(x).find(|metric| cases.iter().any(|case| lacks(metric, case)))
}

/// A row per scenario, of `every` a pooled one before them.
fn by_scenario(round: &Round, part: &Part) -> Vec<Row> {
    let scenarios = round.scenarios(&part.quantity);
    let yields: Vec<Pairs> = scenarios.iter().map(|scenario| round.gather(&part.quantity, scenario)).collect();
    let of_scenario = |(scenario, found): (&String, _)| row(round, part, scenario, found);
    let mut rows: Vec<Row> = scenarios.iter().zip(&yields).map(of_scenario).collect();
    if let Kind::Every = part.kind {
        let pooled = pooled_row(round, part, &rows, &yields);
        // The single scenarios are heard in the pooled row already.
        for row in &mut rows {
            row.beside = true;
        }
        rows.insert(0, pooled);
    }
    rows
}

/// The row over all scenarios, whose own `rows` and `yields` may contradict it.
fn pooled_row(round: &Round, part: &Part, rows: &[Row], yields: &[Pairs]) -> Row {
    let margin = part.margin.ln_1p();
    let below = holm::adjust(&yields.iter().map(|found| p_value_below(&found.values(), margin)).collect::<Vec<_>>());
    let each = |(row, p_value): (&Row, f64)| {
        Some(Each { estimate: row.estimate?, floor: row.floor.unwrap_or(part.margin), p_value })
    };
    let each: Option<Vec<Each>> = rows.iter().zip(below).map(each).collect();
    let found = round.pooled(&part.quantity);
    let row = Row { sides: Vec::new(), ..round.row_of(&part.quantity, ALL, &found) };
    let (row, floor) = floored(round, part, &found, row);
    decided(row, |estimate| match (&each, floor) {
        (Some(each), Some(floor)) => rules::every(estimate, each, part.margin, floor),
        // Of a scenario without an estimate nothing can be said, and so not of every one.
        _ => Verdict::Unclear,
    })
}

/// The A/A pairs, with their layouts, that show the noise of a test: those of the same scenario where the control has some, those of all
/// its scenarios, each for itself, where not. Those of the pooled row of `every` are their means, as the row is.
fn copies(round: &Round, part: &Part, scenario: &str) -> Vec<(u64, f64)> {
    let Some(control) = round.claims.guards(part).find(|guard| guard.planted.is_none()) else { return Vec::new() };
    if scenario == ALL {
        return round.by_layout(&round.pooled(&control.quantity));
    }
    let scenarios = round.scenarios(&control.quantity);
    let gather = |scenario: &String| round.by_layout(&round.gather(&control.quantity, scenario));
    let same = scenarios.iter().find(|other| *other == scenario).map(gather);
    same.filter(|found| !found.is_empty()).unwrap_or_else(|| scenarios.iter().flat_map(gather).collect())
}

/// The row with its margin and floor, and the floor to judge it by: none where A/A pairs show none, the margin where it has none by definition.
fn floored(round: &Round, part: &Part, own: &Pairs, row: Row) -> (Row, Option<f64>) {
    let row = Row { margin: Some(part.margin), ..row };
    if !part.has_floor() {
        return (row, Some(part.margin));
    }
    let copies = copies(round, part, &row.scenario);
    let floor = round.noise_floor(&part.quantity, &copies, own, part.margin);
    (Row { floor: Some(floor), ..row }, no_floor(copies.len()).is_none().then_some(floor))
}

/// The row with the verdict on its estimate; without one it stays unclear.
fn decided(row: Row, verdict: impl FnOnce(&Estimate) -> Verdict) -> Row {
    Row { verdict: row.estimate.as_ref().map_or(Verdict::Unclear, verdict), ..row }
}

fn row(round: &Round, part: &Part, scenario: &str, found: &Pairs) -> Row {
    let (quantity, margin) = (&part.quantity, part.margin);
    let row = round.row_of(quantity, scenario, found);
    match &part.kind {
        Kind::Ratio | Kind::Every => {
            let (row, floor) = floored(round, part, found, row);
            decided(row, |of| floor.map_or(Verdict::Unclear, |floor| rules::ratio(of, margin, floor)))
        }
        // The floor stands beside it: what is inside of the margin is so in spite of noise, and what is outside beyond any.
        Kind::Equal => decided(floored(round, part, found, row).0, |estimate| rules::equal(estimate, margin)),
        Kind::Band(band) => {
            let row = Row { margin: quantity.is_ratio().then_some(margin), ..row };
            decided(row, |estimate| rules::value(estimate, *band))
        }
        Kind::Cause { explains, .. } => {
            let effect = explained(round, part, scenario).map(|effect| round.gather(&effect.quantity, scenario));
            explaining(round, row, explains, (&effect.unwrap_or_default(), found))
        }
        Kind::Outcome { bound, share } => outcome_row(round, row, quantity, found, *bound, *share),
        // Slopes are made of several scenarios and have rows of their own.
        Kind::Slope { .. } => row,
    }
}

/// The row as the share of `effect`, which is that of `of`, that what `control` came to in the same blocks amounts to.
fn explaining(round: &Round, row: Row, of: &str, (effect, control): (&Pairs, &Pairs)) -> Row {
    let both = Pairs::joined(&[control, effect], |both| Some((both[0], both[1])));
    let (own, all): (Vec<f64>, Vec<f64>) = both.values().into_iter().unzip();
    let (estimate, aside) = (share::explained(&own, &all, CONFIDENCE), round.aside(&both, |(own, all)| own / all));
    decided(Row { scale: Scale::Share { of: of.to_owned() }, estimate, aside, ..row }, rules::cause)
}

/// The test that is a ratio of arms in `scenario`, measured as the `control` of its cause is: the effect whose cause is looked for.
fn explained<'a>(round: &'a Round, control: &Part, scenario: &str) -> Option<&'a Part> {
    let Kind::Cause { explains, form, .. } = &control.kind else { return None };
    let is_there = |quantity| round.scenarios(quantity).iter().any(|other| other == scenario);
    round.claims.asked(explains, *form)?.parts().iter().find(|Part { quantity, .. }| {
        quantity.is_ratio() && quantity.replicate == control.quantity.replicate && is_there(quantity)
    })
}

/// Why a cause cannot be judged: the effect is not there as it is claimed, and so has none.
fn nothing_to_explain(round: &Round, part: &Part) -> Option<String> {
    let Kind::Cause { explains, .. } = &part.kind else { return None };
    let lacks_effect = |scenario: &String| {
        let effect = explained(round, part, scenario);
        effect.is_some_and(|of| !row(round, of, scenario, &round.gather(&of.quantity, scenario)).shows_effect())
    };
    let lacks_one = round.scenarios(&part.quantity).iter().any(lacks_effect);
    lacks_one.then(|| format!("{explains} shows no effect that could have a cause"))
}

fn outcome_row(round: &Round, row: Row, quantity: &Quantity, found: &Pairs, bound: Band, share: f64) -> Row {
    let is_met = |pair: f64| bound.holds(if quantity.is_ratio() { pair.exp() } else { pair });
    let pairs = found.values();
    let met = pairs.iter().filter(|pair| is_met(**pair)).count();
    // A block in which nothing is known may or may not have met it.
    let unknown = pairs.iter().filter(|pair| pair.is_nan()).count();
    let n = pairs.len();
    let (lo, _) = binomial::interval(met, n, CONFIDENCE);
    let (_, hi) = binomial::interval(met + unknown, n, CONFIDENCE);
    let estimate = Estimate { point: met as f64 / n as f64, lo, hi, n, level: 1.0 - CONFIDENCE };
    let (scale, estimate) = (Scale::Blocks { criterion: criterion(quantity, bound) }, (n > 0).then_some(estimate));
    let aside = round.aside(found, |pair| f64::from(u8::from(is_met(pair))));
    decided(Row { scale, estimate, aside, ..row }, |met| rules::outcome(met, share))
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

/// Judges a cause by its evidence, which rests on blocks of the test itself: in every scenario, as the test is judged, and the worst counts. A
/// slope is one effect over all of them, of which a control arm explains a share by its own slope.
fn judge_cause(round: &Round, part: &Part, cause: &Cause) -> judged::Cause {
    let row = |scenario: &str, gather: &dyn Fn(&Quantity) -> Pairs| {
        let control = gather(&cause.quantity);
        let row = Row { part: part.text.clone(), ..round.row_of(&cause.quantity, scenario, &control) };
        match cause.bound {
            Some(bound) => decided(row, |estimate| counted(estimate, bound)),
            None => explaining(round, row, "the effect", (&gather(&part.quantity), &control)),
        }
    };
    let of = |scenario: &String| row(scenario, &|quantity| round.gather(quantity, scenario));
    let evidence: Vec<Row> = match &part.kind {
        Kind::Slope { x, .. } if cause.bound.is_none() => vec![row(ALL, &|quantity| slope::gather(round, quantity, x))],
        _ => round.scenarios(&cause.quantity).iter().map(of).collect(),
    };
    let verdict = match rules::together(evidence.iter().map(|row| row.verdict)) {
        // Nothing was measured of it.
        Verdict::NotTested => Verdict::Unclear,
        verdict => verdict,
    };
    judged::Cause { short: cause.short.clone(), text: cause.text.clone(), evidence, verdict }
}

/// A counter explains an effect if its interval keeps the bound, or its single figure where it was measured once.
fn counted(estimate: &Estimate, bound: Band) -> Verdict {
    let single = Estimate { lo: estimate.point, hi: estimate.point, level: 0.0, ..*estimate };
    match rules::value(if estimate.n == 1 { &single } else { estimate }, bound) {
        Verdict::Holds => Verdict::ExplainsIt,
        Verdict::DoesNotHold => Verdict::DoesNot,
        other => other,
    }
}
