//! A table as plain text that is valid Markdown, and figures in it.

use std::fmt::Write as _;

use indicatif::HumanCount;

/// What has no value.
pub(super) const NONE: &str = "-";

/// Cells in lines, the first of which is the heading. Text stands left, figures right.
///
/// By hand, because the crates for tables on a screen do not write how Markdown aligns a column.
pub(super) fn markdown(lines: &[Vec<String>]) -> String {
    let columns = 0..lines.first().map_or(0, Vec::len);
    let layout: Vec<(usize, bool)> = columns
        .map(|column| {
            let width = lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
            (width, column == 0 || lines.iter().skip(1).all(|line| is_word(&line[column])))
        })
        .collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (cell, &(width, is_text)) in line.iter().zip(&layout) {
            let _ = if is_text { write!(text, "| {cell:<width$} ") } else { write!(text, "| {cell:>width$} ") };
        }
        text += "|\n";
        if number == 0 {
            for &(width, is_text) in &layout {
                let _ = write!(text, "|{:-<1$}{2}", "", width + 1, if is_text { '-' } else { ':' });
            }
            text += "|\n";
        }
    }
    text
}

/// The same on its side.
pub(super) fn turned(lines: &[Vec<String>]) -> Vec<Vec<String>> {
    let columns = 0..lines.first().map_or(0, Vec::len);
    columns.map(|column| lines.iter().map(|line| line[column].clone()).collect()).collect()
}

fn is_word(cell: &str) -> bool {
    cell == NONE || cell.trim_start_matches('*').starts_with(char::is_alphabetic)
}

/// A figure as its unit asks for, in which the metric's name ends; of times small ones have decimals, large ones none, averages always two.
pub(super) fn figure(metric: &str, value: f64) -> String {
    match metric {
        _ if metric.ends_with("_percent") => format!("{value:.1}%"),
        _ if metric.ends_with("_count") => grouped(value, 0),
        _ if metric.ends_with("_s") || metric.ends_with("_avg_ms") => grouped(value, 2),
        _ => match value {
            ..9.995 => grouped(value, 2),
            ..99.95 => grouped(value, 1),
            _ => grouped(value, 0),
        },
    }
}

/// With so many decimals, and commas between thousands.
pub(super) fn grouped(value: f64, decimals: usize) -> String {
    let digits = format!("{value:.decimals$}");
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    format!("{}{rest}", HumanCount(whole.parse().unwrap_or_default()))
}
