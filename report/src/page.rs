//! page.toml: how a study is presented. Prose and layout; every figure comes from the runs.

use serde::Deserialize;

use self::sentence::Sentence;
use crate::error::Error;
use crate::files::{Schema, TomlFile};
use crate::fmt::anchor;

pub(crate) mod sentence;
pub mod view;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub schema: Schema,
    pub title: String,
    pub document: Option<Document>,
    pub answer: Option<Answer>,
    #[serde(default)]
    pub measured: Vec<String>,
    /// What the two forms of its claims are.
    pub forms: Option<String>,
    #[serde(default)]
    pub kept: Vec<String>,
    #[serde(default)]
    pub changed: Vec<String>,
    #[serde(default)]
    pub limits: Vec<String>,
    #[serde(default)]
    pub advice: Vec<Sentence>,
    #[serde(default)]
    pub table: Vec<Table>,
    #[serde(default)]
    pub chart: Vec<Chart>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub title: String,
    pub author: String,
    pub year: u16,
    pub url: String,
    /// What people quote of it, in its authors' words.
    pub quote: String,
}

/// What is said of a study in short: the cells of its row, and a sentence each.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What the document is about, in a word.
    pub name: String,
    pub said: Sentence,
    /// What their set-up shows when it is run again.
    pub setup: Sentence,
    /// What is left at equal work and resources.
    pub equal: Sentence,
    pub so: Sentence,
    /// What the difference was instead of async, to end "the difference was something else:"; absent where it was async, or none.
    pub instead: Option<String>,
    pub why: Sentence,
    /// When that is otherwise.
    pub unless: Sentence,
}

impl Answer {
    /// Whether its cells have a figure of this claim.
    pub fn quotes(&self, claim: &str) -> bool {
        self.setup.quotes(claim) || self.equal.quotes(claim)
    }
}

/// A table: rows are scenarios (and arms), columns are arms or metrics, or fixed texts such as the original's figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub id: String,
    pub title: String,
    pub note: Option<String>,
    /// Whether the study prints it without arguments; the report shows every table.
    #[serde(default)]
    pub overview: bool,
    pub row_header: String,
    pub row: Vec<TableRow>,
    pub column: Vec<Column>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    pub label: String,
    pub scenario: String,
    pub arm: Option<String>,
    /// The dividend of its cells in columns whose dividend is `row`.
    pub dividend: Option<String>,
    pub metric: Option<String>,
    pub digits: Option<usize>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub header: String,
    pub arm: Option<String>,
    pub metric: Option<String>,
    pub minus: Option<String>,
    pub per: Option<String>,
    /// An arm whose value of the same block is divided by the cell's: a speed-up, or an efficiency. `row`: the one that the row names.
    pub dividend: Option<String>,
    pub factor: Option<f64>,
    pub digits: Option<usize>,
    pub values: Option<Vec<String>>,
}

impl Column {
    /// The column with what it leaves to `row`. What both may say, the column decides.
    #[must_use]
    pub fn in_row(&self, row: &TableRow) -> Column {
        let mut column = self.clone();
        column.arm = column.arm.or_else(|| row.arm.clone());
        column.metric = column.metric.or_else(|| row.metric.clone());
        column.digits = column.digits.or(row.digits);
        if column.dividend.as_deref() == Some("row") {
            column.dividend.clone_from(&row.dividend);
        }
        column
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// Name of the file, with the study's name in front.
    pub id: String,
    pub title: String,
    pub kind: ChartKind,
    /// Scenarios it shows; a strip shows one.
    pub scenarios: Vec<String>,
    pub arms: Vec<String>,
    pub metric: String,
    /// Metric on the other axis of `lines`.
    pub x: Option<String>,
    #[serde(default)]
    pub log: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartKind {
    Lines,
    Strip,
}

impl Page {
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        let answer = self.answer.iter().flat_map(|it| [&it.said, &it.setup, &it.equal, &it.so, &it.why, &it.unless]);
        answer.chain(&self.advice)
    }

    /// The metrics that its tables divide by one another, as `(metric, per)`.
    pub fn quotients(&self) -> impl Iterator<Item = (String, String)> {
        let cells = self.table.iter().flat_map(|table| {
            table.column.iter().flat_map(move |column| table.row.iter().map(move |row| column.in_row(row)))
        });
        cells.filter_map(|cell| cell.metric.zip(cell.per))
    }

    /// Reads page.toml; an error names `name` and the line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let page: Page = toml::from_str(text).map_err(|error| file.fault(&error))?;
        for (table, column) in
            page.table.iter().flat_map(|table| table.column.iter().map(move |column| (table, column)))
        {
            if let Some(what) = table.fault(column) {
                let (at, id) = (format!("\"{}\"", column.header), &table.id);
                return Err(file.error_at(&at, format!("column {at} of table {id} {what}")));
            }
        }
        for Chart { id, kind, scenarios, x, .. } in &page.chart {
            let fault = match kind {
                ChartKind::Lines if x.is_none() => "of kind lines needs x, a metric",
                ChartKind::Strip if scenarios.len() != 1 => "of kind strip shows one scenario",
                ChartKind::Lines | ChartKind::Strip => continue,
            };
            return Err(file.error_at(&format!("\"{id}\""), format!("chart \"{id}\" {fault}")));
        }
        Ok(page)
    }
}

impl Table {
    /// What a cell of the column lacks, in words.
    fn fault(&self, column: &Column) -> Option<String> {
        if let Some(values) = &column.values {
            let what = || format!("has {} values for {} rows", values.len(), self.row.len());
            return (values.len() != self.row.len()).then(what);
        }
        self.row.iter().find_map(|row| {
            let cell = column.in_row(row);
            if column.dividend.is_some() && cell.dividend.is_none() {
                return Some(format!("divides what the row names, and {} names no dividend", row.label));
            }
            let is_whole = cell.metric.is_some() && cell.arm.is_some();
            (!is_whole).then(|| format!("needs an arm and a metric in the row {}", row.label))
        })
    }
}

impl Chart {
    /// File name of the chart: the study's name and its own, of letters, digits, dashes and underscores.
    pub fn file_name(&self, study: &str) -> String {
        format!("{}.svg", anchor(study, &self.id))
    }
}
