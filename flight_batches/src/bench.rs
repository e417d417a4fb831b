//! The published grid: every combination of delay, rows and requests, against each server.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use study_kit::distribution::Distribution;

use crate::load::{ConnectError, Connections, Form, Load, Outcome, number};
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
    pub kind: String,
    /// Rows of its table, if it says so.
    pub table_rows: Option<usize>,
}

impl Target {
    /// Servers by what they say of themselves: `async`, `sync`; two of a kind, and those that do not say, by their endpoints.
    ///
    /// # Errors
    /// If nobody answers at one of them.
    pub async fn find(endpoints: &[String]) -> Result<Vec<Self>, ConnectError> {
        let mut targets = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints {
            let connections = Connections::open(endpoint, 1).await?;
            let kind = connections.health().await.map_or(String::new(), |health| health.mode);
            targets.push(Target { endpoint: endpoint.clone(), kind, table_rows: connections.table_rows().await });
        }
        let kinds: Vec<String> = targets.iter().map(|target| target.kind.clone()).collect();
        for target in &mut targets {
            if kinds.iter().filter(|kind| **kind == target.kind).count() > 1 || target.kind.is_empty() {
                target.kind = if target.kind.is_empty() {
                    target.endpoint.clone()
                } else {
                    format!("{} {}", target.kind, target.endpoint)
                };
            }
        }
        Ok(targets)
    }
}

impl Grid {
    /// The cells: delay, rows, requests.
    fn cells(&self) -> Vec<(f64, usize, usize)> {
        let mut cells = Vec::new();
        for &delay in &self.delays_s {
            for &rows in &self.rows {
                cells.extend(self.requests.iter().map(|&requests| (delay, rows, requests)));
            }
        }
        cells
    }

    /// Measures every cell on every target in turn; a bar on standard error shows how far it is. What fails is counted in its row.
    ///
    /// Each row is given to `done` as soon as it is there.
    ///
    /// # Errors
    /// The first of `done`.
    pub async fn measure<E>(&self, targets: &[Target], mut done: impl FnMut(&Row) -> Result<(), E>) -> Result<(), E> {
        let cells = self.cells();
        let bar = ProgressBar::new((cells.len() * targets.len()) as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        for (delay, records, requests) in cells {
            // Servers take turns cell by cell, so that both meet the same minute of the machine.
            for target in targets {
                bar.set_message(format!("{} {delay} s, {records} rows, {requests} requests", target.kind));
                done(&self.cell(target, delay, records, requests).await)?;
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    async fn cell(&self, target: &Target, delay: f64, records: usize, requests: usize) -> Row {
        let ticket = Ticket { records_per_batch: records, batch_generation_delay: delay, batches: self.batches };
        let load = Load {
            ticket,
            requests,
            form: Form::Window { warm_up: self.warm_up, window: self.window },
            first: None,
            patience: self.patience,
        };
        let connections = requests.min(self.connections);
        match Connections::open(&target.endpoint, connections).await {
            Ok(connections) => row(&load, target, &load.run(&connections).await),
            Err(error) => Row {
                failures: requests,
                first_failure: study_kit::error::one_line(&error),
                ..empty(&load, &target.kind)
            },
        }
    }
}

fn empty(load: &Load, kind: &str) -> Row {
    Row {
        records_per_batch: load.ticket.records_per_batch,
        concurrent_requests: load.requests,
        batch_generation_delay: load.ticket.batch_generation_delay,
        average_latency: None,
        throughput_mb_per_s: 0.0,
        kind: kind.to_owned(),
        latency_p50: None,
        latency_p99: None,
        first_batch_p50: None,
        first_batch_p99: None,
        gap_p50: None,
        gap_p99: None,
        ideal_mb_per_s: None,
        failures: 0,
        first_failure: String::new(),
    }
}

/// What a cell came to.
fn row(load: &Load, target: &Target, outcome: &Outcome) -> Row {
    let requests = number(load.requests as u64);
    let delay = load.ticket.batch_generation_delay;
    let records = load.ticket.records_per_batch;
    let batch_bytes = outcome.row_bytes.map(|bytes| number((bytes * records) as u64));
    let table = target.table_rows.map(|rows| number(rows as u64) / number(records as u64));
    let batches = load.ticket.batches.map(|batches| number(batches as u64)).or(table);
    let first = outcome.failures.first();
    let seconds = |times: &Distribution, share| times.quantile(share).map(|time| time.as_secs_f64());
    Row {
        average_latency: batches.zip(batch_bytes).map(|(batches, bytes)| {
            // In a steady state: requests in flight over requests served per second.
            requests * batches * bytes / (outcome.mb_per_s() * 1e6)
        }),
        throughput_mb_per_s: outcome.mb_per_s(),
        latency_p50: seconds(&outcome.latency, 0.5),
        latency_p99: seconds(&outcome.latency, 0.99),
        first_batch_p50: seconds(&outcome.first_batch, 0.5),
        first_batch_p99: seconds(&outcome.first_batch, 0.99),
        gap_p50: seconds(&outcome.gap, 0.5),
        gap_p99: seconds(&outcome.gap, 0.99),
        ideal_mb_per_s: batch_bytes.filter(|_| delay > 0.0).map(|bytes| requests * bytes / delay / 1e6),
        failures: outcome.failures.len(),
        first_failure: first.map(|failure| format!("{:?}: {}", failure.code, failure.reason)).unwrap_or_default(),
        ..empty(load, &target.kind)
    }
}
