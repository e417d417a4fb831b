//! What can be wrong with a row, and what can stop a run.

use std::any::Any;
use std::io;
use std::path::PathBuf;

/// How many row errors are kept with their line number; all are counted.
pub const FIRST_ERRORS: usize = 20;

/// Why a row was not applied. Row errors are data: they are counted and never stop a run.
///
/// They stand in the order of their checks: reading first, then the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, strum::IntoStaticStr, strum::VariantArray)]
#[repr(u8)]
pub enum ErrorKind {
    /// The physical line is longer than 64 KiB.
    #[error("the line is longer than 65,536 bytes")]
    LineTooLong,
    /// A needed field is absent or empty.
    #[error("a needed field is missing")]
    MissingField,
    /// A needed field is not UTF-8.
    #[error("a needed field is not UTF-8")]
    NotUtf8,
    /// The type is none of the five.
    #[error("the type is not one of deposit, withdrawal, dispute, resolve, chargeback")]
    UnknownType,
    /// Client or transaction id is not a number in range.
    #[error("the client is not in 0..=65535, or the tx is not in 0..=4294967295")]
    BadNumber,
    /// The amount is not a decimal number with at most four significant decimals.
    #[error("the amount is not a decimal number with at most four decimals")]
    BadAmount,
    /// A deposit or withdrawal without an amount.
    #[error("a deposit or withdrawal needs an amount")]
    NoAmount,
    /// A deposit or withdrawal of zero or less.
    #[error("the amount is not above zero")]
    NotPositive,
    /// The transaction id was used by an accepted deposit or withdrawal.
    #[error("the transaction id was used before")]
    RepeatedTx,
    /// The account was charged back before.
    #[error("the account is locked")]
    AccountLocked,
    /// No accepted deposit created this account.
    #[error("the client has no account")]
    AccountNotFound,
    /// The withdrawal exceeds what is available.
    #[error("the available funds are too low")]
    InsufficientFunds,
    /// A balance would leave 64 bits.
    #[error("a balance would leave the range of 64 bits")]
    Overflow,
    /// The transaction named was never accepted.
    #[error("no accepted transaction has this id")]
    TxNotFound,
    /// The transaction named belongs to another client.
    #[error("the transaction belongs to another client")]
    DifferentClient,
    /// The transaction is under dispute already.
    #[error("the transaction is under dispute already")]
    AlreadyDisputed,
    /// The transaction is not under dispute.
    #[error("the transaction is not under dispute")]
    NotDisputed,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: &[ErrorKind] = <ErrorKind as strum::VariantArray>::VARIANTS;

    /// The kind's name, as the counts print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is kept of row errors, beside their counts and the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// Nothing.
    Counts,
    /// A message for every one, as the published engine formats and keeps it; memory grows with the errors.
    Messages,
}

/// Row errors of a run: all counted by kind, the first [`FIRST_ERRORS`] with their line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorLog {
    counts: [u64; ErrorKind::ALL.len()],
    first: Vec<(u64, ErrorKind)>,
    /// Messages of all errors, if they are kept.
    messages: Option<Vec<String>>,
}

impl ErrorLog {
    /// An empty log.
    #[must_use]
    pub fn new(log: Log) -> Self {
        ErrorLog { messages: (log == Log::Messages).then(Vec::new), ..ErrorLog::default() }
    }

    /// Counts an error of `kind` in `line` (the first line of a file is 1).
    pub fn add(&mut self, line: u64, kind: ErrorKind) {
        self.counts[kind as usize] += 1;
        if self.first.len() < FIRST_ERRORS {
            self.first.push((line, kind));
        }
        if let Some(messages) = &mut self.messages {
            messages.push(format!("line {line}: {kind}"));
        }
    }

    /// Adds the errors of `other`, whose lines come after these.
    pub fn append(&mut self, other: ErrorLog) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        let room = FIRST_ERRORS - self.first.len();
        self.first.extend(other.first.into_iter().take(room));
        if let (Some(messages), Some(more)) = (&mut self.messages, other.messages) {
            messages.extend(more);
        }
    }

    /// How many errors of this kind there were.
    #[must_use]
    pub fn count(&self, kind: ErrorKind) -> u64 {
        self.counts[kind as usize]
    }

    /// How many errors there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The first errors with their lines.
    #[must_use]
    pub fn first(&self) -> &[(u64, ErrorKind)] {
        &self.first
    }
}

/// What stops a run; each message names the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("cannot read {name}")]
    Read {
        /// The file as the user named it.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// The file has no bytes, or only blank lines.
    #[error("{name} is empty: the first line must be the header type,client,tx,amount")]
    Empty {
        /// The file as the user named it.
        name: String,
    },
    /// The header lacks a needed column.
    #[error("{name} has no column '{column}': the first line must name type, client, tx and amount")]
    MissingColumn {
        /// The file as the user named it.
        name: String,
        /// The column.
        column: &'static str,
    },
    /// The header names a needed column twice.
    #[error("{name} has the column '{column}' twice: keep one")]
    DuplicateColumn {
        /// The file as the user named it.
        name: String,
        /// The column.
        column: &'static str,
    },
    /// The header line is longer than a line may be.
    #[error("the header line of {name} is longer than 65,536 bytes: is it a CSV file?")]
    LongHeader {
        /// The file as the user named it.
        name: String,
    },
    /// Concurrent files share a client, although each has an engine of its own.
    #[error("client {client} occurs in two files: an engine per file needs files without common clients")]
    SharedClient {
        /// The client.
        client: u16,
    },
    /// Test data cannot be written.
    #[error("cannot write generated rows to a temporary file")]
    Generate(#[source] io::Error),
    /// A thread of the run died.
    #[error("a worker thread died: {message}")]
    Worker {
        /// What it said.
        message: String,
    },
    /// The runtime cannot be started.
    #[error("cannot start the async runtime")]
    Runtime(#[source] io::Error),
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: choose another with --addr")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// Nobody can be talked to there.
    #[error("cannot {action} {address}: is the server up?")]
    Connect {
        /// What was tried.
        action: &'static str,
        /// Where.
        address: std::net::SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// A dump that cannot be written.
    #[error("cannot write the dump to {}: the session that stood there before is untouched", path.display())]
    WriteDump {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A dump that cannot be read.
    #[error("cannot read the dump in {}", path.display())]
    ReadDump {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A dump that is damaged, foreign or of another version.
    #[error("the dump in {} is refused: {reason}", path.display())]
    RefusedDump {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// What a thread panicked with, as an error of the run.
pub(crate) fn died(panic: &(dyn Any + Send)) -> Error {
    let message = panic.downcast_ref::<&str>().map(ToString::to_string);
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
    Error::Worker { message: message.unwrap_or_else(|| "without a message".to_owned()) }
}
