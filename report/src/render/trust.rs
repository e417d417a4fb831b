//! Whether this run can be trusted.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::markdown::{Table, bullets, cell, code, text};
use super::parts::link;
use super::{GENERATED, parts};
use crate::figures::{self, NOTHING, or_nothing};
use crate::fmt::{self, anchor, plural};
use crate::host;
use crate::judged::{Agreement, Calibrated, ControlState, Count, JudgedClaim, JudgedControl, JudgedStudy, Round};
use crate::rounds::{Origin, Source, letter};
use crate::stats::{CONFIDENCE, binomial};
use crate::view::StudyView;

/// The page.
pub fn page(studies: &[StudyView]) -> String {
    let mut out = format!(
        "{GENERATED}\n# Can you trust this run?\n\nAn A/A control compares an arm with itself under a second name: it must show nothing, and its scatter sets the floor. \
         A planted control compares an arm with a copy that was slowed by a known amount: it must be found, at its size. How that works: \
         [METHODOLOGY](../METHODOLOGY.md).\n\n"
    );
    out.push_str(&calibration(studies));
    for view in studies {
        let (anchor, study) = (anchor(&view.judged.study, "trust"), code(&view.judged.study));
        let _ = write!(out, "<a id=\"{anchor}\"></a>\n\n## {study}\n\n");
        out.extend([controls, undecided, false_positives, failures, memory, rounds].map(|part| part(&view.judged)));
        out.push_str(&sources(&view.origin));
    }
    out
}

/// The rounds behind a study: how much of them was run, and what else went on meanwhile.
fn sources(origin: &Origin) -> String {
    if origin.rounds.is_empty() {
        return String::new();
    }
    let mut table = Table::new(
        "Round | Host | Part | >Blocks run of planned | >Steal | >Arithmetic | >Memory | >Context switch | >Hop to the pool",
    );
    for Source { folder, host, part, blocks: (run, planned), machine } in &origin.rounds {
        let figure = |name: &str| or_nothing(machine.number(name), |x| fmt::value(x, fmt::unit_of(name)));
        let round = format!("[{}](../../results/{folder})", folder.rsplit('/').next().unwrap_or_default());
        let blocks = format!("{run} of {planned}");
        let mut cells = vec![round, letter(*host), (*part).to_owned(), blocks, figure("steal_percent")];
        cells.extend(host::PROBES.map(|(name, _)| figure(name)));
        table.row(cells);
    }
    let cut = origin.rounds.iter().filter(|source| source.blocks.0 < source.blocks.1).count();
    let cut = match plural(cut, "round was", "rounds were") {
        _ if cut == 0 => String::new(),
        rounds => format!(" {rounds} cut off by its machine and stands with its complete blocks."),
    };
    format!("**Rounds used.** Steal is processor time that the hypervisor gave to others.{cut}\n\n{}\n", table.render())
}

/// What repeating A/A controls showed; nothing if none was repeated.
fn calibration<'a>(studies: &'a [StudyView]) -> String {
    let of_study = |view: &'a StudyView| view.calibration.iter().map(move |found| (view.judged.study.as_str(), found));
    let calibrated: Vec<(&str, &Calibrated)> = studies.iter().flat_map(of_study).collect();
    if calibrated.is_empty() {
        return String::new();
    }
    let mut table = Table::new(
        "Study | Control | >Trials | >Intervals that miss 1 | >Expected | >Wrong verdicts | >False equalities | >Smallest effect found",
    );
    for (study, found) in &calibrated {
        let scenarios: Vec<String> = found.scenarios.iter().map(|name| code(name)).collect();
        let control = format!("{}, {}", cell(&found.control), scenarios.join(", "));
        let trials = format!("{} of {}", found.trials, plural(found.blocks, "block", "blocks"));
        let expected = fmt::decimals(found.level * found.trials as f64, 1);
        let [misses, wrong, equal] = [found.misses, found.wrong, found.equal].map(|count| count.to_string());
        let least = if found.least.is_finite() { fmt::percent(found.least) } else { "none".to_owned() };
        table.row([code(study), control, trials, misses, expected, wrong, equal, least]);
    }
    if calibrated.len() > 1 {
        table.row(together(&calibrated));
    }
    format!(
        "**Calibration.** Of each study the A/A control that takes the least time, one of processes, one of duets and one of memory where \
         it has them, repeated on this machine (`make calibrate`) and judged each time as a claim would be, with the next trial in the \
         place of the A/A control that sets the floor. Each *holds* and each *opposite* is wrong. An equality is false where an effect as \
         large as the margin would have been called none. The smallest effect is the one that 9 of 10 trials would have found.\n\n{}\n",
        table.render()
    )
}

