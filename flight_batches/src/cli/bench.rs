//! `bench`: the published grid, every combination of delay, rows and requests, against each server.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::value_parser;
use indicatif::{ProgressBar, ProgressStyle};

use super::{FOUND_FAILURES, print, runtime, seconds};
use crate::load::{ConnectError, Connections, Extent, Load, quantile_s};
use crate::results::{self, Row};
use crate::ticket::Ticket;

/// Of requests and connections: each takes some KiB before it brings anything.
const MOST: i64 = 1_000_000;

/// What `bench` measures.
#[derive(Debug, clap::Args)]
pub struct Benching {
    /// A server to measure, like `http://127.0.0.1:8815`; several take turns. Without it an async and a sync server are started
    #[arg(long)]
    endpoint: Vec<String>,
    /// Rows of a batch
    #[arg(long, value_delimiter = ',', default_value = "1000,5000,10000")]
    rows: Vec<NonZero<usize>>,
    /// Requests in flight
    #[arg(long, value_delimiter = ',', default_value = "10,100,500,1000,2000", value_parser = value_parser!(u32).range(1..=MOST))]
    requests: Vec<u32>,
    /// Seconds that each batch takes to come
    #[arg(long, value_delimiter = ',', default_value = "0.001,0.01,0.1", value_parser = seconds)]
    delays: Vec<Duration>,
    /// Batches of a request; the table once without it. A request that ends is followed by the next
    #[arg(long)]
    batches: Option<NonZero<usize>>,
    /// Seconds that are counted per cell
    #[arg(long, default_value = "1.5", value_parser = some_seconds)]
    window: Duration,
    /// Seconds before they begin
    #[arg(long, default_value = "0.5", value_parser = seconds)]
    warm_up: Duration,
    /// Connections per server that share the requests
    #[arg(long, default_value = "32", value_parser = value_parser!(u32).range(1..=MOST))]
    connections: u32,
    /// Seconds without a message after which a request has failed
    #[arg(long, default_value = "60", value_parser = seconds)]
    patience: Duration,
    /// The file to write
    #[arg(long, default_value = "results.csv")]
    out: PathBuf,
}

fn some_seconds(text: &str) -> Result<Duration, String> {
    seconds(text).ok().filter(|time| !time.is_zero()).ok_or_else(|| "give seconds, more than 0".to_owned())
}

/// Measures the grid and writes its file.
pub fn bench(benching: &Benching) -> anyhow::Result<ExitCode> {
    let cannot = |path: &Path| format!("cannot write {}", path.display());
    // The rename must not replace a link or a device.
    let out = fs::canonicalize(&benching.out).unwrap_or_else(|_| benching.out.clone());
    let is_other = out.symlink_metadata().is_ok_and(|there| !there.is_file());
    ensure!(!is_other, "{}: it is no regular file", cannot(&benching.out));
    let runtime = runtime()?;
    let mut own = Vec::new();
    if benching.endpoint.is_empty() {
        // As published: a queue without bound ahead of the sender, and none.
        own.push(start_server(&["--mode", "async", "--prefetch", "all"])?);
        own.push(start_server(&["--mode", "sync", "--prefetch", "0"])?);
    }
    let endpoints = own.iter().map(|(_, endpoint)| endpoint).chain(&benching.endpoint);
    let targets = runtime.block_on(Target::find(endpoints, benching.patience))?;
    // Lines are written as they come, so that an interruption loses none; the name is right when all are there.
    let (unfinished, file) = results::create_new(|number| {
        // Pushed, so that a name that ends in a slash is refused here and not after the measurement.
        let mut name = out.clone().into_os_string();
        name.push(if number == 0 { ".part".to_owned() } else { format!(".part{number}") });
        name.into()
    });
    let file = file.with_context(|| cannot(&unfinished))?;
    let measured = runtime.block_on(benching.measure(&targets, file));
    let (cells, failures) = measured.with_context(|| cannot(&unfinished))?;
    fs::rename(&unfinished, &out).with_context(|| cannot(&out))?;
    print(&format!("{cells} cells in {}, {failures} failed requests\n", benching.out.display()))?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAILURES) })
}

