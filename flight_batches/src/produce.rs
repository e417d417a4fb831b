//! Ways to wait for the next batch: a stream that is polled asks for one, and as many more as are prefetched are worked on ahead. What differs is
//! who waits.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::stream::{self, BoxStream, Stream, StreamExt};
use strum::{Display, EnumString, VariantArray, VariantNames};
use tokio::sync::mpsc;

use crate::stats::Gauge;

mod threads;

pub use threads::Pool;

/// Who waits for a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Mode {
    /// A task of the runtime.
    Async,
    /// A thread per request.
    Sync,
    /// One of so many threads; requests wait for one in the order of their arrival.
    Pool,
    SpawnBlocking,
    /// The runtime's worker that polls the stream: what must not be done.
    SleepInPoll,
}

/// What one request wants.
#[derive(Debug, Clone)]
pub struct Order {
    pub batches: usize,
    pub delay: Duration,
    /// How many are worked on ahead of the one that is asked for; all of them if it is that many.
    pub prefetch: usize,
    pub waiting: Arc<Waiting>,
}

/// A request under way.
struct Task {
    order: Order,
    /// When there was a place for each of its batches.
    demand: mpsc::UnboundedReceiver<Instant>,
    done: mpsc::UnboundedSender<usize>,
}

/// Counts over all batches of a server: timers that were waited for, how late they were, and threads that wait.
#[derive(Debug, Default)]
pub struct Waiting {
    pub(crate) timers: AtomicU64,
    pub(crate) late_ns: AtomicU64,
    pub(crate) latest_ns: AtomicU64,
    pub(crate) threads: Arc<Gauge>,
}

impl Waiting {
    /// A timer for `due`, which was waited for since `begun`, has just fired. One that was due already is no timer's fault.
    pub fn note(&self, due: Instant, begun: Instant) {
        if due <= begun {
            return;
        }
        let late = u64::try_from(due.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.timers.fetch_add(1, Ordering::Relaxed);
        self.late_ns.fetch_add(late, Ordering::Relaxed);
        self.latest_ns.fetch_max(late, Ordering::Relaxed);
    }
}

/// When the next batch of a stream is due: one delay after the one before it was due, so that late timers do not add up. A producer that was held
/// up, because nobody took its batches, has not worked meanwhile and starts anew.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    delay: Duration,
    /// When the batch before was due.
    due: Instant,
}

impl Pace {
    pub fn new(delay: Duration, now: Instant) -> Self {
        Pace { delay, due: now }
    }

    /// When the next batch is due whose place was there at `free`.
    pub fn next(&mut self, free: Instant) -> Instant {
        self.due = self.due.max(free) + self.delay;
        self.due
    }
}

/// "All batches" ahead are at most so many: a client may ask for any number.
const MOST_AHEAD: usize = 10_000;

/// Numbers 0 to `batches` - 1 of `order`, each when it is due, waited for by `mode`: a slice of the table costs more than a number in a queue.
/// [`Mode::SleepInPoll`] blocks the thread that polls, and ignores `prefetch`.
///
/// # Errors
/// If there is no thread for it.
///
/// # Panics
/// Outside a tokio runtime in [`Mode::Async`] and [`Mode::SpawnBlocking`].
pub fn produce(mode: Mode, pool: Option<&Pool>, order: Order) -> io::Result<BoxStream<'static, usize>> {
    if mode == Mode::SleepInPoll {
        return Ok(sleep_in_poll(order).boxed());
    }
    let (places, demand) = mpsc::unbounded_channel();
    let (done, mut batches) = mpsc::unbounded_channel();
    for _ in 0..order.prefetch.min(order.batches).min(MOST_AHEAD) {
        // Nobody has gone yet.
        let _ = places.send(Instant::now());
    }
    let task = Task { order, demand, done };
    match mode {
        Mode::Sync => threads::start("producer", || threads::work(task))?,
        Mode::Pool => {
            let taken = pool.and_then(|pool| pool.tasks.send(task).ok());
            taken.ok_or_else(|| io::Error::other("the pool of threads has ended"))?;
        }
        Mode::SpawnBlocking => drop(tokio::task::spawn_blocking(|| threads::work(task))),
        Mode::Async | Mode::SleepInPoll => drop(tokio::spawn(work(task))),
    }
    // Whether the batch that is being waited for was asked for.
    let mut asked = false;
    let demanding = stream::poll_fn(move |context| {
        if !std::mem::replace(&mut asked, true) {
            // The producer may have made its last batch.
            let _ = places.send(Instant::now());
        }
        let batch = batches.poll_recv(context);
        asked = batch.is_pending();
        batch
    });
    Ok(demanding.boxed())
}

/// Produces in a task until all batches were made or nobody wants them.
async fn work(task: Task) {
    let Task { order, mut demand, done } = task;
    let mut pace = Pace::new(order.delay, Instant::now());
    // Once for the request: to ask for it anew with each batch is work that a thread does not have.
    let mut gone = pin!(done.closed());
    for number in 0..order.batches {
        let Some(free) = demand.recv().await else { return };
        if !order.delay.is_zero() {
            let (due, begun) = (pace.next(free), Instant::now());
            tokio::select! {
                () = tokio::time::sleep_until(due.into()) => order.waiting.note(due, begun),
                () = &mut gone => return,
            }
        }
        if done.send(number).is_err() {
            return;
        }
    }
}

fn sleep_in_poll(order: Order) -> impl Stream<Item = usize> {
    let mut pace = Pace::new(order.delay, Instant::now());
    stream::iter((0..order.batches).inspect(move |_| {
        if !order.delay.is_zero() {
            let begun = Instant::now();
            let due = pace.next(begun);
            std::thread::sleep(due.saturating_duration_since(begun));
            order.waiting.note(due, begun);
        }
    }))
}
