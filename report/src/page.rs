//! page.toml: how a study is presented. Prose and layout; every figure comes from the runs.

use serde::Deserialize;

use crate::claims::Form;
use crate::error::Error;
use crate::files::{Schema, TomlFile, chosen};
use crate::layout::{Column, Table};

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

/// What is said of a study in short. `said`, `setup` and `equal` have an entry per row of the table in README.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What the document is about, in a word.
    pub name: String,
    pub said: Vec<Sentence>,
    /// What their set-up shows when it is run again.
    pub setup: Vec<Sentence>,
    /// What is left at equal work and resources.
    pub equal: Vec<Sentence>,
    pub so: Sentence,
    /// What the difference was instead of async, to end "the cause is"; absent where it was async, or none.
    pub instead: Option<String>,
    /// The cause, and where the difference matters.
    pub why: Sentence,
}

/// What a page says of its verdicts, with places for figures: "async takes {T2.fair.range}". A place that cannot be filled is refused when
/// the page is read, not left out when it is printed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Sentence {
    pub pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Words(String),
    /// A figure of a claim's form: of its row of this scenario or part, or of the row that decides it.
    Figure {
        claim: String,
        form: Form,
        of: Option<String>,
        what: What,
    },
    /// Where a crossing of a map is, over the hosts.
    Crossing {
        map: String,
        crossing: String,
    },
}

/// How a figure is said, in the unit of its authors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// "+5 to +42 %": from the least to the most over the hosts; "-3 to +8 %, unclear" where none decides.
    Range,
    /// What the authors' own code shows, from the least to the most over the hosts.
    Theirs,
}

impl TryFrom<String> for Sentence {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = text.split('{');
        let mut pieces = vec![Piece::Words(parts.next().unwrap_or_default().to_owned())];
        for part in parts {
            let (place, words) = part.split_once('}').ok_or_else(|| format!("'{{{part}' lacks its '}}'"))?;
            pieces.push(match place.split('.').collect::<Vec<_>>()[..] {
                ["map", map, crossing] => Piece::Crossing { map: map.to_owned(), crossing: crossing.to_owned() },
                [claim, form, ref of @ .., what] if of.len() < 2 => {
                    let (claim, of) = (claim.to_owned(), of.first().map(|of| (*of).to_owned()));
                    Piece::Figure { claim, form: chosen(form)?, of, what: chosen(what)? }
                }
                _ => {
                    let known = "{CLAIM.FORM.WHAT}, {CLAIM.FORM.SCENARIO_OR_PART.WHAT} or {map.ID.CROSSING}";
                    return Err(format!("a figure is {known}, not {{{place}}}"));
                }
            });
            pieces.push(Piece::Words(words.to_owned()));
        }
        Ok(Sentence { pieces })
    }
}

impl Page {
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        let rows = self.answer.iter().flat_map(|it| [&it.said, &it.setup, &it.equal]).flatten();
        rows.chain(self.answer.iter().flat_map(|it| [&it.so, &it.why])).chain(&self.advice)
    }

    /// The metrics that its tables divide by one another, as `(metric, per)`.
    pub fn quotients(&self) -> impl Iterator<Item = (&str, &str)> {
        let cells = self.table.iter().flat_map(|Table { column, row, .. }| {
            column.iter().flat_map(move |column| row.iter().filter_map(move |row| column.in_row(row)))
        });
        cells.filter_map(|cell| Some((cell.metric, cell.per?)))
    }

    /// Reads page.toml; an error names `name` and the line of what is unknown, missing or inconsistent.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let file = TomlFile { name, text };
        let page: Page = toml::from_str(text).map_err(|error| file.fault(&error))?;
        let fault = |table: &Table, column: &Column| {
            let (at, id) = (format!("\"{}\"", column.header), &table.id);
            Some(file.error_at(&at, format!("column {at} of table {id} {}", fault(table, column)?)))
        };
        let columns = page.table.iter().flat_map(|table| table.column.iter().map(move |column| (table, column)));
        let error = { columns }.find_map(|(table, column)| fault(table, column));
        let uneven = page.answer.as_ref().and_then(|Answer { said, setup, equal, .. }| {
            let rows = [said, setup, equal].map(Vec::len);
            let what = || format!("said, setup and equal have an entry per row each, here {rows:?}");
            (rows != [rows[0]; 3]).then(|| file.error_at("[answer]", what()))
        });
        error.or(uneven).map_or(Ok(page), Err)
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
