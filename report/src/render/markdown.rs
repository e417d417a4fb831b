//! The little Markdown that the report needs: escaped text, tables, which a terminal shows, too, sections, and what several pages print.

use crate::fmt::anchor;
use crate::judge::figures::{NOTHING, or_nothing};
use crate::judge::judged::JudgedClaim;

/// Where the evidence lies, from the root of the repository, where README.md and REPORT.md are.
pub const EVIDENCE: &str = "docs/evidence/";

/// Text that Markdown must print as it is: what would be a tag, a cell, a line or an emphasis is made harmless.
pub fn text(raw: &str) -> String {
    let escaped = harmless(raw.trim()).replace(['\n', '\r', '\t'], " ");
    escaped.replace('|', "\\|").replace('*', "\\*").replace('`', "\\`")
}

/// Text without tags, and without tildes, which would strike out: not every reader of Markdown knows `\~`.
fn harmless(text: &str) -> String {
    text.replace('<', "&lt;").replace('>', "&gt;").replace('~', "&#126;")
}

/// Text whose long names may break behind an underscore, so that they do not make a table wider than the page.
pub fn breakable(raw: &str) -> String {
    let part = |word: &str| if word.len() > 24 { word.replace('_', "_<wbr>") } else { word.to_owned() };
    text(raw).split(' ').map(part).collect::<Vec<_>>().join(" ")
}

/// Text between backticks, for names of arms, scenarios, metrics and files.
pub fn code(raw: &str) -> String {
    format!("`{}`", raw.replace('`', "'").replace('|', "\\|").replace(['\n', '\r'], " "))
}

/// A figure as text, or `-` where there is none.
pub fn known(figure: Option<String>) -> String {
    or_nothing(figure, |figure| text(&figure))
}

pub fn some(text: String) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text }
}

/// A table whose cells are Markdown already.
#[derive(Debug)]
pub struct Table {
    /// The headings, how each column stands (words left, figures right), and the rows.
    lines: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings, between which ` | ` stands, and no rows; `>` before a heading makes its column stand right.
    pub fn new(headings: &str) -> Self {
        let column = |heading: &str| match heading.strip_prefix('>') {
            Some(right) => (right.to_owned(), "--:".to_owned()),
            None => (heading.to_owned(), "---".to_owned()),
        };
        let (headings, rule) = headings.split(" | ").map(column).unzip();
        Self { lines: vec![headings, rule] }
    }

    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.lines.push(cells.into());
    }

    fn is_empty(&self) -> bool {
        self.lines.len() == 2
    }

    /// Without the columns that say nothing in any row.
    pub fn render(&self) -> String {
        let says = |at: &usize| self.is_empty() || self.lines[2..].iter().any(|row| row[*at] != NOTHING);
        let columns: Vec<usize> = (0..self.lines[0].len()).filter(says).collect();
        let shown = |cells: &Vec<String>| columns.iter().map(|at| cells[*at].clone()).collect::<Vec<_>>().join(" | ");
        let line = |cells| format!("| {} |\n", shown(cells));
        self.lines.iter().map(line).collect()
    }

    /// The same between some words and an empty line; nothing of a table without rows.
    pub fn below(&self, words: &str) -> String {
        if self.is_empty() { String::new() } else { format!("{words}{}\n", self.render()) }
    }

    pub fn in_text(&self) -> String {
        let lines = || self.lines[..1].iter().chain(&self.lines[2..]);
        let width = |at: usize| lines().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.lines[0].len()).map(width).collect();
        let cell = |(cell, width): (&String, &usize)| format!("  {cell:>width$}");
        let line = |row: &Vec<String>| row.iter().zip(&widths).map(cell).collect::<String>() + "\n";
        lines().map(line).collect()
    }
}

pub fn heading(anchor: &str, title: &str) -> String {
    format!("<a id=\"{anchor}\"></a>\n\n{title}\n\n")
}

/// A text between two others; nothing without it.
pub fn around(before: &str, text: impl AsRef<str>, after: &str) -> String {
    let text = text.as_ref();
    if text.is_empty() { String::new() } else { [before, text, after].concat() }
}

/// A list of short paragraphs as Markdown bullets, or nothing.
pub fn bullets<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let bullet = |item: T| format!("- {}\n", prose(item.as_ref()));
    around("", items.into_iter().map(bullet).collect::<String>(), "\n")
}

/// Prose of page.toml and claims.toml: Markdown is welcome there; only tags and tildes are made harmless.
pub fn prose(raw: &str) -> String {
    let joined = raw.split_whitespace().collect::<Vec<_>>().join(" ");
    // Inside backticks Markdown prints entities literally, so only the text between code spans is escaped.
    let escaped = |(position, part): (usize, &str)| if position % 2 == 0 { harmless(part) } else { part.to_owned() };
    joined.split('`').enumerate().map(escaped).collect::<Vec<_>>().join("`")
}

/// Prose for a table cell: as [`prose`], with pipes escaped, in code spans too.
pub fn cell(raw: &str) -> String {
    prose(raw).replace('|', "\\|")
}

/// The link to the evidence of a claim; `to` is the way to the folder of the evidence, empty in that folder.
pub fn link(study: &str, claim: &str, to: &str) -> String {
    format!("[{}]({to}{study}.md#{})", cell(claim), anchor(study, claim))
}

/// The original's figure, or that it gave none.
pub fn original(claim: &JudgedClaim) -> String {
    if claim.original.trim().is_empty() { "none".to_owned() } else { cell(&claim.original) }
}

/// A round of which there is a figure, as a link from the evidence.
pub fn round(folder: &str) -> String {
    format!("[{}](../../results/{folder})", folder.rsplit('/').next().unwrap_or_default())
}
