//! What a plot shows: lines of points, made of the rows of one delay.

use super::axis::{Axis, grouped};
use crate::results::Row;

/// What is plotted against the concurrent requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Quantity {
    /// Bytes per second over all streams.
    Throughput,
    /// Mean time of a request.
    Latency,
}

impl Quantity {
    /// As in a title.
    fn title(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Latency => "Average latency",
        }
    }

    /// The description of the axis.
    pub fn axis(self) -> &'static str {
        match self {
            Self::Throughput => "throughput of all streams together, in MB/s (1 MB is a million bytes)",
            Self::Latency => "average time of a request (logarithmic)",
        }
    }

    /// The value of a row, if it can be drawn: what no measurement gives would make axes endless.
    fn of(self, row: &Row) -> Option<f64> {
        match self {
            Self::Throughput => Some(row.throughput_mb_per_s).filter(|rate| (0.0..1e12).contains(rate)),
            Self::Latency => row.average_latency.filter(|seconds| (1e-12..1e12).contains(seconds)),
        }
    }
}

/// A cell of the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Requests in flight.
    pub requests: f64,
    /// The quantity.
    pub value: f64,
    /// Whether any request failed.
    pub failed: bool,
}

/// The cells of one server and one size of batches, in rising order of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Position of the server among all, which gives dashes and mark.
    pub server: usize,
    /// Position of the size among all sizes, which gives the colour.
    pub size: usize,
    /// The cells that can be drawn.
    pub cells: Vec<Cell>,
}

/// Requests in flight and rate, in rising order of requests.
pub type Line = Vec<(f64, f64)>;

/// What the delay alone would allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Ideal {
    /// Size of the batches, and what serves them if that makes a difference.
    pub whose: String,
    /// Up to where it leaves the plot above for the first time; nothing if it begins there.
    pub line: Line,
}

/// A plot before it has pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What is plotted.
    pub quantity: Quantity,
    /// The heading.
    pub title: String,
    /// What served, in the order in which it occurs.
    pub servers: Vec<String>,
    /// Rows of a batch, rising.
    pub sizes: Vec<usize>,
    /// The lines.
    pub series: Vec<Series>,
    /// The ideals; none for a latency.
    pub ideals: Vec<Ideal>,
    /// Concurrent requests.
    pub x: Axis,
    /// The quantity.
    pub y: Axis,
    /// Cells that have no value to draw.
    pub left_out: usize,
}

impl Chart {
    /// The plot of a quantity in the rows of one delay, which is described by `delay`.
    pub fn new(quantity: Quantity, delay: &str, rows: &[&Row]) -> Self {
        let mut servers: Vec<&str> = Vec::new();
        for row in rows {
            if !servers.contains(&row.server.as_str()) {
                servers.push(&row.server);
            }
        }
        let sizes = distinct(rows.iter().map(|row| row.records_per_batch));
        let requests = distinct(rows.iter().map(|row| row.concurrent_requests).filter(|number| *number > 0));
        let requests: Vec<f64> = requests.into_iter().map(|number| number as f64).collect();
        let series: Vec<Series> = series(quantity, rows, &servers, &sizes);
        let values = || series.iter().flat_map(|series| &series.cells).map(|cell| cell.value);
        let (y, ideals) = match quantity {
            Quantity::Throughput => {
                let y = Axis::of_rates(values());
                let ideals = ideals(rows, &servers, &sizes, y.range.end);
                (y, ideals)
            }
            Quantity::Latency => (Axis::of_times(values()), Vec::new()),
        };
        Self {
            quantity,
            title: format!("{}, {delay}", quantity.title()),
            left_out: rows.len() - values().count(),
            servers: servers.into_iter().map(str::to_owned).collect(),
            sizes,
            series,
            ideals,
            x: Axis::of_counts(&requests),
            y,
        }
    }

    /// All cells that are drawn.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.series.iter().flat_map(|series| &series.cells)
    }
}

fn series(quantity: Quantity, rows: &[&Row], servers: &[&str], sizes: &[usize]) -> Vec<Series> {
    let mut all = Vec::new();
    for (server, name) in servers.iter().enumerate() {
        for (size, &records) in sizes.iter().enumerate() {
            let value = |row: &Row| Some((quantity.of(row)?, row.failures > 0));
            let cells = points(rows, name, records, value);
            if !cells.is_empty() {
                let cell = |(requests, (value, failed))| Cell { requests, value, failed };
                all.push(Series { server, size, cells: cells.into_iter().map(cell).collect() });
            }
        }
    }
    all
}

/// One ideal per size of batches, or several where it depends on what serves, each below `most`.
fn ideals(rows: &[&Row], servers: &[&str], sizes: &[usize], most: f64) -> Vec<Ideal> {
    let mut all = Vec::new();
    for &records in sizes {
        let mut lines: Vec<(Line, Vec<&str>)> = Vec::new();
        for server in servers {
            let rate = |row: &Row| row.ideal_mb_per_s.filter(|rate| rate.is_finite() && *rate >= 0.0);
            let points = points(rows, server, records, rate);
            match lines.iter_mut().find(|(line, _)| *line == points) {
                Some((_, servers)) => servers.push(server),
                None if points.is_empty() => {}
                None => lines.push((points, vec![server])),
            }
        }
        let differ = lines.len() > 1;
        all.extend(lines.into_iter().map(|(points, servers)| {
            let servers = if differ { format!(" ({})", servers.join(", ")) } else { String::new() };
            Ideal { whose: format!("{}{servers}", row_count(records)), line: below(&points, most) }
        }));
    }
    all
}

/// What `value` gives for the rows of a server and a size of batches, in rising order of requests.
fn points<T>(rows: &[&Row], server: &str, records: usize, value: impl Fn(&Row) -> Option<T>) -> Vec<(f64, T)> {
    let of_both = rows.iter().filter(|row| row.server == server && row.records_per_batch == records);
    let counted = of_both.filter(|row| row.concurrent_requests > 0);
    let mut points: Vec<(f64, T)> =
        counted.filter_map(|row| Some((row.concurrent_requests as f64, value(row)?))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The part of a line up to where it rises above `most` for the first time. Its x are logarithmic.
fn below(points: &[(f64, f64)], most: f64) -> Line {
    let inside = points.iter().take_while(|(_, y)| *y <= most).count();
    let mut kept = points[..inside].to_vec();
    if let (Some(&(x0, y0)), Some(&(x1, y1))) = (kept.last(), points.get(inside)) {
        kept.push((x0 * (x1 / x0).powf((most - y0) / (y1 - y0)), most));
    }
    kept
}

/// A number of rows as in the legend.
pub fn row_count(records: usize) -> String {
    format!("{} row{}", grouped(records as f64, 0), if records == 1 { "" } else { "s" })
}

fn distinct(values: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}
