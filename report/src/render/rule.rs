//! The rule: what the price of a handoff predicts beside what was measured.

use std::collections::BTreeSet;

use super::markdown::{Table, bullets, cell, code, heading, text};
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
        let mut seen = BTreeSet::new();
        for rule in view.observed.iter().map(|observed| &observed.rule).filter(|rule| seen.insert(&rule.id)) {
            let lines = found.iter().filter(|line| is_of(view, line) && line.observed.rule.id == rule.id);
            let lines: Vec<&Predicted> = lines.collect();
            let agree = lines.iter().filter(|line| line.agrees).count();
            let agrees = format!("{agree} of {}", lines.len());
            let value = |unit| move |x| fmt::value(x, unit);
            let Some(handoffs) = range(&lines, |line| line.observed.handoffs, value("count")) else { continue };
            let over = |of: fn(&Predicted) -> f64| range(&lines, of, value("s")).unwrap_or_default();
            let change = |of: fn(&Predicted) -> f64| text(&range(&lines, of, fmt::change).unwrap_or_default());
            table.row([
                format!("[{}]({EVIDENCE}{}.md#the-rule)", cell(&rule.text), view.judged.study),
                handoffs,
                over(|line| line.observed.between_s()),
                over(|line| line.price_s),
                change(|line| line.predicted),
                change(|line| line.observed.effect.point),
                if agree == lines.len() { agrees } else { format!("**{agrees}**") },
            ]);
        }
    }
    let agree = found.iter().filter(|line| line.agrees).count();
    let drawn = found.iter().any(|line| line.observed.rule.shape == Shape::Added);
    let chart = "\n![Overhead against work between two handoffs](charts/rule.svg)\n";
    let missing: Vec<String> = missing.into_iter().map(|name| format!("No price yet: {name}")).collect();
    format!(
        "{}Each handoff adds its price. Of two parts that run side by side the longer decides, and both pay. \
         This predicts {agree} of {} effects within 25 % of their logarithm, or within 5 points if they are below 20 %.\n\n{}{}{}",
        heading("the-rule", "## The rule"),
        found.len(),
        table.render(),
        if drawn { chart } else { "" },
        bullets(missing),
    )
}

/// The predictions of a study by scenario and host: a section of its evidence; nothing without any.
pub fn by_scenario(studies: &[StudyView], view: &StudyView) -> String {
    let (found, _) = predicted(studies);
    let mut table = Table::new(
        "Effect | Scenario | Host | >Handoffs | >Work between two | >Price | >Predicted | >Measured | Agrees",
    );
    let mut known: Vec<String> = Vec::new();
    for line @ Predicted { observed, price_s, .. } in found.iter().filter(|line| is_of(view, line)) {
        let (id, way) = (&observed.rule.price.id, observed.rule.side);
        let effect = &observed.effect;
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
                fmt::change(effect.point),
                fmt::change(effect.lo).trim_end_matches(" %"),
                fmt::change(effect.hi).trim_end_matches(" %"),
            )),
            if line.agrees { "agrees" } else { "**misses**" }.to_owned(),
        ]);
        if let Handoffs::Known { why, .. } = &observed.rule.handoffs {
            known.push(format!("{} ({})", cell(&observed.rule.text), cell(why)));
        }
    }
    let mut seen = BTreeSet::new();
    known.retain(|said| seen.insert(said.clone()));
    let known = match known.join("; ") {
        known if known.is_empty() => known,
        known => format!(" Handoffs that are known and not counted: {known}."),
    };
    let about = "[The rule](../../REPORT.md#the-rule) by scenario and host.";
    table.below(&format!("{}{about}{known}\n\n", heading("the-rule", "## The rule")))
}

/// Whether a prediction is about an effect of the study.
fn is_of(view: &StudyView, line: &Predicted) -> bool {
    view.observed.iter().any(|observed| std::ptr::eq(observed, line.observed))
}

/// "46 to 692", "80.1 to 107 µs", "+89.3 to +122 %"; `None` without any.
fn range(lines: &[&Predicted], of: fn(&Predicted) -> f64, printed: impl Fn(f64) -> String) -> Option<String> {
    let values = || lines.iter().map(|line| of(line));
    Some(fmt::range(&printed(values().reduce(f64::min)?), &printed(values().reduce(f64::max)?)))
}
