//! Section 3: whether this run can be trusted.

use super::markdown::{Align, Table, anchor, cell, code, text};
use super::summary::plural;
use super::{StudyView, figures, fmt};
use crate::judged::{Agreement, Calibrated, JudgedControl, JudgedStudy, Round, Row, Verdict};
use crate::stats::{CONFIDENCE, binomial};
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

/// Section 3 over all studies.
pub fn section(studies: &[StudyView]) -> String {
    let mut out = String::from("## Can you trust this run\n\n");
    if studies.is_empty() {
        out.push_str("There is no run yet.\n");
        return out;
    }
    out.push_str(
        "An A/A control compares an arm with itself under a second name: it must show nothing, and its scatter sets the floor. \
         A planted control compares an arm with a copy that was slowed by a known amount: it must be found, at its size.\n\n",
    );
    out.push_str(&calibration(studies));
    for view in studies {
        if studies.len() > 1 {
            let _ = write!(out, "### Trust: {}\n\n", code(&view.judged.study));
        }
        out.push_str(&study(&view.judged));
    }
    out.trim_end().to_owned() + "\n"
}

fn study(judged: &JudgedStudy) -> String {
    let mut out = controls(judged);
    out.push_str(&false_positives(judged));
    out.push_str(&holm(judged));
    out.push_str(&failures(judged));
    out.push_str(&memory(judged));
    out.push_str(&rounds(judged));
    out
}

/// What repeating one A/A control per study showed; nothing if none was repeated.
fn calibration(studies: &[StudyView]) -> String {
    let calibrated: Vec<_> =
        studies.iter().filter_map(|view| Some((view.judged.study.as_str(), view.calibration.as_ref()?))).collect();
    if calibrated.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("Study", Align::Left),
        ("Control", Align::Left),
        ("Trials", Align::Right),
        ("Intervals that miss 1", Align::Right),
        ("Expected", Align::Right),
        ("Wrong verdicts", Align::Right),
        ("Their share, 95 % interval", Align::Right),
        ("Smallest effect found in 9 of 10", Align::Right),
    ]);
    for (study, found) in &calibrated {
        let trials = found.trials as f64;
        table.row(vec![
            code(study),
            format!(
                "{}, {}",
                cell(&found.control),
                found.scenarios.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
            ),
            format!("{} of {}", found.trials, plural(found.blocks, "block", "blocks")),
            found.misses.to_string(),
            fmt::decimals(found.level * trials, 1),
            found.wrong.to_string(),
            share(found.wrong, found.trials, found.wrong_between),
            if found.least.is_finite() { fmt::percent(found.least) } else { "none".to_owned() },
        ]);
    }
    if calibrated.len() > 1 {
        table.row(together(calibrated.iter().map(|(_, found)| *found)));
    }
    format!(
        "**Calibration.** One A/A control per study, the one that takes the least time, repeated on this machine (`make calibrate`) and \
         judged each time as a claim would be, with the next trial in the place of the A/A control that sets the floor. Every verdict but \
         *inconclusive* or *not reproduced* is wrong. The smallest effect is the one that 9 of 10 trials would have found.\n\n{}\n",
        table.render()
    )
}

/// The last row: the trials of all studies, which say more about the method than those of one.
fn together<'a>(calibrated: impl Iterator<Item = &'a Calibrated>) -> Vec<String> {
    let (mut trials, mut misses, mut wrong, mut expected) = (0, 0, 0, 0.0);
    for found in calibrated {
        trials += found.trials;
        misses += found.misses;
        wrong += found.wrong;
        expected += found.level * found.trials as f64;
    }
    vec![
        "all".to_owned(),
        figures::NOTHING.to_owned(),
        trials.to_string(),
        misses.to_string(),
        fmt::decimals(expected, 1),
        wrong.to_string(),
        share(wrong, trials, binomial::interval(wrong, trials, CONFIDENCE)),
        figures::NOTHING.to_owned(),
    ]
}

fn share(count: usize, of: usize, between: (f64, f64)) -> String {
    format!("{} [{}, {}]", fmt::percent(count as f64 / of as f64), fmt::percent(between.0), fmt::percent(between.1))
}

