//! Where an archive goes, and whether what arrived is right.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use s_zip::{Limits, StreamingZipReader};
use sha2::{Digest, Sha256};
use study_kit::data;
use tempfile::TempDir;

use crate::input::Input;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A file in memory, made anew.
    Tmpfs,
    /// A file in the study's data folder, made anew.
    Disk,
    Memory,
}

impl Place {
    /// A folder for files of one run; gone with it.
    pub fn folder(self) -> Result<TempDir> {
        let parent = if self == Place::Disk { data::folder("s_zip") } else { data::memory_folder("s_zip") };
        let make = || {
            std::fs::create_dir_all(&parent)?;
            tempfile::Builder::new().prefix("s_zip-").tempdir_in(&parent)
        };
        make().with_context(|| format!("cannot create a folder in {}", parent.display()))
    }
}

#[derive(Debug)]
pub enum Archive {
    File(PathBuf),
    Memory(Vec<u8>),
}

/// What an archive turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Fingerprint of names, sizes and CRCs.
    pub digest: String,
    pub archive_bytes: u64,
    /// Bytes of its entries when compressed.
    pub compressed_bytes: u64,
}

impl Content {
    pub fn metrics(&self) -> [(&'static str, f64); 2] {
        [("archive_bytes", self.archive_bytes as f64), ("compressed_bytes", self.compressed_bytes as f64)]
    }
}

impl Archive {
    /// Reads the archive back and compares it with `input`.
    pub fn check(self, input: &Input) -> Result<Content> {
        let content = match self {
            Archive::File(path) => File::open(&path)
                .context("cannot open the archive")
                .and_then(|file| check(BufReader::with_capacity(1 << 17, file), input)),
            Archive::Memory(bytes) => check(Cursor::new(bytes), input),
        };
        content.context("wrong answer")
    }
}

fn check(mut source: impl Read + Seek, input: &Input) -> Result<Content> {
    let archive_bytes = source.seek(SeekFrom::End(0))?;
    let limits = Limits { bytes: u64::MAX, ratio: u64::MAX, ..Limits::default() };
    let mut reader = StreamingZipReader::with_limits(source, limits)?;
    let (entry_bytes, crc32) = (input.shape.entry_bytes(), input.entry_crc32());
    let mut hash = Sha256::new();
    let mut compressed_bytes = 0;
    let found = reader.entries().len();
    ensure!(found as u64 == input.shape.entries, "{found} entries, expected {}", input.shape.entries);
    for (index, entry) in (0..).zip(reader.entries()) {
        let line = |name: &str, bytes, crc32| format!("{name} {bytes} {crc32:08x}\n");
        let found = line(&entry.name, entry.uncompressed, entry.crc32);
        let expected = line(&Input::name(index), entry_bytes, crc32);
        ensure!(found == expected, "name, bytes and CRC of entry {index} are {found:?}, expected {expected:?}");
        hash.update(found);
        compressed_bytes += entry.compressed;
    }
    reader.test()?;
    let digest = hash.finalize().iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    let digest = format!("{digest:016x}");
    Ok(Content { digest, archive_bytes, compressed_bytes })
}
