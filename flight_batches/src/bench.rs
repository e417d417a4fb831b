//! The published grid: every combination of delay, rows and requests, against each server.

use std::num::NonZero;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::load::{ConnectError, Connections, Extent, Load, quantile_s};
use crate::results::Row;
use crate::ticket::Ticket;

/// What is measured, as `bench` takes it.
#[derive(Debug, Clone, clap::Args)]
pub struct Grid {
    /// Rows of a batch
    #[arg(long, value_delimiter = ',', default_value = "1000,5000,10000")]
    pub rows: Vec<NonZero<usize>>,
    /// Requests in flight
    #[arg(long, value_delimiter = ',', default_value = "10,100,500,1000,2000")]
    pub requests: Vec<NonZero<usize>>,
    /// Seconds that each batch takes to come
    #[arg(long, value_delimiter = ',', default_value = "0.001,0.01,0.1", value_parser = seconds)]
    pub delays: Vec<Duration>,
    /// Batches of a request; the table once without it. A request that ends is followed by the next
    #[arg(long)]
    pub batches: Option<NonZero<usize>>,
    /// Seconds that are counted per cell
    #[arg(long, default_value = "1.5", value_parser = some_seconds)]
    pub window: Duration,
    /// Seconds before they begin
    #[arg(long, default_value = "0.5", value_parser = seconds)]
    pub warm_up: Duration,
    /// Connections per server that share the requests
    #[arg(long, default_value = "32")]
    pub connections: NonZero<usize>,
    /// Seconds without a message after which a request has failed
    #[arg(long, default_value = "60", value_parser = seconds)]
    pub patience: Duration,
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "give seconds, 0 or more".to_owned())
}

fn some_seconds(text: &str) -> Result<Duration, String> {
    seconds(text).ok().filter(|time| !time.is_zero()).ok_or_else(|| "give seconds, more than 0".to_owned())
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
            let name = connections.stats().await.map_or(String::new(), |stats| stats.mode);
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
        let cells = self.delays.len() * self.rows.len() * self.requests.len();
        let bar = ProgressBar::new((cells * targets.len()) as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        for &delay in &self.delays {
            for &rows in &self.rows {
                for &requests in &self.requests {
                    // Servers take turns cell by cell, so that both meet the same minute of the machine.
                    for target in targets {
                        bar.set_message(format!("{} {delay:?}, {rows} rows, {requests} requests", target.name));
                        let ticket = Ticket {
                            records_per_batch: rows.get(),
                            batch_generation_delay: delay.as_secs_f64(),
                            batches: self.batches.map(NonZero::get),
                        };
                        let extent = Extent::Window { warm_up: self.warm_up, window: self.window };
                        let (requests, patience) = (requests.get(), self.patience);
                        let load = Load { ticket, requests, extent, first: None, patience };
                        done(&cell(&load, target, self.connections.get()).await)?;
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
    Row {
        average_latency: batches.zip(batch_bytes).map(|(batches, bytes)| {
            // In a steady state: requests in flight over requests served per second.
            requests * batches * bytes / (delivery.mb_per_s() * 1e6)
        }),
        throughput_mb_per_s: delivery.mb_per_s(),
        latency_p50: quantile_s(&delivery.latency, 0.5),
        latency_p99: quantile_s(&delivery.latency, 0.99),
        first_batch_p50: quantile_s(&delivery.first_batch, 0.5),
        first_batch_p99: quantile_s(&delivery.first_batch, 0.99),
        gap_p50: quantile_s(&delivery.gap, 0.5),
        gap_p99: quantile_s(&delivery.gap, 0.99),
        ideal_mb_per_s: batch_bytes.filter(|_| delay > 0.0).map(|bytes| requests * bytes / delay / 1e6),
        failures: delivery.failures.len(),
        first_failure: first.map(|failure| format!("{:?}: {}", failure.code, failure.reason)).unwrap_or_default(),
        ..row
    }
}
