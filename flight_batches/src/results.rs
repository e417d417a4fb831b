//! `results.csv`: a line per cell of the grid, the published columns first.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

/// A cell of the grid and what came of it. Times are in seconds, rates in MB/s of a million bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub records_per_batch: usize,
    /// Requests in flight, each a stream of its own.
    pub concurrent_requests: usize,
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
    pub latency_p99: Option<f64>,
    pub first_batch_p50: Option<f64>,
    pub first_batch_p99: Option<f64>,
    pub gap_p50: Option<f64>,
    pub gap_p99: Option<f64>,
    /// What the delay alone would allow.
    #[serde(rename = "ideal_MBps")]
    pub ideal_mb_per_s: Option<f64>,
    pub failures: usize,
    pub first_failure: String,
}

/// Reads all rows.
///
/// # Errors
/// If they are not what `bench` writes, or there are none.
pub fn read(input: impl Read) -> anyhow::Result<Vec<Row>> {
    let rows = csv::Reader::from_reader(input).into_deserialize().collect::<Result<Vec<Row>, _>>();
    let rows = rows.context("not a file of results as `flight_batches bench` writes it")?;
    ensure!(!rows.is_empty(), "there are no results in it");
    Ok(rows)
}

/// Creates the file with the first `name` that is free, and returns the path that was tried last: a file that is there may belong to
/// another run.
pub(crate) fn create_new(name: impl Fn(usize) -> PathBuf) -> (PathBuf, io::Result<File>) {
    let mut number = 0;
    loop {
        let path = name(number);
        let file = File::create_new(&path);
        if !matches!(&file, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            return (path, file);
        }
        number += 1;
    }
}
