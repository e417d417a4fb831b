//! The rule: what the price of a handoff predicts beside what was measured.

use super::markdown::{Table, bullets, cell, code, text};
use crate::claims::handoffs::{Handoffs, Shape};
use crate::fmt;
use crate::page::view::{Predicted, StudyView, predicted};

/// The section of the report; nothing if nothing can be predicted.
pub fn section(studies: &[StudyView]) -> String {
    let (found, missing) = predicted(studies);
    let Some(first) = studies.first().filter(|_| !found.is_empty()) else { return String::new() };
    let mut table = Table::new(
        "Effect | Scenario | Host | >Handoffs | >Work between two | >Price | >Predicted | >Measured | Agrees",
    );
    for line @ Predicted { observed, price_s, .. } in &found {
        let (_, id, way) = &observed.rule.price;
        table.row([
            cell(&observed.rule.text),
            code(&observed.scenario),
            cell(first.origin.name(observed.host)),
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
    let agree = found.iter().filter(|line| line.agrees).count();
    let drawn = found.iter().any(|line| line.observed.rule.shape == Shape::Added);
    let chart =
        "![Overhead against work between two handoffs: a line per price, a dot per effect](charts/rule.svg)\n\n";
    let missing: Vec<String> = missing.into_iter().map(|name| format!("No price yet: {name}")).collect();
    format!(
        "<a id=\"the-rule\"></a>\n\n## The rule\n\nWhat handoffs add is their number times the price of one, over the work without them; \
         where they let two parts go on side by side, the longer part decides. Each host's prices and counts predict its own effects: {agree} of {} \
         agree, within 25 % of the logarithm of the effect, or within 5 points of an effect below 20 %.{}\n\n{}\n{}{}",
        found.len(),
        counted(&found),
        table.render(),
        if drawn { chart } else { "" },
        bullets(missing),
    )
}

/// Why the number of handoffs is known where nothing counted them.
fn counted(found: &[Predicted]) -> String {
    let mut known: Vec<String> = Vec::new();
    for line in found {
        if let Handoffs::Known(_, why) = &line.observed.rule.handoffs
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
