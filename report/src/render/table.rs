//! A table in the original's shape: medians of ours beside what they printed.

use super::markdown::{Table, around, cell, prose};
use crate::judge::figures::NOTHING;
use crate::page::view::StudyView;
use crate::page::{self, Column, TableRow};
use crate::{fmt, stats};

/// The table with its title and note, without the rows and columns of which nothing was measured more than once; empty without any.
pub fn render(view: &StudyView, layout: &page::Table) -> String {
    let entry = |row: &TableRow, column: &Column| entry(view, &row.scenario, &column.in_row(row));
    let entries = |row| layout.column.iter().map(|column| entry(row, column)).collect::<Vec<_>>();
    let mut rows: Vec<(usize, Vec<Option<String>>)> = layout.row.iter().map(entries).enumerate().collect();
    rows.retain(|(_, entries)| entries.iter().any(Option::is_some));
    if rows.is_empty() {
        return String::new();
    }
    let headings = layout.column.iter().map(|column| format!(" | >{}", cell(&column.header)));
    let mut table = Table::new(&(cell(&layout.row_header) + &headings.collect::<String>()));
    for (row, entries) in &rows {
        let mut cells = vec![cell(&layout.row[*row].label)];
        let mut is_measured = true;
        for (at, (column, entry)) in layout.column.iter().zip(entries).enumerate() {
            let said = if let Some(printed) = &column.values {
                // Printed texts go with the figures of ours that they stand behind.
                printed.get(*row).filter(|_| is_measured).map(|printed| cell(printed))
            } else {
                is_measured = rows.iter().any(|(_, entries)| entries[at].is_some());
                entry.clone()
            };
            cells.push(said.unwrap_or_else(|| NOTHING.to_owned()));
        }
        table.row(cells);
    }
    let note = around("", prose(layout.note.as_deref().unwrap_or_default()), "\n\n");
    format!("**{}**\n\n{}\n{note}", prose(&layout.title), table.render())
}

/// A cell; `None` where there is nothing to print, or a single run, which says too little, or a printed text.
fn entry(view: &StudyView, scenario: &str, column: &Column) -> Option<String> {
    let arm = column.arm.as_deref().filter(|_| column.values.is_none())?;
    let values = values(view, scenario, arm, column);
    if values.len() < 2 {
        return None;
    }
    let median = stats::median(values)?;
    // A ratio of two arms and nothing else may be judged.
    let value = match (&column.dividend, &column.metric, &column.minus, &column.per) {
        (Some(dividend), Some(metric), None, None) => view.judged_ratio(scenario, [dividend, arm], metric),
        _ => None,
    };
    let value = value.map_or(median, |ratio| ratio * column.factor.unwrap_or(1.0));
    Some(match column.digits {
        // A failed run counts as infinitely bad.
        _ if !median.is_finite() => "failed".to_owned(),
        Some(digits) => fmt::decimals(value, digits),
        None => fmt::number(value, 3),
    })
}

/// One value per block; infinite where a run that it needs has failed, which is as bad as it can be.
fn values(view: &StudyView, scenario: &str, arm: &str, column: &Column) -> Vec<f64> {
    let metric = column.metric.as_deref().unwrap_or_default();
    let by_block = |arm: &str, metric: &str| view.by_block(scenario, arm, metric);
    let minus = column.minus.as_deref().map(|other| by_block(other, metric));
    let per = column.per.as_deref().map(|other| by_block(arm, other));
    let dividend = column.dividend.as_deref().map(|other| by_block(other, metric));
    let of_block = |(block, value): (u64, Option<f64>)| -> Option<f64> {
        let Some(mut out) = value else { return Some(f64::INFINITY) };
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
