//! page.toml: how a study is presented. Prose and layout; every figure comes from the runs.

use serde::Deserialize;

use self::sentence::Sentence;
use crate::error::Error;
use crate::files::{Schema, TomlFile};
use crate::layout::{Column, Table};

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

impl Page {
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        let answer = self.answer.iter().flat_map(|it| [&it.said, &it.setup, &it.equal, &it.so, &it.why, &it.unless]);
        answer.chain(&self.advice)
    }

    /// The metrics that its tables divide by one another, as `(metric, per)`.
    pub fn quotients(&self) -> impl Iterator<Item = (&str, &str)> {
        let cells = self.table.iter().flat_map(|table| {
            table.column.iter().flat_map(move |column| table.row.iter().filter_map(move |row| column.in_row(row)))
        });
        cells.filter_map(|cell| Some((cell.metric, cell.per?)))
    }

    /// Reads page.toml; an error names `name` and the line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let page: Page = toml::from_str(text).map_err(|error| file.fault(&error))?;
        for (table, column) in
            page.table.iter().flat_map(|table| table.column.iter().map(move |column| (table, column)))
        {
            if let Some(what) = fault(table, column) {
                let (at, id) = (format!("\"{}\"", column.header), &table.id);
                return Err(file.error_at(&at, format!("column {at} of table {id} {what}")));
            }
        }
        Ok(page)
    }
}

/// What a cell of the column lacks, in words.
fn fault(table: &Table, column: &Column) -> Option<String> {
    if let Some(values) = &column.values {
        let what = || format!("has {} values for {} rows", values.len(), table.row.len());
        return (values.len() != table.row.len()).then(what);
    }
    table.row.iter().find_map(|row| match column.in_row(row) {
        None => Some(format!("needs an arm and a metric in the row {}", row.label)),
        Some(cell) if column.dividend.is_some() && cell.dividend.is_none() => {
            Some(format!("divides what the row names, and {} names no dividend", row.label))
        }
        Some(_) => None,
    })
}