/// The last row: the trials of all studies, which say more about the method than those of one.
fn together(calibrated: &[(&str, &Calibrated)]) -> [String; 8] {
    let sum = |of: fn(&Calibrated) -> usize| calibrated.iter().map(|(_, found)| of(found)).sum::<usize>();
    let trials = sum(|found| found.trials);
    let share = |count: usize| {
        let (lo, hi) = binomial::interval(count, trials, CONFIDENCE);
        format!("{count}: {} [{}, {}]", fmt::percent(count as f64 / trials as f64), fmt::percent(lo), fmt::percent(hi))
    };
    let expected = calibrated.iter().map(|(_, found)| found.level * found.trials as f64).sum();
    [
        "all".to_owned(),
        NOTHING.to_owned(),
        trials.to_string(),
        sum(|found| found.misses).to_string(),
        fmt::decimals(expected, 1),
        share(sum(|found| found.wrong)),
        share(sum(|found| found.equal)),
        NOTHING.to_owned(),
    ]
}

fn controls(judged: &JudgedStudy) -> String {
    if judged.controls.is_empty() {
        return "This study has no controls.\n\n".to_owned();
    }
    let mut table = Table::new("Control | Measured | >Planted | >Floor | >Layouts, sd | Result");
    let (missing, measured): (Vec<&JudgedControl>, Vec<&JudgedControl>) =
        judged.controls.iter().partition(|control| control.state == ControlState::NotMeasured);
    for control in measured {
        let figure = or_nothing(figures::figure(&control.row), |figure| text(&figure));
        let planted = or_nothing(control.planted, |planted| fmt::number(planted, 3));
        let layouts = or_nothing(control.layout_sd, |sd| format!("{:.1} %", sd.exp_m1() * 100.0));
        table.row([cell(&control.id), figure, planted, figures::floor(&control.row), layouts, result(control)]);
    }
    let [passed, failed, open] = parts::controls(std::iter::once(judged));
    let all = plural(passed + failed + open, "control", "controls");
    let failed = if failed == 0 { "none".to_owned() } else { format!("**{failed}**") };
    let open = if open == 0 { String::new() } else { format!(", {open} could not tell") };
    let missing: Vec<String> =
        missing.into_iter().map(|control| format!("{}: {}", cell(&control.id), result(control))).collect();
    format!("{passed} of {all} passed, {failed} failed{open}.\n\n{}\n{}", table.render(), bullets(missing))
}

fn result(control: &JudgedControl) -> String {
    let state = match control.state {
        ControlState::Failed => "**failed**",
        state => state.into_str(),
    };
    match control.reason.trim() {
        "" => state.to_owned(),
        // "not measured (quick)"
        reason if reason.starts_with(state) => cell(reason),
        reason => format!("{state}: {}", cell(reason)),
    }
}

fn false_positives(judged: &JudgedStudy) -> String {
    // What is not judged cannot be wrong.
    let found = judged.claims.iter().flat_map(JudgedClaim::evidence).filter(|found| found.mark.is_empty());
    let estimates = found.flat_map(|found| &found.rows).filter_map(|row| row.estimate.as_ref());
    let levels: Vec<f64> = estimates.filter(|it| figures::has_interval(it)).map(|estimate| estimate.level).collect();
    if levels.is_empty() {
        return "No interval was computed, so there is no false positive to expect.\n\n".to_owned();
    }
    let (intervals, missing) =
        (plural(levels.len(), "interval was", "intervals were"), fmt::decimals(levels.iter().sum(), 2));
    format!(
        "**Expected false positives.** {intervals} computed; by their exact levels {missing} of them would miss the truth by chance. The floor makes \
         a wrong *holds* or *opposite* rarer than that.\n\n"
    )
}

