//! Rows that cost more than ours do, for the map: our designs of one file, with as much arithmetic when a row is read as when it is applied.
//!
//! Two parts of equal length are what a pipeline gains most from. With the arithmetic in one of them the other soon is too short to gain by, and
//! whoever does it sleeps between two rows.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::{mem, thread};

use anyhow::Result;
use flume::Sender;
use txn_engine::engine::Engine;
use txn_engine::input::Input;
use txn_engine::parse::Parser;
use txn_engine::row::Entry;
use txn_engine::{ErrorLog, Outcome, Setup};

use crate::mirror::joined;

/// How many rows a file has, by our reader alone.
pub fn count(path: &Path, steps: u32) -> Result<u64> {
    let mut rows = 0;
    read(path, steps, |entry| {
        black_box(entry);
        rows += 1;
        true
    })?;
    Ok(rows)
}

/// One file by the design of `setup`, with `steps` of arithmetic when a row is read and when it is applied.
pub fn process(setup: Setup, path: &Path, steps: u32) -> Result<Outcome> {
    let mut books = Books { steps, ..Books::default() };
    if setup.runner == Setup::SYNC.runner {
        read(path, steps, |entry| {
            books.apply(&entry);
            true
        })?;
    } else if setup.batch == 1 {
        books = pipelined(books, setup, path, steps, send_singly)?;
    } else {
        books = pipelined(books, setup, path, steps, send_batches)?;
    }
    let Books { engine, errors, accepted, messages, .. } = books;
    Ok(Outcome { books: Arc::new(engine), errors, accepted, messages, threads: None })
}

/// The end of a channel that reads.
type Reader<M> = fn(&Path, u32, usize, &Sender<M>) -> Result<()>;

/// Reads on one thread and applies on this one, in a task if the design has a runtime.
fn pipelined<M: IntoIterator<Item = Entry> + Send + 'static>(
    mut books: Books,
    setup: Setup,
    path: &Path,
    steps: u32,
    read: Reader<M>,
) -> Result<Books> {
    let (sender, receiver) = flume::unbounded::<M>();
    let (path, batch) = (path.to_owned(), setup.batch);
    let reader = move || read(&path, steps, batch, &sender);
    let Some(runtime) = setup.runner.runtime()? else {
        let reader = thread::spawn(reader);
        receiver.into_iter().for_each(|message| books.take(message));
        joined(reader.join())?;
        return Ok(books);
    };
    runtime.block_on(async {
        let reader = tokio::task::spawn_blocking(reader);
        let applier = tokio::spawn(async move {
            while let Ok(message) = receiver.recv_async().await {
                books.take(message);
            }
            books
        });
        reader.await??;
        Ok(applier.await?)
    })
}

fn send_singly(path: &Path, steps: u32, _: usize, sender: &Sender<[Entry; 1]>) -> Result<()> {
    read(path, steps, |entry| sender.send([entry]).is_ok())
}

fn send_batches(path: &Path, steps: u32, batch: usize, sender: &Sender<Vec<Entry>>) -> Result<()> {
    let mut rows = Vec::with_capacity(batch);
    read(path, steps, |entry| {
        rows.push(entry);
        rows.len() < batch || sender.send(mem::replace(&mut rows, Vec::with_capacity(batch))).is_ok()
    })?;
    // If nobody receives any more, the join of who should tells it.
    let _ = sender.send(rows);
    Ok(())
}

/// What applying changes, and what it takes besides.
#[derive(Default)]
struct Books {
    engine: Engine,
    errors: ErrorLog,
    accepted: u64,
    messages: u64,
    /// Of arithmetic with every row.
    steps: u32,
}

impl Books {
    fn take(&mut self, message: impl IntoIterator<Item = Entry>) {
        self.messages += 1;
        message.into_iter().for_each(|entry| self.apply(&entry));
    }

    #[inline]
    fn apply(&mut self, entry: &Entry) {
        toil(self.steps);
        match entry.row.as_ref().map_err(|&kind| kind).and_then(|row| self.engine.process(row)) {
            Ok(()) => self.accepted += 1,
            Err(kind) => self.errors.add(entry.line, kind),
        }
    }
}

/// Hands every row of the file to `sink`, until it returns false.
fn read(path: &Path, steps: u32, mut sink: impl FnMut(Entry) -> bool) -> Result<()> {
    let mut input = Input::open(path)?;
    let mut parser = Parser::new(input.columns, Setup::SYNC.reading);
    let (mut line, mut block, mut wanted) = (input.next_line, Vec::new(), true);
    while wanted && input.next_block(&mut block)? {
        line = parser.read_block(&block, line, |entry| {
            toil(steps);
            wanted = sink(entry);
            wanted
        });
    }
    Ok(())
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