fn controls(judged: &JudgedStudy) -> String {
    if judged.controls.is_empty() {
        return "This study has no controls.\n\n".to_owned();
    }
    let mut table = Table::new(&[
        ("Control", Align::Left),
        ("Kind", Align::Left),
        ("Scenario", Align::Left),
        ("Measured", Align::Left),
        ("Planted", Align::Right),
        ("Floor", Align::Right),
        ("Result", Align::Left),
    ]);
    for control in &judged.controls {
        table.row(vec![
            cell(&control.id),
            kind(control).to_owned(),
            code(&control.row.scenario),
            text(&figures::figure(&control.row)),
            control.planted.map_or_else(
                || figures::NOTHING.to_owned(),
                |planted| fmt::decimals(planted, fmt::ratio_places(planted, 0.0)),
            ),
            figures::floor(&control.row),
            result(control),
        ]);
    }
    let count = |is: fn(&JudgedControl) -> bool| judged.controls.iter().filter(|control| is(control)).count();
    let passed = count(|control| control.passed && control.reason.trim().is_empty());
    let failed = count(|control| !control.passed);
    let failed = if failed == 0 { "none".to_owned() } else { format!("**{failed}**") };
    let mut counts =
        format!("{passed} of {} passed, {failed} failed", plural(judged.controls.len(), "control", "controls"));
    if count(|control| control.passed) > passed {
        counts.push_str("; the others could not tell");
    }
    format!("{counts}.\n\n{}\n", table.render())
}

fn kind(control: &JudgedControl) -> &str {
    if control.kind == "aa" { "A/A" } else { &control.kind }
}

fn result(control: &JudgedControl) -> String {
    match (control.passed, control.reason.trim()) {
        (true, "") => "passed".to_owned(),
        // Not measured, or not resolved: the reason says it all.
        (true, reason) => cell(reason),
        (false, "") => "**failed**".to_owned(),
        (false, reason) => format!("**failed**: {}", cell(reason)),
    }
}

/// Rows of all claims that have an interval, with which each could be wrong.
fn tests(judged: &JudgedStudy) -> impl Iterator<Item = &Row> {
    judged
        .claims
        .iter()
        // What is not judged cannot be wrong.
        .filter(|claim| claim.mark.is_empty())
        .flat_map(|claim| &claim.rows)
        .filter(|row| row.estimate.as_ref().is_some_and(figures::has_interval))
}

fn false_positives(judged: &JudgedStudy) -> String {
    let count = tests(judged).count();
    if count == 0 {
        return "No interval was computed, so there is no false positive to expect.\n\n".to_owned();
    }
    let expected: f64 = tests(judged).filter_map(|row| row.estimate.as_ref()).map(|estimate| estimate.level).sum();
    format!(
        "**Expected false positives.** {} computed; by their exact levels {} of them would miss the truth by chance. The floor makes \
         a wrong *reproduced* or *reversed* rarer than that.\n\n",
        plural(count, "interval was", "intervals were"),
        fmt::decimals(expected, 2),
    )
}

fn holm(judged: &JudgedStudy) -> String {
    let claims: Vec<_> = judged.claims.iter().filter(|claim| claim.holm.is_some()).collect();
    if claims.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("Claim", Align::Left),
        ("Interval covers", Align::Right),
        ("p", Align::Right),
        ("p after Holm", Align::Right),
        ("Verdict", Align::Left),
    ]);
    for claim in claims {
        let row = claim.deciding_row();
        table.row(vec![
            format!("[{}](#{})", cell(&claim.id), anchor(&judged.study, &claim.id)),
            row.map_or_else(|| figures::NOTHING.to_owned(), figures::coverage),
            row.and_then(|row| row.p_value).map_or_else(|| figures::NOTHING.to_owned(), fmt::p_value),
            claim.holm.map_or_else(|| figures::NOTHING.to_owned(), fmt::p_value),
            claim.verdict.name().to_owned(),
        ]);
    }
    format!(
        "**Many tests at once.** p is the exact two-sided probability of such data if there were no effect; Holm's correction is over all \
         judged claims of the study. Verdicts rest on the intervals, this column shows how much of them luck could explain.\n\n{}\n",
        table.render()
    )
}

fn failures(judged: &JudgedStudy) -> String {
    if judged.failures.is_empty() {
        return format!("**Failed runs.** None of {}.\n\n", plural(judged.runs, "run", "runs"));
    }
    let mut table =
        Table::new(&[("Run", Align::Left), ("Scenario", Align::Left), ("Arm", Align::Left), ("Error", Align::Left)]);
    for (run, scenario, arm, error) in &judged.failures {
        table.row(vec![code(run), code(scenario), code(arm), text(error)]);
    }
    format!(
        "**Failed runs.** {} of {}; each counts against its arm and none was dropped.\n\n{}\n",
        judged.failures.len(),
        plural(judged.runs, "run", "runs"),
        table.render()
    )
}

