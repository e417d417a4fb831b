//! A table in the original's shape: medians of ours beside what they printed.

use std::collections::BTreeMap;

use super::markdown::{Align, Table, cell, prose};
use super::{StudyView, figures, fmt};
use crate::{dataset, page};

/// Stands in a cell whose runs failed.
const FAILED: &str = "failed";

/// The table with its title and note.
pub fn render(view: &StudyView, layout: &page::Table) -> String {
    let mut header = vec![(layout.row_header.as_str(), Align::Left)];
    header.extend(layout.column.iter().map(|column| (column.header.as_str(), Align::Right)));
    let header: Vec<(String, Align)> = header.into_iter().map(|(name, align)| (cell(name), align)).collect();
    let header: Vec<(&str, Align)> = header.iter().map(|(name, align)| (name.as_str(), *align)).collect();
    let mut table = Table::new(&header);
    for (position, row) in layout.row.iter().enumerate() {
        let mut cells = vec![cell(&row.label)];
        cells.extend(layout.column.iter().map(|column| entry(view, row, column, position)));
        table.row(cells);
    }
    let note = layout.note.as_deref().map(|note| format!("{}\n\n", prose(note))).unwrap_or_default();
    format!("**{}**\n\n{}\n{note}", prose(&layout.title), table.render())
}

fn entry(view: &StudyView, row: &page::TableRow, column: &page::Column, position: usize) -> String {
    if let Some(printed) = &column.values {
        return printed.get(position).map_or_else(|| figures::NOTHING.to_owned(), |printed| cell(printed));
    }
    // What both may say, the column decides.
    let arm = column.arm.as_deref().or(row.arm.as_deref());
    let metric = column.metric.as_deref().or(row.metric.as_deref());
    let (Some(arm), Some(metric)) = (arm, metric) else {
        return figures::NOTHING.to_owned();
    };
    let factor = column.factor.or(row.factor).unwrap_or(1.0);
    let values: Vec<f64> =
        values(view, &row.scenario, arm, metric, column).into_iter().map(|value| value * factor).collect();
    print(dataset::median(values), column.digits.or(row.digits))
}

/// One value per block; infinite where a run that it needs has failed.
fn values(view: &StudyView, scenario: &str, arm: &str, metric: &str, column: &page::Column) -> Vec<f64> {
    let by_block = |arm: &str, metric: &str| -> BTreeMap<u64, Option<f64>> {
        view.by_block(scenario, arm, metric).into_iter().collect()
    };
    let minus = column.minus.as_deref().map(|other| by_block(other, metric));
    let per = column.per.as_deref().map(|other| by_block(arm, other));
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
        Some(out)
    };
    view.by_block(scenario, arm, metric).into_iter().filter_map(of_block).collect()
}

/// A median over blocks in which a failed run counts as the largest value.
fn print(median: Option<f64>, digits: Option<usize>) -> String {
    match median {
        None => figures::NOTHING.to_owned(),
        Some(median) if !median.is_finite() => FAILED.to_owned(),
        Some(median) => digits.map_or_else(|| fmt::number(median, 3), |digits| fmt::decimals(median, digits)),
    }
}