impl Benching {
    /// Measures every cell on every target in turn and writes each row at once. Returns the number of cells, and of failed requests.
    async fn measure(&self, targets: &[Target<'_>], file: File) -> anyhow::Result<(usize, usize)> {
        let mut writer = csv::Writer::from_writer(file);
        let mut failures = 0;
        let cells = self.delays.len() * self.rows.len() * self.requests.len() * targets.len();
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {msg}")?;
        let bar = ProgressBar::new(cells as u64).with_style(style);
        let extent = Extent::Window { warm_up: self.warm_up, window: self.window };
        for delay in &self.delays {
            for rows in &self.rows {
                for requests in &self.requests {
                    // Servers take turns cell by cell, so that both meet the same minute of the machine.
                    for target in targets {
                        bar.set_message(format!("{} {delay:?}, {rows} rows, {requests} requests", target.name));
                        let ticket = Ticket {
                            records_per_batch: rows.get(),
                            batch_generation_delay: delay.as_secs_f64(),
                            batches: self.batches.map(NonZero::get),
                        };
                        let load = Load {
                            table_rows: target.table_rows,
                            patience: self.patience,
                            ..Load::new(ticket, *requests as usize, extent)
                        };
                        let row = cell(&load, target, self.connections as usize).await;
                        failures += row.failures;
                        writer.serialize(row)?;
                        writer.flush()?;
                        bar.inc(1);
                    }
                }
            }
        }
        bar.finish_and_clear();
        Ok((cells, failures))
    }
}

/// What comes of a load on a target.
async fn cell(load: &Load, target: &Target<'_>, connections: usize) -> Row {
    let Ticket { records_per_batch, batch_generation_delay: delay, batches } = load.ticket;
    let row = Row {
        records_per_batch,
        concurrent_requests: load.requests,
        batch_generation_delay: delay,
        server: target.name.clone(),
        ..Row::default()
    };
    let delivery = match Connections::open_within(target.endpoint, load.requests.min(connections), load.patience).await
    {
        Ok(connections) => load.run(&connections).await,
        Err(error) => {
            let first_failure = format!("{:#}", anyhow::Error::from(error)).replace(['\n', '\r'], " ");
            return Row { failures: load.requests, first_failure, ..row };
        }
    };
    let requests = load.requests as f64;
    let batch_bytes = delivery.row_bytes.map(|bytes| bytes as f64 * records_per_batch as f64);
    let table = target.table_rows.map(|rows| rows as f64 / records_per_batch as f64);
    let batches = batches.map(|batches| batches as f64).or(table);
    let first = delivery.failures.first();
    Row {
        average_latency: batches.zip(batch_bytes).filter(|_| delivery.bytes > 0).map(|(batches, bytes)| {
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
        first_failure: first.map(|status| format!("{:?}: {}", status.code(), status.message())).unwrap_or_default(),
        ..row
    }
}

/// A server of which all cells are measured.
struct Target<'a> {
    endpoint: &'a str,
    /// What its rows are called.
    name: String,
    /// Rows of its table, if it says so.
    table_rows: Option<usize>,
}

impl<'a> Target<'a> {
    /// Servers by what they say of themselves: `async`, `sync`; two of a kind, and those that do not say, by their endpoints.
    async fn find(endpoints: impl Iterator<Item = &'a String>, patience: Duration) -> Result<Vec<Self>, ConnectError> {
        let mut targets = Vec::new();
        for endpoint in endpoints {
            let connections = Connections::open_within(endpoint, 1, patience).await?;
            // At once: a server that says nothing is waited for once.
            let (stats, table_rows) = tokio::join!(connections.stats(), connections.table_rows());
            targets.push(Target { endpoint, name: stats.map_or(String::new(), |stats| stats.mode), table_rows });
        }
        let modes: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
        for target in &mut targets {
            if target.name.is_empty() || modes.iter().filter(|mode| **mode == target.name).count() > 1 {
                target.name = format!("{} {}", target.name, target.endpoint).trim_start().into();
            }
        }
        Ok(targets)
    }
}

/// Starts this program as a server with such options; returns where it listens, too. It ends with its input: when the child is dropped, or this
/// process dies.
fn start_server(options: &[&str]) -> anyhow::Result<(Child, String)> {
    let mut command = Command::new(std::env::current_exe().context("this program cannot be found")?);
    command.args(["serve", "--until-stdin-closes", "--addr", "127.0.0.1:0"]).args(options);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("no server can be started")?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line).context("the server cannot be heard")?;
    }
    let endpoint = line.trim_end().strip_prefix("listening on ").context("the server did not say where it listens")?;
    Ok((child, endpoint.to_owned()))
}
