//! A table as plain text that is valid Markdown, and figures in it.

use std::fmt::Write as _;

/// Widest table; one with more columns than fit is turned on its side.
const WIDTH: usize = 130;
/// Cells in lines; the first one is the heading.
pub(super) struct Grid(pub Vec<Vec<String>>);

impl Grid {
    /// As Markdown, on its side if that is narrower than it would be too wide.
    pub(super) fn fitting(self) -> String {
        let upright = self.markdown();
        if upright.lines().next().is_some_and(|line| line.chars().count() > WIDTH) {
            self.turned().markdown()
        } else {
            upright
        }
    }

    fn turned(&self) -> Grid {
        let columns = self.0.first().map_or(0, Vec::len);
        Grid((0..columns).map(|column| self.0.iter().filter_map(|line| line.get(column).cloned()).collect()).collect())
    }

    pub(super) fn markdown(&self) -> String {
        let columns = self.0.first().map_or(0, Vec::len);
        let width = |column: usize| -> usize {
            let cells = self.0.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        // Text stands left, figures right.
        let is_text = |column: usize| {
            column == 0 || self.0.iter().skip(1).all(|line| line.get(column).is_none_or(|cell| is_word(cell)))
        };
        let texts: Vec<bool> = (0..columns).map(is_text).collect();
        let mut text = String::new();
        for (number, line) in self.0.iter().enumerate() {
            for ((cell, &width), &is_text) in line.iter().zip(&widths).zip(&texts) {
                let _ = if is_text { write!(text, "| {cell:<width$} ") } else { write!(text, "| {cell:>width$} ") };
            }
            text += "|\n";
            if number == 0 {
                for (&width, &is_text) in widths.iter().zip(&texts) {
                    let _ = if is_text {
                        write!(text, "|{:-<1$}", "", width + 2)
                    } else {
                        write!(text, "|{:->1$}:", "", width + 1)
                    };
                }
                text += "|\n";
            }
        }
        text
    }
}

/// What has no value.
pub(super) const NONE: &str = "-";

pub(super) fn cell(value: Option<&f64>, format: impl Fn(f64) -> String) -> String {
    value.filter(|value| value.is_finite()).map_or_else(|| NONE.to_owned(), |&value| format(value))
}

fn is_word(cell: &str) -> bool {
    cell == NONE || cell.trim_start_matches('*').starts_with(char::is_alphabetic)
}

/// With commas between thousands.
pub(super) fn whole(value: f64) -> String {
    let digits = format!("{:.0}", value.max(0.0));
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Small figures with decimals, large ones without.
pub(super) fn three_digits(value: f64) -> String {
    match value {
        ..9.995 => format!("{value:.2}"),
        ..99.95 => format!("{value:.1}"),
        _ => whole(value),
    }
}

pub(super) fn hundredths(value: f64) -> String {
    let cents = format!("{value:.2}");
    match cents.split_once('.') {
        Some((units, decimals)) if units.len() > 3 => {
            format!("{}.{decimals}", whole(units.parse().unwrap_or_default()))
        }
        _ => cents,
    }
}

pub(super) fn percent(value: f64) -> String {
    format!("{value:.1}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_commas() {
        for (value, text) in [(0.0, "0.00"), (0.314, "0.31"), (9.996, "10.0"), (99.96, "100"), (20_003.4, "20,003")] {
            assert_eq!(three_digits(value), text);
        }
        assert_eq!(
            (whole(999.0), whole(1_000.0), whole(1_234_567.0)),
            ("999".into(), "1,000".into(), "1,234,567".into())
        );
        assert_eq!((hundredths(9_999.996), hundredths(104.999)), ("10,000.00".to_owned(), "105.00".to_owned()));
    }
}
