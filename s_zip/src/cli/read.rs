//! `list`, `test` and `extract`: archives that are not trusted.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, Write};
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Error, bail};

use super::args::Archive;
use super::exit;
use super::signals::{self, Cleanup};
use super::terminal::{complain, print};
use crate::format::{METHOD_DEFLATE, METHOD_STORED, METHOD_ZSTD};
use crate::name::{printable, printable_path};
use crate::reader::{Entry, ReadError, ReadOptions, StreamingZipReader, Summary, Unset};
use crate::time::civil;

type Reader = StreamingZipReader<BufReader<File>>;

pub fn list(archive: &Archive) -> Result<(), Error> {
    let reader = open(archive)?;
    print(|out| table(out, reader.entries()))
}

/// Reads everything; damage is what it looks for, so that it is no failure to run.
pub fn test(archive: &Archive, skip_bad: bool) -> Result<ExitCode, Error> {
    match pass(archive, skip_bad, StreamingZipReader::test_with) {
        Ok((summary, bad)) => {
            let (name, verdict) = (shown(archive), if bad == 0 { "whole" } else { "the rest is whole" });
            print(|out| writeln!(out, "{name}: {verdict}, {}", counts(summary)))?;
            Ok(exit(bad > 0))
        }
        Err(error) if error.downcast_ref().is_some_and(was_tested) => {
            complain(&format!("{error:#}"));
            Ok(exit(true))
        }
        Err(error) => Err(error),
    }
}

pub fn extract(
    archive: &Archive,
    into: &Path,
    skip_bad: bool,
    jobs: Option<NonZero<usize>>,
) -> Result<ExitCode, Error> {
    let jobs = jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
    let (summary, bad) = pass(archive, skip_bad, |reader, options| {
        *signals::cleanup() = Cleanup::Stop;
        let result = reader.extract_parallel(into, ReadOptions { stop_by: Some(&signals::STOP), ..options }, jobs);
        *signals::cleanup() = Cleanup::Nothing;
        if matches!(result, Err(ReadError::Stopped)) {
            signals::die();
        }
        result
    })?;
    let into = printable_path(into);
    for (what, unset) in [("permissions", summary.unset_permissions), ("times", summary.unset_times)] {
        if let Some(Unset { entries, reason, .. }) = unset {
            let plural = if entries == 1 { "entry" } else { "entries" };
            complain(&format!("{into}: cannot set the {what} of {entries} {plural}, whose data is whole: {reason}"));
        }
    }
    print(|out| writeln!(out, "{} to {into}", counts(summary)))?;
    Ok(exit(bad > 0))
}

