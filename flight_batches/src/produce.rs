//! Ways to wait for the next batch.
//!
//! All of them produce on demand: a stream that is polled asks for a batch, and so many more as are prefetched are worked on ahead. What
//! differs is who waits: a task, a thread per request as in gRPC's synchronous servers, a thread of a pool, or the runtime's own worker.

use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::Stream;
use futures::stream::{BoxStream, StreamExt, unfold};
use study_kit::error::unknown;
use tokio::sync::mpsc;

use crate::pace::Pace;

mod threads;
mod waiting;

pub use threads::Pool;
pub use waiting::{Waited, Waiting};

/// Who waits for a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A task of the runtime.
    Async,
    /// A thread per request.
    Sync,
    /// One of so many threads; requests wait for one in the order of their arrival.
    Pool,
    /// A thread of the runtime's blocking pool.
    SpawnBlocking,
    /// The runtime's worker that polls the stream: what must not be done.
    SleepInPoll,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 5] = [Mode::Async, Mode::Sync, Mode::Pool, Mode::SpawnBlocking, Mode::SleepInPoll];

    /// The mode's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Async => "async",
            Mode::Sync => "sync",
            Mode::Pool => "pool",
            Mode::SpawnBlocking => "spawn_blocking",
            Mode::SleepInPoll => "sleep_in_poll",
        }
    }
}

impl FromStr for Mode {
    type Err = study_kit::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| unknown("mode", name, Mode::ALL.map(Mode::name)))
    }
}

/// "All batches" ahead are at most so many: a client may ask for any number.
const MOST_AHEAD: usize = 10_000;

/// What one request wants.
#[derive(Debug, Clone)]
pub struct Order {
    /// How many.
    pub batches: usize,
    /// What each takes to come.
    pub delay: Duration,
    /// How many are worked on ahead of the one that is asked for; all of them if it is that many.
    pub prefetch: usize,
    /// Where it is noted how it was waited.
    pub waiting: Arc<Waiting>,
}

/// Why a request is not served.
#[derive(Debug, thiserror::Error)]
pub enum ProduceError {
    /// There is no thread for it.
    #[error("no thread can be started for this request: {0}")]
    Thread(#[source] std::io::Error),
    /// The pool has ended.
    #[error("the pool of threads has ended")]
    PoolEnded,
}

/// The numbers of the batches of `order` as they come, waited for by `mode`.
///
/// Numbers, because the batches are there already: a slice of the table costs more than its place in a queue, which may be long.
///
/// # Errors
/// If there is no thread for it.
pub fn produce(mode: Mode, pool: Option<&Pool>, order: Order) -> Result<BoxStream<'static, usize>, ProduceError> {
    if mode == Mode::SleepInPoll {
        return Ok(sleep_in_poll(order).boxed());
    }
    let (places, demand) = mpsc::unbounded_channel();
    let (done, batches) = mpsc::unbounded_channel();
    for _ in 0..order.prefetch.min(order.batches).min(MOST_AHEAD) {
        // Nobody has gone yet.
        let _ = places.send(Instant::now());
    }
    match (mode, pool) {
        (Mode::Sync, _) => threads::per_request(order, demand, done)?,
        (Mode::Pool, Some(pool)) => pool.run(order, demand, done)?,
        (Mode::Pool, None) => return Err(ProduceError::PoolEnded),
        (Mode::SpawnBlocking, _) => {
            tokio::task::spawn_blocking(move || threads::work(&order, demand, &done));
        }
        _ => {
            tokio::spawn(work(order, demand, done));
        }
    }
    Ok(Demanding { places, batches, asked: false }.boxed())
}

/// A stream that asks for what it is polled for.
struct Demanding {
    places: mpsc::UnboundedSender<Instant>,
    batches: mpsc::UnboundedReceiver<usize>,
    /// Whether the batch that is being waited for was asked for.
    asked: bool,
}

impl Stream for Demanding {
    type Item = usize;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<usize>> {
        if !self.asked {
            self.asked = true;
            // The producer may have made its last batch.
            let _ = self.places.send(Instant::now());
        }
        let batch = self.batches.poll_recv(context);
        if batch.is_ready() {
            self.asked = false;
        }
        batch
    }
}

/// Produces in a task until all batches were made or nobody wants them.
async fn work(order: Order, mut demand: mpsc::UnboundedReceiver<Instant>, done: mpsc::UnboundedSender<usize>) {
    let mut pace = Pace::new(order.delay, Instant::now());
    for number in 0..order.batches {
        let Some(free) = demand.recv().await else { return };
        if !order.delay.is_zero() {
            let (due, begun) = (pace.next(free), Instant::now());
            tokio::select! {
                () = tokio::time::sleep_until(due.into()) => order.waiting.note(due, begun),
                () = done.closed() => return,
            }
        }
        if done.send(number).is_err() {
            return;
        }
    }
}

fn sleep_in_poll(order: Order) -> impl Stream<Item = usize> {
    let pace = Pace::new(order.delay, Instant::now());
    unfold((order, pace, 0), |(order, mut pace, number)| async move {
        if number == order.batches {
            return None;
        }
        if !order.delay.is_zero() {
            let begun = Instant::now();
            let due = pace.next(begun);
            std::thread::sleep(due.saturating_duration_since(begun));
            order.waiting.note(due, begun);
        }
        Some((number, (order, pace, number + 1)))
    })
}
