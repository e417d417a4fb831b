//! From physical lines to entries, with csv's own parser.

use csv_core::ReadRecordResult;

use crate::amount::Amount;
use crate::error::{Error, ErrorKind};
use crate::row::{Entry, Kind, Row, parse_id};
use crate::window;

/// Longest physical line, in bytes without its line break, quotes included.
pub const MAX_LINE_BYTES: usize = 65_536;

/// The needed columns, by their names in the header.
pub(crate) const NAMES: [&str; 4] = ["type", "client", "tx", "amount"];

/// Where the needed columns stand in a line, in the order of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns([usize; NAMES.len()]);

impl Columns {
    pub const IN_ORDER: Columns = Columns([0, 1, 2, 3]);

    /// Finds the columns in the header line of the file called `name`; none may be missing or occur twice.
    pub fn from_header(line: &[u8], name: &str) -> Result<Self, Error> {
        // Of a file whose lines end with CR alone every row would be part of the header.
        if line.trim_ascii_end().contains(&b'\r') {
            return Err(Error::LoneCarriageReturn { name: name.to_owned() });
        }
        let mut splitter = Splitter::new(usize::MAX);
        let terminated = [line, b"\n"].concat();
        let fields = splitter.split(&terminated).map_err(|_| Error::OpenQuote { name: name.to_owned() })?;
        let mut columns = Columns::IN_ORDER;
        for (place, &column) in columns.0.iter_mut().zip(&NAMES) {
            let is_it =
                |&index: &usize| fields.get(index).is_some_and(|field| field.eq_ignore_ascii_case(column.as_bytes()));
            let mut found = (0..fields.ends.len()).filter(is_it);
            *place = found.next().ok_or_else(|| Error::MissingColumn { name: name.to_owned(), column })?;
            if found.next().is_some() {
                return Err(Error::DuplicateColumn { name: name.to_owned(), column });
            }
        }
        Ok(columns)
    }
}

/// Splits lines into fields, each alone: a quote must be closed on its line, so that a file may be cut at any line break.
struct Splitter {
    parser: csv_core::Reader,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// No more fields than this are looked for.
    most: usize,
}

#[derive(Clone, Copy)]
struct Fields<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Fields<'a> {
    /// The field at `index` without white space around it.
    fn get(&self, index: usize) -> Option<&'a [u8]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(trim(&self.bytes[start..end]))
    }
}

/// `trim_ascii`, with the common case, nothing to trim, decided by two bytes.
#[inline]
fn trim(field: &[u8]) -> &[u8] {
    match field {
        [first, .., last] if *first > b' ' && *last > b' ' => field,
        _ => field.trim_ascii(),
    }
}

impl Splitter {
    fn new(most: usize) -> Self {
        let parser = csv_core::ReaderBuilder::new().terminator(csv_core::Terminator::Any(b'\n')).build();
        let mut splitter = Splitter { parser, bytes: vec![0; 256], ends: vec![0; most.min(16)], most };
        splitter.restart();
        splitter
    }

    /// Puts the parser at the start of a line that is not the first of its input: there it would drop a byte order mark, and
    /// in the middle of a file that is part of a field.
    fn restart(&mut self) {
        self.parser.reset();
        let _ = self.parser.read_record(b"x\n", &mut [0; 8], &mut [0; 8]);
    }

    /// Splits `line`, which ends with `\n`; fails if a quote of it is never closed.
    fn split(&mut self, line: &[u8]) -> Result<Fields<'_>, ErrorKind> {
        if self.bytes.len() < line.len() {
            self.bytes.resize(line.len(), 0);
        }
        let (mut rest, mut written, mut ended) = (line, 0, 0);
        // Where fields end that nobody needs.
        let mut unneeded = [0; 16];
        loop {
            let full = ended == self.most;
            let room = if full { &mut unneeded[..] } else { &mut self.ends[ended..] };
            let (result, read, wrote, ends) = self.parser.read_record(rest, &mut self.bytes[written..], room);
            rest = &rest[read..];
            written += wrote;
            ended += if full { 0 } else { ends };
            match result {
                ReadRecordResult::Record => break,
                // An open quote has swallowed the line break.
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {
                    self.restart();
                    return Err(ErrorKind::OpenQuote);
                }
                ReadRecordResult::OutputFull => {}
                ReadRecordResult::OutputEndsFull if ended < self.most => {
                    let more = (self.ends.len() * 2).min(self.most);
                    self.ends.resize(more, 0);
                }
                ReadRecordResult::OutputEndsFull if memchr::memchr(b'"', rest).is_some() => {}
                ReadRecordResult::OutputEndsFull => {
                    self.restart();
                    break;
                }
            }
        }
        Ok(Fields { bytes: &self.bytes[..written], ends: &self.ends[..ended] })
    }
}

