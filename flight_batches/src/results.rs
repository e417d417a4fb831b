//! `results.csv`: a line per cell of the grid, the published columns first.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

/// A cell of the grid and what came of it. Times are in seconds, rates in MB/s of a million bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Rows of a batch.
    pub records_per_batch: usize,
    /// Requests in flight, each a stream of its own.
    pub concurrent_requests: usize,
    /// What each batch takes to come, in seconds.
    pub batch_generation_delay: f64,
    /// Mean time of a request, in seconds: requests in flight over requests served per second. Absent if nothing was served.
    pub average_latency: Option<f64>,
    /// Bytes of batches that arrived in the window, per second, over all streams.
    #[serde(rename = "throughput_MBps")]
    pub throughput_mb_per_s: f64,
    /// What served: `async`, `sync`, or the name of an endpoint.
    #[serde(rename = "type")]
    pub server: String,
    /// Half of the requests that ended in the window took longer; absent if none ended.
    pub latency_p50: Option<f64>,
    /// One in a hundred took longer.
    pub latency_p99: Option<f64>,
    /// From a request to its first batch, half of them.
    pub first_batch_p50: Option<f64>,
    /// The slowest in a hundred.
    pub first_batch_p99: Option<f64>,
    /// Between two batches of a stream, half of them.
    pub gap_p50: Option<f64>,
    /// The slowest in a hundred.
    pub gap_p99: Option<f64>,
    /// What the delay alone would allow.
    #[serde(rename = "ideal_MBps")]
    pub ideal_mb_per_s: Option<f64>,
    /// Requests that failed.
    pub failures: usize,
    /// What the first failure said.
    pub first_failure: String,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// It cannot be read or written, or is not what `bench` writes.
    #[error("not a file of results as `flight_batches bench` writes it")]
    Csv(#[from] csv::Error),
    /// It holds no line.
    #[error("there are no results in it")]
    Empty,
}

/// Reads all rows.
///
/// # Errors
/// If they are not what [`Writer`] writes, or there are none.
pub fn read(input: impl Read) -> Result<Vec<Row>, ResultsError> {
    let rows = csv::Reader::from_reader(input).into_deserialize().collect::<Result<Vec<Row>, _>>()?;
    if rows.is_empty() { Err(ResultsError::Empty) } else { Ok(rows) }
}

/// Writes rows one by one, each as soon as it is there: hours of measuring must not hang on the end.
pub struct Writer<W: Write>(csv::Writer<W>);

impl<W: Write> Writer<W> {
    /// Writes to `output`; the header comes with the first row.
    pub fn new(output: W) -> Self {
        Writer(csv::Writer::from_writer(output))
    }

    /// Writes a row through to the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, row: &Row) -> Result<(), ResultsError> {
        self.0.serialize(row)?;
        self.0.flush().map_err(csv::Error::from)?;
        Ok(())
    }
}
