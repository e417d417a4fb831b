//! The little Markdown that the report needs: escaped text, tables, anchors.

use std::fmt::Write as _;

/// A tilde that cannot strike text out; not every reader of Markdown knows `\~`.
const TILDE: &str = "&#126;";

/// Text that Markdown must print as it is: what would be a tag, a cell, a line or an emphasis is made harmless.
pub fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for part in raw.trim().chars() {
        match part {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '~' => out.push_str(TILDE),
            '|' | '*' | '`' => {
                out.push('\\');
                out.push(part);
            }
            '\n' | '\r' | '\t' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

/// Text between backticks, for names of arms, scenarios, metrics and files.
pub fn code(raw: &str) -> String {
    format!("`{}`", raw.replace('`', "'").replace('|', "\\|").replace(['\n', '\r'], " "))
}

/// An anchor made of letters, digits and dashes: `("txn_engine", "T1")` is `txn_engine-t1`.
pub fn anchor(study: &str, id: &str) -> String {
    let keep = |raw: &str| -> String {
        raw.chars()
            .map(|part| if part.is_ascii_alphanumeric() || part == '_' { part.to_ascii_lowercase() } else { '-' })
            .collect()
    };
    if id.is_empty() { keep(study) } else { format!("{}-{}", keep(study), keep(id)) }
}

/// How the cells of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// A table whose cells are Markdown already; an empty cell is printed as a space.
#[derive(Debug)]
pub struct Table {
    header: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings and no rows.
    pub fn new(header: &[(&str, Align)]) -> Self {
        Self { header: header.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect(), rows: Vec::new() }
    }

    /// Adds a row; missing cells are left empty, cells beyond the heading are dropped.
    pub fn row(&mut self, cells: Vec<String>) {
        let mut cells = cells;
        cells.resize(self.header.len(), String::new());
        self.rows.push(cells);
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as Markdown, ending in a line break.
    pub fn render(&self) -> String {
        let mut out = String::new();
        line(&mut out, self.header.iter().map(|(name, _)| name.as_str()));
        line(&mut out, self.header.iter().map(|(_, align)| if *align == Align::Left { "---" } else { "--:" }));
        for cells in &self.rows {
            line(&mut out, cells.iter().map(String::as_str));
        }
        out
    }
}

fn line<'a>(out: &mut String, cells: impl Iterator<Item = &'a str>) {
    out.push('|');
    for cell in cells {
        // Writing to a String cannot fail.
        let _ = write!(out, " {cell} |");
    }
    out.push('\n');
}

/// A list of short paragraphs as Markdown bullets, or nothing.
pub fn bullets(items: &[String]) -> String {
    let mut out = String::new();
    for item in items {
        let _ = writeln!(out, "- {}", prose(item));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Prose of page.toml and claims.toml: Markdown is welcome there; only tags and tildes (which would strike out) are made harmless.
pub fn prose(raw: &str) -> String {
    let joined = raw.split_whitespace().collect::<Vec<_>>().join(" ");
    // Inside backticks Markdown prints entities literally, so only the text between code spans is escaped.
    let mut out = String::with_capacity(joined.len());
    for (position, part) in joined.split('`').enumerate() {
        if position > 0 {
            out.push('`');
        }
        if position % 2 == 1 {
            out.push_str(part);
        } else {
            out.push_str(&part.replace('<', "&lt;").replace('>', "&gt;").replace('~', TILDE));
        }
    }
    out
}

/// Prose for a table cell: as [`prose`], with pipes escaped, in code spans too.
pub fn cell(raw: &str) -> String {
    prose(raw).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_tags_and_line_breaks_cannot_break_a_table() {
        assert_eq!(text("a|b <script>\nc~d *e"), "a\\|b &lt;script&gt; c&#126;d \\*e");
        assert_eq!(cell("a | `x<y|z` <b>"), "a \\| `x<y\\|z` &lt;b&gt;");
        let mut table = Table::new(&[("one", Align::Left), ("two", Align::Right)]);
        table.row(vec!["x".to_owned()]);
        assert_eq!(table.render(), "| one | two |\n| --- | --: |\n| x |  |\n");
    }

    #[test]
    fn anchors_hold_only_what_a_link_may_hold() {
        assert_eq!(anchor("txn_engine", "T1"), "txn_engine-t1");
        assert_eq!(anchor("a b", "x|y"), "a-b-x-y");
    }
}
