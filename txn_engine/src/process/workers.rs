//! What to ship: blocks are read in parallel and applied in the order of the file.
//!
//! Reading a row costs more than applying it, so it is spread over the cores. Applying is done by whichever worker holds the next block while the
//! others go on reading: the answer is the sequential one on any input.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use super::{Done, Tally, read_entries};
use crate::error::{Error, joined};
use crate::input::Input;
use crate::ledger::Ledger;
use crate::parse::{Parser, Reading};
use crate::row::Entry;

/// Blocks per worker that may wait for their turn: enough to ride out an uneven block, little enough to stay in the cache.
const WAITING_PER_WORKER: usize = 4;

/// Rows that one core reads before it applies them: few enough to stay in the first-level cache.
const BATCH: usize = 256;
/// Rows between the one that is applied and the one whose account is fetched.
const AHEAD: usize = 8;

/// Applies the inputs one after another to `ledger`, reading on `workers` threads.
pub(super) fn run(ledger: Ledger, inputs: Vec<Input>, reading: Reading, workers: usize) -> Done {
    let mut books = Books { ledger, tally: Tally::default(), line: 0 };
    for input in inputs {
        if workers == 1 {
            let mut entries = Vec::with_capacity(BATCH);
            let take = |entry| {
                entries.push(entry);
                if entries.len() == BATCH {
                    books.apply(&mut entries);
                }
                true
            };
            read_entries(input, reading, || (), take)?;
            books.apply(&mut entries);
        } else {
            books.line = input.next_line;
            books = in_parallel(books, input, reading, workers)?;
        }
    }
    Ok((Arc::new(books.ledger), books.tally))
}

#[derive(Default)]
struct Queue {
    /// Blocks as read that wait for their turn, and the physical lines in each, blank ones included.
    waiting: BTreeMap<u64, (Vec<Entry>, u64)>,
    next: u64,
    applying: bool,
    /// Emptied entry lists, to be filled again.
    spare: Vec<Vec<Entry>>,
    /// A worker died or the input failed: nobody may wait any more.
    stopped: bool,
}

/// What applying changes.
struct Books {
    ledger: Ledger,
    tally: Tally,
    /// What is added to the lines of entries, which count from the start of their block if it was read apart.
    line: u64,
}

struct Shared {
    /// What is left of the input, and the number of its next block.
    source: Mutex<(Input, u64)>,
    queue: Mutex<Queue>,
    room: Condvar,
    books: Mutex<Books>,
    most_waiting: usize,
}

fn in_parallel(books: Books, input: Input, reading: Reading, workers: usize) -> Result<Books, Error> {
    let columns = input.columns;
    let shared = Shared {
        source: Mutex::new((input, 0)),
        queue: Mutex::default(),
        room: Condvar::new(),
        books: Mutex::new(books),
        most_waiting: WAITING_PER_WORKER * workers,
    };
    thread::scope(|scope| {
        // One worker is enough: more are those that can be started.
        let work = || shared.work(Parser::new(columns, reading));
        let start = |_| Builder::new().spawn_scoped(scope, work).ok();
        let threads: Vec<_> = (1..workers).map_while(start).collect();
        let mine = work();
        // Every thread is joined before the first error is returned.
        let others: Vec<_> = threads.into_iter().map(|thread| joined(thread.join()).flatten()).collect();
        others.into_iter().fold(mine, Result::and)
    })?;
    Ok(shared.books.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Locks also what a dead worker left locked: its death is reported by its join, and `Stop` keeps others from waiting for it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the other workers end when this one does not finish in the regular way.
struct Stop<'a>(&'a Shared);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).stopped = true;
        self.0.room.notify_all();
    }
}

impl Shared {
    /// Takes blocks, reads them and applies what is due, until the input ends.
    fn work(&self, mut parser: Parser) -> Result<(), Error> {
        let stop = Stop(self);
        let mut block = Vec::new();
        while let Some(number) = self.take_block(&mut block)? {
            let mut entries = lock(&self.queue).spare.pop().unwrap_or_default();
            let lines = parser.read_block(&block, 0, |entry| {
                entries.push(entry);
                true
            });
            self.hand_over(number, entries, lines);
        }
        std::mem::forget(stop);
        Ok(())
    }

    fn take_block(&self, block: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        let (input, next) = &mut *lock(&self.source);
        let stopped = lock(&self.queue).stopped;
        if stopped || !input.next_block(block)? {
            return Ok(None);
        }
        *next += 1;
        Ok(Some(*next - 1))
    }

    /// Queues a block, and applies all that are due unless another worker is at it.
    fn hand_over(&self, number: u64, entries: Vec<Entry>, lines: u64) {
        let mut queue = lock(&self.queue);
        // The block that is due is let in always, or nobody could make room.
        while queue.waiting.len() >= self.most_waiting && number != queue.next && !queue.stopped {
            queue = self.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.waiting.insert(number, (entries, lines));
        if queue.applying {
            return;
        }
        queue.applying = true;
        let mut books = lock(&self.books);
        loop {
            let due = queue.next;
            let Some((mut entries, lines)) = queue.waiting.remove(&due) else {
                break;
            };
            drop(queue);
            books.apply(&mut entries);
            books.line += lines;
            queue = lock(&self.queue);
            queue.next += 1;
            queue.spare.push(entries);
            self.room.notify_all();
        }
        queue.applying = false;
    }
}

impl Books {
    /// Applies `entries` and empties the list.
    fn apply(&mut self, entries: &mut Vec<Entry>) {
        for n in 0..entries.len() {
            if let Some(Entry { row: Ok(row), .. }) = entries.get(n + AHEAD) {
                self.ledger.fetch(row);
            }
            let mut entry = entries[n];
            entry.line += self.line;
            self.tally.take(&entry, |row| self.ledger.process(row));
        }
        entries.clear();
    }
}
