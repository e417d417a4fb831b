//! The three published programs: N tasks of square roots on T threads, and how long they take.

use std::fmt::Write as _;
use std::num::NonZero;
use std::process::ExitCode;

use study_kit::output;
use study_kit::usage::{Counters, Span};

use crate::executor::{Executor, TaskError};
use crate::work::{Job, Work};

/// Roots that each published task finds.
pub const PUBLISHED_LEN: usize = 10_000_000;
/// Tasks of the published runs, the smaller number.
pub const PUBLISHED_TASKS: usize = 200;

/// What one of the programs is told.
#[derive(Debug, Clone, Copy, clap::Parser)]
pub struct Options {
    /// How many tasks
    #[arg(long, default_value_t = PUBLISHED_TASKS)]
    pub tasks: usize,
    /// How many threads; `async_await` uses one whatever is said here
    #[arg(long, default_value = "4")]
    pub threads: NonZero<usize>,
    /// How many square roots each task finds
    #[arg(long, default_value_t = PUBLISHED_LEN)]
    pub len: usize,
}

/// Why a program failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The tasks could not be run.
    #[error(transparent)]
    Tasks(#[from] TaskError),
    /// They returned something else than they should have.
    #[error("wrong answer: {0}")]
    WrongAnswer(String),
}

impl Failure {
    /// How a program that met it exits: 1 if tasks failed, 2 if they could not be run.
    #[must_use]
    pub fn code(&self) -> ExitCode {
        match self {
            Failure::Tasks(TaskError::Threads(_)) => ExitCode::from(output::COULD_NOT_RUN),
            _ => ExitCode::from(output::FOUND_FAILURES),
        }
    }
}

/// Runs tasks of `work` and describes what they cost in a line.
///
/// # Errors
/// If a task fails.
pub fn run(executor: Executor, work: Work, options: Options) -> Result<String, Failure> {
    let Options { tasks, threads, len } = options;
    let job = Job::new(work, len, threads.get());
    let span = Span::start();
    let results = job.run_all(executor, threads, tasks)?;
    let cost = span.end();
    job.check(&results).map_err(Failure::WrongAnswer)?;
    let on = match executor {
        Executor::AsyncAwait => "the calling thread".to_owned(),
        Executor::ThreadPerTask => "a thread each".to_owned(),
        _ if threads.get() == 1 => "1 thread".to_owned(),
        _ => format!("{threads} threads"),
    };
    let mut line = format!("{tasks} tasks on {on}: real {:.3} s", cost.wall.as_secs_f64());
    if let Some(counters) = cost.counters {
        let Counters { user_s, system_s, minor_faults, .. } = counters;
        let _ = write!(line, ", user {user_s:.3} s, system {system_s:.3} s, {minor_faults} page faults");
    }
    Ok(line)
}

/// The whole of a published program named `name`: options, tasks, a line.
#[must_use]
pub fn main(name: &'static str, executor: Executor) -> ExitCode {
    let options = <Options as clap::Parser>::parse();
    match run(executor, Work::Collect, options) {
        Ok(line) => match output::print(&format!("{line}\n")) {
            Ok(()) => output::code(true),
            Err(error) => output::report(name, &error),
        },
        Err(failure) => {
            output::report(name, &failure);
            failure.code()
        }
    }
}
