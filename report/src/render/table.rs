//! A table in the original's shape: medians of ours beside what they printed.

use std::collections::BTreeMap;

use super::markdown::{Table, cell, prose};
use crate::figures::or_nothing;
use crate::page::{Better, Column};
use crate::view::StudyView;
use crate::{fmt, page, stats};

/// Stands in a cell whose runs failed.
const FAILED: &str = "failed";

/// The table with its title and note.
pub fn render(view: &StudyView, layout: &page::Table) -> String {
    let first = Table::default().column(cell(&layout.row_header), "---");
    let mut table = layout.column.iter().fold(first, |table, column| table.column(cell(&column.header), "--:"));
    let mut measured = false;
    for (position, row) in layout.row.iter().enumerate() {
        let mut cells = vec![cell(&row.label)];
        for column in &layout.column {
            let entry = match &column.values {
                Some(printed) => printed.get(position).map(|printed| cell(printed)),
                None => entry(view, layout, &row.scenario, &column.in_row(row)),
            };
            measured |= column.values.is_none() && entry.is_some();
            cells.push(or_nothing(entry, |entry| entry));
        }
        table.row(cells);
    }
    if !measured {
        return format!("**{}**: nothing of it was measured in this profile.\n\n", prose(&layout.title));
    }
    let note = layout.note.as_deref().map(|note| format!("{}\n\n", prose(note))).unwrap_or_default();
    format!("**{}**\n\n{}\n{note}", prose(&layout.title), table.render())
}

/// A cell with its mark; `None` where there is nothing to print.
fn entry(view: &StudyView, layout: &page::Table, scenario: &str, column: &Column) -> Option<String> {
    let arm = column.arm.as_deref();
    // Blocks of two measurements are no pairs.
    let is_elsewhere =
        |other: &String| arm.is_some_and(|arm| view.source(scenario, other) != view.source(scenario, arm));
    if column.minus.iter().chain(&column.dividend).any(is_elsewhere) {
        return None;
    }
    let median = |arm: &str, failure: f64| stats::median(values(view, scenario, arm, column, failure));
    let printed = if let Some(arms) = &column.best {
        let higher = column.better == Some(Better::Higher);
        // A failure is infinitely bad.
        let failure = if higher { f64::NEG_INFINITY } else { f64::INFINITY };
        // The best first; equal ones in the order of the column.
        let mut ranked: Vec<(&String, f64)> =
            arms.iter().filter_map(|arm| Some((arm, median(arm, failure)?))).collect();
        ranked.sort_by(|a, b| if higher { b.1.total_cmp(&a.1) } else { a.1.total_cmp(&b.1) });
        let (_, best) = *ranked.first()?;
        match &column.over {
            Some(other) => times(best, median(other, failure)?, higher, column.digits)?,
            None if best.is_finite() => winners(&ranked, column.digits, &layout.labels),
            None => FAILED.to_owned(),
        }
    } else {
        print(median(arm?, f64::INFINITY)?, column.digits)
    };
    let arms: Vec<&str> = arm.into_iter().chain(column.best.iter().flatten().map(String::as_str)).collect();
    Some(printed + view.mark(scenario, &arms))
}

/// The name of the best arm, or of several whose medians are printed alike.
fn winners(ranked: &[(&String, f64)], digits: Option<usize>, labels: &BTreeMap<String, String>) -> String {
    let printed = |of: &(&String, f64)| print(of.1, digits);
    let alike = ranked.iter().filter(|other| printed(other) == printed(&ranked[0]));
    alike.map(|(arm, _)| cell(labels.get(*arm).unwrap_or(arm))).collect::<Vec<_>>().join(" = ")
}

/// How many times better the best arm is than another: "1.6x". Nothing is a number of times better than nothing.
fn times(best: f64, other: f64, higher: bool, digits: Option<usize>) -> Option<String> {
    if !best.is_finite() || !other.is_finite() {
        return Some(FAILED.to_owned());
    }
    let ratio = if higher { best / other } else { other / best };
    ratio.is_finite().then(|| format!("{}x", fmt::decimals(ratio, digits.unwrap_or(1))))
}

/// One value per block; `failure` where a run that it needs has failed.
fn values(view: &StudyView, scenario: &str, arm: &str, column: &Column, failure: f64) -> Vec<f64> {
    let metric = column.metric.as_deref().unwrap_or_default();
    let by_block = |arm: &str, metric: &str| -> BTreeMap<u64, Option<f64>> {
        view.by_block(scenario, arm, metric).into_iter().collect()
    };
    let minus = column.minus.as_deref().map(|other| by_block(other, metric));
    let per = column.per.as_deref().map(|other| by_block(arm, other));
    let dividend = column.dividend.as_deref().map(|other| by_block(other, metric));
    let of_block = |(block, value): (u64, Option<f64>)| -> Option<f64> {
        let Some(mut out) = value else {
            return Some(failure);
        };
        if let Some(minus) = &minus {
            out -= minus.get(&block).copied()?.unwrap_or(-failure);
        }
        if let Some(per) = &per {
            out /= per.get(&block).copied()??;
        }
        if let Some(dividend) = &dividend {
            out = dividend.get(&block).copied()?.unwrap_or(failure) / out;
        }
        Some(out)
    };
    let factor = column.factor.unwrap_or(1.0);
    view.by_block(scenario, arm, metric).into_iter().filter_map(of_block).map(|value| value * factor).collect()
}

/// A median over blocks in which a failed run counts as infinitely bad.
fn print(median: f64, digits: Option<usize>) -> String {
    match digits {
        _ if !median.is_finite() => FAILED.to_owned(),
        Some(digits) => fmt::decimals(median, digits),
        None => fmt::number(median, 3),
    }
}
