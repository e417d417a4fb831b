//! Ways to wait for the next batch.
//!
//! All of them produce on demand: a stream that is polled asks for a batch, and so many more as are prefetched are worked on ahead. What
//! differs is who waits: a task, a thread per request as in gRPC's synchronous servers, a thread of a pool, or the runtime's own worker.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use futures::Stream;
use futures::stream::{BoxStream, StreamExt, unfold};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use tokio::sync::mpsc;

use crate::pace::Pace;

mod order;
mod threads;

pub use order::{Order, ProduceError, Waited, Waiting};
pub use threads::Pool;

/// Who waits for a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
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

/// "All batches" ahead are at most so many: a client may ask for any number.
const MOST_AHEAD: usize = 10_000;

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
