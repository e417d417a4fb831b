//! The programs: the three of the published document, and `sqrt_tasks`, which runs any work on any executor.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, Parser};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use strum::VariantNames;

use crate::cpu::{self, Cores};
use crate::executor::{Executor, TaskError};
use crate::kernel::Level;
use crate::output::{check, explain, print};
use crate::work::{PUBLISHED_LEN, Work};

const FOUND_FAILURES: u8 = 1;
const COULD_NOT_RUN: u8 = 2;

const EXAMPLES: &str = "Examples:
  sqrt_tasks time --executor rayon --work vector --tasks 200
  sqrt_tasks time --executor thread_per_task --work null --tasks 10000
  sqrt_tasks cpu
  sys_thread --tasks 200 --threads 4

Exit codes: 0 done, 1 tasks failed or returned something wrong, 2 could not run.";

/// Runs square roots on threads, async, tokio and rayon, and says what they cost.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, disable_help_subcommand = true, arg_required_else_help = true)]
enum Command {
    /// Run tasks of one kind on one executor and print what they cost
    Time(Timing),
    /// Print cores, clock and the speed of the divider
    Cpu,
}

/// What `time` runs.
#[derive(Debug, Args)]
struct Timing {
    /// What runs the tasks
    #[arg(long, default_value = "sys_thread")]
    #[arg(value_parser = PossibleValuesParser::new(Executor::VARIANTS).try_map(|name| name.parse::<Executor>()))]
    executor: Executor,
    /// What a task does: the published `collect`, the same roots added up, or nothing
    #[arg(long, default_value = "collect")]
    #[arg(value_parser = PossibleValuesParser::new(Work::VARIANTS).try_map(|name| name.parse::<Work>()))]
    work: Work,
    /// How many tasks
    #[arg(long, default_value_t = 8, value_parser = tasks())]
    tasks: usize,
    /// How many threads; by default one per core
    #[arg(long, value_parser = threads())]
    threads: Option<NonZero<usize>>,
    /// How many square roots each task finds
    #[arg(long, default_value_t = PUBLISHED_LEN)]
    len: usize,
}

/// What one of the published programs is told.
#[derive(Debug, Parser)]
struct Published {
    /// How many tasks
    #[arg(long, default_value_t = 200, value_parser = tasks())]
    tasks: usize,
    /// How many threads; `async_await` uses one whatever is said here
    #[arg(long, default_value = "4", value_parser = threads())]
    threads: NonZero<usize>,
    /// How many square roots each task finds
    #[arg(long, default_value_t = PUBLISHED_LEN)]
    len: usize,
}

fn tasks() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(..=100_000_000)
}

/// Each takes memory maps, of which Linux gives a process 65,530: with none left std aborts.
fn threads() -> impl TypedValueParser<Value = NonZero<usize>> {
    RangedU64ValueParser::<usize>::new().range(1..=10_000).try_map(NonZero::try_from)
}

pub fn main() -> ExitCode {
    finish(match Command::try_parse() {
        Ok(Command::Time(timing)) => time(&timing),
        Ok(Command::Cpu) => check().and_then(|()| print(&describe_cpu())),
        Err(typed) => explain(&typed),
    })
}

/// The published program that runs its tasks on `executor`.
pub fn published(executor: Executor) -> ExitCode {
    finish(match Published::try_parse() {
        Ok(Published { tasks, threads, len }) => {
            time(&Timing { executor, work: Work::Collect, tasks, threads: Some(threads), len })
        }
        Err(typed) => explain(&typed),
    })
}

/// Runs tasks and prints what they cost in a line.
fn time(&Timing { executor, work, tasks, threads, len }: &Timing) -> Result<()> {
    check()?;
    let threads = threads.or_else(|| NonZero::new(Cores::here().physical)).unwrap_or(NonZero::<usize>::MIN);
    executor.try_threads(threads)?;
    if work == Work::Collect {
        let room = Vec::<f64>::new().try_reserve_exact(len);
        room.with_context(|| format!("there is no memory for the {len} roots of a task"))?;
    }
    let (before, start) = (getrusage(UsageWho::RUSAGE_SELF), Instant::now());
    let results = executor.run(threads, tasks, move |task| work.run(task, len))?;
    let (wall, after) = (start.elapsed(), getrusage(UsageWho::RUSAGE_SELF));
    work.check(len, &results)?;
    let on = match executor {
        Executor::AsyncAwait => "the calling thread".to_owned(),
        Executor::ThreadPerTask => "a thread each".to_owned(),
        _ if threads.get() == 1 => "1 thread".to_owned(),
        _ => format!("{threads} threads"),
    };
    let mut line = format!("{tasks} tasks on {on}: real {:.3} s", wall.as_secs_f64());
    if let (Ok(before), Ok(after)) = (before, after) {
        let seconds =
            |of: fn(&Usage) -> nix::sys::time::TimeVal| (of(&after) - of(&before)).num_microseconds() as f64 * 1e-6;
        let faults = after.minor_page_faults() - before.minor_page_faults();
        let (user_s, system_s) = (seconds(Usage::user_time), seconds(Usage::system_time));
        write!(line, ", user {user_s:.3} s, system {system_s:.3} s, {faults} page faults")?;
    }
    print(&(line + "\n"))
}

fn describe_cpu() -> String {
    let cores = Cores::here();
    let unknown = || "unknown".to_owned();
    let hz = |threads| cpu::frequency_hz(threads).map_or_else(unknown, |hz| format!("{:.3} GHz", hz / 1e9));
    format!(
        "cores: {} (hardware threads: {})\nclock, one thread busy: {}\nclock, all cores busy: {}\n\
         divider, per square root: {}\nvectors: {}\n",
        cores.physical,
        cores.threads,
        hz(1),
        hz(cores.physical),
        cpu::cycles_per_root().map_or_else(unknown, |cycles| format!("{cycles} cycles")),
        Level::best().name
    )
}

/// Prints the error with its chain, if there is one, and says how to exit.
fn finish(done: Result<()>) -> ExitCode {
    let Err(error) = done else { return ExitCode::SUCCESS };
    // If nobody listens there, nothing can be done about it.
    let _ = writeln!(io::stderr(), "error: {error:#}");
    match error.downcast_ref() {
        None | Some(TaskError::Threads(_)) => ExitCode::from(COULD_NOT_RUN),
        Some(_) => ExitCode::from(FOUND_FAILURES),
    }
}
