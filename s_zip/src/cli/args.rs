//! What can be typed: one closed set of commands.

use std::num::NonZero;
use std::path::PathBuf;

use anyhow::{Error, bail};
use clap::{Args, Parser, ValueEnum};

use crate::options::Compression;
use crate::reader::Limits;

const EXAMPLES: &str = "Examples:
  s_zip create notes.zip notes/ todo.txt
  s_zip list notes.zip
  s_zip test notes.zip && rm -r notes/
  s_zip extract notes.zip --into /tmp/notes
  s_zip extract upload.zip --into inbox/ --limit-bytes 100000000 --limit-entries 1000
  pg_dump shop | s_zip create shop.zip - --stdin-name shop.sql
  s_zip create - notes/ | ssh host 's_zip extract - --into notes'

Exit codes: 0 done, 1 ran and found failures (a damaged archive, a file that changed or vanished), 2 could not run.";
const CREATE: &str = "OUT appears only when it is complete. The same files give the same bytes at any time, unless --keep-times is given.
Folders are taken with all they hold, in the order of their names; symbolic links are never followed.
A file or folder that cannot be read, or is gone by then, is left out with a warning.
Exit codes: 0 done, 1 done but a file was left out or changed while it was read, 2 there is no archive, or part of one on standard output.";
const LIST: &str = "Times are UTC. Characters of names that could act on the terminal are escaped.";
const TEST: &str = "Every byte is read and checked against its CRC-32, every name for whether extract would take it; nothing is written.
Exit codes: 0 whole, 1 damaged or unsafe, 2 could not be tested.";
const EXTRACT: &str = "Nothing is written outside the folder, and no file that exists is replaced. Files without recorded permissions follow the umask.
Permissions and times that the file system refuses are told in a warning.
Exit codes: 0 done, 1 done but for entries left out by --skip-bad, 2 refused or failed.";

/// Makes ZIP archives from front to back, in constant memory, and reads those of others within limits.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub enum Command {
    /// Make an archive of files, folders or standard input
    #[command(after_help = CREATE)]
    Create(Create),
    /// Print what an archive holds
    #[command(after_help = LIST)]
    List(Archive),
    /// Check an archive without writing anything
    #[command(after_help = TEST)]
    Test {
        #[command(flatten)]
        archive: Archive,
        /// Go on after an entry that is refused or damaged
        #[arg(long)]
        skip_bad: bool,
    },
    /// Write what an archive holds to a folder
    #[command(after_help = EXTRACT)]
    Extract {
        #[command(flatten)]
        archive: Archive,
        /// The folder, created if it is missing
        #[arg(long, value_name = "DIR", default_value = ".")]
        into: PathBuf,
        /// Leave out entries that are refused or damaged, and extract the rest
        #[arg(long)]
        skip_bad: bool,
        /// Extract on N threads, at most 16; how many does not change the result [default: one per core]
        #[arg(long, value_name = "N")]
        jobs: Option<NonZero<usize>>,
    },
}

/// An archive to make.
#[derive(Debug, Args)]
pub struct Create {
    /// The archive to make; - writes to standard output
    pub out: PathBuf,
    /// Files and folders, named from here; - reads standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// 0 (none) to 9 (best) for deflate [default: 6], 1 to 22 for zstd [default: 3]
    #[arg(long, value_name = "N")]
    level: Option<u32>,
    /// How data is compressed
    #[arg(long, value_enum, default_value_t = Method::Deflate)]
    method: Method,
    /// Compress on N threads, at most one per core; how many does not change the bytes
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// Use the async writer, which makes the same bytes
    #[arg(long = "async", conflicts_with = "jobs")]
    pub run_async: bool,
    /// The name for what comes from standard input
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    pub stdin_name: String,
    /// Keep the time of the last change and the permissions (default: 1980-01-01, 0644 or 0755)
    #[arg(long)]
    pub keep_times: bool,
    /// Leave out symbolic links, devices, pipes and sockets with a warning, instead of refusing them
    #[arg(long)]
    pub skip_special: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// What every reader knows
    Deflate,
    /// Not at all: stored if it fits the output buffer, otherwise in uncompressed blocks of Deflate
    #[value(alias = "stored")]
    None,
    /// Zstandard: faster and smaller, and unknown to many readers
    #[cfg(feature = "zstd")]
    Zstd,
}

/// An archive to read, and how far it is trusted.
#[derive(Debug, Args)]
pub struct Archive {
    /// The archive; - reads standard input
    #[arg(value_name = "ARCHIVE")]
    pub file: PathBuf,
    /// Refuse more uncompressed bytes than this
    #[arg(long, value_name = "N", default_value_t = Limits::default().bytes)]
    limit_bytes: u64,
    /// Refuse more entries than this
    #[arg(long, value_name = "N", default_value_t = Limits::default().entries)]
    limit_entries: u64,
    /// Refuse more uncompressed bytes per compressed byte than this, beyond the first 128 MiB
    #[arg(long, value_name = "N", default_value_t = Limits::default().ratio)]
    limit_ratio: u64,
}

impl Create {
    pub fn compression(&self) -> Result<Compression, Error> {
        Ok(match (self.method, self.level) {
            (Method::Deflate, level) => Compression::Deflate(level.unwrap_or(6)),
            (Method::None, None) => Compression::None,
            (Method::None, Some(_)) => bail!("--method none has no level: leave out --level"),
            #[cfg(feature = "zstd")]
            (Method::Zstd, level) => Compression::Zstd(level.unwrap_or(3)),
        })
    }
}

impl Archive {
    pub fn limits(&self) -> Limits {
        let Archive { limit_entries: entries, limit_bytes: bytes, limit_ratio: ratio, .. } = *self;
        Limits { entries, bytes, ratio, ..Limits::default() }
    }
}
