//! A table in the original's shape: medians of ours beside what they printed.

use std::collections::BTreeMap;

use super::markdown::{Table, cell, prose};
use crate::claims::Better;
use crate::figures::{NOTHING, or_nothing};
use crate::page::Column;
use crate::view::StudyView;
use crate::{fmt, page, stats};

/// Stands in a cell whose runs failed.
const FAILED: &str = "failed";
/// Stands behind the figure of a single run beside medians of several.
const SINGLE: &str = "¹";

struct Entry {
    text: String,
    blocks: usize,
}

/// The table with its title and note, without the rows and columns of which nothing was measured.
pub fn render(view: &StudyView, layout: &page::Table) -> String {
    let title = prose(&layout.title);
    let row_of = |row: &page::TableRow| {
        let of = |column: &Column| match column.values {
            Some(_) => None,
            None => entry(view, layout, &row.scenario, &column.in_row(row)),
        };
        layout.column.iter().map(of).collect()
    };
    let entries: Vec<Vec<Option<Entry>>> = layout.row.iter().map(row_of).collect();
    let (shown, left_out): (Vec<_>, Vec<_>) =
        (0..layout.row.len()).partition(|row| entries[*row].iter().any(Option::is_some));
    let measured = || entries.iter().flatten().flatten();
    if shown.is_empty() {
        return format!("**{title}**: nothing of it was measured in this profile.\n\n");
    }
    let (has_single, has_several) =
        (measured().any(|entry| entry.blocks == 1), measured().any(|entry| entry.blocks > 1));
    let is_marked = has_single && has_several;
    let columns = columns(layout, &entries, &shown);
    let headings = columns.iter().map(|at| format!(">{}", cell(&layout.column[*at].header)));
    let mut table = Table::with(std::iter::once(cell(&layout.row_header)).chain(headings));
    for row in shown {
        let marks = |entry: &Entry| if is_marked && entry.blocks == 1 { SINGLE } else { "" };
        let of_row: Vec<&str> = entries[row].iter().flatten().map(marks).collect();
        // What all figures of a row share stands once, behind its name.
        let shared = of_row.iter().all(|mark| *mark == of_row[0]).then(|| of_row[0]);
        let said = |entry: &Entry| entry.text.clone() + shared.map_or_else(|| marks(entry), |_| "");
        let cell_of = |at: &usize| match &layout.column[*at].values {
            Some(printed) => or_nothing(printed.get(row), |printed| cell(printed)),
            None => or_nothing(entries[row][*at].as_ref(), said),
        };
        let label = cell(&layout.row[row].label) + shared.unwrap_or_default();
        table.row(std::iter::once(label).chain(columns.iter().map(cell_of)).collect::<Vec<_>>());
    }
    let runs = if is_marked {
        format!("{SINGLE} A single run (behind a row's name: all of its figures); the others are medians.\n\n")
    } else if has_single {
        "Every figure of ours is a single run.\n\n".to_owned()
    } else {
        String::new()
    };
    let of_ours =
        layout.column.iter().enumerate().filter(|(at, column)| column.values.is_none() && !columns.contains(at));
    let headers = of_ours.map(|(_, column)| &column.header);
    let missing: Vec<String> =
        left_out.iter().map(|row| &layout.row[*row].label).chain(headers).map(|name| prose(name)).collect();
    let missing = if missing.is_empty() {
        String::new()
    } else {
        format!("Not measured in this profile: {}.\n\n", missing.join("; "))
    };
    let note = layout.note.as_deref().map(|note| format!("{}\n\n", prose(note))).unwrap_or_default();
    format!("**{title}**\n\n{}\n{runs}{note}{missing}", table.render())
}

/// The columns that say something in the rows `shown`. Printed texts go with the figures of ours that they stand behind.
fn columns(layout: &page::Table, entries: &[Vec<Option<Entry>>], shown: &[usize]) -> Vec<usize> {
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

/// A cell; `None` where there is nothing to print.
fn entry(view: &StudyView, layout: &page::Table, scenario: &str, column: &Column) -> Option<Entry> {
    let arm = column.arm.as_deref();
    let found = |arm: &str, failure: f64| values(view, scenario, arm, column, failure);
    let median = |arm: &str, failure: f64| stats::median(found(arm, failure));
    let (text, blocks) = if let Some(arms) = &column.best {
        let higher = column.better == Some(Better::Higher);
        // A failure is infinitely bad.
        let failure = if higher { f64::NEG_INFINITY } else { f64::INFINITY };
        // The best first; equal ones in the order of the column.
        let mut ranked: Vec<(&String, f64)> =
            arms.iter().filter_map(|arm| Some((arm, median(arm, failure)?))).collect();
        ranked.sort_by(|a, b| if higher { b.1.total_cmp(&a.1) } else { a.1.total_cmp(&b.1) });
        let (winner, best) = *ranked.first()?;
        let text = match &column.over {
            Some(other) => {
                let (above, below) =
                    if higher { (winner.as_str(), other.as_str()) } else { (other.as_str(), winner.as_str()) };
                let judged = plain_ratio(column).and_then(|metric| view.judged_ratio(scenario, [above, below], metric));
                let other = median(other, failure)?;
                let of_medians = if higher { best / other } else { other / best };
                let times = |ratio: f64| format!("{}x", fmt::decimals(ratio, column.digits.unwrap_or(1)));
                match judged {
                    Some(ratio) => times(ratio),
                    None if !best.is_finite() || !other.is_finite() => FAILED.to_owned(),
                    // Nothing is a number of times better than nothing.
                    None => times(Some(of_medians).filter(|ratio| ratio.is_finite())?),
                }
            }
            None if best.is_finite() => winners(&ranked, column.digits, &layout.labels),
            None => FAILED.to_owned(),
        };
        (text, ranked.iter().map(|(arm, _)| found(arm, failure).len()).min().unwrap_or_default())
    } else {
        let (arm, values) = (arm?, found(arm?, f64::INFINITY));
        let judged = column.dividend.as_deref().zip(plain_ratio(column)).and_then(|(dividend, metric)| {
            Some(view.judged_ratio(scenario, [dividend, arm], metric)? * column.factor.unwrap_or(1.0))
        });
        let blocks = values.len();
        let median = stats::median(values)?;
        (print(judged.filter(|_| median.is_finite()).unwrap_or(median), column.digits), blocks)
    };
    Some(Entry { text, blocks })
}

/// The metric of a column whose ratio is one of two arms and nothing else.
fn plain_ratio(column: &Column) -> Option<&str> {
    column.metric.as_deref().filter(|_| column.minus.is_none() && column.per.is_none())
}

/// The name of the best arm, or of several whose medians are printed alike.
fn winners(ranked: &[(&String, f64)], digits: Option<usize>, labels: &BTreeMap<String, String>) -> String {
    let printed = |of: &(&String, f64)| print(of.1, digits);
    let alike = ranked.iter().filter(|other| printed(other) == printed(&ranked[0]));
    alike.map(|(arm, _)| cell(labels.get(*arm).unwrap_or(arm))).collect::<Vec<_>>().join(" = ")
}

/// One value per block; `failure` where a run that it needs has failed.
fn values(view: &StudyView, scenario: &str, arm: &str, column: &Column, failure: f64) -> Vec<f64> {
    let metric = column.metric.as_deref().unwrap_or_default();
    let by_block = |arm: &str, metric: &str| view.by_block(scenario, arm, metric);
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
