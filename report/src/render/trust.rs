//! Whether this run can be trusted.

use super::GENERATED;
use super::markdown::{Table, around, cell, code, heading, known, round, text};
use crate::fmt::{self, anchor, plural};
use crate::folder::host;
use crate::judge::figures::{self, NOTHING, or_nothing};
use crate::judge::judged::{Calibrated, ControlState, JudgedClaim, JudgedStudy};
use crate::judge::rounds::Source;
use crate::page::view::StudyView;
use crate::stats::{CONFIDENCE, binomial};

pub fn page(studies: &[StudyView]) -> String {
    let mut out = format!(
        "{GENERATED}\n# Can you trust this run?\n\nAn A/A control compares an arm with itself under a second name: it must show nothing, and its scatter sets the floor. \
         A planted control compares an arm with a copy that was slowed by a known amount: it must be found, at its size. How that works: \
         [METHODOLOGY](../METHODOLOGY.md).\n\n"
    );
    out += &calibration(studies);
    for view in studies {
        let judged = &view.judged;
        out += &heading(&anchor(&judged.study, "trust"), &format!("## {}", code(&judged.study)));
        out.extend([controls, false_positives, failures, memory].map(|part| part(judged)));
        out += &sources(view);
    }
    out
}

/// The rounds behind a study: how much of them was run, and what else went on meanwhile.
fn sources(view: &StudyView) -> String {
    let mut table = Table::new(
        "Round | Host | Part | >Blocks run of planned | >Steal | >Arithmetic | >Memory | >Context switch | >Hop to the pool",
    );
    for Source { folder, host, part, blocks: (run, planned), machine, .. } in &view.rounds {
        let figure = |name: &str| or_nothing(machine.number(name), |x| fmt::value(x, fmt::unit_of(name)));
        let first = [round(folder), cell(view.host_name(*host)), (*part).to_owned(), format!("{run} of {planned}")];
        table.row([&first[..], &[figure("steal_percent")], &host::PROBES.map(|(name, ..)| figure(name))].concat());
    }
    let cut = view.rounds.iter().filter(|source| source.blocks.0 < source.blocks.1).count();
    let [one, many] =
        ["round was cut off by its machine and stands with its", "rounds were cut off and stand with their"];
    let cut = if cut == 0 { String::new() } else { format!(" {} complete blocks.", plural(cut, one, many)) };
    table.below(&format!("**Rounds used.** Steal is processor time that the hypervisor gave to others.{cut}\n\n"))
}

/// What repeating A/A controls showed; nothing if none was repeated.
fn calibration(studies: &[StudyView]) -> String {
    let mut all: Vec<&Calibrated> = Vec::new();
    let mut table = Table::new(
        "Study | Control | >Trials | >Intervals that miss 1 | >Expected | >Wrong verdicts | >False equalities | >Smallest effect found",
    );
    for (view, found) in studies.iter().flat_map(|view| view.calibration.iter().map(move |found| (view, found))) {
        let scenarios: Vec<String> = found.scenarios.iter().map(|name| code(name)).collect();
        let control = format!("{}, {}", cell(&found.control), scenarios.join(", "));
        let trials = format!("{} of {}", found.trials, plural(found.blocks, "block", "blocks"));
        let expected = fmt::decimals(found.level * found.trials as f64, 1);
        let [misses, wrong, equal] = [found.misses, found.wrong, found.equal].map(|count| count.to_string());
        let least = if found.least.is_finite() { fmt::percent(found.least) } else { "none".to_owned() };
        table.row([code(&view.judged.study), control, trials, misses, expected, wrong, equal, least]);
        all.push(found);
    }
    if all.len() > 1 {
        // The trials of all studies, which say more about the method than those of one.
        let sum = |of: fn(&Calibrated) -> usize| all.iter().map(|found| of(found)).sum::<usize>();
        let trials = sum(|found| found.trials);
        let share = |count: usize| {
            let (lo, hi) = binomial::interval(count, trials, CONFIDENCE);
            let [share, lo, hi] = [count as f64 / trials as f64, lo, hi].map(fmt::percent);
            format!("{count}: {share} [{lo}, {hi}]")
        };
        let expected = all.iter().map(|found| found.level * found.trials as f64).sum();
        let [wrong, equal] = [sum(|found| found.wrong), sum(|found| found.equal)].map(share);
        let [trials, misses] = [trials, sum(|found| found.misses)].map(|count| count.to_string());
        let [all, none] = ["all", NOTHING].map(str::to_owned);
        table.row([all, none.clone(), trials, misses, fmt::decimals(expected, 1), wrong, equal, none]);
    }
    table.below(
        "**Calibration.** Of each study the A/A control that takes the least time, one of processes, one of duets and one of memory where \
         it has them, repeated on this machine (`make calibrate`) and judged each time as a claim would be, with the next trial in the \
         place of the A/A control that sets the floor. Each *holds* and each *reversed* is wrong. An equality is false where an effect as \
         large as the margin would have been called none. The smallest effect is the one that 9 of 10 trials would have found.\n\n",
    )
}

