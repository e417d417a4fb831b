//! How long a call may be before it must leave the task: statements that take from some microseconds to a tenth of a second, in several
//! designs, beside a task that waits at a socket.
//!
//! The runtime is tokio's default: a worker per core. Each design has as many connections for reading, and one for writing.

use std::io::{self, Write};
use std::num::NonZero;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use rusqlite::Connection;
use sqlite_bench::bench::own_folder;
use sqlite_bench::design::Database;
use sqlite_bench::driver::Times;
use sqlite_bench::pool::{Options, Pool};
use study_kit::usage::Cost;
use study_kit::{Observation, Span, price};
use tokio::io::AsyncReadExt;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinSet, yield_now};

use crate::designs::{CheckedOut, Deadpool, InTurn, Pooled, Reads, split};
use crate::prices::{FACTOR, READ, ROWS, fill};

/// How long the statement alone is timed.
const ALONE: Duration = Duration::from_millis(10);
/// A byte is sent to the bystander this often: a thousand in the shortest window, so that there is a 99th percentile.
const PERIOD: Duration = Duration::from_micros(250);

const INSERT: &str = "INSERT INTO numbers (multiple) VALUES (?1)";
const JOIN: &str = "
SELECT SUM(a.number * b.multiple) FROM numbers a CROSS JOIN numbers b WHERE a.number < ?1 AND b.number < ?2";

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// A row by its key.
    Point,
    /// A row is written and committed.
    Insert,
    /// So many rows, each beside so many others; all lie in SQLite's cache.
    Join { outer: i64, inner: i64 },
}

/// A point of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asking {
    pub statement: Statement,
    /// Tasks that ask, each for its next answer once it has the last.
    pub callers: usize,
    pub window: Duration,
}

/// Asks as a design does.
type Ask = fn(&Asking, &Runtime, &Path, NonZero<usize>) -> Result<Asked>;

const ARMS: [(&str, Ask); 5] = [
    ("in_place", |asking, runtime, file, cores| {
        asking.ask(split(file, cores.get(), |file, size| CheckedOut::open(file, size, Reads::Inline))?, runtime, file)
    }),
    ("spawn_blocking", |asking, runtime, file, cores| {
        asking.ask(split(file, cores.get(), |file, size| CheckedOut::open(file, size, Reads::Blocking))?, runtime, file)
    }),
    ("tokio_rusqlite", |asking, runtime, file, cores| {
        asking.ask(split(file, cores.get(), InTurn::tokio_rusqlite)?, runtime, file)
    }),
    ("deadpool", |asking, runtime, file, cores| asking.ask(split(file, cores.get(), Deadpool::open)?, runtime, file)),
    ("pool", |asking, runtime, file, cores| {
        asking.ask(Pooled(Pool::open_blocking(file, &Options::default().readers(cores))?), runtime, file)
    }),
];

/// What came of it.
struct Asked {
    answer: i64,
    cost: Cost,
    /// From when a caller could ask, which is before it waits for a worker.
    latency: Times,
    /// How late a task received what was sent to it, from when that was due; nothing beside a single caller.
    bystander: Times,
}

/// Asks as `arm` does; the database lies below `folder`.
pub fn observe(asking: &Asking, arm: &str, folder: &Path) -> Result<Observation> {
    let (ask, in_place) = (price::find(&ARMS, arm)?, price::find(&ARMS, "in_place")?);
    let folder = own_folder(folder)?;
    let file = folder.path().join("numbers.db");
    fill(&file)?;
    let cores = available_parallelism()?;
    let runtime = Builder::new_multi_thread().worker_threads(cores.get()).enable_all().build()?;
    // Some designs hand what they are made of to the runtime when they go.
    let _entered = runtime.enter();
    let alone = in_place(&Asking { callers: 1, window: ALONE, ..*asking }, &runtime, &file, cores)?;
    let Asked { answer, cost, latency, bystander } = ask(asking, &runtime, &file, cores)?;
    let us = |times: &Times, share| times.quantile_ms(share).map(|time| time * 1e3);
    let calls = latency.count() as f64;
    let mut metrics = cost.metrics();
    metrics.extend([("calls_count", calls), ("calls_per_s", calls / cost.wall.as_secs_f64())]);
    metrics.put("call_us", us(&alone.latency, 0.5));
    metrics.put("latency_p50_us", us(&latency, 0.5));
    metrics.put("latency_p99_us", us(&latency, 0.99).filter(|_| asking.has_thousands()));
    metrics.put("bystander_p99_us", us(&bystander, 0.99));
    Ok(Observation::new(format!("{answer:016x}"), metrics))
}

impl Asking {
    /// Whether there are always enough calls for a 99th percentile.
    fn has_thousands(&self) -> bool {
        self.callers > 1 && !matches!(self.statement, Statement::Join { outer, inner } if outer * inner > 1_000)
    }

