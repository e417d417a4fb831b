//! What can be wrong with a row, and what can stop a run.

use std::io;
use std::path::PathBuf;
use std::thread;

/// How many row errors are kept with their line number; all are counted.
pub const FIRST_ERRORS: usize = 20;

/// Why a row was not applied, in the order of the checks. Row errors are data: they are counted and never stop a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, displaydoc::Display, strum::IntoStaticStr, strum::VariantArray)]
#[repr(u8)]
pub enum ErrorKind {
    /// the line is longer than 65,536 bytes
    LineTooLong,
    /// a quote is not closed on its line
    OpenQuote,
    /// a needed field is missing
    MissingField,
    /// a needed field is not UTF-8
    NotUtf8,
    /// the type is not one of deposit, withdrawal, dispute, resolve, chargeback
    UnknownType,
    /// the client is not in 0..=65535, or the tx is not in 0..=4294967295
    BadNumber,
    /// the amount is not a decimal number with at most four decimals, or has more than 64 bits
    BadAmount,
    /// a deposit or withdrawal needs an amount
    NoAmount,
    /// the amount is not above zero
    NotPositive,
    /// the transaction id was used before
    RepeatedTx,
    /// the account is locked
    AccountLocked,
    /// the client has no account
    AccountNotFound,
    /// the available funds are too low
    InsufficientFunds,
    /// a balance would leave the range of 64 bits
    Overflow,
    /// no accepted transaction has this id
    TxNotFound,
    /// the transaction belongs to another client
    DifferentClient,
    /// the transaction is under dispute already
    AlreadyDisputed,
    /// the transaction is not under dispute
    NotDisputed,
}

impl ErrorKind {
    pub const ALL: &[ErrorKind] = <ErrorKind as strum::VariantArray>::VARIANTS;

    /// The kind's name, as the counts print it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Row errors of a run: all counted by kind, the first [`FIRST_ERRORS`] with their line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorLog {
    counts: [u64; ErrorKind::ALL.len()],
    pub first: Vec<(u64, ErrorKind)>,
}

impl ErrorLog {
    /// Counts an error of `kind` in `line` (the first line of a file is 1).
    pub fn add(&mut self, line: u64, kind: ErrorKind) {
        self.counts[kind as usize] += 1;
        if self.first.len() < FIRST_ERRORS {
            self.first.push((line, kind));
        }
    }

    /// Adds the errors of `other`, whose lines come after these.
    pub fn append(&mut self, other: ErrorLog) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        let room = FIRST_ERRORS - self.first.len();
        self.first.extend(other.first.into_iter().take(room));
    }

    /// How many errors of this kind there were.
    pub fn count(&self, kind: ErrorKind) -> u64 {
        self.counts[kind as usize]
    }

    /// How many errors there were.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// What stops a run; each message names the remedy. `name` is a file as the user named it, `source` the cause.
#[derive(Debug, displaydoc::Display, thiserror::Error)]
pub enum Error {
    /// cannot read {name}
    Read { name: String, source: io::Error },
    /// {name} is empty: the first line must be the header type,client,tx,amount
    Empty { name: String },
    /// {name} has no column '{column}': the first line must name type, client, tx and amount
    MissingColumn { name: String, column: &'static str },
    /// {name} has the column '{column}' twice: keep one
    DuplicateColumn { name: String, column: &'static str },
    /// the header line of {name} is longer than 65,536 bytes: is it a CSV file?
    LongHeader { name: String },
    /// the header line of {name} has a carriage return in it: end lines with LF or CR LF
    LoneCarriageReturn { name: String },
    /// the header line of {name} has a quote that is not closed
    OpenQuote { name: String },
    /// cannot write generated rows to a temporary file
    Generate(#[source] io::Error),
    /// a worker thread died: {message}
    Worker { message: String },
    /// cannot start the async runtime
    Runtime(#[source] io::Error),
    /// cannot start a thread
    Thread(#[source] io::Error),
    /// cannot listen on {address}: choose another with --addr, a host and a port, as localhost:8820
    Listen { address: String, source: io::Error },
    /// cannot connect to {address}: is the server up? (--addr is a host and a port, as localhost:8820)
    Connect { address: String, source: io::Error },
    /// cannot open {clients} connections: {most} are the most here (ulimit -n)
    TooManyClients { clients: usize, most: usize },
    /// cannot start {threads} threads: {reason}
    Threads { threads: usize, reason: String },
    /// {path} is in use by {holder}: wait until it ends, or dump to another folder
    DumpInUse { path: PathBuf, holder: String },
    /// cannot lock {path}: nothing keeps other runs from dumping there at the same time
    LockDump { path: PathBuf, source: io::Error },
    /// cannot write the dump to {path}: the session that stood there before is untouched
    WriteDump { path: PathBuf, source: io::Error },
    /// the new session stands in {path}, but may not outlast a power cut: cannot sync the folder
    SyncDump { path: PathBuf, source: io::Error },
    /// cannot read the dump in {path}
    ReadDump { path: PathBuf, source: io::Error },
    /// the dump in {path} is refused: {reason}
    RefusedDump { path: PathBuf, reason: String },
}

/// What a thread came to; what it panicked with is an error of the run.
pub(crate) fn joined<T>(thread: thread::Result<T>) -> Result<T, Error> {
    thread.map_err(|panic| {
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Error::Worker { message: message.unwrap_or_else(|| "without a message".to_owned()) }
    })
}