/// How the fields of a line become a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Straight from the bytes of the line, by csv's parser.
    Bytes,
    /// The same, but short lines that hide nothing are cut out of a window of 64 bytes at once.
    Windows,
}

pub struct Parser {
    columns: Columns,
    reading: Reading,
    splitter: Splitter,
}

impl Parser {
    pub fn new(columns: Columns, reading: Reading) -> Self {
        let last_needed = columns.0.into_iter().fold(0, usize::max);
        Parser { columns, reading, splitter: Splitter::new(last_needed + 1) }
    }

    /// Hands every entry of `block`, whose first line has the number `line`, to `sink`; returns the number of the line after it.
    /// Blank lines are counted and skipped. Stops early if `sink` returns false.
    pub fn read_block(&mut self, block: &[u8], mut line: u64, mut sink: impl FnMut(Entry) -> bool) -> u64 {
        let mut rest = block;
        loop {
            let row = match (self.reading, self.columns) {
                (Reading::Bytes, _) => None,
                (Reading::Windows, Columns::IN_ORDER) => window::read(rest, Columns::IN_ORDER.0),
                (Reading::Windows, Columns(columns)) => window::read(rest, columns),
            };
            let len = if let Some((row, len)) = row {
                if !sink(Entry { line, row: Ok(row) }) {
                    return line;
                }
                len
            } else {
                let Some(end) = memchr::memchr(b'\n', rest) else {
                    return line;
                };
                if self.read_line(&rest[..=end], line).is_some_and(|entry| !sink(entry)) {
                    return line;
                }
                end + 1
            };
            rest = &rest[len..];
            line += 1;
        }
    }

    /// Reads one line, which ends with `\n`; `None` if it is blank.
    #[inline]
    fn read_line(&mut self, text: &[u8], line: u64) -> Option<Entry> {
        if text.len() > MAX_LINE_BYTES + 1 {
            return Some(Entry { line, row: Err(ErrorKind::LineTooLong) });
        }
        // A line that starts with a letter is not blank; only the others are looked at as a whole.
        if text[0] <= b' ' && text.trim_ascii().is_empty() {
            return None;
        }
        let row = self.splitter.split(text).and_then(|fields| read_row(fields, self.columns));
        Some(Entry { line, row })
    }
}

/// Reads the needed fields in the order type, client, tx, amount; the first that fails decides.
#[inline]
fn read_row(fields: Fields<'_>, columns: Columns) -> Result<Row, ErrorKind> {
    let Columns([kind, client, tx, amount]) = columns;
    let field = |index| fields.get(index).filter(|text: &&[u8]| !text.is_empty());
    let needed = |index| field(index).ok_or(ErrorKind::MissingField);
    let text = needed(kind)?;
    let kind = Kind::parse(text).ok_or_else(|| fault(text, ErrorKind::UnknownType))?;
    let text = needed(client)?;
    let client =
        parse_id(text).and_then(|id| u16::try_from(id).ok()).ok_or_else(|| fault(text, ErrorKind::BadNumber))?;
    let text = needed(tx)?;
    let tx = parse_id(text).ok_or_else(|| fault(text, ErrorKind::BadNumber))?;
    let amount = match field(amount) {
        Some(text) if kind.needs_amount() => {
            Some(Amount::parse(text).ok_or_else(|| fault(text, ErrorKind::BadAmount))?)
        }
        _ => None,
    };
    Ok(Row { amount, tx, client, kind })
}

/// The error of a field that could not be read: not being text comes first.
#[cold]
fn fault(text: &[u8], kind: ErrorKind) -> ErrorKind {
    if std::str::from_utf8(text).is_ok() { kind } else { ErrorKind::NotUtf8 }
}
