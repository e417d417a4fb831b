//! What can be typed, turned into one closed set of commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use sqlite_bench::design::Arm;
use sqlite_bench::study::compare::{Comparison, parse_duration};
use study_kit::Verb;

const ABOUT: &str =
    "Compares ways to reach SQLite from async Rust: what do reads wait for while a write holds the database?";
const EXAMPLES: &str = "Examples:
  sqlite_bench
  sqlite_bench describe
  sqlite_bench compare --arm wal_threads,spawn_blocking --holds 100ms,1s --rate 100
  sqlite_bench run --scenario hold_100ms --arm wal_threads

Without arguments: compare with its defaults, which prints the tables of the published document for this machine in two minutes.

Exit codes: 0 done, 1 ran and found failures, 2 could not run.";
const COMPARE_EXAMPLES: &str = "Examples:
  sqlite_bench compare --holds 100ms
  sqlite_bench compare --arm wal_threads --arm deadpool --holds 20ms,1s --duration 5s
  sqlite_bench compare --arm tokio_rusqlite,wal_threads --rate 100
  sqlite_bench compare --databases 40 --readers 2 --holds 500ms --directory /var/tmp --record runs.jsonl

Lists are separated by commas; times have a unit: us, ms, s or min. A write that has begun is waited for, so that a run
lasts up to a hold longer than its window. A figure with ! is of a run with failures, which the last lines name.
`sqlite_bench describe` says what each arm is. Databases that are files lie in a folder sqlite_bench-*, gone at the end; Ctrl-C leaves it.
Exit codes: 0 done, 1 an arm lost a write or failed operations (but for negative controls, which are there to fail), 2 could not run.";
const ARMS_EXAMPLES: &str = "Examples:
  sqlite_bench arms
  sqlite_bench arms --profile full";
const DESCRIBE_EXAMPLES: &str = "Examples:
  sqlite_bench describe
  sqlite_bench describe | grep WAL";
const PREPARE_EXAMPLES: &str = "Examples:
  sqlite_bench prepare --scenario hold_100ms --seed 1

Every run makes its own databases: this only checks the name.";
const RUN_EXAMPLES: &str = "Examples:
  sqlite_bench run --scenario hold_100ms --arm spawn_blocking
  sqlite_bench run --scenario open_1s --arm wal_threads --seed 2 --record records.jsonl

Exit codes: 0 done, 1 a wrong answer or failed operations (the record says which), 2 could not run.";

/// The program.
#[derive(Debug, Parser)]
#[command(version, about = ABOUT, after_help = EXAMPLES, disable_help_subcommand = true)]
#[command(mut_subcommand("arms", |arms| arms.after_help(ARMS_EXAMPLES)))]
#[command(mut_subcommand("prepare", |prepare| prepare.after_help(PREPARE_EXAMPLES)))]
#[command(mut_subcommand("run", |run| {
    let run = run.after_help(RUN_EXAMPLES).mut_arg("seed", |seed| seed.help("Seed of the content"));
    run.mut_arg("versus", |versus| versus.hide(true).value_parser(no_duets))
}))]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Word>,
}

#[derive(Debug, Subcommand)]
enum Word {
    /// Run chosen arms in a chosen setting and print the tables of the published document
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Say what each arm is
    #[command(after_help = DESCRIBE_EXAMPLES)]
    Describe,
    #[command(flatten)]
    Study(Verb),
}

#[derive(Debug, Args)]
struct CompareArgs {
    /// Arms, in the order of the columns [default: the published three and `wal_threads`]
    #[arg(
        long = "arm",
        value_name = "ARMS",
        value_delimiter = ',',
        default_value = "direct,spawn_blocking,tokio_rusqlite,wal_threads",
        hide_default_value = true
    )]
    arms: Vec<Arm>,
    /// How long a write holds its database; each arm runs once per hold
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "100ms,1s,10s", value_parser = parse_duration)]
    holds: Vec<Duration>,
    /// Databases, each with one writer
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    databases: u16,
    /// Readers of each database, and reading connections of the arms that have several
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    readers: u16,
    /// Worker threads of the runtime
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    workers: u16,
    /// Window of a run, in which operations begin [default: 4.5 holds, from 2.05 s to 12 s or 1.2 holds]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Pause of a reader between two reads
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = parse_duration)]
    think: Duration,
    /// Open loop: N reads per second and database on a schedule; writers then pause for 5 ms
    #[arg(long, value_name = "N", conflicts_with = "think")]
    rate: Option<f64>,
    /// Where databases lie that are files [default: a file system in memory]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Seed of the content
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Append a record of each run to this file, as `run` does
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Refuses the second arm of a duet: databases of two arms in one process would be in each other's way.
fn no_duets(_: &str) -> Result<String, &'static str> {
    Err("no scenario here has duets")
}

/// What to do.
#[derive(Debug)]
pub enum Command {
    /// Compare arms.
    Compare(Comparison),
    /// Say what the arms are.
    Describe,
    /// What the measuring layer asks.
    Study(Verb),
}

impl Cli {
    /// The one command that was typed.
    pub fn into_command(self) -> Command {
        match self.command {
            None => Command::Compare(Comparison::default()),
            Some(Word::Compare(args)) => Command::Compare(args.into()),
            Some(Word::Describe) => Command::Describe,
            Some(Word::Study(verb)) => Command::Study(verb),
        }
    }
}

impl From<CompareArgs> for Comparison {
    fn from(args: CompareArgs) -> Self {
        Comparison {
            arms: args.arms,
            holds: args.holds,
            databases: args.databases.into(),
            readers: args.readers.into(),
            workers: args.workers.into(),
            duration: args.duration,
            think: args.think,
            reads_per_s: args.rate,
            directory: args.directory,
            seed: args.seed,
            record: args.record,
        }
    }
}
