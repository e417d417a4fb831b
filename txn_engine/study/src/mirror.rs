//! The published engines, written anew: the same libraries doing the same operations for every row, for claims to be judged as published.
//!
//! They keep what an expert would not: an owned string per field, a deserialiser per row (sync), a lock per look at a table, stored
//! payments that are whole rows, a message for every rejected row. The span is the published one: of one file it begins with the memory figure
//! of the stress test, and it ends when the messages are gone. They write all accounts.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::{panic, thread};

use anyhow::Result;
use rust_decimal::Decimal;
use sysinfo::System;
use tokio::io::AsyncRead;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::io::SyncIoBridge;
use txn_engine::ErrorKind;

mod books;
mod write;

use books::{Account, Applied, Dashed, Kept, Payment, Sharded, Tables};
pub use write::write_rows;

/// A published engine, or a control that differs from it in one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mirror {
    /// A thread per file.
    Sync,
    /// The sync engine behind the async one's reader, on two threads per file with an unbounded channel between them: no runtime.
    SyncPipelined,
    /// Per file a blocking task that reads and a task that applies, all that apply on the one thread of the runtime.
    Async,
    /// The same on a worker per core.
    AsyncMultiThread,
    /// The same on one thread, with 4,096 rows per message.
    AsyncBatched,
    /// The same on one thread, with the maps of the sync engine.
    AsyncDashed,
}

/// Rows per message of [`Mirror::AsyncBatched`].
pub const BATCH: usize = 4_096;

/// Who hands the engine its files.
#[derive(Debug, Clone, Copy)]
enum Caller {
    /// The published program: one file, through a buffer, after it has read its memory.
    Program,
    /// The published test: each file as it is.
    Test,
}

impl Caller {
    /// Of the engine's own buffer.
    const fn buffer(self) -> usize {
        match self {
            Caller::Program => 16_384,
            Caller::Test => 1_024,
        }
    }
}

pub struct Done {
    books: Arc<dyn Kept>,
    pub counts: Counts,
}

#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub accepted: u64,
    /// By the number of the kind; rows that cannot be read have none.
    rejected: [u64; ErrorKind::ALL.len()],
}

impl Mirror {
    /// A new runtime of its kind; `None` for those that need none.
    pub fn runtime(self) -> io::Result<Option<Runtime>> {
        let mut builder = match self {
            Mirror::Sync | Mirror::SyncPipelined => return Ok(None),
            Mirror::Async | Mirror::AsyncBatched | Mirror::AsyncDashed => Builder::new_current_thread(),
            Mirror::AsyncMultiThread => Builder::new_multi_thread(),
        };
        builder.enable_all().build().map(Some)
    }

    /// Processes `paths` with a new engine on its `runtime`, so many `at_once`.
    pub fn process(self, runtime: Option<&Runtime>, paths: &[PathBuf], at_once: usize) -> Result<Done> {
        let caller = if paths.len() > 1 { Caller::Test } else { Caller::Program };
        let _read = matches!(caller, Caller::Program).then(memory_figure);
        match (runtime, self) {
            (Some(runtime), Mirror::AsyncDashed) => awaited::<[Payment; 1], Dashed>(runtime, paths, at_once, caller),
            (Some(runtime), Mirror::AsyncBatched) => awaited::<Vec<Payment>, Sharded>(runtime, paths, at_once, caller),
            (Some(runtime), _) => awaited::<[Payment; 1], Sharded>(runtime, paths, at_once, caller),
            (None, _) => {
                let (books, mut counts) = (Arc::new(Dashed::default()), Counts::default());
                for files in paths.chunks(at_once) {
                    counts = counts.plus(self.on_threads(&books, files, caller)?);
                }
                Ok(Done { books, counts })
            }
        }
    }

