//! page.toml: how a study is presented. Prose and layout; every figure comes from the runs.

use serde::Deserialize;

use self::sentence::Sentence;
use crate::error::Error;
use crate::files::{Schema, TomlFile};
use crate::fmt::anchor;

pub(crate) mod sentence;
pub mod view;

/// The presentation of a study.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub schema: Schema,
    /// Heading of the study's section.
    pub title: String,
    /// What it is about.
    pub document: Option<Document>,
    /// What is said of it in short.
    pub answer: Option<Answer>,
    /// What the original really measured.
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
    /// What to do.
    #[serde(default)]
    pub advice: Vec<Sentence>,
    #[serde(default)]
    pub table: Vec<Table>,
    #[serde(default)]
    pub chart: Vec<Chart>,
}

/// The published document.
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
    /// What its authors say.
    pub said: Sentence,
    /// What their set-up shows when it is run again.
    pub setup: Sentence,
    /// What is left at equal work and resources.
    pub equal: Sentence,
    /// What to do.
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
        self.setup.claims().chain(self.equal.claims()).any(|quoted| quoted == claim)
    }

    fn sentences(&self) -> [&Sentence; 6] {
        [&self.said, &self.setup, &self.equal, &self.so, &self.why, &self.unless]
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

/// The dividend of a column that each row names for itself.
const ROW: &str = "row";

/// A row of a table.
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

/// A column of a table.
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
    /// Fixed texts, one per row, instead of values.
    pub values: Option<Vec<String>>,
}

impl Column {
    /// The column with what it leaves to `row`. What both may say, the column decides.
    #[must_use]
    pub fn in_row(&self, row: &TableRow) -> Column {
        let column = self.clone();
        Column {
            arm: column.arm.or_else(|| row.arm.clone()),
            metric: column.metric.or_else(|| row.metric.clone()),
            dividend: if column.dividend.as_deref() == Some(ROW) { row.dividend.clone() } else { column.dividend },
            digits: column.digits.or(row.digits),
            ..column
        }
    }
}

/// A chart.
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
    Lines,
    Strip,
}

impl Page {
    /// What it says of its verdicts.
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        let answer = self.answer.iter().flat_map(Answer::sentences);
        answer.chain(&self.advice)
    }

    /// The metrics that its tables divide by one another, as `(metric, per)`.
    pub fn quotients(&self) -> impl Iterator<Item = (String, String)> {
        let cells = self.table.iter().flat_map(|table| {
            table.column.iter().flat_map(move |column| table.row.iter().map(move |row| column.in_row(row)))
        });
        cells.filter_map(|cell| cell.metric.zip(cell.per))
    }

    /// Reads page.toml; `name` stands in messages.
    ///
    /// # Errors
    /// Names file and line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let page: Page = toml::from_str(text).map_err(|error| file.fault(&error))?;
        for table in &page.table {
            table.check(file)?;
        }
        for chart in &page.chart {
            chart.check().map_err(|what| file.error_at(&format!("\"{}\"", chart.id), what))?;
        }
        Ok(page)
    }
}

impl Table {
    /// Every cell has what it needs.
    fn check(&self, file: TomlFile<'_>) -> Result<(), Error> {
        for column in &self.column {
            let at = format!("\"{}\"", column.header);
            let fault = |what: String| Err(file.error_at(&at, format!("column {at} of table {} {what}", self.id)));
            if let Some(values) = &column.values {
                if values.len() != self.row.len() {
                    return fault(format!("has {} values for {} rows", values.len(), self.row.len()));
                }
                continue;
            }
            for row in &self.row {
                if column.dividend.as_deref() == Some(ROW) && row.dividend.is_none() {
                    return fault(format!("divides what the row names, and {} names no dividend", row.label));
                }
                let in_row = column.in_row(row);
                if in_row.metric.is_none() || in_row.arm.is_none() {
                    return fault(format!("needs an arm and a metric in the row {}", row.label));
                }
            }
        }
        Ok(())
    }
}

impl Chart {
    /// File name of the chart: the study's name and its own, of letters, digits, dashes and underscores.
    pub fn file_name(&self, study: &str) -> String {
        format!("{}.svg", anchor(study, &self.id))
    }

    /// The chart has what its kind needs, and no more.
    fn check(&self) -> Result<(), String> {
        let fault = match self.kind {
            ChartKind::Lines if self.x.is_none() => "of kind lines needs x, a metric",
            ChartKind::Strip if self.scenarios.len() != 1 => "of kind strip shows one scenario",
            ChartKind::Lines | ChartKind::Strip => return Ok(()),
        };
        Err(format!("chart \"{}\" {fault}", self.id))
    }
}
