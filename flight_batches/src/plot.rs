//! Plots of the results: throughput and latency against concurrent requests, a pair of pictures per delay.
//!
//! | module | what it is for |
//! |---|---|
//! | `chart` | what a plot shows: lines of points, made of the rows of one delay |
//! | `axis` | where a value stands, and which values deserve a tick |
//! | `paint` | a plot as shapes: frame, lines, marks and ideal |
//! | `legend` | what the lines mean, in a margin of its own |
//! | `label` | room for names beside lines |
//! | `shape` | shapes and measures of text |
//! | `file` | shapes as PNG and SVG, each file written whole or not at all |

mod axis;
mod chart;
mod file;
mod label;
mod legend;
mod paint;
mod shape;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::chart::{Chart, Quantity};
use crate::results::Row;

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
    let mut files = Vec::new();
    for (delay, rows) in by_delay(rows) {
        for quantity in Quantity::ALL {
            let chart = Chart::new(quantity, &delay.title(), &rows);
            let (picture, title) = (paint::picture(&chart), &chart.title);
            let name = format!("{}_{}", quantity.name(), delay.file_part());
            files.push(file::png(&picture, &out.join(format!("{name}.png")))?);
            files.push(file::svg(&picture, title, &out.join(format!("{name}.svg")))?);
        }
    }
    Ok(files)
}

/// The delays in rising order with their rows. Delays are the same if their file names are.
fn by_delay(rows: &[Row]) -> Vec<(Delay, Vec<&Row>)> {
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(Delay(row.batch_generation_delay).file_part()).or_default().push(row);
    }
    let mut groups: Vec<(Delay, Vec<&Row>)> = groups
        .into_values()
        .filter_map(|rows| rows.first().map(|row| Delay(row.batch_generation_delay)).map(|delay| (delay, rows)))
        .collect();
    groups.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    groups
}

/// What each batch takes to come, in seconds.
#[derive(Debug, Clone, Copy)]
struct Delay(f64);

impl Delay {
    /// In milliseconds, without the digits that binary fractions add.
    fn milliseconds(self) -> String {
        // Adding zero makes a negative zero an ordinary one.
        let text = format!("{:.6}", self.0 * 1e3 + 0.0);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// As in the name of a file: `10ms`, `0.5ms`.
    fn file_part(self) -> String {
        format!("{}ms", self.milliseconds())
    }

    /// As in a title: `10 ms per batch`.
    fn title(self) -> String {
        match self.milliseconds().as_str() {
            "0" => "no delay".to_owned(),
            ms => format!("{ms} ms per batch"),
        }
    }
}