/// What `work` made of the archive, and how many entries it left out, each with a complaint.
fn pass(
    archive: &Archive,
    skip_bad: bool,
    work: impl FnOnce(&mut Reader, ReadOptions<'_>) -> Result<Summary, ReadError>,
) -> Result<(Summary, u64), Error> {
    let mut bad = 0;
    let mut tell = |error| {
        bad += 1;
        complain(&format!("{:#}: left out", refused(archive, error)));
    };
    let options = ReadOptions { skip_bad: if skip_bad { Some(&mut tell) } else { None }, stop_by: None };
    let summary = work(&mut open(archive)?, options).map_err(|error| refused(archive, error))?;
    Ok((summary, bad))
}

/// Opens the archive. What cannot be read from the middle is copied to an unnamed temporary file first.
fn open(archive: &Archive) -> Result<Reader, Error> {
    let path = archive.file.as_path();
    let fail = || format!("cannot open {}", path.display());
    let file = if path == Path::new("-") {
        spool(io::stdin().lock(), archive)?
    } else {
        let metadata = fs::metadata(path).with_context(fail)?;
        if metadata.is_dir() {
            bail!("{} is a folder: name an archive", path.display());
        }
        let file = File::open(path).with_context(fail)?;
        if metadata.is_file() { file } else { spool(file, archive)? }
    };
    StreamingZipReader::with_limits(BufReader::new(file), archive.limits()).map_err(|error| refused(archive, error))
}

fn spool(from: impl Read, archive: &Archive) -> Result<File, Error> {
    let limit = archive.limits().bytes;
    let mut file = tempfile::tempfile().context("cannot make a temporary file")?;
    let copied = io::copy(&mut from.take(limit.saturating_add(1)), &mut file)
        .with_context(|| format!("cannot copy {} to a temporary file", shown(archive)))?;
    if copied > limit {
        bail!("{} is longer than {limit} bytes: --limit-bytes allows more", shown(archive));
    }
    file.rewind().context("cannot read the temporary file")?;
    Ok(file)
}

fn shown(archive: &Archive) -> String {
    if archive.file == Path::new("-") { "standard input".to_owned() } else { printable_path(&archive.file) }
}

/// The error with the archive's name, and the option that allows more.
fn refused(archive: &Archive, error: ReadError) -> Error {
    let option = match &error {
        ReadError::TooManyEntries { .. } => Some("--limit-entries"),
        ReadError::TooLarge { .. } => Some("--limit-bytes"),
        ReadError::RatioExceeded { .. } => Some("--limit-ratio"),
        _ => None,
    };
    let name = shown(archive);
    Error::new(error).context(match option {
        Some(option) => format!("{name} is beyond the limits ({option} allows more)"),
        None => name,
    })
}

/// Whether the error is about what the archive holds, not about what could not be looked at.
fn was_tested(error: &ReadError) -> bool {
    !matches!(
        error,
        ReadError::Open { .. }
            | ReadError::Read(_)
            | ReadError::MultiDisk
            | ReadError::TooManyEntries { .. }
            | ReadError::DirectoryTooLarge { .. }
            | ReadError::NoMemory { .. }
            | ReadError::TooLarge { .. }
            | ReadError::RatioExceeded { .. }
            | ReadError::UnsupportedMethod { .. }
            | ReadError::Encrypted { .. }
    )
}

fn counts(summary: Summary) -> String {
    let several = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let Summary { files, directories, bytes, .. } = summary;
    format!("{}, {}, {}", several(files, "file"), several(directories, "folder"), several(bytes, "byte"))
}

fn table(out: &mut dyn Write, entries: &[Entry]) -> io::Result<()> {
    writeln!(out, "{:>12}  {:>12}  {:>6}  {:<8}  {:<16}  name", "size", "compressed", "saved", "method", "time (UTC)")?;
    let (mut size, mut compressed) = (0_u64, 0_u64);
    for entry in entries {
        let saved = saved(entry.compressed, entry.uncompressed);
        let (method, time, name) = (method(entry.method), time(entry.modified_unix), printable(&entry.name));
        let encrypted = if entry.encrypted { " (encrypted)" } else { "" };
        writeln!(
            out,
            "{:>12}  {:>12}  {saved:>6}  {method:<8}  {time:<16}  {name}{encrypted}",
            entry.uncompressed, entry.compressed
        )?;
        size = size.saturating_add(entry.uncompressed);
        compressed = compressed.saturating_add(entry.compressed);
    }
    let (saved, count) = (saved(compressed, size), entries.len());
    let plural = if count == 1 { "entry" } else { "entries" };
    writeln!(out, "{size:>12}  {compressed:>12}  {saved:>6}  {:<8}  {:<16}  {count} {plural}", "", "")
}

/// The share of the bytes that compression saved; none if there are more than before.
fn saved(compressed: u64, size: u64) -> String {
    if size == 0 {
        return "-".to_owned();
    }
    let permille = u128::from(size.saturating_sub(compressed)) * 1000 / u128::from(size);
    format!("{}.{}%", permille / 10, permille % 10)
}

fn method(number: u16) -> String {
    match number {
        METHOD_STORED => "stored".to_owned(),
        METHOD_DEFLATE => "deflate".to_owned(),
        METHOD_ZSTD => "zstd".to_owned(),
        other => format!("({other})"),
    }
}

/// Year to minute.
fn time(unix: i64) -> String {
    let [year, month, day, hour, minute] = civil(unix);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}")
}
