//! The rule: what the price of a handoff predicts beside what was measured.

use super::markdown::{Table, bullets, cell, code, text};
use super::parts::EVIDENCE;
use crate::claims::handoffs::{Handoffs, Shape};
use crate::fmt;
use crate::page::view::{Predicted, StudyView, predicted};

/// The section of the report, a row per rule; nothing if nothing can be predicted.
pub fn section(studies: &[StudyView]) -> String {
    let (found, missing) = predicted(studies);
    if found.is_empty() {
        return String::new();
    }
    let mut table =
        Table::new("Effect | >Handoffs | >Work between two | >Price of one | >Predicted | >Measured | Agree");
    for view in studies {
        let mut of_study: Vec<&Predicted> = found.iter().filter(|line| is_of(view, line)).collect();
        // Of each host they are in the order of the rules.
        let order =
            |line: &Predicted| view.observed.iter().position(|observed| observed.rule.id == line.observed.rule.id);
        of_study.sort_by_key(|line| order(line));
        for of_rule in of_study.chunk_by(|a, b| a.observed.rule.id == b.observed.rule.id) {
            let agree = of_rule.iter().filter(|line| line.agrees).count();
            let agree = format!("{agree} of {}", of_rule.len());
            let over = |of: &dyn Fn(&Predicted) -> f64, unit| range(of_rule.iter().map(|line| of(line)), unit);
            table.row([
                format!("[{}]({EVIDENCE}{}.md#the-rule)", cell(&of_rule[0].observed.rule.text), view.judged.study),
                over(&|line| line.observed.handoffs, "count"),
                over(&|line| line.observed.between_s(), "s"),
                over(&|line| line.price_s, "s"),
                text(&changes(of_rule.iter().map(|line| line.predicted))),
                text(&changes(of_rule.iter().map(|line| line.observed.effect.point))),
                if of_rule.iter().all(|line| line.agrees) { agree } else { format!("**{agree}**") },
            ]);
        }
    }
    let agree = found.iter().filter(|line| line.agrees).count();
    let drawn = found.iter().any(|line| line.observed.rule.shape == Shape::Added);
    let chart = "\n![Overhead against work between two handoffs](charts/rule.svg)\n";
    let missing: Vec<String> = missing.into_iter().map(|name| format!("No price yet: {name}")).collect();
    format!(
        "<a id=\"the-rule\"></a>\n\n## The rule\n\nHandoffs add their number times the price of one; \
         of two parts that run side by side, the longer decides, and both pay it. This predicts {agree} of {} effects \
         within 25 % of their logarithm, or within 5 points if they are below 20 %.\n\n{}{}{}",
        found.len(),
        table.render(),
        if drawn { chart } else { "" },
        bullets(missing),
    )
}

/// The predictions of a study by scenario and host: a section of its evidence; nothing without any.
pub fn by_scenario(studies: &[StudyView], view: &StudyView) -> String {
    let (found, _) = predicted(studies);
    let found: Vec<&Predicted> = found.iter().filter(|line| is_of(view, line)).collect();
    if found.is_empty() {
        return String::new();
    }
    let mut table = Table::new(
        "Effect | Scenario | Host | >Handoffs | >Work between two | >Price | >Predicted | >Measured | Agrees",
    );
    for line @ Predicted { observed, price_s, .. } in &found {
        let (id, way) = (&observed.rule.price.id, observed.rule.side);
        table.row([
            cell(&observed.rule.text),
            code(&observed.scenario),
            cell(view.origin.name(observed.host)),
            fmt::value(observed.handoffs, "count"),
            fmt::value(observed.between_s(), "s"),
            format!("{} <sub>{id}, {}</sub>", fmt::value(*price_s, "s"), way.into_str()),
            text(&fmt::change(line.predicted)),
            text(&format!(
                "{} ({} to {})",
                fmt::change(observed.effect.point),
                fmt::change(observed.effect.lo).trim_end_matches(" %"),
                fmt::change(observed.effect.hi).trim_end_matches(" %"),
            )),
            if line.agrees { "agrees" } else { "**misses**" }.to_owned(),
        ]);
    }
    let about = "[The rule](../../REPORT.md#the-rule) by scenario and host.";
    format!("<a id=\"the-rule\"></a>\n\n## The rule\n\n{about}{}\n\n{}\n", counted(&found), table.render())
}

/// Whether a prediction is about an effect of the study.
fn is_of(view: &StudyView, line: &Predicted) -> bool {
    view.observed.iter().any(|observed| std::ptr::eq(observed, line.observed))
}

/// "46 to 692", "80.1 to 107 µs".
fn range(values: impl Iterator<Item = f64> + Clone, unit: &str) -> String {
    let Some((lo, hi)) = values.clone().reduce(f64::min).zip(values.reduce(f64::max)) else { return String::new() };
    let [low, high] = [lo, hi].map(|end| fmt::value(end, unit));
    if low == high {
        return high;
    }
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, of)), Some((_, same))) if of == same => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// "+89.3 to +122 %".
fn changes(ratios: impl Iterator<Item = f64> + Clone) -> String {
    let Some((lo, hi)) = ratios.clone().reduce(f64::min).zip(ratios.reduce(f64::max)) else { return String::new() };
    let [low, high] = [lo, hi].map(fmt::change);
    if low == high { high } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// Why the number of handoffs is known where nothing counted them.
fn counted(found: &[&Predicted]) -> String {
    let mut known: Vec<String> = Vec::new();
    for line in found {
        if let Handoffs::Known { why, .. } = &line.observed.rule.handoffs
            && let said = format!("{} ({})", cell(&line.observed.rule.text), cell(why))
            && !known.contains(&said)
        {
            known.push(said);
        }
    }
    if known.is_empty() {
        String::new()
    } else {
        format!(" Handoffs that are known and not counted: {}.", known.join("; "))
    }
}
