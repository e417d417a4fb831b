//! The published grid: every combination of delay, rows and requests, against each server.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::load::{ConnectError, Connections, Extent, Load, Times};
use crate::results::Row;
use crate::ticket::Ticket;

/// What is measured.
#[derive(Debug, Clone)]
pub struct Grid {
    /// What each batch takes to come, in seconds.
    pub delays_s: Vec<f64>,
    /// Rows of a batch.
    pub rows: Vec<usize>,
    /// Requests in flight.
    pub requests: Vec<usize>,
    /// Batches of a request; the table once without it.
    pub batches: Option<usize>,
    /// Counted per cell.
    pub window: Duration,
    /// Before it.
    pub warm_up: Duration,
    /// Connections to a server.
    pub connections: usize,
    /// A stream that brings nothing for so long has failed.
    pub patience: Duration,
}

/// A server of which all cells are measured.
#[derive(Debug, Clone)]
pub struct Target {
    /// Where it listens.
    pub endpoint: String,
    /// What its rows are called.
    pub name: String,
    /// Rows of its table, if it says so.
    pub table_rows: Option<usize>,
}

impl Target {
    /// Servers by what they say of themselves: `async`, `sync`; two of a kind, and those that do not say, by their endpoints.
    ///
    /// # Errors
    /// If nobody answers at one of them.
    pub async fn find(endpoints: &[&str]) -> Result<Vec<Self>, ConnectError> {
        let mut targets = Vec::with_capacity(endpoints.len());
        for &endpoint in endpoints {
            let connections = Connections::open(endpoint, 1).await?;
            let name = connections.health().await.map_or(String::new(), |health| health.mode);
            targets.push(Target { endpoint: endpoint.to_owned(), name, table_rows: connections.table_rows().await });
        }
        let modes: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
        for target in &mut targets {
            if target.name.is_empty() || modes.iter().filter(|mode| **mode == target.name).count() > 1 {
                let between = if target.name.is_empty() { "" } else { " " };
                target.name = format!("{}{between}{}", target.name, target.endpoint);
            }
        }
        Ok(targets)
    }
}

impl Grid {
    /// Measures every cell on every target in turn; a bar on standard error shows how far it is. What fails is counted in its row.
    ///
    /// Each row is given to `done` as soon as it is there.
    ///
    /// # Errors
    /// The first of `done`.
    pub async fn measure<E>(&self, targets: &[Target], mut done: impl FnMut(&Row) -> Result<(), E>) -> Result<(), E> {
        let cells = self.delays_s.len() * self.rows.len() * self.requests.len();
        let bar = ProgressBar::new((cells * targets.len()) as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        for &delay in &self.delays_s {
            for &rows in &self.rows {
                for &requests in &self.requests {
                    // Servers take turns cell by cell, so that both meet the same minute of the machine.
                    for target in targets {
                        bar.set_message(format!("{} {delay} s, {rows} rows, {requests} requests", target.name));
                        let extent = Extent::Window { warm_up: self.warm_up, window: self.window };
                        let ticket =
                            Ticket { records_per_batch: rows, batch_generation_delay: delay, batches: self.batches };
                        let load = Load { ticket, requests, extent, first: None, patience: self.patience };
                        done(&cell(&load, target, self.connections).await)?;
                        bar.inc(1);
                    }
                }
            }
        }
        bar.finish_and_clear();
        Ok(())
    }
}

/// What comes of a load on a target.
async fn cell(load: &Load, target: &Target, connections: usize) -> Row {
    let Ticket { records_per_batch, batch_generation_delay: delay, batches } = load.ticket;
    let row = Row {
        records_per_batch,
        concurrent_requests: load.requests,
        batch_generation_delay: delay,
        server: target.name.clone(),
        ..Row::default()
    };
    let delivery = match Connections::open(&target.endpoint, load.requests.min(connections)).await {
        Ok(connections) => load.run(&connections).await,
        Err(error) => {
            let first_failure = format!("{:#}", anyhow::Error::from(error)).replace(['\n', '\r'], " ");
            return Row { failures: load.requests, first_failure, ..row };
        }
    };
    let requests = load.requests as f64;
    let batch_bytes = delivery.row_bytes.map(|bytes| (bytes * records_per_batch) as f64);
    let table = target.table_rows.map(|rows| rows as f64 / records_per_batch as f64);
    let batches = batches.map(|batches| batches as f64).or(table);
    let first = delivery.failures.first();
    let seconds = |times: &Times, share| times.quantile(share).map(|time| time.as_secs_f64());
    Row {
        average_latency: batches.zip(batch_bytes).map(|(batches, bytes)| {
            // In a steady state: requests in flight over requests served per second.
            requests * batches * bytes / (delivery.mb_per_s() * 1e6)
        }),
        throughput_mb_per_s: delivery.mb_per_s(),
        latency_p50: seconds(&delivery.latency, 0.5),
        latency_p99: seconds(&delivery.latency, 0.99),
        first_batch_p50: seconds(&delivery.first_batch, 0.5),
        first_batch_p99: seconds(&delivery.first_batch, 0.99),
        gap_p50: seconds(&delivery.gap, 0.5),
        gap_p99: seconds(&delivery.gap, 0.99),
        ideal_mb_per_s: batch_bytes.filter(|_| delay > 0.0).map(|bytes| requests * bytes / delay / 1e6),
        failures: delivery.failures.len(),
        first_failure: first.map(|failure| format!("{:?}: {}", failure.code, failure.reason)).unwrap_or_default(),
        ..row
    }
}
