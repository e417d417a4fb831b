//! What can be typed, turned into one closed set of commands.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use study_kit::Verb;
use txn_engine::generate::Shape;
use txn_engine::load::Arrivals;
use txn_engine::serve::Mode;
use txn_engine::{Arm, clients};

const EXAMPLES: &str = "Examples:
  txn_engine payments.csv > accounts.csv
  txn_engine async payments.csv --dump session/
  txn_engine --load session/ more.csv
  cat payments.csv | txn_engine --strict -
  txn_engine --engine sync_pipelined payments.csv
  txn_engine generate --rows 1000000 --seed 1 --shape accepted > payments.csv
  txn_engine async stress-test 2000100
  txn_engine serve --mode tokio --addr 127.0.0.1:8820 --dump session/
  txn_engine load --addr 127.0.0.1:8820 --clients 10000 --rate 10000 --duration 10

Exit codes: 0 done, 1 rows were rejected and --strict was given (or a study run failed), 2 could not run.
Without arguments: one pass over the study's arms, with the tables of the published document.";

/// A payments engine over CSV: reads type,client,tx,amount and prints the accounts.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(mut_subcommand("prepare", |prepare| prepare.about("Write a scenario's input and its expected answer")))]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Word>,
    #[command(flatten)]
    process: ProcessArgs,
}

#[derive(Debug, Args)]
struct ProcessArgs {
    /// CSV file to process; - reads standard input
    file: Option<PathBuf>,
    /// Which arm processes the file (all give the same answer): sync, async, `best_all_cores`, ...
    #[arg(long, value_name = "NAME")]
    engine: Option<Arm>,
    /// Write accounts and transactions to this folder, to go on from later
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Go on from the session dumped in this folder
    #[arg(long, value_name = "DIR")]
    load: Option<PathBuf>,
    /// Exit with 1 if any row was rejected
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Subcommand)]
enum Word {
    /// Process a file, or run the stress test, with the async engine
    #[command(args_conflicts_with_subcommands = true)]
    Async {
        #[command(subcommand)]
        command: Option<AsyncWord>,
        #[command(flatten)]
        process: ProcessArgs,
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
        /// original, accepted, hot or uniform
        #[arg(long, default_value = "original")]
        shape: Shape,
    },
    /// Answer lines of CSV over TCP, each with ok or its error, until interrupted; then drain, and dump
    Serve(ServeArgs),
    /// Send rows to a server at a given rate over many connections, and tell how long the answers took from when the rows were due
    Load(LoadArgs),
    /// The document's own example: so many clients at once in this process, as threads or tasks; prints JSON
    Clients(ClientsArgs),
    #[command(flatten)]
    Study(Verb),
}

#[derive(Debug, Subcommand)]
enum AsyncWord {
    /// Process N generated rows and print time and memory on stderr
    StressTest(StressArgs),
}

#[derive(Debug, Args)]
struct StressArgs {
    /// How many rows
    rows: u64,
    /// Seed of the rows
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Which arm processes them (default: sync, or async after the word async)
    #[arg(long, value_name = "NAME")]
    engine: Option<Arm>,
    /// Append a record of the run to this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Who waits for the bytes of a connection: threads, pool, tokio, `tokio_current`, or null (every line is ok, unread)
    #[arg(long, default_value = "tokio")]
    pub mode: Mode,
    /// Where to listen; port 0 takes one that is free
    #[arg(long, default_value = "127.0.0.1:8820", value_name = "ADDRESS")]
    pub addr: SocketAddr,
    /// Threads of the mode pool
    #[arg(long, default_value_t = 64, value_name = "THREADS")]
    pub pool: usize,
    /// Refuse more connections at once than this; the machine's limits hold besides
    #[arg(long, value_name = "N")]
    pub most_connections: Option<usize>,
    /// Go on from the session dumped in this folder
    #[arg(long, value_name = "DIR")]
    pub load: Option<PathBuf>,
    /// When stopped, write accounts and transactions to this folder
    #[arg(long, value_name = "DIR")]
    pub dump: Option<PathBuf>,
    /// Seconds after which connections that do not take their answers are cut off
    #[arg(long, default_value = "5", value_name = "SECONDS", value_parser = seconds)]
    pub grace: Duration,
    /// Stop when standard input is closed, too
    #[arg(long, hide = true)]
    pub until_stdin_closes: bool,
}

