//! Plots of the results: throughput and latency against concurrent requests, a pair of pictures per delay.

mod chart;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plotters::backend::{BitMapBackend, SVGBackend};
use plotters::drawing::IntoDrawingArea;

use self::chart::{Chart, QUANTITIES};
use crate::results::Row;

/// What the library that draws may say.
type Failure = Box<dyn Error + Send + Sync>;

/// Why there is no plot.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The folder is not there and cannot be made.
    #[error("cannot create the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A picture cannot be drawn or encoded.
    #[error("cannot draw {}: {reason}", path.display())]
    Draw {
        /// The file it was meant for.
        path: PathBuf,
        /// What the library that draws says.
        reason: String,
    },
}

/// Draws throughput and latency of every delay that occurs as PNG and SVG into the folder `out`, and says which files
/// these are.
///
/// # Errors
/// If the folder cannot be made or a file cannot be written; files from before remain as they were or are whole.
pub fn draw(rows: &[Row], out: &Path) -> Result<Vec<PathBuf>, PlotError> {
    fs::create_dir_all(out).map_err(|source| PlotError::Folder { path: out.to_owned(), source })?;
    let mut by_delay: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        // Of binary fractions that differ in the last bit the nanoseconds are the same.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is out of range is the nearest"
        )]
        let nanoseconds = (row.batch_generation_delay * 1e9).round() as u64;
        by_delay.entry(nanoseconds).or_default().push(row);
    }
    let mut files = Vec::new();
    for (nanoseconds, rows) in by_delay {
        let milliseconds = nanoseconds as f64 / 1e6;
        let delay = if nanoseconds == 0 { "no delay".to_owned() } else { format!("{milliseconds} ms per batch") };
        for quantity in &QUANTITIES {
            let chart = Chart::new(quantity, &delay, &rows);
            let file = |format| out.join(format!("{}_{milliseconds}ms.{format}", quantity.name));
            files.push(replace(file("png"), |file| png(&chart, file))?);
            files.push(replace(file("svg"), |file| svg(&chart, file))?);
        }
    }
    Ok(files)
}

/// Twice as large as its page, so that it is sharp on fine screens.
fn png(chart: &Chart, file: &Path) -> Result<(), Failure> {
    chart.paint(&BitMapBackend::new(file, chart.size()).into_drawing_area())
}

fn svg(chart: &Chart, file: &Path) -> Result<(), Failure> {
    let (width, height) = chart.size();
    let mut text = String::new();
    chart.paint(&SVGBackend::with_string(&mut text, (width, height)).into_drawing_area())?;
    // The units stay, the size on the page is half of it.
    let page = format!("width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{}\"", width / 2, height / 2, chart.title);
    Ok(fs::write(file, text.replacen(&format!("width=\"{width}\" height=\"{height}\""), &page, 1))?)
}

/// Lets `write` make a file beside `path` and moves it there; what cannot be finished is removed.
fn replace(path: PathBuf, write: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<PathBuf, PlotError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The end of the name stays: from it the library takes the format.
    let temporary = path.with_file_name(format!(".{}.{name}", std::process::id()));
    let failed = |source| PlotError::Write { path: path.clone(), source };
    // Also what tells early, in the system's words, that nothing can be written here.
    File::create(&temporary).map_err(failed)?;
    let drawn = write(&temporary).map_err(|reason| {
        let reason = reason.to_string().replace(['\n', '\r'], " ");
        PlotError::Draw { path: path.clone(), reason }
    });
    let done = drawn.and_then(|()| fs::rename(&temporary, &path).map_err(failed));
    if done.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    done.map(|()| path)
}
