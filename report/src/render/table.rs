//! A table in the original's shape: medians of ours beside what they printed.

use std::collections::BTreeMap;

use super::markdown::{Table, cell, prose};
use crate::figures::{NOTHING, or_nothing};
use crate::page::Better;
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
            let entry = entry(view, layout, row, column, position);
            measured |= column.values.is_none() && entry != NOTHING;
            cells.push(entry);
        }
        table.row(cells);
    }
    if !measured {
        return format!("**{}**: nothing of it was measured in this profile.\n\n", prose(&layout.title));
    }
    let note = layout.note.as_deref().map(|note| format!("{}\n\n", prose(note))).unwrap_or_default();
    format!("**{}**\n\n{}\n{note}", prose(&layout.title), table.render())
}

fn entry(
    view: &StudyView,
    layout: &page::Table,
    row: &page::TableRow,
    column: &page::Column,
    position: usize,
) -> String {
    if let Some(printed) = &column.values {
        return or_nothing(printed.get(position), |printed| cell(printed));
    }
    // What both may say, the column decides.
    let arm = column.arm.as_deref().or(row.arm.as_deref());
    let Some(metric) = column.metric.as_deref().or(row.metric.as_deref()) else {
        return NOTHING.to_owned();
    };
    let partners = partners(row, column);
    if let Some(arm) = arm {
        // Blocks of two measurements are no pairs.
        let source = view.source(&row.scenario, arm);
        if partners.iter().any(|other| view.source(&row.scenario, other) != source) {
            return NOTHING.to_owned();
        }
    }
    let factor = column.factor.or(row.factor).unwrap_or(1.0);
    let digits = column.digits.or(row.digits);
    let median = |arm: &str, failure: f64| {
        let values = values(view, row, arm, metric, column, failure).into_iter().map(|value| value * factor);
        stats::median(values.collect())
    };
    let printed = match (&column.best, arm) {
        (Some(arms), _) => {
            let higher = column.better == Some(Better::Higher);
            // A failure is infinitely bad.
            let failure = if higher { f64::NEG_INFINITY } else { f64::INFINITY };
            let ranked = ranked(arms, higher, |arm| median(arm, failure));
            match &column.over {
                Some(other) => times(&ranked, median(other, failure), higher, digits),
                None => winners(&ranked, digits, &layout.labels),
            }
        }
        (None, Some(arm)) => print(median(arm, f64::INFINITY), digits),
        (None, None) => NOTHING.to_owned(),
    };
    let arms: Vec<&str> = arm.into_iter().chain(column.best.iter().flatten().map(String::as_str)).collect();
    let mark = if printed == NOTHING { "" } else { view.mark(&row.scenario, &arms) };
    format!("{printed}{mark}")
}

/// The arms that a cell compares its own with, block by block.
fn partners<'a>(row: &'a page::TableRow, column: &'a page::Column) -> Vec<&'a str> {
    column.minus.as_deref().into_iter().chain(dividend(row, column)).collect()
}

/// The arm that a cell is a part of; the row may name it.
fn dividend<'a>(row: &'a page::TableRow, column: &'a page::Column) -> Option<&'a str> {
    match column.dividend.as_deref() {
        Some(page::ROW) => row.dividend.as_deref(),
        other => other,
    }
}

/// The arms that ran with their medians, the best first; equal ones in the order of the column.
fn ranked(arms: &[String], higher: bool, median: impl Fn(&str) -> Option<f64>) -> Vec<(&str, f64)> {
    let mut ranked: Vec<(&str, f64)> = arms.iter().filter_map(|arm| Some((arm.as_str(), median(arm)?))).collect();
    ranked.sort_by(|a, b| if higher { b.1.total_cmp(&a.1) } else { a.1.total_cmp(&b.1) });
    ranked
}

/// The name of the best arm, or of several whose medians are printed alike.
fn winners(ranked: &[(&str, f64)], digits: Option<usize>, labels: &BTreeMap<String, String>) -> String {
    let Some((_, best)) = ranked.first() else {
        return NOTHING.to_owned();
    };
    if !best.is_finite() {
        return FAILED.to_owned();
    }
    let printed = print(Some(*best), digits);
    let names = ranked
        .iter()
        .filter(|(_, median)| print(Some(*median), digits) == printed)
        .map(|(arm, _)| cell(labels.get(*arm).map_or(*arm, String::as_str)));
    names.collect::<Vec<_>>().join(" = ")
}

/// How many times better the best arm is than another: "1.6x".
fn times(ranked: &[(&str, f64)], other: Option<f64>, higher: bool, digits: Option<usize>) -> String {
    let (Some((_, best)), Some(other)) = (ranked.first(), other) else {
        return NOTHING.to_owned();
    };
    if !best.is_finite() || !other.is_finite() {
        return FAILED.to_owned();
    }
    let ratio = if higher { best / other } else { other / best };
    // Nothing is a number of times better than nothing.
    if !ratio.is_finite() {
        return NOTHING.to_owned();
    }
    format!("{}x", fmt::decimals(ratio, digits.unwrap_or(1)))
}

/// One value per block; `failure` where a run that it needs has failed.
fn values(
    view: &StudyView,
    row: &page::TableRow,
    arm: &str,
    metric: &str,
    column: &page::Column,
    failure: f64,
) -> Vec<f64> {
    let scenario = &row.scenario;
    let by_block = |arm: &str, metric: &str| -> BTreeMap<u64, Option<f64>> {
        view.by_block(scenario, arm, metric).into_iter().collect()
    };
    let minus = column.minus.as_deref().map(|other| by_block(other, metric));
    let per = column.per.as_deref().map(|other| by_block(arm, other));
    let dividend = dividend(row, column).map(|other| by_block(other, metric));
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
    view.by_block(scenario, arm, metric).into_iter().filter_map(of_block).collect()
}

/// A median over blocks in which a failed run counts as infinitely bad.
fn print(median: Option<f64>, digits: Option<usize>) -> String {
    match median {
        None => NOTHING.to_owned(),
        Some(median) if !median.is_finite() => FAILED.to_owned(),
        Some(median) => digits.map_or_else(|| fmt::number(median, 3), |digits| fmt::decimals(median, digits)),
    }
}
