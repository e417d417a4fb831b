//! Ways to run N tasks on T threads, each task exactly once.
//!
//! A task is a function of its number. One that panics costs nobody else anything: all others run, nothing hangs, and the first panic is
//! the error. Threads, pools and runtimes are made in the call and gone when it returns, as in a program that does this once.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use strum::{Display, EnumString, VariantArray, VariantNames};

mod runtime;
mod threads;

/// A way to run tasks. Its name is read by [`FromStr`](std::str::FromStr) and written by [`Display`](std::fmt::Display).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Executor {
    /// Threads that take tasks from a queue behind a mutex (published).
    SysThread,
    /// Futures joined and polled by the calling thread alone, whatever number of threads is asked for (published).
    AsyncAwait,
    /// tokio's threads, given tasks from outside and joined by futures' `join_all` (published).
    Tokio,
    /// A thread per task, whatever number of threads is asked for; at most [`MOST_THREADS`] at once, or twice that number if it is more.
    ThreadPerTask,
    /// Threads that each get an equal share in advance.
    StaticSplit,
    /// Threads that take the next number from a shared counter.
    AtomicCounter,
    /// tokio's threads, given tasks by one of themselves.
    TokioInside,
    /// tokio's threads, given tasks from outside and joined one after the other.
    TokioOutside,
    /// tokio's blocking pool.
    SpawnBlocking,
    /// rayon's threads over an iterator that is split down to single tasks.
    Rayon,
    /// rayon's threads, a spawned job per task.
    RayonSpawn,
}

/// So many threads [`Executor::ThreadPerTask`] has at once on few cores. Their stacks are what glibc keeps for the next thread; with a thousand at once,
/// each stack is mapped anew, and a thread costs half as much again.
pub const MOST_THREADS: usize = 16;

/// Why tasks did not all return.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error("{count} of the tasks panicked, among them task {task}: {message}")]
    Panicked {
        count: usize,
        /// The number of the one that was noticed first.
        task: usize,
        message: String,
    },
    #[error("cannot start the threads: fewer threads or a higher limit of processes may help")]
    Threads(#[source] std::io::Error),
    #[error("task {0} was lost")]
    Lost(usize),
    #[error("wrong answer: task {task} returned {result} instead of {expected}")]
    WrongAnswer { task: usize, result: f64, expected: f64 },
}

impl Executor {
    /// Starts as many threads as tokio would, which are there at once, and ends them.
    ///
    /// # Errors
    /// If one cannot be started. tokio then panics, and waits forever for those that it has.
    pub fn try_threads(self, threads: NonZero<usize>) -> Result<(), TaskError> {
        let is_tokio = matches!(self, Executor::Tokio | Executor::TokioInside | Executor::TokioOutside);
        if is_tokio { threads::start_at_once(threads.get()) } else { Ok(()) }
    }

    /// Runs `task` for every number below `tasks` and returns what they returned, in the order of the numbers.
    ///
    /// # Errors
    /// If a task panicked or the threads cannot be started; of tokio's [`try_threads`](Self::try_threads) tells before.
    pub fn run(
        self,
        threads: NonZero<usize>,
        tasks: usize,
        task: impl Fn(usize) -> f64 + Send + Sync + 'static,
    ) -> Result<Vec<f64>, TaskError> {
        let guard = Arc::new(Guard { task, panics: Mutex::default() });
        let threads = threads.get();
        let results = match self {
            Executor::SysThread => threads::from_queue(threads, tasks, &guard),
            Executor::ThreadPerTask => threads::per_task(MOST_THREADS.max(2 * threads), tasks, &guard),
            Executor::StaticSplit => threads::static_split(threads, tasks, &guard),
            Executor::AtomicCounter => threads::from_counter(threads, tasks, &guard),
            Executor::AsyncAwait => Ok(runtime::joined(tasks, &guard)),
            Executor::Tokio => runtime::tokio_joined(threads, tasks, &guard),
            Executor::TokioInside => runtime::tokio_inside(threads, tasks, &guard),
            Executor::TokioOutside => runtime::tokio_outside(threads, tasks, &guard),
            Executor::SpawnBlocking => runtime::tokio_blocking(threads, tasks, &guard),
            Executor::Rayon => runtime::rayon_split(threads, tasks, &guard),
            Executor::RayonSpawn => runtime::rayon_spawned(threads, tasks, &guard),
        }?;
        guard.finish(results)
    }
}

trait Task: Fn(usize) -> f64 + Send + Sync + 'static {}
impl<F: Fn(usize) -> f64 + Send + Sync + 'static> Task for F {}

type Results = Result<Vec<f64>, TaskError>;

/// A task that may be called from every thread; its panics are kept instead of taking the thread along.
struct Guard<F> {
    task: F,
    panics: Mutex<Vec<(usize, String)>>,
}

impl<F: Task> Guard<F> {
    /// Runs the task with this number; what it returns is worthless if it panicked.
    fn call(&self, number: usize) -> f64 {
        // Nothing of a task that panicked is looked at afterwards.
        catch_unwind(AssertUnwindSafe(|| (self.task)(number))).unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let message = text.unwrap_or("without a message").to_owned();
            self.panics.lock().unwrap_or_else(PoisonError::into_inner).push((number, message));
            f64::NAN
        })
    }

    fn finish(&self, results: Vec<f64>) -> Results {
        let mut panics = self.panics.lock().unwrap_or_else(PoisonError::into_inner);
        let count = panics.len();
        match panics.drain(..).next() {
            None => Ok(results),
            Some((task, message)) => Err(TaskError::Panicked { count, task, message }),
        }
    }
}
