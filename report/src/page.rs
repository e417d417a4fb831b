//! page.toml: how a study is presented. Prose and layout; every figure comes from the runs.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::claims::{Better, Form};
use crate::error::Error;
use crate::files::{Schema, TomlFile};
use crate::fmt::anchor;
use crate::rules::Verdict;
use crate::sentence::Sentence;

/// The presentation of a study.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub schema: Schema,
    /// Heading of the study's section.
    pub title: String,
    /// What the study asks, one paragraph.
    pub question: String,
    /// What it is about.
    pub document: Option<Document>,
    /// What is said of it in short.
    pub answer: Option<Answer>,
    /// What the original really measured.
    #[serde(default)]
    pub measured: Vec<String>,
    #[serde(default)]
    pub kept: Vec<String>,
    #[serde(default)]
    pub changed: Vec<String>,
    #[serde(default)]
    pub limits: Vec<String>,
    #[serde(default)]
    pub advice: Vec<Advice>,
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
    fn sentences(&self) -> [&Sentence; 6] {
        [&self.said, &self.setup, &self.equal, &self.so, &self.why, &self.unless]
    }
}

/// One line of advice, shown if its condition holds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    pub text: Sentence,
    /// Shown only then; always if absent.
    pub when: Option<When>,
}

/// A condition on the verdict over hosts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    pub claim: String,
    pub form: Form,
    pub verdicts: Vec<Verdict>,
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
    /// Names of arms in cells that name one; an arm without a label keeps its own.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
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
    /// Arms that are compared: the cell names the one with the best median.
    pub best: Option<Vec<String>>,
    /// Which median is the best; only with `best`.
    pub better: Option<Better>,
    /// An arm that the best one is compared with: the cell says how many times better the best is; only with `best`.
    pub over: Option<String>,
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
    /// The claims and further tests that what it says rests on.
    pub fn claims(&self) -> impl Iterator<Item = &String> {
        let when = self.advice.iter().filter_map(|advice| advice.when.as_ref());
        when.map(|when| &when.claim).chain(self.sentences().flat_map(Sentence::claims))
    }

    /// What it says of its verdicts.
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        let answer = self.answer.iter().flat_map(Answer::sentences);
        answer.chain(self.advice.iter().map(|advice| &advice.text))
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
    /// Every cell has what it needs, and nothing is said that means nothing.
    fn check(&self, file: TomlFile<'_>) -> Result<(), Error> {
        for column in &self.column {
            let at = format!("\"{}\"", column.header);
            let fault = |what: &str| Err(file.error_at(&at, format!("column {at} of table {} {what}", self.id)));
            let values = column.values.as_ref().map_or(self.row.len(), Vec::len);
            let has_best = column.best.is_some();
            let has_own = column.values.is_some()
                || [&column.arm, &column.minus, &column.dividend].into_iter().any(Option::is_some);
            let has_aim = column.better.is_some() || column.over.is_some();
            let faults = [
                (values != self.row.len(), &*format!("has {values} values for {} rows", self.row.len())),
                (!has_best && has_aim, "needs best, a list of arms: better and over mean nothing without it"),
                (column.best.as_ref().is_some_and(Vec::is_empty), "needs at least one arm in best"),
                (has_best && column.better.is_none(), "needs better = \"higher\" or \"lower\" beside best"),
                (has_best && has_own, "compares arms by best: arm, minus, dividend and values mean nothing beside it"),
            ];
            if let Some((_, what)) = faults.into_iter().find(|(is_there, _)| *is_there) {
                return fault(what);
            }
            for row in self.row.iter().filter(|_| column.values.is_none()) {
                if column.dividend.as_deref() == Some(ROW) && row.dividend.is_none() {
                    return fault(&format!("divides what the row names, and {} names no dividend", row.label));
                }
                let in_row = column.in_row(row);
                if in_row.metric.is_none() || in_row.best.is_none() && in_row.arm.is_none() {
                    let what = if in_row.best.is_some() { "a metric" } else { "an arm and a metric" };
                    let cell = format!("{} / {}", row.label, column.header);
                    return Err(file.error_at(&at, format!("cell {cell} of table {} needs {what}", self.id)));
                }
            }
        }
        // The arm in `over` is not printed, but whoever labels the arms of a table may well list it.
        let named = |arm: &String| {
            self.column.iter().any(|column| column.best.iter().flatten().chain(&column.over).any(|other| other == arm))
        };
        let Some((arm, label)) = self.labels.iter().find(|(arm, _)| !named(arm)) else {
            return Ok(());
        };
        let what = format!("labels of table {} name the arm '{arm}', which stands in no best or over of it", self.id);
        Err(file.error_at(&format!("{arm} = \"{label}\""), what))
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
