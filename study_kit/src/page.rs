//! The tables of page.toml (docs/FORMAT.md, section 5), as far as a program prints them; the rest of the page is the report's.

use std::iter::once;

use anyhow::{Context, Result};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Page {
    #[serde(default)]
    table: Vec<Table>,
}

/// A table: rows are scenarios and arms, columns arms or metrics, or the document's own figures.
#[derive(Debug, Deserialize)]
pub struct Table {
    title: String,
    /// Whether the program prints it without arguments.
    #[serde(default)]
    overview: bool,
    row_header: String,
    row: Vec<Row>,
    column: Vec<Column>,
}

#[derive(Debug, Deserialize)]
struct Row {
    label: String,
    scenario: String,
    #[serde(flatten)]
    show: Show,
}

/// A column after the first. What both row and column may say, the column decides.
#[derive(Debug, Deserialize)]
struct Column {
    header: String,
    #[serde(flatten)]
    show: Show,
    /// An arm whose value is subtracted.
    minus: Option<String>,
    /// A metric of the arm to divide by.
    per: Option<String>,
    /// Fixed texts, one per row, instead of values.
    values: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct Show {
    arm: Option<String>,
    metric: Option<String>,
    factor: Option<f64>,
    /// Decimals.
    digits: Option<usize>,
    /// An arm whose value is divided by the cell's; `row`: the one that the row names.
    dividend: Option<String>,
}

/// The tables of page.toml that the program prints.
pub fn tables(text: &str) -> Result<Vec<Table>> {
    let Page { mut table } = toml::from_str(text).context("page.toml")?;
    table.retain(|table| table.overview);
    Ok(table)
}

/// The figure of scenario, arm and metric, if there is one.
type Value<'a> = dyn Fn(&str, &str, &str) -> Option<f64> + 'a;

impl Table {
    /// Scenario and arm of every run that its cells show.
    pub fn cases(&self) -> impl Iterator<Item = (&str, &str)> {
        let columns = || self.column.iter().filter(|column| column.values.is_none());
        let arms = move |row| columns().flat_map(move |column| column.arms(row));
        self.row.iter().flat_map(move |row| arms(row).map(|arm| (row.scenario.as_str(), arm)))
    }

    pub fn render(&self, value: &Value<'_>) -> String {
        let widest = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        let labels: Vec<String> =
            once(&self.row_header).chain(self.row.iter().map(|row| &row.label)).cloned().collect();
        let width = widest(&labels);
        let mut lines: Vec<String> = labels.iter().map(|label| format!("{label:<width$}")).collect();
        for column in &self.column {
            let figures = self.row.iter().enumerate().map(|(position, row)| column.cell(position, row, value));
            let figures = figures.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
            let cells: Vec<String> = once(column.header.clone()).chain(figures).collect();
            let width = widest(&cells);
            for (line, cell) in lines.iter_mut().zip(&cells) {
                *line = format!("{line}  {cell:>width$}");
            }
        }
        let lines: String = lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect();
        format!("{}\n\n{lines}\n", self.title)
    }
}

impl Column {
    /// The figure of its cell in `row`, which is the one at `position`.
    fn cell(&self, position: usize, row: &Row, value: &Value<'_>) -> Option<String> {
        if let Some(values) = &self.values {
            return values.get(position).cloned();
        }
        let metric = self.show.metric.as_deref().or(row.show.metric.as_deref())?;
        let factor = self.show.factor.or(row.show.factor).unwrap_or(1.0);
        let digits = self.show.digits.or(row.show.digits);
        let arm = self.arm(row)?;
        let of = |arm: &str, metric: &str| value(&row.scenario, arm, metric);
        let mut figure = of(arm, metric)?;
        if let Some(other) = &self.minus {
            figure -= of(other, metric)?;
        }
        if let Some(other) = &self.per {
            figure /= of(arm, other)?;
        }
        if let Some(other) = self.dividend(row) {
            figure = of(other, metric)? / figure;
        }
        Some(figure * factor).filter(|figure| figure.is_finite()).map(|figure| number(figure, digits))
    }

    /// Every arm that its cell in `row` needs.
    fn arms<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a str> {
        [self.arm(row), self.minus.as_deref(), self.dividend(row)].into_iter().flatten()
    }

    fn arm<'a>(&'a self, row: &'a Row) -> Option<&'a str> {
        self.show.arm.as_deref().or(row.show.arm.as_deref())
    }

    fn dividend<'a>(&'a self, row: &'a Row) -> Option<&'a str> {
        let own = self.show.dividend.as_deref();
        if own == Some("row") { row.show.dividend.as_deref() } else { own }
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
    use std::collections::BTreeSet;

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
        row = [{ label = "few", scenario = "n_1" }, { label = "many", scenario = "n_9" }]
        column = [
            { header = "theirs", values = ["1 s", "2 s"] },
            { header = "a (ms)", arm = "a", metric = "work_s", factor = 1000.0, digits = 1 },
            { header = "gain", arm = "b", metric = "work_s", dividend = "a", digits = 2 },
            { header = "beyond", arm = "b", minus = "a", per = "rows_count", metric = "work_s" },
        ]
    "#;

    #[test]
    fn a_table_is_filled_from_one_run_of_each_case() {
        let [table] = &tables(TOY).unwrap()[..] else { panic!("only one is printed") };
        let cases = Vec::from_iter(table.cases().collect::<BTreeSet<_>>());
        assert_eq!(cases, [("n_1", "a"), ("n_1", "b"), ("n_9", "a"), ("n_9", "b")]);
        let value = |scenario: &str, arm: &str, metric: &str| match (scenario, arm, metric) {
            ("n_1", "a", "work_s") => Some(0.5),
            ("n_1", "b", "work_s") => Some(0.25),
            ("n_1", _, "rows_count") => Some(10.0),
            _ => None,
        };
        let text = "\
Sorting

numbers  theirs  a (ms)  gain   beyond
few         1 s   500.0  2.00  -0.0250
many        2 s       -     -        -

";
        assert_eq!(table.render(&value), text);
    }
}