fn failures(judged: &JudgedStudy) -> String {
    let (failed, runs) = (judged.failures.len(), plural(judged.runs, "run", "runs"));
    if failed == 0 {
        return format!("**Failed runs.** None of {runs}.\n\n");
    }
    let mut table = Table::new("Run | Scenario | Arm | Error");
    for (run, scenario, arm, error) in &judged.failures {
        table.row([code(run), code(scenario), code(arm), text(error)]);
    }
    let table = table.render();
    format!("**Failed runs.** {failed} of {runs}; each counts against its arm and none was dropped.\n\n{table}\n")
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
    let mut table = Table::new("Scenario | Arm | >VmHWM | >GNU time | >Difference");
    for (scenario, arm, vmhwm_kib, gnu_time_kib) in &judged.memory_disagreements {
        let difference = Some(vmhwm_kib / gnu_time_kib).filter(|_| *gnu_time_kib > 0.0);
        let [vmhwm, gnu_time] = [vmhwm_kib, gnu_time_kib].map(|kib| fmt::value(*kib, "kib"));
        table.row([code(scenario), code(arm), vmhwm, gnu_time, or_nothing(difference, fmt::change)]);
    }
    format!(
        "**Memory cross-check.** VmHWM of the process and GNU time's peak differ by more than 5 % in {} of {compared}.\n\n{}\n",
        judged.memory_disagreements.len(),
        table.render()
    )
}

/// More blocks than anybody will run.
const TOO_MANY: f64 = 1000.0;

/// What would decide the forms that are open; nothing if none is.
fn undecided(judged: &JudgedStudy) -> String {
    let forms = judged.claims.iter().flat_map(|claim| claim.forms().map(move |(form, found)| (claim, form, found)));
    let open: Vec<_> = forms.filter(|(_, _, found)| found.verdict.count() == Count::Undecided).collect();
    if open.is_empty() {
        return String::new();
    }
    let mut table = Table::new("Claim | Form | Measured | >Blocks that would decide | >More time");
    for (claim, form, found) in open {
        let (blocks, time) = match found.price {
            _ if !found.reason.is_empty() => (cell(&found.reason), NOTHING.to_owned()),
            None => ("no number of them".to_owned(), NOTHING.to_owned()),
            Some(price) if price.blocks > TOO_MANY => {
                (format!("over {TOO_MANY:.0}, so near it is to a limit"), NOTHING.to_owned())
            }
            Some(price) => (fmt::decimals(price.blocks, 0), format!("{:.0} min", (price.more_s / 60.0).ceil())),
        };
        let figure = or_nothing(found.deciding_row().and_then(figures::figure), |figure| text(&figure));
        let form = form.in_words().to_owned();
        table.row([link(&judged.study, &claim.id, ""), form, figure, blocks, time]);
    }
    format!(
        "**Undecided.** How many blocks would decide each form, and the time for those that are not there yet (without controls), if its estimate and the \
         noise stay as they are: an interval of half the width takes four times the blocks.\n\n{}\n",
        table.render()
    )
}

/// The verdicts of all rounds beside each other.
fn rounds(judged: &JudgedStudy) -> String {
    let Some(rounds) = &judged.rounds else {
        return "**Rounds.** There is no other whole measurement by the same claims on this host, so repeatability is not shown yet.\n\n"
            .to_owned();
    };
    let name = |position: usize| match position {
        0 => "This one".to_owned(),
        _ => format!("Another, {position}"),
    };
    let names = rounds.measured.iter().enumerate().map(|(at, round)| format!("{} ({}) |", name(at), round.profile));
    let mut table = Table::new(&format!("Claim | Form | {} Do they agree?", names.collect::<String>()));
    for repeat in &rounds.repeats {
        let mut cells = vec![link(&judged.study, &repeat.claim, ""), repeat.form.in_words().to_owned()];
        cells.extend(repeat.verdicts.iter().map(|verdict| or_nothing(*verdict, |verdict| verdict.to_string())));
        cells.push(repeat.agreement.into_str().to_owned());
        table.row(cells);
    }
    let count = |agreement: Agreement| rounds.repeats.iter().filter(|repeat| repeat.agreement == agreement).count();
    let [same, open, by_profile, differs] =
        [Agreement::Same, Agreement::Open, Agreement::ByProfile, Agreement::Differs].map(count);
    let folders = rounds.measured.iter().map(|round| format!("{} (seed {})", code(&round.folder), round.plan_seed));
    let (folders, failed) = (folders.collect::<Vec<_>>().join(", "), rounds.measured.iter().map(failed_in));
    let forms = plural(rounds.repeats.len(), "form of a claim", "forms of claims");
    format!(
        "**Rounds.** The same claims on the same host, in another order each time: {folders}. \
         Verdicts on {forms}: {same} the same in all rounds, {open} open in some and contradicted in none, {by_profile} contradicted by another profile, {differs} \
         contradicted within one profile.{}\n\n{}\n",
        failed.collect::<String>(),
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
