//! The tables of page.toml (docs/FORMAT.md, section 5), as far as a program prints them; the rest of the page is the report's.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

/// The tables of a page.
#[derive(Debug, Deserialize)]
pub struct Page {
    /// Every table, in order.
    #[serde(default)]
    pub table: Vec<Table>,
}

/// A table: rows are scenarios and arms, columns arms or metrics, or the document's own figures.
#[derive(Debug, Deserialize)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// Whether the program prints it without arguments.
    #[serde(default)]
    pub overview: bool,
    /// Names of arms in cells that name one.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Heading of the first column.
    pub row_header: String,
    /// Rows, in order.
    pub row: Vec<Row>,
    /// Columns after the first, in order.
    pub column: Vec<Column>,
}

/// A row. What both row and column may say, the column decides.
#[derive(Debug, Deserialize)]
pub struct Row {
    /// Text of the first cell.
    pub label: String,
    /// The scenario of its cells.
    pub scenario: String,
    /// The dividend of columns whose dividend is `row`.
    pub dividend: Option<String>,
    /// What its cells show.
    #[serde(flatten)]
    pub show: Show,
}

/// A column after the first.
#[derive(Debug, Deserialize)]
pub struct Column {
    /// Heading.
    pub header: String,
    /// What its cells show.
    #[serde(flatten)]
    pub show: Show,
    /// An arm whose value is subtracted.
    pub minus: Option<String>,
    /// A metric of the arm to divide by.
    pub per: Option<String>,
    /// An arm whose value is divided by the cell's; `row`: the one that the row names.
    pub dividend: Option<String>,
    /// Arms of which the cell names the best.
    #[serde(default)]
    pub best: Vec<String>,
    /// `higher` or `lower`: which is the best.
    pub better: Option<String>,
    /// The cell says how many times better than this arm the best one is.
    pub over: Option<String>,
    /// Fixed texts, one per row, instead of values.
    pub values: Option<Vec<String>>,
}

/// What a cell shows.
#[derive(Debug, Deserialize)]
pub struct Show {
    /// The arm.
    pub arm: Option<String>,
    /// Its metric.
    pub metric: Option<String>,
    /// Multiplies the value.
    pub factor: Option<f64>,
    /// Decimals.
    pub digits: Option<usize>,
}

impl Page {
    /// Reads the tables that the program prints.
    ///
    /// # Errors
    /// Names the line that is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let mut page: Page = toml::from_str(text).context("page.toml")?;
        page.table.retain(|table| table.overview);
        Ok(page)
    }
}

impl Table {
    /// Scenario and arm of every run that its cells show.
    pub fn cases(&self) -> impl Iterator<Item = (&str, &str)> {
        let columns = || self.column.iter().filter(|column| column.values.is_none());
        self.row
            .iter()
            .flat_map(move |row| columns().flat_map(|column| column.arms(row)).map(|arm| (row.scenario.as_str(), arm)))
    }

