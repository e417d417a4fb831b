//! A table of page.toml (docs/FORMAT.md, section 5), which the study's program prints and the report shows.

use serde::Deserialize;

/// Rows are scenarios and arms, columns are arms or metrics, or the document's own figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub id: String,
    pub title: String,
    pub note: Option<String>,
    /// Whether the program prints it without arguments; the report shows every table.
    #[serde(default)]
    pub overview: bool,
    pub row_header: String,
    pub row: Vec<Row>,
    pub column: Vec<Column>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub label: String,
    pub scenario: String,
    pub arm: Option<String>,
    /// The dividend of its cells in columns whose dividend is `row`.
    pub dividend: Option<String>,
    pub metric: Option<String>,
    pub digits: Option<usize>,
}

/// A column after the first. What both row and column may say, the column decides.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub header: String,
    pub arm: Option<String>,
    pub metric: Option<String>,
    pub minus: Option<String>,
    pub per: Option<String>,
    pub dividend: Option<String>,
    pub factor: Option<f64>,
    pub digits: Option<usize>,
    /// Texts, one per row, instead of values.
    pub values: Option<Vec<String>>,
}

/// What a column shows in a row: a metric of an arm, less that of another, per another metric, and so on.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    pub scenario: &'a str,
    pub arm: &'a str,
    pub metric: &'a str,
    /// An arm whose value is subtracted.
    pub minus: Option<&'a str>,
    /// A metric of the arm to divide by.
    pub per: Option<&'a str>,
    /// An arm whose value is divided by the cell's: a speed-up, or an efficiency.
    pub dividend: Option<&'a str>,
    pub factor: f64,
    /// Decimals.
    pub digits: Option<usize>,
}

impl Column {
    /// What it shows in `row`; `None` of a column of texts, and where both lack an arm or a metric.
    pub fn in_row<'a>(&'a self, row: &'a Row) -> Option<Cell<'a>> {
        let dividend = if self.dividend.as_deref() == Some("row") { &row.dividend } else { &self.dividend };
        self.values.is_none().then_some(())?;
        Some(Cell {
            scenario: &row.scenario,
            arm: self.arm.as_ref().or(row.arm.as_ref())?,
            metric: self.metric.as_ref().or(row.metric.as_ref())?,
            minus: self.minus.as_deref(),
            per: self.per.as_deref(),
            dividend: dividend.as_deref(),
            factor: self.factor.unwrap_or(1.0),
            digits: self.digits.or(row.digits),
        })
    }
}