    /// One file on this thread, several on a thread each.
    ///
    /// As published, files are opened here and a thread is given no more than one and the engine: a block from this thread that another
    /// frees may serve that one for a row, and each time it grows there, it waits for the lock of this thread's memory.
    fn on_threads(self, books: &Arc<Dashed>, paths: &[PathBuf], caller: Caller) -> Result<Counts> {
        if let [path] = paths {
            return Ok(self.work(books, File::open(path)?, caller));
        }
        let spawn = |path: &PathBuf| {
            let (books, file) = (Arc::clone(books), File::open(path)?);
            Ok(thread::spawn(move || self.work(&books, file, caller)))
        };
        let workers: Vec<_> = paths.iter().map(spawn).collect::<io::Result<_>>()?;
        Ok(workers.into_iter().map(|worker| joined(worker.join())).fold(Counts::default(), Counts::plus))
    }

    fn work(self, books: &Dashed, file: File, caller: Caller) -> Counts {
        match caller {
            Caller::Program => self.apply(books, BufReader::new(file), caller.buffer()),
            Caller::Test => self.apply(books, file, caller.buffer()),
        }
    }

    fn apply(self, books: &Dashed, input: impl Read + Send, buffer: usize) -> Counts {
        if self == Mirror::SyncPipelined { pipelined(books, input, buffer) } else { direct(books, input, buffer) }
    }
}

/// All that the published stress test reads to tell its memory, twice, inside its span.
///
/// It costs more than its own 6 to 7 ms: it reads on several threads, and a block of theirs that this thread frees and gets again later draws
/// what the async engine allocates after it into their arena, which the kernel extends page by page (73,000 calls of `mprotect` instead of 8).
fn memory_figure() -> System {
    let mut system = System::new_all();
    system.refresh_all();
    system
}

/// So many files at once on `runtime`.
fn awaited<M: Message, T: Tables>(
    runtime: &Runtime,
    paths: &[PathBuf],
    at_once: usize,
    caller: Caller,
) -> Result<Done> {
    let (books, mut counts) = (Arc::new(T::default()), Counts::default());
    for files in paths.chunks(at_once) {
        counts = counts.plus(runtime.block_on(on_tasks::<M, T>(&books, files, caller))?);
    }
    Ok(Done { books, counts })
}

/// One file in what the runtime blocks on, several in a task each.
async fn on_tasks<M: Message, T: Tables>(books: &Arc<T>, paths: &[PathBuf], caller: Caller) -> Result<Counts> {
    let buffer = caller.buffer();
    let mut tasks = Vec::new();
    for path in paths {
        let file = tokio::fs::File::open(path).await?;
        match caller {
            Caller::Program => {
                return task::<M, T>(books, tokio::io::BufReader::with_capacity(buffer, file), buffer).await;
            }
            Caller::Test if paths.len() == 1 => return task::<M, T>(books, file, buffer).await,
            Caller::Test => {
                let books = Arc::clone(books);
                tasks.push(tokio::spawn(async move { task::<M, T>(&books, file, buffer).await }));
            }
        }
    }
    let mut counts = Counts::default();
    for task in tasks {
        counts = counts.plus(task.await??);
    }
    Ok(counts)
}

fn direct(books: &Dashed, input: impl Read, buffer: usize) -> Counts {
    let mut reader = csv::Reader::from_reader(BufReader::with_capacity(buffer, input));
    let mut log = Log::default();
    // As published: an iterator for every row, each with a copy of the header and a record of its own.
    while let Some(row) = reader.deserialize::<Payment>().next() {
        match row {
            Ok(row) => log.note(&row, books.apply(&row)),
            Err(error) => log.note_unreadable(&error),
        }
    }
    log.counts
}

/// Reads on one thread and applies on another.
fn pipelined(books: &Dashed, input: impl Read + Send, buffer: usize) -> Counts {
    let (sender, receiver) = mpsc::channel::<[Payment; 1]>();
    let (failed, failures) = mpsc::channel();
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            read(input, buffer, |rows| sender.send(rows).is_ok(), |error| drop(failed.send(error)));
        });
        let mut log = Log::default();
        for [row] in receiver {
            log.note(&row, books.apply(&row));
        }
        for error in failures {
            log.note_unreadable(error);
        }
        joined(reader.join());
        log.counts
    })
}

