//! What can be typed, turned into one closed set of commands.

use std::num::NonZero;

use clap::{Args, Parser, Subcommand};

use sqrt_tasks::mirror::PUBLISHED_LEN;
use sqrt_tasks::{Executor, Work};
use study_kit::Verb;

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
#[command(mut_subcommand("prepare", |prepare| {
    let prepare = prepare.about("Make ready what a scenario needs");
    prepare.mut_arg("seed", |seed| seed.help("Seed of the input; no scenario here has one"))
}))]
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
    #[command(flatten)]
    Study(Verb),
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
    /// What the measuring layer asks.
    Study(Verb),
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
            Some(Word::Study(verb)) => Command::Study(verb),
        }
    }
}
