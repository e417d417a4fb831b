//! The published stress test: process generated rows, say how long it took and how much memory it needed.

use std::fmt;
use std::io::{self, BufRead, BufWriter};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::generate::{self, Shape};
use crate::process::process_files;
use crate::session::Session;
use crate::setup::Setup;
use crate::usage;

/// What one stress test came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    pub engine: String,
    pub rows: u64,
    pub seed: u64,
    /// Wall time of processing, without generating, in seconds.
    pub elapsed_s: f64,
    /// Bytes of the tables of accounts and transactions.
    pub engine_bytes: u64,
    /// Growth of the peak resident memory while processing, in KiB; absent where it cannot be read.
    pub growth_kib: Option<u64>,
}

/// Generates `rows` rows of the published shape in a temporary file and processes them with `setup`, which is called `engine`.
pub fn run(engine: &str, setup: Setup, rows: u64, seed: u64) -> Result<Stress, Error> {
    let write = || -> io::Result<NamedTempFile> {
        let mut file = NamedTempFile::new()?;
        generate::write(&Shape::Original, rows, seed, BufWriter::new(file.as_file_mut()))?;
        Ok(file)
    };
    let file = write().map_err(Error::Generate)?;
    let peak_kib = || usage::of_this_process().map(|process| process.peak_rss_kib);
    let before = peak_kib();
    let start = Instant::now();
    let outcome = process_files(setup, &[file.path().to_owned()], Session::default())?;
    let elapsed = start.elapsed();
    Ok(Stress {
        engine: engine.to_owned(),
        rows,
        seed,
        elapsed_s: elapsed.as_secs_f64(),
        engine_bytes: outcome.books.table_bytes(),
        growth_kib: peak_kib().zip(before).map(|(after, before)| after.saturating_sub(before)),
    })
}

impl Stress {
    /// Wall time, growth of the peak in MiB or a dash, and the tables in MiB.
    fn figures(&self) -> [String; 3] {
        let growth = self.growth_kib.map_or_else(|| "-".to_owned(), |kib| format!("{:.3}", kib as f64 / 1024.0));
        let tables = format!("{:.3}", self.engine_bytes as f64 / (1024.0 * 1024.0));
        [format!("{:?}", Duration::from_secs_f64(self.elapsed_s)), growth, tables]
    }
}

impl fmt::Display for Stress {
    /// The three lines of the published program.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [time, growth, tables] = self.figures();
        write!(f, "Elapsed time: {time}\nEngine Memory size: {tables} MB\nMemory consumption delta: {growth} MB")
    }
}

/// The published table of `records`, a line of JSON each.
pub fn table(records: impl BufRead) -> io::Result<String> {
    let row = |[count, time, process, engine]: [&str; 4]| format!("{count:<20} {time:<20} {process:<20} {engine}\n");
    let mut table = row(["Transactions Count", "Time", "Process Memory (MB)", "Engine Memory (MB)"]);
    for (index, line) in records.lines().enumerate() {
        let stress: Stress =
            serde_json::from_str(&line?).map_err(|error| io::Error::other(format!("line {}: {error}", index + 1)))?;
        let [time, growth, tables] = stress.figures();
        table += &row([&stress.rows.to_string(), &time, &growth, &tables]);
    }
    Ok(table)
}
