//! What can be typed, turned into one closed set of commands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use study_kit::{Profile, RunArgs, RunRequest};
use txn_engine::Arm;
use txn_engine::generate::Shape;

const EXAMPLES: &str = "Examples:
  txn_engine payments.csv > accounts.csv
  txn_engine async payments.csv --dump session/
  txn_engine --load session/ more.csv
  cat payments.csv | txn_engine --strict -
  txn_engine --engine sync_pipelined payments.csv
  txn_engine generate --rows 1000000 --seed 1 --shape accepted > payments.csv
  txn_engine async stress-test 2000100

Exit codes: 0 done, 1 rows were rejected and --strict was given (or a study run failed), 2 could not run.
Without arguments: one pass over the study's arms, with the tables of the published document.";

/// A payments engine over CSV: reads type,client,tx,amount and prints the accounts.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
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
    /// List the study's test cases, tab-separated
    Arms {
        /// smoke, quick or full
        #[arg(long, default_value = "quick")]
        profile: Profile,
    },
    /// Write a scenario's input and its expected answer
    Prepare {
        /// The scenario, as `arms` lists it
        #[arg(long)]
        scenario: String,
        /// Seed of the input
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Run one test case once and record it
    Run(RunArgs),
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

/// What to do.
#[derive(Debug)]
pub enum Command {
    /// Process a file.
    Process(Process),
    /// Process generated rows.
    Stress { rows: u64, seed: u64, arm: Arm, record: Option<PathBuf> },
    /// Print stress records as a table.
    StressTable { file: PathBuf },
    /// Write test data.
    Generate { rows: u64, seed: u64, shape: Shape },
    /// List test cases.
    Arms(Profile),
    /// Write a scenario's input.
    Prepare { scenario: String, seed: u64 },
    /// Run a test case.
    Run(RunRequest, Option<PathBuf>),
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
            Some(Word::Arms { profile }) => Command::Arms(profile),
            Some(Word::Prepare { scenario, seed }) => Command::Prepare { scenario, seed },
            Some(Word::Run(args)) => {
                let (request, file) = args.into_request();
                Command::Run(request, file)
            }
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
