//! The rule: what the price of a handoff predicts beside what was measured.

use std::collections::BTreeSet;
use std::slice;

use super::markdown::{EVIDENCE, Table, around, bullets, cell, code, heading, text};
use crate::claims::handoffs::{Handoffs, Rule};
use crate::fmt;
use crate::judge::prediction::Predicted;
use crate::page::view::{Line, StudyView, predicted};

/// How many of these predictions are as good as the rule promises.
pub fn agreeing(found: &[Line]) -> usize {
    found.iter().filter(|(_, predicted)| predicted.agrees).count()
}

/// The section of the report, a row for the rules of one text; nothing if nothing can be predicted.
pub fn section(studies: &[StudyView]) -> String {
    let found = predicted(studies);
    if found.is_empty() {
        return String::new();
    }
    let mut table =
        Table::new("Effect | >Handoffs | >Work between two | >Price of one | >Predicted | >Measured | Agree");
    for view in studies {
        let (own, mut seen) = (predicted(slice::from_ref(view)), BTreeSet::new());
        for rule in own.iter().map(|(observed, _)| &observed.rule).filter(|rule| seen.insert(&rule.text)) {
            let lines: Vec<Line> = own.iter().copied().filter(|(of, _)| of.rule.text == rule.text).collect();
            let agree = agreeing(&lines);
            let agrees = format!("{agree} of {}", lines.len());
            let value = |unit| move |x| fmt::value(x, unit);
            let over = |of: fn(&Line) -> f64| range(&lines, of, value("s"));
            let change = |of: fn(&Line) -> f64| text(&range(&lines, of, fmt::change));
            table.row([
                format!("[{}]({EVIDENCE}{}.md#the-rule)", cell(&rule.text), view.judged.study),
                range(&lines, |(of, _)| of.handoffs, value("count")),
                over(|(of, _)| of.between_s),
                over(|(_, predicted)| predicted.price_s),
                change(|(_, predicted)| predicted.effect),
                change(|(of, _)| of.effect.point),
                if agree == lines.len() { agrees } else { format!("**{agrees}**") },
            ]);
        }
    }
    let all = || studies.iter().flat_map(|view| &view.observed);
    let is_priced =
        |rule: &Rule| all().any(|other| other.rule.law.price == rule.law.price && other.predicted.is_some());
    let missing = all().map(|observed| &observed.rule).filter(|rule| !is_priced(rule));
    let named = |Rule { text, law, .. }: &Rule| format!("No price yet: {text} ({})", law.price);
    let missing = bullets(missing.map(named).collect::<BTreeSet<_>>());
    format!(
        "{}Each handoff adds its price, a pool trip that after as much work. If two parts run side by side, the longer sets the time, and each pays for its handoffs. \
         This predicts {} of {} effects: within 25 % of the logarithm of the time ratio, or 5 points of effects below 20 %. Bold marks [misses](docs/METHODOLOGY.md#misses).\n\n{}{}{missing}",
        heading("the-rule", "## The rule"),
        agreeing(&found),
        found.len(),
        table.render(),
        chart(&found),
    )
}

/// The chart of what handoffs add to work; nothing if none of them does.
pub fn chart(found: &[Line]) -> &'static str {
    let is_drawn = found.iter().any(|(observed, _)| observed.rule.law.beside.is_none());
    if is_drawn { "\n![Overhead against work between two handoffs](charts/rule.svg)\n" } else { "" }
}

/// The predictions of a study by scenario and host: a section of its evidence; nothing without any.
pub fn by_scenario(view: &StudyView) -> String {
    let found = predicted(slice::from_ref(view));
    let mut table = Table::new(
        "Effect | Scenario | Host | >Handoffs | >Work between two | >Price | >Predicted | >Measured | Agrees",
    );
    let mut known: Vec<String> = Vec::new();
    for (observed, Predicted { price_s, effect, agrees, .. }) in found {
        let law = &observed.rule.law;
        let (id, way) = (law.price.split_once('.').map_or("", |(_, id)| id), law.side.into_str());
        let [measured, lo, hi] = [observed.effect.point, observed.effect.lo, observed.effect.hi].map(fmt::change);
        let [lo, hi] = [&lo, &hi].map(|end| end.trim_end_matches(" %"));
        table.row([
            cell(&observed.rule.text),
            code(&observed.scenario),
            cell(view.host_name(observed.at.host)),
            fmt::value(observed.handoffs, "count"),
            fmt::value(observed.between_s, "s"),
            format!("{} <sub>{id}, {way}</sub>", fmt::value(*price_s, "s")),
            text(&fmt::change(*effect)),
            text(&format!("{measured} ({lo} to {hi})")),
            if *agrees { "agrees" } else { "**misses**" }.to_owned(),
        ]);
        if let Handoffs::Known { why, .. } = &law.handoffs {
            let said = format!("{} ({})", cell(&observed.rule.text), cell(why));
            known.extend(Some(said).filter(|said| !known.contains(said)));
        }
    }
    let known = around(" Handoffs that are known and not counted: ", known.join("; "), ".");
    let about = "[The rule](../../REPORT.md#the-rule) by scenario and host.";
    table.below(&format!("{}{about}{known}\n\n", heading("the-rule", "## The rule")))
}

/// "46 to 692", "80.1 to 107 µs", "+89.3 to +122 %".
fn range(lines: &[Line], of: fn(&Line) -> f64, printed: impl Fn(f64) -> String) -> String {
    let values = || lines.iter().map(of);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    fmt::range(&printed(least), &printed(most))
}
