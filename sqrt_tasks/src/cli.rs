//! What can be typed, turned into one closed set of commands.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use sqrt_tasks::mirror::PUBLISHED_LEN;
use sqrt_tasks::{Executor, Work};
use study_kit::{Profile, RunArgs, RunRequest};

const EXAMPLES: &str = "Examples:
  sqrt_tasks
  sqrt_tasks time --executor rayon --work vector --tasks 200
  sqrt_tasks time --executor thread_per_task --work null --tasks 10000
  sqrt_tasks cpu
  sys_thread --tasks 200 --threads 4

Exit codes: 0 done, 1 tasks failed or returned something wrong, 2 could not run.
Without arguments: one pass over the study's arms, with the tables of the published document.";

/// Runs square roots on threads, async, tokio and rayon, and says what they cost.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Word>,
}

#[derive(Debug, Subcommand)]
enum Word {
    /// Run tasks of one kind on one executor and print what they cost
    Time(Timing),
    /// Print cores, clock and the speed of the divider
    Cpu,
    /// List the study's test cases, tab-separated
    Arms {
        /// smoke, quick or full
        #[arg(long, default_value = "quick")]
        profile: Profile,
    },
    /// Make ready what a scenario needs
    Prepare {
        /// The scenario, as `arms` lists it
        #[arg(long)]
        scenario: String,
        /// Seed of the input; no scenario here has one
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Run one test case once and record it
    Run(RunArgs),
}

/// What `time` runs.
#[derive(Debug, Args)]
pub struct Timing {
    /// `sys_thread`, `async_await`, tokio, rayon, ...
    #[arg(long, default_value = "sys_thread")]
    pub executor: Executor,
    /// collect (published), vector, sum, null, ...
    #[arg(long, default_value = "collect")]
    pub work: Work,
    /// How many tasks
    #[arg(long, default_value_t = 8)]
    pub tasks: usize,
    /// How many threads; by default one per core
    #[arg(long)]
    pub threads: Option<NonZero<usize>>,
    /// How many square roots each task finds
    #[arg(long, default_value_t = PUBLISHED_LEN)]
    pub len: usize,
}

/// What to do.
#[derive(Debug)]
pub enum Command {
    /// Time tasks.
    Time(Timing),
    /// Describe the processor.
    Cpu,
    /// List test cases.
    Arms(Profile),
    /// Make a scenario ready.
    Prepare { scenario: String },
    /// Run a test case.
    Run(RunRequest, Option<PathBuf>),
    /// One pass over the arms.
    Overview,
}

impl Cli {
    /// The one command that was typed.
    pub fn into_command(self) -> Command {
        match self.command {
            None => Command::Overview,
            Some(Word::Time(timing)) => Command::Time(timing),
            Some(Word::Cpu) => Command::Cpu,
            Some(Word::Arms { profile }) => Command::Arms(profile),
            Some(Word::Prepare { scenario, seed: _ }) => Command::Prepare { scenario },
            Some(Word::Run(args)) => {
                let (request, file) = args.into_request();
                Command::Run(request, file)
            }
        }
    }
}
