//! Prices: a message through a channel, a runtime that starts, a future in a box.

use std::future::Future;
use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::sync::mpsc;
use std::thread;

use anyhow::{Result, anyhow, ensure};
use study_kit::Observation;
use study_kit::price::{Arm, Table, observe_answers};
use tokio::runtime::{Builder, Runtime};
use txn_engine::row::{Entry, Kind, Row};

/// A row in every message.
pub const MESSAGE_1: Table = &messages::<Entry>();
/// The same between ends that work, as those of a pipeline do.
pub const MESSAGE_1_WORKING: Table = &[
    // The end that works longer decides what the other takes, where there are no messages.
    ("sender_alone", || {
        passes::<Worked>(|count| Ok((1..=count).map(|number| black_box(Worked::new(number)).0.line).sum()))
    }),
    ("flume_unbounded", || through_flume(flume::unbounded::<Worked>)),
    ("flume_blocking_current", || from_blocking::<Worked>(&current_thread()?)),
];
pub const MESSAGE_256: Table = &messages::<Batch<256>>();
pub const MESSAGE_4096: Table = &messages::<Batch<4096>>();

/// What starts what a program runs on.
pub const RUNTIME_START: Table = &[
    ("thread", || {
        starts(|number| thread::spawn(move || black_box(number)).join().map_err(|_| anyhow!("the thread panicked")))
    }),
    ("current_thread", || starts(|number| Ok(current_thread()?.block_on(async { black_box(number) })))),
    ("multi_thread", || starts(|number| Ok(multi_thread()?.block_on(async { black_box(number) })))),
];

/// A function behind a pointer, and futures that are ready at once.
pub const BOXED_POLL: Table = &[
    ("call", || {
        let reader: Box<dyn Fn(u64) -> u64> = black_box(Box::new(black_box::<u64>));
        observe_answers(1, |count| Ok((1..=count).map(&reader).sum()))
    }),
    ("boxed_future", || {
        // As `async_trait` writes it.
        let reader: Box<dyn Fn(u64) -> Boxed> = black_box(Box::new(|number| Box::pin(ready(number))));
        awaited(reader)
    }),
    ("future", || awaited(ready)),
];

/// What is sent: all that it holds has the same number.
trait Message: Send + 'static {
    const ROWS: u64;
    const BOUND: usize;

    fn new(number: u64) -> Self;

    /// The sum of the numbers that it holds.
    fn sum(&self) -> u64;
}

impl Message for Entry {
    const ROWS: u64 = 1;
    const BOUND: usize = 1024;

    fn new(number: u64) -> Self {
        Entry { line: number, row: Ok(Row { amount: None, tx: 1, client: 1, kind: Kind::Dispute }) }
    }

    fn sum(&self) -> u64 {
        self.line
    }
}

/// A row that takes work to make, and three quarters as much when it has arrived: about what our engine takes to read a row and to apply it.
struct Worked(Entry);

impl Message for Worked {
    const ROWS: u64 = 1;
    const BOUND: usize = 1024;

    fn new(number: u64) -> Self {
        toil(80);
        Worked(Entry::new(number))
    }

    fn sum(&self) -> u64 {
        toil(60);
        self.0.sum()
    }
}

/// So many rows in a block of their own, which the sender fills and the receiver frees.
struct Batch<const ROWS: usize>(Vec<Entry>);

impl<const ROWS: usize> Message for Batch<ROWS> {
    const ROWS: u64 = ROWS as u64;
    const BOUND: usize = 4;

    fn new(number: u64) -> Self {
        Batch((0..ROWS).map(|_| Entry::new(number)).collect())
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(Message::sum).sum()
    }
}

/// The arms of a message; a handoff is a message, however many rows it holds.
const fn messages<M: Message>() -> [Arm; 8] {
    [
        ("call", || passes::<M>(|count| Ok((1..=count).map(|number| take(M::new(number))).sum()))),
        ("std_mpsc", || {
            on_threads(|| {
                let (sender, receiver) = mpsc::sync_channel::<M>(M::BOUND);
                (move |message| sender.send(message).is_ok(), receiver)
            })
        }),
        ("flume", || through_flume(|| flume::bounded::<M>(M::BOUND))),
        ("flume_unbounded", || through_flume(flume::unbounded::<M>)),
        ("tokio_mpsc", || through_tokio::<M>(&multi_thread()?)),
        ("flume_async", || through_flume_async::<M>(&multi_thread()?)),
        ("flume_blocking_current", || from_blocking::<M>(&current_thread()?)),
        ("tokio_mpsc_current", || through_tokio::<M>(&current_thread()?)),
    ]
}

/// What `pass` takes, which passes `count` messages and returns the sum of what arrived.
fn passes<M: Message>(mut pass: impl FnMut(u64) -> Result<u64>) -> Result<Observation> {
    observe_answers(1, |count| {
        let sum = pass(count)?;
        ensure!(sum.is_multiple_of(M::ROWS), "wrong answer: {sum} is no sum of rows");
        Ok(sum / M::ROWS)
    })
}

