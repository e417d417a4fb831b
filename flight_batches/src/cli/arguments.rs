//! What can be typed, turned into one closed set of commands.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use strum::VariantArray;

use crate::bench::{Grid, seconds};
use crate::produce::Mode;
use crate::service::Encoding;

const EXAMPLES: &str = "Examples:
  flight_batches serve --mode async --addr 127.0.0.1:8815
  flight_batches bench --delays 0.01 --requests 10,100 --out results.csv
  flight_batches bench --endpoint http://10.0.0.7:8815 --endpoint http://10.0.0.7:8816
  flight_batches plot results.csv --out plots

Exit codes: 0 done, 1 requests failed or streams were cut off, 2 could not run.";

/// Serves Arrow record batches that take a while to come, and puts thousands of real streams on such servers.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, disable_help_subcommand = true)]
#[command(arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the table over Arrow Flight until interrupted; streams in flight are finished
    Serve(Serving),
    /// Measure servers over a grid of delays, rows and requests, and write results.csv
    Bench(Benching),
    /// Draw `throughput_1ms.png` and its kin from results.csv
    Plot(Plotting),
}

/// The value of a closed set by its name; a wrong one is refused with the choices.
fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + FromStr<Err = strum::ParseError> + Copy + Into<&'static str> + Send + Sync,
{
    let names: Vec<&'static str> = T::VARIANTS.iter().map(|&value| value.into()).collect();
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// What `serve` serves, and how.
#[derive(Debug, Args)]
pub struct Serving {
    /// Address to listen on; port 0 takes one that is free. Other machines are let in only if you say so: 0.0.0.0:8815
    #[arg(long, default_value = "127.0.0.1:8815")]
    pub addr: SocketAddr,
    /// Stop when standard input ends: for programs that start this one
    #[arg(long, hide = true)]
    pub until_stdin_closes: bool,
    /// Who waits for a batch: a task, a thread per request, one of a pool, a thread of the runtime's, the worker that polls
    #[arg(long, default_value = "async", value_parser = one_of::<Mode>())]
    pub mode: Mode,
    /// Threads of the mode pool
    #[arg(long, default_value = "8")]
    pub pool: NonZero<usize>,
    /// Batches worked on ahead of the one that is asked for, or all
    #[arg(long, default_value = "1", value_parser = prefetch)]
    pub prefetch: usize,
    /// direct (for each request, values from where they are), stock (by arrow-flight) or shared (once, all requests share the bytes)
    #[arg(long, default_value = "direct", value_parser = one_of::<Encoding>())]
    pub encoding: Encoding,
    /// Rows of the table
    #[arg(long, default_value = "1000000")]
    pub rows: NonZero<usize>,
    /// Columns of the table
    #[arg(long, default_value = "50")]
    pub cols: NonZero<usize>,
    /// Seed of the table's values
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// MiB that the messages of all streams may take until they are sent, and 64 KiB for each stream besides
    #[arg(long, default_value = "256")]
    pub memory: NonZero<usize>,
    /// Streams of one connection at once; who asks for more on it waits
    #[arg(long, default_value = "1000")]
    pub streams_per_connection: NonZero<u32>,
    /// Seconds that streams in flight have to end after an interrupt or SIGTERM; then they are cut off, and the exit code is 1
    #[arg(long, default_value = "10", value_parser = seconds)]
    pub grace: Duration,
}

fn prefetch(text: &str) -> Result<usize, String> {
    let batches = if text == "all" { Some(usize::MAX) } else { text.parse().ok() };
    batches.ok_or_else(|| "a number of batches, or all".to_owned())
}

/// What `bench` measures.
#[derive(Debug, Args)]
pub struct Benching {
    /// A server to measure, like `http://127.0.0.1:8815`; several take turns. Without it an async and a sync server are started
    #[arg(long)]
    pub endpoint: Vec<String>,
    #[command(flatten)]
    pub grid: Grid,
    /// The file to write
    #[arg(long, default_value = "results.csv")]
    pub out: PathBuf,
}

/// What `plot` draws.
#[derive(Debug, Args)]
pub struct Plotting {
    /// The file that `bench` wrote
    #[arg(default_value = "results.csv")]
    pub results: PathBuf,
    /// The folder for the pictures
    #[arg(long, default_value = ".")]
    pub out: PathBuf,
}