fn controls(judged: &JudgedStudy) -> String {
    if judged.controls.is_empty() {
        return "This study has no controls.\n\n".to_owned();
    }
    let mut table = Table::new("Control | Measured | >Planted | >Floor | >Layouts, sd | Result");
    for control in judged.controls.iter().filter(|control| control.state != ControlState::NotMeasured) {
        let figure = known(figures::figure(&control.row));
        let planted = or_nothing(control.planted, |planted| fmt::number(planted, 3));
        let layouts = or_nothing(control.layout_sd, |sd| format!("{:.1} %", sd.exp_m1() * 100.0));
        let state = if control.state == ControlState::Failed { "**failed**" } else { control.state.into_str() };
        let said = [control.reason.clone()].into_iter().chain(figures::aside(&control.row));
        let said: Vec<String> = said.filter(|said| !said.is_empty()).collect();
        let result = state.to_owned() + &around(": ", cell(&said.join("; ")), "");
        table.row([cell(&control.id), figure, planted, figures::floor(&control.row), layouts, result]);
    }
    let count = |state| judged.controls.iter().filter(|control| control.state == state).count();
    let states = [ControlState::Passed, ControlState::Failed, ControlState::CouldNotTell];
    let [passed, failed, open] = states.map(count);
    let all = plural(passed + failed + open, "control", "controls");
    let failed = if failed == 0 { "none".to_owned() } else { format!("**{failed}**") };
    let open = if open == 0 { String::new() } else { format!(", {open} could not tell") };
    format!("{passed} of {all} passed, {failed} failed{open}.\n\n{}\n", table.render())
}

fn false_positives(judged: &JudgedStudy) -> String {
    let found = judged.claims.iter().flat_map(JudgedClaim::evidence);
    let estimates = found.flat_map(|found| &found.rows).filter_map(|row| row.estimate);
    let levels: Vec<f64> = estimates.filter(figures::has_interval).map(|estimate| estimate.level).collect();
    if levels.is_empty() {
        return "No interval was computed, so there is no false positive to expect.\n\n".to_owned();
    }
    let intervals = plural(levels.len(), "interval was", "intervals were");
    let missing = fmt::decimals(levels.iter().sum(), 2);
    format!(
        "**Expected false positives.** {intervals} computed; by their exact levels {missing} of them would miss the truth by chance. The floor makes \
         a wrong *holds* or *reversed* rarer than that.\n\n"
    )
}

fn failures(judged: &JudgedStudy) -> String {
    let (failed, runs) = (judged.failures.len(), plural(judged.runs, "run", "runs"));
    let mut table = Table::new("Run | Scenario | Arm | Error");
    for (run, scenario, arm, error) in &judged.failures {
        table.row([code(run), code(scenario), code(arm), text(error)]);
    }
    let those = format!("{failed} of {runs}; each counts against its arm and none was dropped");
    let said = if failed == 0 { format!("None of {runs}") } else { those };
    format!("**Failed runs.** {said}.\n\n{}", table.below(""))
}

fn memory(judged: &JudgedStudy) -> String {
    if judged.memory_compared == 0 {
        return "**Memory cross-check.** Not made: no pass under GNU time was recorded.\n\n".to_owned();
    }
    let (compared, differ) = (plural(judged.memory_compared, "case", "cases"), judged.memory_disagreements.len());
    let differ = format!("differ by more than 5 % in {differ} of");
    let differ = if judged.memory_disagreements.is_empty() { "agree within 5 % in all" } else { &differ };
    let mut table = Table::new("Scenario | Arm | >VmHWM | >GNU time | >Difference");
    for (scenario, arm, vmhwm_kib, gnu_time_kib) in &judged.memory_disagreements {
        let difference = Some(vmhwm_kib / gnu_time_kib).filter(|_| *gnu_time_kib > 0.0);
        let [vmhwm, gnu_time] = [vmhwm_kib, gnu_time_kib].map(|kib| fmt::value(*kib, "kib"));
        table.row([code(scenario), code(arm), vmhwm, gnu_time, or_nothing(difference, fmt::change)]);
    }
    let what = "VmHWM of the process and GNU time's peak";
    format!("**Memory cross-check.** {what} {differ} {compared}.\n\n{}", table.below(""))
}
