//! What can stop a writer; each message names the remedy.

use std::io;

use crate::name::NameFault;

/// The error of a part whose own type is nobody's business.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a call to a writer failed.
///
/// Names are shortened if they are long. A refused call (a name, an option, a state) leaves the writer as it was. A failed write to the sink, a
/// broken promise about an entry's size or CRC, or a dropped future poisons it: what the sink holds then is not an archive, and every later call says
/// so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot write the archive")]
    Sink(#[source] io::Error),
    #[error("cannot create {path}")]
    Create { path: String, source: io::Error },
    #[error("an earlier write failed or was dropped: the archive is incomplete, start it anew")]
    Poisoned,
    #[error("the name {name:?} is refused: {fault}")]
    BadName { name: String, fault: NameFault },
    #[error("the archive has an entry named {name:?} already")]
    DuplicateName { name: String },
    #[error("the name {name:?} ends in a slash: use add_directory")]
    DirectoryName { name: String },
    #[error("no entry is open: call start_entry before write_data")]
    NoEntry,
    #[error("level {level} is out of range: {method} takes {range}")]
    BadLevel { level: u32, method: &'static str, range: &'static str },
    #[error("a comment of {bytes} bytes is too long: 65,535 is the most")]
    LongComment { bytes: usize },
    /// A name or comment holds the signature of an end record: readers could take it for the end of the archive, and some do.
    #[error(
        "a name or comment holds the bytes PK\\x05\\x06, by which readers find the end of an archive: leave them out"
    )]
    EndInText,
    #[error("this writer compresses all entries alike: leave out the entry's compression, or use StreamingZipWriter")]
    OneCompression,
    #[error("an entry is still open: finish every entry before the archive")]
    OpenEntries,
    #[error("the entry {name:?} was announced with {announced} and got {got}")]
    BrokenPromise { name: String, announced: String, got: String },
    #[error("the compressor failed")]
    Compressor(#[source] Cause),
    #[error("block_in_place needs tokio's multi-thread runtime: choose another compression policy, or that runtime")]
    NeedsThreads,
    #[error("offloaded compression needs a tokio runtime: call from one, or compress inline")]
    NeedsRuntime,
    /// A thread pool cannot be started, or a worker died.
    #[error("the worker threads failed")]
    Workers(#[source] Cause),
}

impl From<Error> for io::Error {
    /// With the [`Error`] inside, and of the kind that a failed sink or file told, unless that kind means "try again": the archive is lost.
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Sink(source) | Error::Create { source, .. } => source.kind(),
            _ => io::ErrorKind::Other,
        };
        let is_final = !matches!(kind, io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock);
        io::Error::new(if is_final { kind } else { io::ErrorKind::Other }, error)
    }
}

pub type Result<T> = std::result::Result<T, Error>;
