//! The published stress test: process generated rows, say how long it took and how much memory it needed.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::arms::{Arm, Options, process_files};
use crate::generate::Shape;
use crate::study::{StudyError, inputs};
use crate::usage::{self, Span};

const MIB: f64 = 1024.0 * 1024.0;

/// What one stress test came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Name of the arm.
    pub arm: String,
    /// Rows processed.
    pub rows: u64,
    /// Seed of the rows.
    pub seed: u64,
    /// Wall time of processing, without generating, in seconds.
    pub elapsed_s: f64,
    /// Bytes of the tables of accounts and transactions.
    pub engine_bytes: u64,
    /// Growth of the peak resident memory while processing, in KiB; absent where it cannot be read.
    pub growth_kib: Option<u64>,
}

/// Generates `rows` rows of the published shape in the data folder, or finds them there, and processes them with `arm`.
///
/// # Errors
/// If the file cannot be written or read.
pub fn run(arm: Arm, rows: u64, seed: u64) -> Result<Stress, StudyError> {
    let set = inputs::Set::file(&Shape::Original, rows, seed);
    let paths = set.paths();
    if !paths.iter().all(|path| path.exists()) {
        let folder = inputs::folder();
        fs::create_dir_all(&folder).map_err(|source| inputs::file_error("create", &folder, source))?;
        set.write_files(&folder)?;
    }
    let before = usage::peak_rss_kib();
    let span = Span::start();
    let outcome = process_files(arm, &paths, Options::default())?;
    let cost = span.end();
    Ok(Stress {
        arm: arm.name().to_owned(),
        rows,
        seed,
        elapsed_s: cost.wall.as_secs_f64(),
        engine_bytes: outcome.table_bytes(),
        growth_kib: usage::peak_rss_kib().zip(before).map(|(after, before)| after.saturating_sub(before)),
    })
}

impl Stress {
    fn engine_mb(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "bytes stay far below 2^53")]
        let bytes = self.engine_bytes as f64;
        bytes / MIB
    }

    /// Growth of the peak in MiB, or a dash.
    fn growth(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "memory in KiB stays far below 2^53")]
        let text = self.growth_kib.map(|kib| format!("{:.3}", kib as f64 / 1024.0));
        text.unwrap_or_else(|| "-".to_owned())
    }
}

impl fmt::Display for Stress {
    /// The three lines of the published program.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Elapsed time: {:?}", Duration::from_secs_f64(self.elapsed_s))?;
        writeln!(f, "Engine Memory size: {:.3} MB", self.engine_mb())?;
        write!(f, "Memory consumption delta: {} MB", self.growth())
    }
}

/// The published table of the records in `file`.
///
/// # Errors
/// If the file cannot be read or a line of it is no record.
pub fn table(file: &Path) -> Result<String, StudyError> {
    let failed = |source| inputs::file_error("read", file, source);
    let text = fs::read_to_string(file).map_err(failed)?;
    let mut table = row("Transactions Count", "Time", "Process Memory (MB)", "Engine Memory (MB)");
    for (index, line) in text.lines().enumerate() {
        let stress: Stress = serde_json::from_str(line)
            .map_err(|error| failed(std::io::Error::other(format!("line {}: {error}", index + 1))))?;
        let time = format!("{:?}", Duration::from_secs_f64(stress.elapsed_s));
        table += &row(&stress.rows.to_string(), &time, &stress.growth(), &format!("{:.3}", stress.engine_mb()));
    }
    Ok(table)
}

fn row(count: &str, time: &str, process: &str, engine: &str) -> String {
    let line = format!("{count:<20} {time:<20} {process:<20} {engine}");
    format!("{}\n", line.trim_end())
}
