//! A table in the original's shape: medians of ours beside what they printed.

use super::markdown::{Table, around, cell, prose};
use crate::judge::figures::NOTHING;
use crate::layout::{self, Cell, Column, Row};
use crate::page::view::StudyView;
use crate::{fmt, stats};

/// The table with its title and note, without the rows and columns of which nothing was measured more than once; empty without any.
pub fn render(view: &StudyView, layout: &layout::Table) -> String {
    let entry = |row: &Row, column: &Column| entry(view, column.in_row(row)?);
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

/// The text of a cell; `None` where nothing was measured, or a single run, which says too little.
fn entry(view: &StudyView, cell: Cell) -> Option<String> {
    let values = values(view, cell);
    if values.len() < 2 {
        return None;
    }
    let median = stats::median(values)?;
    // A ratio of two arms and nothing else may be judged.
    let ratio = match cell {
        Cell { dividend: Some(dividend), minus: None, per: None, .. } => {
            view.judged_ratio(cell.scenario, [dividend, cell.arm], cell.metric)
        }
        _ => None,
    };
    let value = ratio.map_or(median, |ratio| ratio * cell.factor);
    Some(match cell.digits {
        // A failed run counts as infinitely bad.
        _ if !median.is_finite() => "failed".to_owned(),
        Some(digits) => fmt::decimals(value, digits),
        None => fmt::number(value, 3),
    })
}

/// One value per block; infinite where a run that it needs has failed, which is as bad as it can be.
fn values(view: &StudyView, Cell { scenario, arm, metric, minus, per, dividend, factor, .. }: Cell) -> Vec<f64> {
    let by_block = |arm: &str, metric: &str| view.by_block(scenario, arm, metric);
    let minus = minus.map(|other| by_block(other, metric));
    let per = per.map(|other| by_block(arm, other));
    let dividend = dividend.map(|other| by_block(other, metric));
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
    by_block(arm, metric).into_iter().filter_map(of_block).map(|value| value * factor).collect()
}