    /// The table as text, each figure by `value` of scenario, arm and metric.
    #[must_use]
    pub fn render(&self, value: &impl Fn(&str, &str, &str) -> Option<f64>) -> String {
        let header =
            std::iter::once(self.row_header.clone()).chain(self.column.iter().map(|column| column.header.clone()));
        let mut lines: Vec<Vec<String>> = vec![header.collect()];
        lines.extend(self.row.iter().enumerate().map(|(position, row)| {
            let cells = self.column.iter().map(|column| self.cell(position, row, column, value));
            std::iter::once(row.label.clone()).chain(cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned()))).collect()
        }));
        let widths: Vec<usize> = (0..=self.column.len())
            .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
            .collect();
        let line = |cells: &Vec<String>| {
            let first = format!("{:<width$}", cells[0], width = widths[0]);
            let rest = cells.iter().zip(&widths).skip(1).map(|(cell, width)| format!("  {cell:>width$}"));
            std::iter::once(first).chain(rest).collect::<String>().trim_end().to_owned() + "\n"
        };
        format!("{}\n\n{}\n", self.title, lines.iter().map(line).collect::<String>())
    }

    fn cell(
        &self,
        position: usize,
        row: &Row,
        column: &Column,
        value: &impl Fn(&str, &str, &str) -> Option<f64>,
    ) -> Option<String> {
        if let Some(values) = &column.values {
            return values.get(position).cloned();
        }
        let metric = column.show.metric.as_deref().or(row.show.metric.as_deref())?;
        let factor = column.show.factor.or(row.show.factor).unwrap_or(1.0);
        let digits = column.show.digits.or(row.show.digits);
        let figure = |arm: &str| -> Option<f64> {
            let of = |arm: &str, metric: &str| value(&row.scenario, arm, metric);
            let mut figure = of(arm, metric)?;
            if let Some(other) = &column.minus {
                figure -= of(other, metric)?;
            }
            if let Some(other) = &column.per {
                figure /= of(arm, other)?;
            }
            if let Some(other) = column.dividend(row) {
                figure = of(other, metric)? / figure;
            }
            Some(figure * factor).filter(|figure| figure.is_finite())
        };
        if column.best.is_empty() {
            return Some(number(figure(column.arm(row)?)?, digits));
        }
        let sign = if column.better.as_deref() == Some("higher") { -1.0 } else { 1.0 };
        let ranked = column.best.iter().filter_map(|arm| Some((arm, figure(arm)?)));
        let (arm, best) = ranked.min_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)))?;
        match &column.over {
            None => Some(self.labels.get(arm).unwrap_or(arm).clone()),
            Some(other) => {
                let other = figure(other)?;
                let ratio = if sign < 0.0 { best / other } else { other / best };
                Some(format!("{}x", number(ratio, Some(digits.unwrap_or(1)))))
            }
        }
    }
}

impl Column {
    /// Every arm that its cell in `row` needs.
    fn arms<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a str> {
        let named = [self.arm(row), self.minus.as_deref(), self.dividend(row), self.over.as_deref()];
        named.into_iter().flatten().chain(self.best.iter().map(String::as_str))
    }

    fn arm<'a>(&'a self, row: &'a Row) -> Option<&'a str> {
        self.show.arm.as_deref().or(row.show.arm.as_deref())
    }

    fn dividend<'a>(&'a self, row: &'a Row) -> Option<&'a str> {
        if self.dividend.as_deref() == Some("row") { row.dividend.as_deref() } else { self.dividend.as_deref() }
    }
}

/// A figure with so many decimals, or else with three digits.
fn number(value: f64, digits: Option<usize>) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 to 6")]
    let three = || (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.*}", digits.unwrap_or_else(three))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOY: &str = r#"
        [[table]]
        title = "not printed"
        row_header = ""
        row = []
        column = []
        [[table]]
        title = "Sorting"
        overview = true
        row_header = "numbers"
        labels = { b = "the second" }
        row = [{ label = "few", scenario = "n_1" }, { label = "many", scenario = "n_9" }]
        column = [
            { header = "theirs", values = ["1 s", "2 s"] },
            { header = "a (ms)", arm = "a", metric = "work_s", factor = 1000.0, digits = 1 },
            { header = "gain", arm = "b", metric = "work_s", dividend = "a", digits = 2 },
            { header = "best", best = ["a", "b"], better = "lower", metric = "work_s" },
            { header = "by", best = ["a", "b"], better = "lower", over = "a", metric = "work_s" },
            { header = "beyond", arm = "b", minus = "a", per = "rows_count", metric = "work_s" },
        ]
    "#;

    #[test]
    fn a_table_is_filled_from_one_run_of_each_case() {
        let page = Page::parse(TOY).unwrap();
        let mut cases: Vec<_> = page.table[0].cases().collect();
        cases.sort_unstable();
        cases.dedup();
        assert_eq!(cases, [("n_1", "a"), ("n_1", "b"), ("n_9", "a"), ("n_9", "b")]);
        let value = |scenario: &str, arm: &str, metric: &str| match (scenario, arm, metric) {
            ("n_1", "a", "work_s") => Some(0.5),
            ("n_1", "b", "work_s") => Some(0.25),
            ("n_1", _, "rows_count") => Some(10.0),
            _ => None,
        };
        let text = "\
Sorting

numbers  theirs  a (ms)  gain        best    by   beyond
few         1 s   500.0  2.00  the second  2.0x  -0.0250
many        2 s       -     -           -     -        -

";
        assert_eq!(page.table[0].render(&value), text);
    }
}
