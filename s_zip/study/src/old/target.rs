//! Where an archive goes, and whether what arrived is right.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use study_kit::file_error;
use tempfile::TempDir;

use super::StudyError;
use super::arms::input::Input;
use super::sinks::Ends;
use crate::{Limits, StreamingZipReader};

/// Names the data folder, in which each study has one of its own.
pub const DATA_VARIABLE: &str = "AWAIT_OR_NOT_DATA";
/// A file system in memory, where there is one.
const MEMORY_FOLDER: &str = "/dev/shm";

/// Where the archives of a scenario go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A file in memory.
    Tmpfs,
    /// A file in the study's data folder.
    Disk,
    /// A vector.
    Memory,
    /// A sink that keeps only the ends.
    Ends,
    /// A pipe that a thread reads.
    Pipe,
    /// A sink that waits so many milliseconds before each write.
    Slow(u64),
}

/// Where one archive goes.
#[derive(Debug, Clone)]
pub enum Target {
    /// A file, made anew.
    File(PathBuf),
    /// A vector.
    Memory,
    /// A sink that keeps only the ends.
    Ends,
    /// A pipe that a thread reads.
    Pipe,
    /// A sink that waits before each write.
    Slow(Duration),
}

/// An archive that was written.
#[derive(Debug)]
pub enum Archive {
    /// A file.
    File(PathBuf),
    /// Its bytes.
    Memory(Vec<u8>),
    /// Its ends.
    Ends(Box<Ends>),
}

/// A folder for files of one run; gone with it.
#[derive(Debug)]
pub struct Folder {
    folder: Option<TempDir>,
}

impl Folder {
    /// The folder that `place` needs.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(place: Place) -> Result<Self, StudyError> {
        let parent = match place {
            Place::Tmpfs => memory_folder(),
            Place::Disk => data_folder(),
            _ => return Ok(Folder { folder: None }),
        };
        let make = || {
            std::fs::create_dir_all(&parent)?;
            tempfile::Builder::new().prefix("s_zip-").tempdir_in(&parent)
        };
        let folder = make().map_err(|source| file_error("create a folder in", &parent, source))?;
        Ok(Folder { folder: Some(folder) })
    }

    /// The target of archive number `index`.
    #[must_use]
    pub fn target(&self, place: Place, index: usize) -> Target {
        match (place, &self.folder) {
            (Place::Tmpfs | Place::Disk, Some(folder)) => Target::File(folder.path().join(format!("{index}.zip"))),
            (Place::Ends, _) => Target::Ends,
            (Place::Pipe, _) => Target::Pipe,
            (Place::Slow(milliseconds), _) => Target::Slow(Duration::from_millis(milliseconds)),
            _ => Target::Memory,
        }
    }
}

fn memory_folder() -> PathBuf {
    if Path::new(MEMORY_FOLDER).is_dir() { PathBuf::from(MEMORY_FOLDER) } else { std::env::temp_dir() }
}

/// The study's data folder.
fn data_folder() -> PathBuf {
    let root = std::env::var_os(DATA_VARIABLE).map(PathBuf::from);
    root.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/data")).join("s_zip")
}

/// What an archive turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Fingerprint of names, sizes and CRCs.
    pub digest: String,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Bytes of its entries when compressed.
    pub compressed_bytes: u64,
}

impl Archive {
    /// Reads the archive back and compares it with `input`.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn check(self, input: &Input) -> Result<Content, String> {
        match self {
            Archive::File(path) => {
                let file = File::open(&path).map_err(|error| format!("cannot open the archive: {error}"))?;
                check(BufReader::with_capacity(1 << 17, file), input, true)
            }
            Archive::Memory(bytes) => check(Cursor::new(bytes), input, true),
            Archive::Ends(ends) => check(*ends, input, false),
        }
    }
}

fn check(mut source: impl Read + Seek, input: &Input, whole: bool) -> Result<Content, String> {
    let archive_bytes = source.seek(std::io::SeekFrom::End(0)).map_err(|error| error.to_string())?;
    let limits = Limits { bytes: u64::MAX, ratio: u64::MAX, ..Limits::default() };
    let mut reader = StreamingZipReader::with_limits(source, limits).map_err(|error| error.to_string())?;
    let crc32 = input.entry_crc32();
    let mut hash = Sha256::new();
    let mut compressed_bytes = 0;
    let found = reader.entries().len();
    if found as u64 != input.entries {
        return Err(format!("{found} entries, expected {}", input.entries));
    }
    for (index, entry) in (0..).zip(reader.entries()) {
        if entry.name != Input::name(index) || entry.uncompressed != input.entry_bytes() || entry.crc32 != crc32 {
            return Err(format!(
                "entry {index} is {:?} of {} bytes with CRC {:08x}, expected {:?} of {} bytes with CRC {crc32:08x}",
                entry.name,
                entry.uncompressed,
                entry.crc32,
                Input::name(index),
                input.entry_bytes()
            ));
        }
        hash.update(format!("{} {} {:08x}\n", entry.name, entry.uncompressed, entry.crc32));
        compressed_bytes += entry.compressed;
    }
    if whole {
        reader.test().map_err(|error| error.to_string())?;
    }
    let mut digest = String::new();
    for byte in hash.finalize().iter().take(8) {
        let _ = write!(digest, "{byte:02x}");
    }
    Ok(Content { digest, archive_bytes, compressed_bytes })
}
