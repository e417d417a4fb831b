//! The rule: what the price of a handoff predicts beside what was measured.

use std::collections::BTreeSet;
use std::slice;

use super::markdown::{EVIDENCE, Table, around, bullets, cell, code, heading, text};
use crate::claims::handoffs::{Handoffs, Rule, Shape};
use crate::fmt;
use crate::page::view::{Predicted, StudyView, predicted};

/// How many of these predictions are as good as the rule promises.
pub fn agreeing<'a>(found: impl IntoIterator<Item = &'a Predicted<'a>>) -> usize {
    found.into_iter().filter(|line| line.agrees).count()
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
        for rule in own.iter().map(|line| &line.observed.rule).filter(|rule| seen.insert(&rule.text)) {
            let lines: Vec<&Predicted> = own.iter().filter(|line| line.observed.rule.text == rule.text).collect();
            let agree = agreeing(lines.iter().copied());
            let agrees = format!("{agree} of {}", lines.len());
            let value = |unit| move |x| fmt::value(x, unit);
            let over = |of: fn(&Predicted) -> f64| range(&lines, of, value("s"));
            let change = |of: fn(&Predicted) -> f64| text(&range(&lines, of, fmt::change));
            table.row([
                format!("[{}]({EVIDENCE}{}.md#the-rule)", cell(&rule.text), view.judged.study),
                range(&lines, |line| line.observed.handoffs, value("count")),
                over(|line| line.observed.between_s()),
                over(|line| line.price_s),
                change(|line| line.predicted),
                change(|line| line.observed.effect.point),
                if agree == lines.len() { agrees } else { format!("**{agrees}**") },
            ]);
        }
    }
    let all = || studies.iter().flat_map(|view| &view.observed);
    let is_priced = |rule: &Rule| all().any(|other| other.rule.price == rule.price && other.price.is_some());
    let missing = all().map(|observed| &observed.rule).filter(|rule| !is_priced(rule));
    let named = |Rule { text, price, .. }: &Rule| format!("No price yet: {text} ({}.{})", price.study, price.id);
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
pub fn chart(found: &[Predicted]) -> &'static str {
    let is_drawn = found.iter().any(|line| line.observed.rule.shape == Shape::Added);
    if is_drawn { "\n![Overhead against work between two handoffs](charts/rule.svg)\n" } else { "" }
}

/// The predictions of a study by scenario and host: a section of its evidence; nothing without any.
pub fn by_scenario(view: &StudyView) -> String {
    let found = predicted(slice::from_ref(view));
    let mut table = Table::new(
        "Effect | Scenario | Host | >Handoffs | >Work between two | >Price | >Predicted | >Measured | Agrees",
    );
    let mut known: Vec<String> = Vec::new();
    for line @ Predicted { observed, price_s, .. } in &found {
        let (id, way) = (&observed.rule.price.id, observed.rule.side);
        let [effect, lo, hi] = [observed.effect.point, observed.effect.lo, observed.effect.hi].map(fmt::change);
        let [lo, hi] = [&lo, &hi].map(|end| end.trim_end_matches(" %"));
        table.row([
            cell(&observed.rule.text),
            code(&observed.scenario),
            cell(view.origin.name(observed.host)),
            fmt::value(observed.handoffs, "count"),
            fmt::value(observed.between_s(), "s"),
            format!("{} <sub>{id}, {}</sub>", fmt::value(*price_s, "s"), way.into_str()),
            text(&fmt::change(line.predicted)),
            text(&format!("{effect} ({lo} to {hi})")),
            if line.agrees { "agrees" } else { "**misses**" }.to_owned(),
        ]);
        if let Handoffs::Known { why, .. } = &observed.rule.handoffs {
            let said = format!("{} ({})", cell(&observed.rule.text), cell(why));
            known.extend(Some(said).filter(|said| !known.contains(said)));
        }
    }
    let known = around(" Handoffs that are known and not counted: ", known.join("; "), ".");
    let about = "[The rule](../../REPORT.md#the-rule) by scenario and host.";
    table.below(&format!("{}{about}{known}\n\n", heading("the-rule", "## The rule")))
}

/// "46 to 692", "80.1 to 107 µs", "+89.3 to +122 %".
fn range(lines: &[&Predicted], of: fn(&Predicted) -> f64, printed: impl Fn(f64) -> String) -> String {
    let values = || lines.iter().map(|line| of(line));
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    fmt::range(&printed(least), &printed(most))
}