#[derive(Debug, Args)]
pub struct LoadArgs {
    /// Where the server is
    #[arg(long, default_value = "127.0.0.1:8820", value_name = "ADDRESS")]
    pub addr: SocketAddr,
    /// Connections, each a client with an account of its own
    #[arg(long, default_value = "100", value_name = "N", value_parser = at_least_one)]
    pub clients: usize,
    /// Rows per second over all of them
    #[arg(long, default_value_t = 1000.0, value_parser = rate)]
    pub rate: f64,
    /// Seconds that count
    #[arg(long, default_value = "10", value_name = "SECONDS", value_parser = seconds)]
    pub duration: Duration,
    /// Seconds before them
    #[arg(long, default_value = "1", value_name = "SECONDS", value_parser = seconds)]
    pub warm_up: Duration,
    /// How the rows are spread over time: poisson or constant
    #[arg(long, default_value = "poisson")]
    pub arrivals: Arrivals,
    /// Same seed, same rows at the same times
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The lowest transaction id: above those that the server has seen
    #[arg(long, default_value_t = 1, value_name = "ID")]
    pub first_tx: u32,
    /// Seconds after which an answer has failed to come
    #[arg(long, default_value = "10", value_name = "SECONDS", value_parser = seconds)]
    pub patience: Duration,
    /// Print one line of JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ClientsArgs {
    /// What a client is: threads or tasks
    #[arg(long = "as", value_name = "KIND")]
    pub kind: clients::Kind,
    /// How many
    #[arg(long, default_value = "10000", value_name = "N", value_parser = at_least_one)]
    pub clients: usize,
    /// Rows of each
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub rows: usize,
    /// Of the rows
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

fn seconds(text: &str) -> Result<Duration, String> {
    /// Clocks end somewhere, and patience before.
    const LONGEST_S: f64 = 1e6;
    let seconds = text.parse().ok().filter(|seconds| (0.0..=LONGEST_S).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or("not a number of seconds from 0 to 1000000".to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&count| count > 0).ok_or("not a whole number above zero".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    /// More than any machine sends, and less than times in nanoseconds can tell apart.
    const HIGHEST: f64 = 1e8;
    let rate = text.parse().ok().filter(|&rate| rate > 0.0 && rate <= HIGHEST);
    rate.ok_or("not a number above 0 and up to 100000000".to_owned())
}

/// What to do.
#[derive(Debug)]
pub enum Command {
    /// Serve over TCP.
    Serve(ServeArgs),
    /// Put load on a server.
    Load(LoadArgs),
    /// So many clients in this process.
    Clients(ClientsArgs),
    /// Process a file.
    Process(Process),
    /// Process generated rows.
    Stress { rows: u64, seed: u64, arm: Arm, record: Option<PathBuf> },
    /// Print stress records as a table.
    StressTable { file: PathBuf },
    /// Write test data.
    Generate { rows: u64, seed: u64, shape: Shape },
    /// What the measuring layer asks.
    Study(Verb),
    /// One pass over the arms.
    Overview,
}

/// How to process a file.
#[derive(Debug)]
pub struct Process {
    pub file: PathBuf,
    pub arm: Arm,
    pub dump: Option<PathBuf>,
    pub load: Option<PathBuf>,
    pub strict: bool,
}

impl Cli {
    /// The one command that was typed.
    pub fn into_command(self) -> Command {
        match self.command {
            None => self.process.into_command(Arm::BestAllCores),
            Some(Word::Async { command: None, process }) => process.into_command(Arm::Async),
            Some(Word::Async { command: Some(AsyncWord::StressTest(stress)), .. }) => stress.into_command(Arm::Async),
            Some(Word::StressTest(stress)) => stress.into_command(Arm::Sync),
            Some(Word::StressTable { file }) => Command::StressTable { file },
            Some(Word::Generate { rows, seed, shape }) => Command::Generate { rows, seed, shape },
            Some(Word::Serve(args)) => Command::Serve(args),
            Some(Word::Load(args)) => Command::Load(args),
            Some(Word::Clients(args)) => Command::Clients(args),
            Some(Word::Study(verb)) => Command::Study(verb),
        }
    }
}

impl ProcessArgs {
    fn into_command(self, arm: Arm) -> Command {
        let ProcessArgs { file, engine, dump, load, strict } = self;
        let arm = engine.unwrap_or(arm);
        match file {
            Some(file) => Command::Process(Process { file, arm, dump, load, strict }),
            None if dump.is_some() || load.is_some() || strict || engine.is_some() || arm == Arm::Async => {
                let mut command = <Cli as clap::CommandFactory>::command();
                command
                    .error(
                        clap::error::ErrorKind::MissingRequiredArgument,
                        "name a CSV file to process, or - for standard input",
                    )
                    .exit()
            }
            None => Command::Overview,
        }
    }
}

impl StressArgs {
    fn into_command(self, arm: Arm) -> Command {
        let StressArgs { rows, seed, engine, record } = self;
        Command::Stress { rows, seed, arm: engine.unwrap_or(arm), record }
    }
}