    /// Lets all callers ask for the window, and at least once; before that to warm up.
    fn ask(&self, database: impl Database, runtime: &Runtime, file: &Path) -> Result<Asked> {
        let &Asking { statement, callers, window } = self;
        let database = Arc::new(database);
        let call_all = |asking, start, records: Vec<Times>| {
            let caller = |record| call_for_window(Arc::clone(&database), asking, start, record);
            runtime.block_on(async { records.into_iter().map(caller).collect::<JoinSet<_>>().join_all().await })
        };
        // Made before the clock starts: each takes as long as many calls.
        let records = || (0..callers).map(|_| Times::default()).collect();
        let before = rows(file)?;
        let warm_up = sum(call_all(Asking { window: ALONE, ..*self }, Instant::now(), records()))?;
        let (records, late) = (records(), Times::default());
        let span = Span::start();
        let start = Instant::now();
        let bystander = (callers > 1).then(|| stand_by(runtime, start, window, late)).transpose()?;
        let latency = call_all(*self, start, records);
        let cost = span.end();
        let (latency, bystander) = (sum(latency)?, bystander.map_or_else(|| Ok(Times::default()), |late| late())?);
        let answer = runtime.block_on(call(&*database, statement, ROWS - 1))?;
        let written = if statement == Statement::Insert { warm_up.count() + latency.count() + 1 } else { 0 };
        ensure!(rows(file)? == before + written, "the database does not have the {written} rows that were written");
        Ok(Asked { answer, cost, latency, bystander })
    }
}

impl Statement {
    fn run(self, connection: &Connection, number: i64) -> rusqlite::Result<i64> {
        match self {
            Statement::Point => connection.prepare_cached(READ)?.query_row([number], |row| row.get(0)),
            Statement::Insert => connection.prepare_cached(INSERT)?.execute([number]).map(|rows| i64::from(rows == 1)),
            Statement::Join { outer, inner } => {
                connection.prepare_cached(JOIN)?.query_row([outer, inner], |row| row.get(0))
            }
        }
    }

    fn answer(self, number: i64) -> i64 {
        let sum_below = |count: i64| count * (count - 1) / 2;
        match self {
            Statement::Point => number * FACTOR,
            Statement::Insert => 1,
            Statement::Join { outer, inner } => sum_below(outer) * sum_below(inner) * FACTOR,
        }
    }
}

/// One call, whose answer is checked.
async fn call(database: &impl Database, statement: Statement, number: i64) -> Result<i64> {
    let work = move |connection: &Connection| statement.run(connection, number);
    let answer = match statement {
        Statement::Insert => database.write(work).await?,
        Statement::Point | Statement::Join { .. } => database.read(work).await?,
    };
    ensure!(answer == statement.answer(number), "wrong answer: {statement:?} of {number} is {answer}");
    Ok(answer)
}

/// A caller, for the window.
async fn call_for_window(
    database: Arc<impl Database>,
    asking: Asking,
    start: Instant,
    mut latency: Times,
) -> Result<Times> {
    let mut due = start;
    for number in (0..ROWS).cycle() {
        call(&*database, asking.statement, number).await?;
        let end = Instant::now();
        latency.record(end - due);
        due = end;
        if end >= start + asking.window {
            break;
        }
        // A task of a service waits for its next request here.
        if asking.callers > 1 {
            yield_now().await;
        }
    }
    Ok(latency)
}

fn sum(all: Vec<Result<Times>>) -> Result<Times> {
    all.into_iter().try_fold(Times::default(), |mut sum, times| {
        sum.add(&times?);
        Ok(sum)
    })
}

/// Begins to send a byte to a task every period, whatever becomes of it, and returns what waits for how late each was received.
fn stand_by(
    runtime: &Runtime,
    start: Instant,
    window: Duration,
    mut late: Times,
) -> Result<impl FnOnce() -> Result<Times>> {
    let (mut sender, receiver) = UnixStream::pair().context("cannot make a pair of sockets")?;
    receiver.set_nonblocking(true)?;
    let mut receiver = tokio::net::UnixStream::from_std(receiver)?;
    let arrivals = u32::try_from(window.as_micros() / PERIOD.as_micros())?;
    let receive = async move {
        for arrival in 0..arrivals {
            receiver.read_u8().await?;
            late.record((start + PERIOD * arrival).elapsed());
        }
        io::Result::Ok(late)
    };
    let receiving = runtime.spawn(receive);
    let sending = thread::spawn(move || {
        (0..arrivals).try_for_each(|arrival| {
            thread::sleep((start + PERIOD * arrival).saturating_duration_since(Instant::now()));
            sender.write_all(&[0])
        })
    });
    Ok(move || {
        sending.join().map_err(|_| anyhow!("a thread died"))??;
        Ok(runtime.block_on(receiving)??)
    })
}

/// How many rows the file has.
fn rows(file: &Path) -> Result<u64> {
    let count: i64 = Connection::open(file)?.query_row("SELECT COUNT(*) FROM numbers", [], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

#[cfg(test)]
mod tests;
