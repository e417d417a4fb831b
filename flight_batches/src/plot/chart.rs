//! What a plot shows: lines of points, made of the rows of one delay.

use std::collections::BTreeSet;

use super::axis::{Axis, grouped};
use crate::results::Row;

/// What is plotted against the concurrent requests.
pub struct Quantity {
    /// As in the name of a file.
    pub name: &'static str,
    title: &'static str,
    /// The description of the axis.
    pub axis: &'static str,
    /// The value of a row, if it can be drawn: what no measurement gives would make axes endless.
    value: fn(&Row) -> Option<f64>,
    /// Whether its axis is that of rates, for which there are ideals.
    is_rate: bool,
}

/// Both quantities.
pub const QUANTITIES: [Quantity; 2] = [
    Quantity {
        name: "throughput",
        title: "Throughput",
        axis: "throughput of all streams together, in MB/s (1 MB is a million bytes)",
        value: |row| Some(row.throughput_mb_per_s).filter(|rate| (0.0..1e12).contains(rate)),
        is_rate: true,
    },
    Quantity {
        name: "latency",
        title: "Average latency",
        axis: "average time of a request (logarithmic)",
        value: |row| row.average_latency.filter(|seconds| (1e-12..1e12).contains(seconds)),
        is_rate: false,
    },
];

/// Requests in flight and quantity, in rising order of requests.
pub type Line = Vec<(f64, f64)>;

/// The cells of one server and one size of batches.
pub struct Series {
    /// Position of the server among all, which gives dashes and mark.
    pub server: usize,
    /// Position of the size among all sizes, which gives the colour.
    pub size: usize,
    /// The cells that can be drawn.
    pub line: Line,
}

/// What the delay alone would allow.
pub struct Ideal {
    /// Size of the batches, and what serves them if that makes a difference.
    pub whose: String,
    /// Up to where it leaves the plot above for the first time; nothing if it begins there.
    pub line: Line,
}

/// A plot before it has pixels.
pub struct Chart<'a> {
    /// What is plotted.
    pub quantity: &'a Quantity,
    /// The heading.
    pub title: String,
    /// What served, in the order in which it occurs.
    pub servers: Vec<&'a str>,
    /// Rows of a batch, rising.
    pub sizes: Vec<usize>,
    /// The lines, those of a server together.
    pub series: Vec<Series>,
    /// The ideals; none for a latency.
    pub ideals: Vec<Ideal>,
    /// The cells of the lines in which requests failed.
    pub failed: Line,
    /// Concurrent requests.
    pub x: Axis,
    /// The quantity.
    pub y: Axis,
    /// Cells that have no value to draw.
    pub left_out: usize,
}

impl<'a> Chart<'a> {
    /// The plot of a quantity in the rows of one delay, which is described by `delay`.
    pub fn new(quantity: &'a Quantity, delay: &str, rows: &[&'a Row]) -> Self {
        let mut servers: Vec<&str> = Vec::new();
        for row in rows {
            if !servers.contains(&row.server.as_str()) {
                servers.push(&row.server);
            }
        }
        let sizes = distinct(rows.iter().map(|row| row.records_per_batch));
        let requests = distinct(rows.iter().map(|row| row.concurrent_requests).filter(|number| *number > 0));
        let requests: Vec<f64> = requests.into_iter().map(|number| number as f64).collect();
        let mut series = Vec::new();
        for (server, name) in servers.iter().enumerate() {
            for (size, records) in sizes.iter().enumerate() {
                let of_both = |row: &Row| row.server == *name && row.records_per_batch == *records;
                let line = line(rows, |row| (quantity.value)(row).filter(|_| of_both(row)));
                series.extend((!line.is_empty()).then_some(Series { server, size, line }));
            }
        }
        let values = || series.iter().flat_map(|series| &series.line).map(|(_, value)| *value);
        let y = if quantity.is_rate { Axis::of_rates(values()) } else { Axis::of_times(values()) };
        Self {
            quantity,
            title: format!("{}, {delay}", quantity.title),
            ideals: if quantity.is_rate { ideals(rows, &servers, &sizes, y.range.end) } else { Vec::new() },
            failed: line(rows, |row| (quantity.value)(row).filter(|_| row.failures > 0)),
            left_out: rows.len() - values().count(),
            servers,
            sizes,
            series,
            x: Axis::of_counts(&requests),
            y,
        }
    }
}

/// One ideal per size of batches, or several where it depends on what serves, each below `most`.
fn ideals(rows: &[&Row], servers: &[&str], sizes: &[usize], most: f64) -> Vec<Ideal> {
    let mut all = Vec::new();
    for &records in sizes {
        let mut lines: Vec<(Line, Vec<&str>)> = Vec::new();
        for server in servers {
            let rate = |row: &Row| row.ideal_mb_per_s.filter(|rate| rate.is_finite() && *rate >= 0.0);
            let of_both = |row: &Row| row.server == *server && row.records_per_batch == records;
            let line = line(rows, |row| rate(row).filter(|_| of_both(row)));
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, servers)) => servers.push(server),
                None => lines.push((line, vec![server])),
            }
        }
        lines.retain(|(line, _)| !line.is_empty());
        let differ = lines.len() > 1;
        all.extend(lines.into_iter().map(|(line, servers)| {
            let servers = if differ { format!(" ({})", servers.join(", ")) } else { String::new() };
            Ideal { whose: format!("{}{servers}", row_count(records)), line: below(&line, most) }
        }));
    }
    all
}

/// What `value` gives for the rows, in rising order of requests.
fn line(rows: &[&Row], value: impl Fn(&Row) -> Option<f64>) -> Line {
    let counted = rows.iter().filter(|row| row.concurrent_requests > 0);
    let mut line: Line = counted.filter_map(|row| Some((row.concurrent_requests as f64, value(row)?))).collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    line
}

/// The part of a line up to where it rises above `most` for the first time. Its x are logarithmic.
fn below(line: &[(f64, f64)], most: f64) -> Line {
    let inside = line.iter().take_while(|(_, y)| *y <= most).count();
    let mut kept = line[..inside].to_vec();
    if let (Some(&(x0, y0)), Some(&(x1, y1))) = (kept.last(), line.get(inside)) {
        kept.push((x0 * (x1 / x0).powf((most - y0) / (y1 - y0)), most));
    }
    kept
}

/// A number of rows as in the legend.
pub fn row_count(records: usize) -> String {
    format!("{} row{}", grouped(records as f64, 0), if records == 1 { "" } else { "s" })
}

fn distinct(values: impl Iterator<Item = usize>) -> Vec<usize> {
    values.collect::<BTreeSet<_>>().into_iter().collect()
}
