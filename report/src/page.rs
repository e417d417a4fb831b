//! page.toml: how a study is presented. Prose and layout; every figure comes from the runs.

use serde::Deserialize;

use crate::error::{Error, TomlFile};
use crate::judged::Verdict;

/// The presentation of a study.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Version of the format.
    pub schema: u32,
    /// Heading of the study's section.
    pub title: String,
    /// What the study asks, one paragraph.
    pub question: String,
    /// What the original really measured.
    #[serde(default)]
    pub measured: Vec<String>,
    /// What we kept of it.
    #[serde(default)]
    pub kept: Vec<String>,
    /// What we changed.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Threats particular to this study.
    #[serde(default)]
    pub limits: Vec<String>,
    /// What an engineer should choose.
    #[serde(default)]
    pub advice: Vec<Advice>,
    /// Tables, in order.
    #[serde(default)]
    pub table: Vec<Table>,
    /// Charts, in order.
    #[serde(default)]
    pub chart: Vec<Chart>,
}

/// One line of advice, shown if its condition holds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// The advice.
    pub text: String,
    /// Shown only then; always if absent.
    pub when: Option<When>,
}

/// A condition on a verdict.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Id of a claim.
    pub claim: String,
    /// Names of verdicts, one of which it must have.
    pub verdicts: Vec<String>,
}

/// A table: rows are scenarios (and arms), columns are arms or metrics, or fixed texts such as the original's figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Name for links.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What a reader must know to read it.
    pub note: Option<String>,
    /// Heading of the first column.
    pub row_header: String,
    /// Rows, in order.
    pub row: Vec<TableRow>,
    /// Columns after the first, in order.
    pub column: Vec<Column>,
}

/// A row of a table. What both row and column may say, the column decides.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// Text of the first cell.
    pub label: String,
    /// The scenario of its cells.
    pub scenario: String,
    /// The arm of its cells.
    pub arm: Option<String>,
    /// The metric of its cells.
    pub metric: Option<String>,
    /// Multiplies the values.
    pub factor: Option<f64>,
    /// Decimals.
    pub digits: Option<usize>,
}

/// A column of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Heading.
    pub header: String,
    /// The arm of its cells.
    pub arm: Option<String>,
    /// The metric of its cells.
    pub metric: Option<String>,
    /// An arm whose value is subtracted.
    pub minus: Option<String>,
    /// A metric of the arm to divide by.
    pub per: Option<String>,
    /// Multiplies the values.
    pub factor: Option<f64>,
    /// Decimals.
    pub digits: Option<usize>,
    /// Fixed texts, one per row, instead of values.
    pub values: Option<Vec<String>>,
}

/// A chart.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// Name of the file, with the study's name in front.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What it looks like.
    pub kind: ChartKind,
    /// Scenarios it shows; a strip shows one.
    pub scenarios: Vec<String>,
    /// Arms it shows.
    pub arms: Vec<String>,
    /// Metric on the value axis.
    pub metric: String,
    /// Metric on the other axis of `lines`.
    pub x: Option<String>,
    /// Logarithmic axes; else they start at zero.
    #[serde(default)]
    pub log: bool,
}

/// Kind of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartKind {
    /// Metric against x, a line per arm.
    Lines,
    /// A row of points per arm.
    Strip,
}

impl Page {
    /// Reads page.toml; `name` stands in messages.
    ///
    /// # Errors
    /// Names file and line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let page: Page = file.parse()?;
        if page.schema != 1 {
            return Err(file.error_at("schema", format!("schema {} is unknown: this program reads 1", page.schema)));
        }
        for verdict in page.advice.iter().filter_map(|advice| advice.when.as_ref()).flat_map(|when| &when.verdicts) {
            if !Verdict::ALL.iter().any(|known| known.name() == verdict) {
                let known = Verdict::ALL.map(Verdict::name).join("; ");
                let what = format!("there is no verdict '{verdict}': choose of {known}");
                return Err(file.error_at(&format!("\"{verdict}\""), what));
            }
        }
        for table in &page.table {
            for column in &table.column {
                let at = format!("\"{}\"", column.header);
                match &column.values {
                    Some(values) if values.len() != table.row.len() => {
                        let counts = format!("{} values for {} rows", values.len(), table.row.len());
                        return Err(file.error_at(&at, format!("column {at} of table {} has {counts}", table.id)));
                    }
                    Some(_) => {}
                    None => {
                        for row in &table.row {
                            if row.arm.is_none() && column.arm.is_none()
                                || row.metric.is_none() && column.metric.is_none()
                            {
                                let cell = format!("{} / {}", row.label, column.header);
                                return Err(file.error_at(
                                    &at,
                                    format!("cell {cell} of table {} needs an arm and a metric", table.id),
                                ));
                            }
                        }
                    }
                }
            }
        }
        for chart in &page.chart {
            let at = format!("\"{}\"", chart.id);
            if chart.kind == ChartKind::Lines && chart.x.is_none() {
                return Err(file.error_at(&at, format!("chart {at} of kind lines needs x, a metric")));
            }
            if chart.kind == ChartKind::Strip && chart.scenarios.len() != 1 {
                return Err(file.error_at(&at, format!("chart {at} of kind strip shows one scenario")));
            }
        }
        Ok(page)
    }
}