#[inline(never)]
fn take<M: Message>(message: M) -> u64 {
    black_box(message).sum()
}

/// One thread sends, this one receives.
fn on_threads<M: Message, S: Fn(M) -> bool + Send, R: IntoIterator<Item = M>>(
    channel: impl Fn() -> (S, R),
) -> Result<Observation> {
    passes::<M>(|count| {
        let (send, received) = channel();
        thread::scope(|scope| {
            // It drops the sender in the end, which is the end of what is received.
            let sending = scope.spawn(move || (1..=count).all(|number| send(M::new(number))));
            let sum = received.into_iter().map(take).sum();
            ensure!(sending.join().map_err(|_| anyhow!("the sender panicked"))?, "the channel was closed");
            Ok(sum)
        })
    })
}

fn through_flume<M: Message>(channel: impl Fn() -> (flume::Sender<M>, flume::Receiver<M>)) -> Result<Observation> {
    on_threads(|| {
        let (sender, receiver) = channel();
        (move |message| sender.send(message).is_ok(), receiver)
    })
}

fn through_tokio<M: Message>(runtime: &Runtime) -> Result<Observation> {
    passes::<M>(|count| {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(M::BOUND);
        let sending = async move {
            for number in 1..=count {
                sender.send(M::new(number)).await.map_err(|_| anyhow!("the channel was closed"))?;
            }
            anyhow::Ok(())
        };
        let receiving = async move {
            let mut sum = 0;
            while let Some(message) = receiver.recv().await {
                sum += take::<M>(message);
            }
            sum
        };
        in_tasks(runtime, sending, receiving)
    })
}

fn through_flume_async<M: Message>(runtime: &Runtime) -> Result<Observation> {
    passes::<M>(|count| {
        let (sender, receiver) = flume::bounded(M::BOUND);
        let sending = async move {
            for number in 1..=count {
                sender.send_async(M::new(number)).await.map_err(|_| anyhow!("the channel was closed"))?;
            }
            anyhow::Ok(())
        };
        in_tasks(runtime, sending, sum_of(receiver))
    })
}

/// As a pipeline whose reading end blocks: a thread of the blocking pool sends, a task receives, and nothing bounds the channel.
fn from_blocking<M: Message>(runtime: &Runtime) -> Result<Observation> {
    passes::<M>(|count| {
        let (sender, receiver) = flume::unbounded();
        runtime.block_on(async {
            let send = move || (1..=count).all(|number| sender.send(M::new(number)).is_ok());
            let (sending, receiving) = (tokio::task::spawn_blocking(send), tokio::spawn(sum_of(receiver)));
            ensure!(sending.await?, "the channel was closed");
            Ok(receiving.await?)
        })
    })
}

async fn sum_of<M: Message>(receiver: flume::Receiver<M>) -> u64 {
    let mut sum = 0;
    while let Ok(message) = receiver.recv_async().await {
        sum += take::<M>(message);
    }
    sum
}

fn in_tasks(
    runtime: &Runtime,
    sending: impl Future<Output = Result<()>> + Send + 'static,
    receiving: impl Future<Output = u64> + Send + 'static,
) -> Result<u64> {
    runtime.block_on(async {
        let (sending, receiving) = (tokio::spawn(sending), tokio::spawn(receiving));
        sending.await??;
        Ok(receiving.await?)
    })
}

/// What `start` takes, which starts something that answers with the number that it gets.
fn starts(mut start: impl FnMut(u64) -> Result<u64>) -> Result<Observation> {
    observe_answers(1, |count| (1..=count).map(&mut start).sum())
}

/// What it takes to await what `read` gives, on one thread.
fn awaited<F: Future<Output = u64>>(read: impl Fn(u64) -> F) -> Result<Observation> {
    let runtime = current_thread()?;
    observe_answers(1, |count| {
        runtime.block_on(async {
            let mut sum = 0;
            for number in 1..=count {
                sum += read(number).await;
            }
            Ok(sum)
        })
    })
}

type Boxed = Pin<Box<dyn Future<Output = u64> + Send>>;

/// A future that is ready at once; without its await the compiler would know.
async fn ready(number: u64) -> u64 {
    std::future::ready(black_box(number)).await
}

fn current_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().build()
}

fn multi_thread() -> io::Result<Runtime> {
    Builder::new_multi_thread().build()
}

/// So many steps that wait for each other: work, not time, so that a thread that lost its processor has as much of it to do.
#[inline]
pub fn toil(steps: u32) {
    let mut state = black_box(1_u64);
    for _ in 0..steps {
        state = (state ^ (state >> 32)).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_lost_is_an_error() {
        let all_but_one = |count: u64| Ok((1..count).map(|number| take(Batch::<256>::new(number))).sum());
        let error = passes::<Batch<256>>(all_but_one).unwrap_err().to_string();
        assert!(error.starts_with("wrong answer: "), "{error}");
    }
}
