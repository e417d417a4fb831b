//! What every way of processing has in common: reading an input and counting what comes of its rows.

use crate::books::Books;
use crate::error::{Error, ErrorKind, ErrorLog};
use crate::input::Input;
use crate::parse::{Parser, Reading};
use crate::row::{Entry, Row};
use crate::setup::Setup;
use crate::usage;

/// What every worker of a run is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) setup: Setup,
    pub(super) count_threads: bool,
}

impl Job {
    /// A tally without rows, with the number of threads there are now, if that is asked.
    pub(super) fn begun(self) -> Tally {
        let threads = if self.count_threads { usage::of_this_process().map(|process| process.threads) } else { None };
        Tally { threads, ..Tally::default() }
    }
}

/// Where the rows went, and what was counted.
pub(super) type Done = Result<(Box<dyn Books>, Tally), Error>;

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) accepted: u64,
    pub(super) errors: ErrorLog,
    pub(super) messages: u64,
    pub(super) threads: Option<u64>,
}

impl Tally {
    /// Applies `entry` by `process` and counts what comes of it.
    #[inline]
    pub(super) fn take(&mut self, entry: &Entry, process: impl FnOnce(&Row) -> Result<(), ErrorKind>) {
        match entry.row.as_ref().map_err(|&kind| kind).and_then(process) {
            Ok(()) => self.accepted += 1,
            Err(kind) => self.errors.add(entry.line, kind),
        }
    }

    /// Adds what another consumer counted in rows that come after these.
    pub(super) fn append(&mut self, other: Tally) {
        self.accepted += other.accepted;
        self.messages += other.messages;
        self.errors.append(other.errors);
    }
}

/// Hands every entry of `input` to `sink`, until it returns false.
pub(super) fn read_entries(
    mut input: Input,
    reading: Reading,
    mut sink: impl FnMut(Entry) -> bool,
) -> Result<(), Error> {
    let mut parser = Parser::new(input.columns, reading);
    let mut line = input.next_line;
    let mut block = Vec::new();
    let mut wanted = true;
    while wanted && input.next_block(&mut block)? {
        line = parser.read_block(&block, line, |entry| {
            wanted = sink(entry);
            wanted
        });
    }
    Ok(())
}
