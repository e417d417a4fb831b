//! What can be typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use crate::arguments::{clients, seconds};
use crate::clients::Spawn;
use crate::generate::Shape;
use crate::load::Load;
use crate::serve::Options;
use crate::setup::Setup;

const EXAMPLES: &str = "Examples:
  txn_engine payments.csv > accounts.csv
  cat payments.csv | txn_engine --strict -
  txn_engine payments.csv --dump session/
  txn_engine --load session/ more.csv
  txn_engine serve --mode tokio --dump session/
  txn_engine load --clients 10000 --rate 10000

Exit codes: 0 done, 1 rows were rejected and --strict was given (or a load had failures), 2 could not run.";

/// A payments engine over CSV: reads type,client,tx,amount and prints the accounts.
#[derive(Debug, Parser)]
#[command(name = "txn_engine", version, after_help = EXAMPLES, disable_help_subcommand = true)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Word>,
    #[command(flatten)]
    pub(super) process: Option<ProcessArgs>,
}

#[derive(Debug, Args)]
pub(super) struct ProcessArgs {
    /// CSV file to process; - reads standard input
    pub(super) file: PathBuf,
    /// Which engine processes the file; all give the same answer
    #[arg(long, value_name = "NAME", value_parser = engines())]
    pub(super) engine: Option<Engine>,
    /// Write accounts and transactions to this folder, to go on from later; another run that dumps there meanwhile is refused
    #[arg(long, value_name = "DIR")]
    pub(super) dump: Option<PathBuf>,
    /// Go on from the session dumped in this folder
    #[arg(long, value_name = "DIR")]
    pub(super) load: Option<PathBuf>,
    /// Exit with 1 if any row was rejected
    #[arg(long)]
    pub(super) strict: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Word {
    /// Process a file, or run the stress test, with the async engine
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Async {
        #[command(subcommand)]
        command: Option<AsyncWord>,
        #[command(flatten)]
        process: Option<ProcessArgs>,
    },
    /// Process N generated rows and print time and memory on stderr
    StressTest(StressArgs),
    /// Print the records of stress tests as the published table
    StressTable {
        /// Records written by stress-test --record
        file: PathBuf,
    },
    /// Write test data to standard output
    Generate {
        /// How many rows
        #[arg(long)]
        rows: u64,
        /// Same seed, same bytes
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// What they look like
        #[arg(long, default_value = "original")]
        shape: Shape,
    },
    /// Answer lines of CSV over TCP, each with ok or its error, until interrupted; then drain, and dump
    ///
    /// ok says that the row is applied in memory, not that it is stored: nothing is written before the server is told to stop. One that is
    /// killed or crashes loses all rows since its start, those that were answered with ok too.
    Serve(ServeArgs),
    /// Send rows to a server at a given rate over many connections, and tell how long the answers took from when the rows were due
    Load(LoadArgs),
    /// The document's own example: so many clients at once in this process, as threads or tasks
    Clients(ClientsArgs),
}

#[derive(Debug, Subcommand)]
pub(super) enum AsyncWord {
    /// Process N generated rows and print time and memory on stderr
    StressTest(StressArgs),
}

#[derive(Debug, Args)]
pub(super) struct StressArgs {
    /// How many rows
    pub(super) rows: u64,
    /// Seed of the rows
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// Which engine processes them (default: sync, or async after the word async)
    #[arg(long, value_name = "NAME", value_parser = engines())]
    pub(super) engine: Option<Engine>,
    /// Append a record of the run to this file
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    pub(super) options: Options,
    /// Go on from the session dumped in this folder
    #[arg(long, value_name = "DIR")]
    pub(super) load: Option<PathBuf>,
    /// When stopped, and not before, write accounts and transactions to this folder; other runs that dump there until then are refused
    #[arg(long, value_name = "DIR")]
    pub(super) dump: Option<PathBuf>,
    /// Seconds after which connections that do not take their answers are cut off
    #[arg(long, default_value = "5", value_name = "SECONDS", value_parser = seconds)]
    pub(super) grace: Duration,
    /// Stop when standard input is closed, too
    #[arg(long, hide = true)]
    pub(super) until_stdin_closes: bool,
}

#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    #[command(flatten)]
    pub(super) load: Load,
    /// Print one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ClientsArgs {
    /// What a client is
    #[arg(long = "as", value_name = "KIND")]
    pub(super) spawn: Spawn,
    /// How many
    #[arg(long, default_value = "10000", value_name = "N", value_parser = clients)]
    pub(super) clients: usize,
    /// Rows of each
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(super) rows: usize,
    /// Of the rows
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// Start threads even if the system's limits are too low for them, which ends the program without a word
    #[arg(long)]
    pub(super) force: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) type Engine = (&'static str, Setup);

/// One of the engines that have a name.
fn engines() -> impl TypedValueParser<Value = Engine> {
    let find = |given: String| Setup::NAMED.into_iter().find(|(name, _)| *name == given);
    PossibleValuesParser::new(Setup::NAMED.map(|(name, _)| name))
        .try_map(move |given| find(given).ok_or("no such engine"))
}
