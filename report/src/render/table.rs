//! A table in the original's shape: medians of ours beside what they printed.

use super::markdown::{Table, cell, prose};
use crate::judge::figures::{NOTHING, or_nothing};
use crate::page::Column;
use crate::page::view::StudyView;
use crate::{fmt, page, stats};

/// Stands in a cell whose runs failed.
const FAILED: &str = "failed";

/// The table with its title and note, without the rows and columns of which nothing was measured more than once; empty without any.
pub fn render(view: &StudyView, layout: &page::Table) -> String {
    let row_of = |row: &page::TableRow| {
        let of = |column: &Column| match column.values {
            Some(_) => None,
            None => entry(view, &row.scenario, &column.in_row(row)),
        };
        layout.column.iter().map(of).collect()
    };
    let entries: Vec<Vec<Option<String>>> = layout.row.iter().map(row_of).collect();
    let shown: Vec<usize> = (0..layout.row.len()).filter(|row| entries[*row].iter().any(Option::is_some)).collect();
    if shown.is_empty() {
        return String::new();
    }
    let columns = columns(layout, &entries, &shown);
    let headings = columns.iter().map(|at| format!(">{}", cell(&layout.column[*at].header)));
    let mut table = Table::with(std::iter::once(cell(&layout.row_header)).chain(headings));
    for row in shown {
        let cell_of = |at: &usize| match &layout.column[*at].values {
            Some(printed) => or_nothing(printed.get(row), |printed| cell(printed)),
            None => or_nothing(entries[row][*at].clone(), |said| said),
        };
        let label = cell(&layout.row[row].label);
        table.row(std::iter::once(label).chain(columns.iter().map(cell_of)).collect::<Vec<_>>());
    }
    let note = layout.note.as_deref().map(|note| format!("{}\n\n", prose(note))).unwrap_or_default();
    format!("**{}**\n\n{}\n{note}", prose(&layout.title), table.render())
}

/// The columns that say something in the rows `shown`. Printed texts go with the figures of ours that they stand behind.
fn columns(layout: &page::Table, entries: &[Vec<Option<String>>], shown: &[usize]) -> Vec<usize> {
    let mut last = true;
    let is_shown = |at: &usize| match &layout.column[*at].values {
        None => {
            last = shown.iter().any(|row| entries[*row][*at].is_some());
            last
        }
        Some(printed) => last && shown.iter().any(|row| printed.get(*row).is_some_and(|text| text != NOTHING)),
    };
    (0..layout.column.len()).filter(is_shown).collect()
}

/// A cell; `None` where there is nothing to print, or a single run, which says too little.
fn entry(view: &StudyView, scenario: &str, column: &Column) -> Option<String> {
    let arm = column.arm.as_deref()?;
    let values = values(view, scenario, arm, column);
    if values.len() < 2 {
        return None;
    }
    let judged = column.dividend.as_deref().zip(plain_ratio(column)).and_then(|(dividend, metric)| {
        Some(view.judged_ratio(scenario, [dividend, arm], metric)? * column.factor.unwrap_or(1.0))
    });
    let median = stats::median(values)?;
    Some(print(judged.filter(|_| median.is_finite()).unwrap_or(median), column.digits))
}

/// The metric of a column whose ratio is one of two arms and nothing else.
fn plain_ratio(column: &Column) -> Option<&str> {
    column.metric.as_deref().filter(|_| column.minus.is_none() && column.per.is_none())
}

/// One value per block; infinite where a run that it needs has failed, which is as bad as it can be.
fn values(view: &StudyView, scenario: &str, arm: &str, column: &Column) -> Vec<f64> {
    let metric = column.metric.as_deref().unwrap_or_default();
    let by_block = |arm: &str, metric: &str| view.by_block(scenario, arm, metric);
    let minus = column.minus.as_deref().map(|other| by_block(other, metric));
    let per = column.per.as_deref().map(|other| by_block(arm, other));
    let dividend = column.dividend.as_deref().map(|other| by_block(other, metric));
    let of_block = |(block, value): (u64, Option<f64>)| -> Option<f64> {
        let Some(mut out) = value else {
            return Some(f64::INFINITY);
        };
        if let Some(minus) = &minus {
            out -= minus.get(&block).copied()?.unwrap_or(f64::NEG_INFINITY);
        }
        if let Some(per) = &per {
            out /= per.get(&block).copied()??;
        }
        if let Some(dividend) = &dividend {
            out = dividend.get(&block).copied()?.unwrap_or(f64::INFINITY) / out;
        }
        Some(out)
    };
    let factor = column.factor.unwrap_or(1.0);
    by_block(arm, metric).into_iter().filter_map(of_block).map(|value| value * factor).collect()
}

/// A median over blocks in which a failed run counts as infinitely bad.
fn print(median: f64, digits: Option<usize>) -> String {
    match digits {
        _ if !median.is_finite() => FAILED.to_owned(),
        Some(digits) => fmt::decimals(median, digits),
        None => fmt::number(median, 3),
    }
}