/// Reads in a blocking task, through a bridge from a file of tokio, and applies in this one.
async fn task<M: Message, T: Tables>(
    books: &T,
    input: impl AsyncRead + Unpin + Send + 'static,
    buffer: usize,
) -> Result<Counts> {
    let (sender, mut receiver) = unbounded_channel::<M>();
    let (failed, mut failures) = unbounded_channel();
    let reader = tokio::task::spawn_blocking(move || {
        let send = |rows| sender.send(rows).is_ok();
        read(SyncIoBridge::new(input), buffer, send, |error| drop(failed.send(error)));
    });
    let mut log = Log::default();
    while let Some(rows) = receiver.recv().await {
        for row in rows.as_ref() {
            log.note(row, books.apply(row).await);
        }
    }
    while let Ok(error) = failures.try_recv() {
        log.note_unreadable(error);
    }
    reader.await?;
    Ok(log.counts)
}

trait Message: AsRef<[Payment]> + Send + Sized + 'static {
    fn next(rows: &mut impl Iterator<Item = Payment>) -> Option<Self>;
}

impl Message for [Payment; 1] {
    fn next(rows: &mut impl Iterator<Item = Payment>) -> Option<Self> {
        rows.next().map(|row| [row])
    }
}

impl Message for Vec<Payment> {
    fn next(rows: &mut impl Iterator<Item = Payment>) -> Option<Self> {
        let batch: Vec<Payment> = rows.take(BATCH).collect();
        (!batch.is_empty()).then_some(batch)
    }
}

/// The reading end of a channel, with one iterator for all rows; `send` is false when nobody receives any more.
fn read<M: Message>(input: impl Read, buffer: usize, mut send: impl FnMut(M) -> bool, mut fail: impl FnMut(String)) {
    let mut reader = csv::ReaderBuilder::new();
    let rows = reader.trim(csv::Trim::All).from_reader(BufReader::with_capacity(buffer, input)).into_deserialize();
    let mut rows = rows.filter_map(|row| row.map_err(|error: csv::Error| fail(error.to_string())).ok());
    while let Some(message) = M::next(&mut rows) {
        if !send(message) {
            break;
        }
    }
}

/// What a worker came to; its panic is this thread's.
pub fn joined<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|panicked| panic::resume_unwind(panicked))
}

/// What one applier writes down: a message for every row that was not applied, all kept until its file ends.
#[derive(Default)]
struct Log {
    counts: Counts,
    messages: Vec<String>,
}

impl Log {
    fn note(&mut self, row: &Payment, applied: Applied) {
        match applied {
            Ok(()) => self.counts.accepted += 1,
            Err(kind) => {
                self.counts.rejected[kind as usize] += 1;
                self.messages.push(format!("Rejected payment {row:?}: {kind}"));
            }
        }
    }

    fn note_unreadable(&mut self, error: impl Display) {
        self.messages.push(format!("Unreadable payment: {error}"));
    }
}

impl Counts {
    fn plus(mut self, other: Counts) -> Counts {
        self.accepted += other.accepted;
        for (count, more) in self.rejected.iter_mut().zip(other.rejected) {
            *count += more;
        }
        self
    }

    pub fn rejected(&self, kind: ErrorKind) -> u64 {
        self.rejected[kind as usize]
    }
}

impl Done {
    /// The accounts as every engine prints them.
    pub fn accounts_csv(&self) -> Vec<u8> {
        let mut accounts = self.books.accounts();
        accounts.sort_unstable_by_key(|&(client, _)| client);
        // Zero has a sign in these numbers, which nobody wants to see.
        let printed = |money: Decimal| format!("{:.4}", if money.is_zero() { Decimal::ZERO } else { money });
        let mut csv = "client,available,held,total,locked\n".to_owned();
        for (client, Account { available, held, total, locked }) in accounts {
            let [available, held, total] = [available, held, total].map(printed);
            // Writing to a string cannot fail.
            let _ = writeln!(csv, "{client},{available},{held},{total},{locked}");
        }
        csv.into_bytes()
    }
}
