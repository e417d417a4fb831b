//! What can be wrong with a row, and what can stop a run.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// How many row errors are kept with their line number; all are counted.
pub const FIRST_ERRORS: usize = 20;

/// Why a row was not applied. Row errors are data: they are counted and never stop a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ErrorKind {
    /// The physical line is longer than 64 KiB.
    LineTooLong,
    /// A needed field is absent or empty.
    MissingField,
    /// A needed field is not UTF-8.
    NotUtf8,
    /// The type is none of the five.
    UnknownType,
    /// Client or transaction id is not a number in range.
    BadNumber,
    /// The amount is not a decimal number with at most four significant decimals.
    BadAmount,
    /// A deposit or withdrawal without an amount.
    NoAmount,
    /// A deposit or withdrawal of zero or less.
    NotPositive,
    /// The transaction id was used by an accepted deposit or withdrawal.
    RepeatedTx,
    /// The account was charged back before.
    AccountLocked,
    /// No accepted deposit created this account.
    AccountNotFound,
    /// The withdrawal exceeds what is available.
    InsufficientFunds,
    /// A balance would leave 64 bits.
    Overflow,
    /// The transaction named was never accepted.
    TxNotFound,
    /// The transaction named belongs to another client.
    DifferentClient,
    /// The transaction is under dispute already.
    AlreadyDisputed,
    /// The transaction is not under dispute.
    NotDisputed,
}

impl ErrorKind {
    /// Every kind, in the order of their checks: reading first, then the engine.
    pub const ALL: [ErrorKind; 17] = [
        ErrorKind::LineTooLong,
        ErrorKind::MissingField,
        ErrorKind::NotUtf8,
        ErrorKind::UnknownType,
        ErrorKind::BadNumber,
        ErrorKind::BadAmount,
        ErrorKind::NoAmount,
        ErrorKind::NotPositive,
        ErrorKind::RepeatedTx,
        ErrorKind::AccountLocked,
        ErrorKind::AccountNotFound,
        ErrorKind::InsufficientFunds,
        ErrorKind::Overflow,
        ErrorKind::TxNotFound,
        ErrorKind::DifferentClient,
        ErrorKind::AlreadyDisputed,
        ErrorKind::NotDisputed,
    ];

    /// The kind's name, as the counts print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::LineTooLong => "LineTooLong",
            ErrorKind::MissingField => "MissingField",
            ErrorKind::NotUtf8 => "NotUtf8",
            ErrorKind::UnknownType => "UnknownType",
            ErrorKind::BadNumber => "BadNumber",
            ErrorKind::BadAmount => "BadAmount",
            ErrorKind::NoAmount => "NoAmount",
            ErrorKind::NotPositive => "NotPositive",
            ErrorKind::RepeatedTx => "RepeatedTx",
            ErrorKind::AccountLocked => "AccountLocked",
            ErrorKind::AccountNotFound => "AccountNotFound",
            ErrorKind::InsufficientFunds => "InsufficientFunds",
            ErrorKind::Overflow => "Overflow",
            ErrorKind::TxNotFound => "TxNotFound",
            ErrorKind::DifferentClient => "DifferentClient",
            ErrorKind::AlreadyDisputed => "AlreadyDisputed",
            ErrorKind::NotDisputed => "NotDisputed",
        }
    }

    /// What is wrong, in words.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            ErrorKind::LineTooLong => "the line is longer than 65,536 bytes",
            ErrorKind::MissingField => "a needed field is missing",
            ErrorKind::NotUtf8 => "a needed field is not UTF-8",
            ErrorKind::UnknownType => "the type is not one of deposit, withdrawal, dispute, resolve, chargeback",
            ErrorKind::BadNumber => "the client is not in 0..=65535, or the tx is not in 0..=4294967295",
            ErrorKind::BadAmount => "the amount is not a decimal number with at most four decimals",
            ErrorKind::NoAmount => "a deposit or withdrawal needs an amount",
            ErrorKind::NotPositive => "the amount is not above zero",
            ErrorKind::RepeatedTx => "the transaction id was used before",
            ErrorKind::AccountLocked => "the account is locked",
            ErrorKind::AccountNotFound => "the client has no account",
            ErrorKind::InsufficientFunds => "the available funds are too low",
            ErrorKind::Overflow => "a balance would leave the range of 64 bits",
            ErrorKind::TxNotFound => "no accepted transaction has this id",
            ErrorKind::DifferentClient => "the transaction belongs to another client",
            ErrorKind::AlreadyDisputed => "the transaction is under dispute already",
            ErrorKind::NotDisputed => "the transaction is not under dispute",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

/// Row errors of a run: all counted by kind, the first [`FIRST_ERRORS`] with their line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorLog {
    counts: [u64; ErrorKind::ALL.len()],
    first: Vec<(u64, ErrorKind)>,
    /// Messages of all errors, kept only on request: the published engine formats and keeps every one.
    messages: Option<Vec<String>>,
}

impl ErrorLog {
    /// A log that formats and keeps a message for every error, as the published engine does; its memory grows with the errors.
    #[must_use]
    pub fn with_messages() -> Self {
        ErrorLog { messages: Some(Vec::new()), ..ErrorLog::default() }
    }

    /// An empty log of the same manner.
    #[must_use]
    pub fn fresh(&self) -> Self {
        if self.messages.is_some() { ErrorLog::with_messages() } else { ErrorLog::default() }
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
    /// A name that stands for nothing.
    #[error("unknown {what} '{given}': choose one of {choices}")]
    UnknownName {
        /// What was asked for.
        what: &'static str,
        /// What was given.
        given: String,
        /// What there is.
        choices: String,
    },
    /// Concurrent files share a client, although the arm keeps one engine per file.
    #[error("client {client} occurs in two files: the arm sync_unshared needs files without common clients")]
    SharedClient {
        /// The client.
        client: u16,
    },
    /// A thread of the arm died.
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
