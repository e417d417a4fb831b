//! What a plot shows: lines of points, made of the rows of one delay.

use super::axis::grouped;
use crate::results::Row;

/// What is plotted against the concurrent requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes per second over all streams.
    Throughput,
    /// Mean time of a request.
    Latency,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Throughput, Self::Latency];

    /// As in the name of a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
        }
    }

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

/// The cells of one type and one size of batches, in rising order of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Position of the type among all types, which gives dashes and mark.
    pub kind: usize,
    /// Position of the size among all sizes, which gives the colour.
    pub size: usize,
    /// The cells that can be drawn.
    pub cells: Vec<Cell>,
}

/// What the delay alone would allow, in rising order of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Ideal {
    /// Size of the batches, and what serves them if that makes a difference.
    pub whose: String,
    /// Requests in flight and rate.
    pub points: Vec<(f64, f64)>,
}

/// A plot before it has pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What is plotted.
    pub quantity: Quantity,
    /// The heading.
    pub title: String,
    /// What served, in the order in which it occurs.
    pub kinds: Vec<String>,
    /// Rows of a batch, rising.
    pub sizes: Vec<usize>,
    /// Concurrent requests that occur, rising.
    pub requests: Vec<f64>,
    /// The lines.
    pub series: Vec<Series>,
    /// The ideals; none for a latency.
    pub ideals: Vec<Ideal>,
    /// Cells that have no value to draw.
    pub left_out: usize,
}

impl Chart {
    /// The plot of a quantity in the rows of one delay, which is described by `delay`.
    pub fn new(quantity: Quantity, delay: &str, rows: &[&Row]) -> Self {
        let mut kinds: Vec<String> = Vec::new();
        for row in rows {
            if !kinds.contains(&row.server) {
                kinds.push(row.server.clone());
            }
        }
        let sizes = distinct(rows.iter().map(|row| row.records_per_batch));
        let numbers = distinct(rows.iter().map(|row| row.concurrent_requests).filter(|number| *number > 0));
        let mut chart = Self {
            quantity,
            title: format!("{}, {delay}", quantity.title()),
            requests: numbers.into_iter().map(float).collect(),
            series: Vec::new(),
            ideals: Vec::new(),
            left_out: 0,
            kinds,
            sizes,
        };
        chart.add_series(rows);
        chart.left_out = rows.len() - chart.cells().count();
        if quantity == Quantity::Throughput {
            chart.add_ideals(rows);
        }
        chart
    }

    /// All cells that are drawn.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.series.iter().flat_map(|series| &series.cells)
    }

    /// How much larger than usual the marks of a size of batches are: a little, and the more the larger the size.
    pub fn boldness(&self, size: usize) -> f64 {
        let steps = float(self.sizes.len().max(2) - 1);
        0.8 + 0.4 * float(size) / steps
    }

    fn add_series(&mut self, rows: &[&Row]) {
        for (kind, name) in self.kinds.iter().enumerate() {
            for (size, records) in self.sizes.iter().enumerate() {
                let of_series = rows.iter().filter(|row| row.server == *name && row.records_per_batch == *records);
                let mut cells: Vec<Cell> = of_series
                    .filter(|row| row.concurrent_requests > 0)
                    .filter_map(|row| {
                        let value = self.quantity.of(row)?;
                        Some(Cell { requests: float(row.concurrent_requests), value, failed: row.failures > 0 })
                    })
                    .collect();
                cells.sort_by(|a, b| a.requests.total_cmp(&b.requests));
                if !cells.is_empty() {
                    self.series.push(Series { kind, size, cells });
                }
            }
        }
    }

    /// One ideal per size of batches, or several where it depends on what serves.
    fn add_ideals(&mut self, rows: &[&Row]) {
        for records in &self.sizes {
            let mut kinds_of: Vec<Vec<&str>> = Vec::new();
            let mut lines: Vec<Vec<(f64, f64)>> = Vec::new();
            for kind in &self.kinds {
                let points = ideal_points(rows, kind, *records);
                if let Some(known) = lines.iter().position(|line| *line == points) {
                    kinds_of[known].push(kind);
                } else if !points.is_empty() {
                    kinds_of.push(vec![kind]);
                    lines.push(points);
                }
            }
            let differ = lines.len() > 1;
            self.ideals.extend(kinds_of.into_iter().zip(lines).map(|(kinds, points)| {
                let kinds = if differ { format!(" ({})", kinds.join(", ")) } else { String::new() };
                Ideal { whose: format!("{}{kinds}", row_count(*records)), points }
            }));
        }
    }
}

fn ideal_points(rows: &[&Row], kind: &str, records: usize) -> Vec<(f64, f64)> {
    let of_series = rows.iter().filter(|row| row.server == kind && row.records_per_batch == records);
    let mut points: Vec<(f64, f64)> = of_series
        .filter(|row| row.concurrent_requests > 0)
        .filter_map(|row| Some((float(row.concurrent_requests), row.ideal_mb_per_s?)))
        .filter(|(_, rate)| rate.is_finite() && *rate >= 0.0)
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// A number of rows as in the legend.
pub fn row_count(records: usize) -> String {
    format!("{} row{}", grouped(float(records), 0), if records == 1 { "" } else { "s" })
}

fn distinct(values: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

#[expect(clippy::cast_precision_loss, reason = "numbers of rows and requests stay far below 2^53")]
fn float(number: usize) -> f64 {
    number as f64
}
