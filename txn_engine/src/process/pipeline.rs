//! Reader and consumer at the two ends of a channel, on std threads or on tokio.

use std::sync::Arc;
use std::thread;

use tokio::runtime::Runtime;

use super::{Done, Job, Tally, read_entries};
use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::input::Input;
use crate::row::Entry;

/// What goes through the channel: one entry, or a batch of them.
trait Message: IntoIterator<Item = Entry> + Send + Sized + 'static {
    /// Adds `entry` to the `pending` ones; a message when there are `batch` of them.
    fn pack(entry: Entry, batch: usize, pending: &mut Vec<Entry>) -> Option<Self>;
    /// The message of what is left pending.
    fn rest(_pending: Vec<Entry>) -> Option<Self> {
        None
    }
}

impl Message for [Entry; 1] {
    fn pack(entry: Entry, _batch: usize, _pending: &mut Vec<Entry>) -> Option<Self> {
        Some([entry])
    }
}

impl Message for Vec<Entry> {
    fn pack(entry: Entry, batch: usize, pending: &mut Vec<Entry>) -> Option<Self> {
        if pending.capacity() == 0 {
            pending.reserve_exact(batch);
        }
        pending.push(entry);
        (pending.len() == batch).then(|| std::mem::take(pending))
    }

    fn rest(pending: Vec<Entry>) -> Option<Self> {
        (!pending.is_empty()).then_some(pending)
    }
}

/// Applies every input to `engine` through a channel of its own, all at the same time: as tasks of `runtime`, or without one on threads.
pub(super) fn run(engine: Engine, inputs: Vec<Input>, job: Job, runtime: Option<Arc<Runtime>>) -> Done {
    let run = if job.setup.batch == 1 { run_with::<[Entry; 1]> } else { run_with::<Vec<Entry>> };
    run(engine, inputs, job, runtime)
}

fn run_with<M: Message>(engine: Engine, inputs: Vec<Input>, job: Job, runtime: Option<Arc<Runtime>>) -> Done {
    let Some(runtime) = runtime else {
        let tally = on_threads::<M>(&engine, inputs, job)?;
        return Ok((Box::new(engine), tally));
    };
    let engine = Arc::new(engine);
    let tally = on_tokio::<M>(&runtime, &engine, inputs, job)?;
    // A runtime of our own is part of the work; its end also lets the last task go.
    drop(runtime);
    let engine =
        Arc::into_inner(engine).ok_or_else(|| Error::Worker { message: "a task outlived its run".to_owned() })?;
    Ok((Box::new(engine), tally))
}

fn on_threads<M: Message>(engine: &Engine, inputs: Vec<Input>, job: Job) -> Result<Tally, Error> {
    thread::scope(|scope| {
        let pairs: Vec<_> = inputs
            .into_iter()
            .map(|input| {
                let (sender, receiver) = flume::unbounded::<M>();
                let reader = scope.spawn(move || read(input, job, &sender));
                let consumer = scope.spawn(move || {
                    let mut tally = Tally::default();
                    for message in receiver {
                        consume(message, engine, &mut tally);
                    }
                    tally
                });
                (reader, consumer)
            })
            .collect();
        let mut all = job.begun();
        for (reader, consumer) in pairs {
            joined(reader.join())??;
            all.append(joined(consumer.join())?);
        }
        Ok(all)
    })
}

fn on_tokio<M: Message>(runtime: &Runtime, engine: &Arc<Engine>, inputs: Vec<Input>, job: Job) -> Result<Tally, Error> {
    let died = |error: tokio::task::JoinError| Error::Worker { message: error.to_string() };
    runtime.block_on(async {
        let pairs: Vec<_> = inputs
            .into_iter()
            .map(|input| {
                let (sender, receiver) = flume::unbounded::<M>();
                let reader = tokio::task::spawn_blocking(move || read(input, job, &sender));
                let (engine, mut tally) = (Arc::clone(engine), Tally::default());
                let consumer = tokio::spawn(async move {
                    while let Ok(message) = receiver.recv_async().await {
                        consume(message, &engine, &mut tally);
                    }
                    tally
                });
                (reader, consumer)
            })
            .collect();
        let mut all = job.begun();
        for (reader, consumer) in pairs {
            reader.await.map_err(died)??;
            all.append(consumer.await.map_err(died)?);
        }
        Ok(all)
    })
}

/// The reading end: sends all entries and hangs up.
fn read<M: Message>(input: Input, job: Job, sender: &flume::Sender<M>) -> Result<(), Error> {
    let mut pending = Vec::new();
    read_entries(input, job.setup.reading, |entry| match M::pack(entry, job.setup.batch, &mut pending) {
        // Nobody receives any more only if the consumer died; its end of the story is told by its join.
        Some(message) => sender.send(message).is_ok(),
        None => true,
    })?;
    if let Some(message) = M::rest(pending) {
        let _ = sender.send(message);
    }
    Ok(())
}

#[inline]
fn consume(message: impl Message, engine: &Engine, tally: &mut Tally) {
    tally.messages += 1;
    for entry in message {
        tally.take(&entry, |row| engine.process(row));
    }
}