fn memory(judged: &JudgedStudy) -> String {
    if judged.memory_compared == 0 {
        return "**Memory cross-check.** Not made: no pass under GNU time was recorded.\n\n".to_owned();
    }
    let compared = plural(judged.memory_compared, "case", "cases");
    if judged.memory_disagreements.is_empty() {
        return format!(
            "**Memory cross-check.** VmHWM of the process and GNU time's peak agree within 5 % in all {compared}.\n\n"
        );
    }
    let mut table = Table::new(&[
        ("Scenario", Align::Left),
        ("Arm", Align::Left),
        ("VmHWM", Align::Right),
        ("GNU time", Align::Right),
        ("Difference", Align::Right),
    ]);
    for (scenario, arm, vmhwm_kib, gnu_time_kib) in &judged.memory_disagreements {
        let difference =
            if *gnu_time_kib > 0.0 { fmt::change(vmhwm_kib / gnu_time_kib) } else { figures::NOTHING.to_owned() };
        table.row(vec![
            code(scenario),
            code(arm),
            fmt::value(*vmhwm_kib, "kib"),
            fmt::value(*gnu_time_kib, "kib"),
            difference,
        ]);
    }
    format!(
        "**Memory cross-check.** VmHWM of the process and GNU time's peak differ by more than 5 % in {} of {compared}.\n\n{}\n",
        judged.memory_disagreements.len(),
        table.render()
    )
}

/// The verdicts of all rounds beside each other.
fn rounds(judged: &JudgedStudy) -> String {
    let Some(rounds) = &judged.rounds else {
        return "**Rounds.** There is no other whole measurement by the same claims on this kind of machine, so repeatability is not \
                shown yet.\n\n"
            .to_owned();
    };
    let name = |position: usize| match position {
        0 => "This one".to_owned(),
        1 => "Before".to_owned(),
        _ => format!("Before, {position}"),
    };
    let names: Vec<String> =
        rounds.measured.iter().enumerate().map(|(at, round)| format!("{} ({})", name(at), round.profile)).collect();
    let mut header = vec![("Claim", Align::Left)];
    header.extend(names.iter().map(|name| (name.as_str(), Align::Left)));
    header.push(("", Align::Left));
    let mut table = Table::new(&header);
    for repeat in &rounds.repeats {
        let mut cells = vec![format!("[{}](#{})", cell(&repeat.claim), anchor(&judged.study, &repeat.claim))];
        cells.extend(repeat.verdicts.iter().map(|verdict| verdict.map_or(figures::NOTHING, Verdict::name).to_owned()));
        cells.push(agreement(repeat.agreement).to_owned());
        table.row(cells);
    }
    let count = |agreement: Agreement| rounds.repeats.iter().filter(|repeat| repeat.agreement == agreement).count();
    let folders: Vec<String> =
        rounds.measured.iter().map(|round| format!("{} (seed {})", code(&round.folder), round.plan_seed)).collect();
    format!(
        "**Rounds.** The same claims on the same kind of machine (processor and number of cores), in another order each time: {}. \
         Verdicts on {}: {} the same in all rounds, {} open in some and contradicted in none, {} contradicted by another profile, {} \
         contradicted within one profile.{}\n\n{}\n",
        folders.join(", "),
        plural(rounds.repeats.len(), "claim", "claims"),
        count(Agreement::Same),
        count(Agreement::Open),
        count(Agreement::ByProfile),
        count(Agreement::Differs),
        rounds.measured.iter().map(failed_in).collect::<String>(),
        table.render()
    )
}

/// Which controls failed in a round, as a sentence to be appended; nothing if none did.
fn failed_in(round: &Round) -> String {
    let ids: Vec<String> = round.failed_controls.iter().map(|id| code(id)).collect();
    if ids.is_empty() {
        return String::new();
    }
    let what = if ids.len() == 1 { "the control" } else { "the controls" };
    format!(" In {} {what} {} failed: what they guard reads invalid there.", code(&round.folder), ids.join(", "))
}

fn agreement(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Same => "same",
        Agreement::Open => "open in some",
        Agreement::ByProfile => "differs by profile",
        Agreement::Differs => "**differs**",
    }
}
