//! Reader and consumer at the two ends of a channel, on std threads or on tokio.

use std::mem;
use std::sync::Arc;
use std::thread::{self, Builder};

use flume::{Receiver, Sender, TryRecvError};
use tokio::runtime::Runtime;

use super::{Done, Tally, Work, read_entries};
use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::input::Input;
use crate::row::Entry;
use crate::setup::{Runner, Setup};

/// How often a thread that stays awake looks for a message before it sleeps: far longer than a row takes.
const LOOKS: usize = 1_000;

/// The reading end of a channel: sends all entries and hangs up. That nobody receives any more is no error of its own: the consumer died, which
/// is told by its join.
type Read<M, W> = fn(Input, Setup, W, &Sender<M>) -> Result<(), Error>;

/// Applies every input to `engine` through a channel of its own, all at the same time: as tasks if the runner has a runtime, else on threads.
pub(super) fn run(engine: Engine, inputs: Vec<Input>, setup: Setup, work: impl Work) -> Done {
    let engine = Arc::new(engine);
    let tally = match (setup.runner.runtime()?, setup.batch) {
        (None, 1) => on_threads(&engine, inputs, setup, work, read_singly),
        (None, _) => on_threads(&engine, inputs, setup, work, read_batches),
        (Some(runtime), 1) => on_tokio(&runtime, &engine, inputs, setup, work, read_singly),
        (Some(runtime), _) => on_tokio(&runtime, &engine, inputs, setup, work, read_batches),
    }?;
    Ok((engine, tally))
}

fn on_threads<M: IntoIterator<Item = Entry> + Send, W: Work>(
    engine: &Engine,
    inputs: Vec<Input>,
    setup: Setup,
    work: W,
    read: Read<M, W>,
) -> Result<Tally, Error> {
    thread::scope(|scope| {
        let pairs = inputs
            .into_iter()
            .map(|input| {
                let (sender, receiver) = flume::unbounded::<M>();
                let reader = Builder::new().spawn_scoped(scope, move || read(input, setup, work, &sender))?;
                let consumer = Builder::new().spawn_scoped(scope, move || {
                    let mut tally = Tally::default();
                    if setup.runner == Runner::TwoThreadsAwake {
                        while let Some(message) = awaited(&receiver) {
                            consume(message, engine, work, &mut tally);
                        }
                    } else {
                        for message in receiver {
                            consume(message, engine, work, &mut tally);
                        }
                    }
                    tally
                })?;
                Ok((reader, consumer))
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(Error::Thread)?;
        let mut all = Tally::begun(pairs.len());
        for (reader, consumer) in pairs {
            joined(reader.join())??;
            all.append(joined(consumer.join())?);
        }
        Ok(all)
    })
}

/// The next message, for which the thread looks some times before it sleeps; `None` once the reader has hung up.
fn awaited<M>(receiver: &Receiver<M>) -> Option<M> {
    for _ in 0..LOOKS {
        match receiver.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            // Each look takes the lock that the sender wants.
            Err(TryRecvError::Empty) => (0..16).for_each(|_| std::hint::spin_loop()),
        }
    }
    receiver.recv().ok()
}

fn on_tokio<M: IntoIterator<Item = Entry> + Send + 'static, W: Work>(
    runtime: &Runtime,
    engine: &Arc<Engine>,
    inputs: Vec<Input>,
    setup: Setup,
    work: W,
    read: Read<M, W>,
) -> Result<Tally, Error> {
    let died = |error: tokio::task::JoinError| Error::Worker { message: error.to_string() };
    runtime.block_on(async {
        let pairs: Vec<_> = inputs
            .into_iter()
            .map(|input| {
                let (sender, receiver) = flume::unbounded::<M>();
                let reader = tokio::task::spawn_blocking(move || read(input, setup, work, &sender));
                let (engine, mut tally) = (Arc::clone(engine), Tally::default());
                let consumer = tokio::spawn(async move {
                    while let Ok(message) = receiver.recv_async().await {
                        consume(message, &engine, work, &mut tally);
                    }
                    tally
                });
                (reader, consumer)
            })
            .collect();
        let mut all = Tally::begun(pairs.len());
        for (reader, consumer) in pairs {
            reader.await.map_err(died)??;
            all.append(consumer.await.map_err(died)?);
        }
        Ok(all)
    })
}

fn read_singly(input: Input, setup: Setup, work: impl Work, sender: &Sender<[Entry; 1]>) -> Result<(), Error> {
    read_entries(input, setup.reading, work, |entry| sender.send([entry]).is_ok())
}

fn read_batches(input: Input, setup: Setup, work: impl Work, sender: &Sender<Vec<Entry>>) -> Result<(), Error> {
    let mut pending = Vec::with_capacity(setup.batch);
    read_entries(input, setup.reading, work, |entry| {
        pending.push(entry);
        if pending.len() < setup.batch {
            return true;
        }
        sender.send(mem::replace(&mut pending, Vec::with_capacity(setup.batch))).is_ok()
    })?;
    if !pending.is_empty() {
        let _ = sender.send(pending);
    }
    Ok(())
}

#[inline]
fn consume(message: impl IntoIterator<Item = Entry>, engine: &Engine, work: impl Work, tally: &mut Tally) {
    tally.messages += 1;
    for entry in message {
        work();
        tally.take(&entry, |row| engine.process(row));
    }
}
