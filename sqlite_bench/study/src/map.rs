//! How long a call may be before it must leave the task: statements of some microseconds to a tenth of a second, in several designs.
//!
//! There is a worker per core, as many connections for reading, and one for writing. What a task at a socket notices is asked beside calls on a
//! schedule: every design has the same load, and none of them fills the processor, which would delay everybody in any design.

use std::io::{self, Write};
use std::num::NonZero;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;
use sqlite_bench::design::Database;
use sqlite_bench::driver::{Times, own_folder};
use sqlite_bench::pool::{Options, Pool};
use study_kit::usage::Cost;
use study_kit::{Observation, Span, price};
use tokio::io::AsyncReadExt;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::designs::{CheckedOut, Deadpool, InTurn, Reads, split};

/// How long the statement alone is timed.
const ALONE: Duration = Duration::from_millis(10);
/// Something is sent to the bystander this often: a thousand in the shortest window, so that there is a 99th percentile.
const PERIOD: Duration = Duration::from_micros(250);
/// Sockets that requests arrive at, each with a task.
const CALLERS: usize = 16;
/// More cores have no more load: one thread sends it.
const MOST_CORES: usize = 8;

/// Rows of the table at the start; all lie in SQLite's cache.
pub const ROWS: i64 = 1_000;
/// What is read is its key so many times.
const FACTOR: i64 = 3;

const TABLE: &str = "
PRAGMA journal_mode = WAL; CREATE TABLE numbers (number INTEGER PRIMARY KEY, multiple INTEGER NOT NULL);";
const FILL: &str = "INSERT INTO numbers (number, multiple) VALUES (?1, ?2)";
const READ: &str = "SELECT multiple FROM numbers WHERE number = ?1";
const INSERT: &str = "INSERT INTO numbers (multiple) VALUES (?1)";
const JOIN: &str = "
SELECT SUM(a.number * b.multiple) FROM numbers a CROSS JOIN numbers b WHERE a.number < ?1 AND b.number < ?2";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    Point,
    /// A row is written and committed.
    Insert,
    /// So many rows, each beside so many others; all lie in SQLite's cache.
    Join {
        outer: i64,
        inner: i64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callers {
    /// A task that asks for its next answer once it has the last.
    One,
    /// Tasks whose requests arrive at their sockets, so many a second and core in all, whatever has become of those before.
    Scheduled(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asking {
    pub statement: Statement,
    pub callers: Callers,
    pub window: Duration,
}

struct Machine<'a> {
    runtime: &'a Runtime,
    cores: NonZero<usize>,
    file: &'a Path,
    /// Of the schedule.
    seed: u64,
}

type Ask = fn(&Asking, &Machine) -> Result<Asked>;

const ARMS: [(&str, Ask); 5] = [
    ("in_place", |asking, on| {
        asking.ask(split(on.file, on.cores.get(), |file, size| CheckedOut::open(file, size, Reads::Inline))?, on)
    }),
    ("spawn_blocking", |asking, on| {
        asking.ask(split(on.file, on.cores.get(), |file, size| CheckedOut::open(file, size, Reads::Blocking))?, on)
    }),
    ("tokio_rusqlite", |asking, on| asking.ask(split(on.file, on.cores.get(), InTurn::tokio_rusqlite)?, on)),
    ("deadpool", |asking, on| asking.ask(split(on.file, on.cores.get(), Deadpool::open)?, on)),
    ("pool", |asking, on| asking.ask(Pool::open_blocking(on.file, &Options::default().readers(on.cores))?, on)),
];

struct Asked {
    answer: i64,
    cost: Cost,
    /// From when a caller could ask, or its request was due.
    latency: Times,
    /// On a schedule: how late a task received what was sent to it.
    bystander: Option<Times>,
}

/// Asks as `arm` does; the database lies below `folder`.
pub fn observe(asking: &Asking, arm: &str, folder: &Path, seed: u64) -> Result<Observation> {
    let (ask, in_place) = (price::find(&ARMS, arm)?, price::find(&ARMS, "in_place")?);
    let folder = own_folder(folder)?;
    let file = folder.path().join("numbers.db");
    fill(&file)?;
    let cores = available_parallelism()?;
    let runtime = Builder::new_multi_thread().worker_threads(cores.get()).enable_all().build()?;
    // Some designs hand what they are made of to the runtime when they go.
    let _entered = runtime.enter();
    let on = Machine { runtime: &runtime, cores, file: &file, seed };
    let alone = in_place(&Asking { callers: Callers::One, window: ALONE, ..*asking }, &on)?;
    let Asked { answer, cost, latency, bystander } = ask(asking, &on)?;
    let us = |times: &Times, share| times.quantile_ms(share).map(|time| time * 1e3);
    let calls = latency.count() as f64;
    let mut metrics = cost.metrics();
    metrics.extend([("calls_count", calls), ("calls_per_s", calls / cost.wall.as_secs_f64())]);
    metrics.put("call_us", us(&alone.latency, 0.5));
    metrics.put("latency_p50_us", us(&latency, 0.5));
    metrics.put("bystander_p99_us", bystander.and_then(|times| us(&times, 0.99)));
    Ok(Observation::new(format!("{answer:016x}"), metrics))
}

impl Asking {
    /// Lets all callers ask for the window, and at least once; before that to warm up.
    fn ask(&self, database: impl Database, on: &Machine) -> Result<Asked> {
        let &Asking { statement, callers, window } = self;
        let database = Arc::new(database);
        let before = rows(on.file)?;
        let one_after_the_other = |window, callers: usize| {
            let start = Instant::now();
            let caller = |_| call_for_window(Arc::clone(&database), statement, start, window);
            sum(on.runtime.block_on(async { (0..callers).map(caller).collect::<JoinSet<_>>().join_all().await }))
        };
        let warm_up = one_after_the_other(ALONE, if callers == Callers::One { 1 } else { CALLERS })?;
        let span = Span::start();
        let (latency, bystander) = match callers {
            Callers::One => (one_after_the_other(window, 1)?, None),
            Callers::Scheduled(per_s) => {
                let (latency, bystander) = call_on_schedule(&database, statement, &schedule(per_s, window, on), on)?;
                (latency, Some(bystander))
            }
        };
        let cost = span.end();
        let answer = on.runtime.block_on(call(&*database, statement, ROWS - 1))?;
        let written = if statement == Statement::Insert { warm_up.count() + latency.count() + 1 } else { 0 };
        ensure!(rows(on.file)? == before + written, "the database does not have the {written} rows that were written");
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

pub async fn call(database: &impl Database, statement: Statement, number: i64) -> Result<i64> {
    let work = move |connection: &Connection| statement.run(connection, number);
    let answer = match statement {
        Statement::Insert => database.write(work).await?,
        Statement::Point | Statement::Join { .. } => database.read(work).await?,
    };
    ensure!(answer == statement.answer(number), "wrong answer: {statement:?} of {number} is {answer}");
    Ok(answer)
}

async fn call_for_window(
    database: Arc<impl Database>,
    statement: Statement,
    start: Instant,
    window: Duration,
) -> Result<Times> {
    let (mut latency, mut due) = (Times::default(), start);
    for number in (0..ROWS).cycle() {
        call(&*database, statement, number).await?;
        let end = Instant::now();
        latency.record(end - due);
        due = end;
        if end >= start + window {
            break;
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

/// When something is sent, from the start on, and to which socket: the callers', and that of the bystander after them.
type Schedule = Vec<(Duration, usize)>;

/// Something for the bystander every period, and requests at random times, the same for every design: so many that their number is known.
fn schedule(per_s: u32, window: Duration, on: &Machine) -> Schedule {
    let mut rng = ChaCha8Rng::seed_from_u64(on.seed);
    let load = u64::from(per_s) * on.cores.get().min(MOST_CORES) as u64;
    let requests = u128::from(load) * window.as_micros() / 1_000_000;
    let mut times: Vec<Duration> = (0..requests).map(|_| window.mul_f64(rng.random())).collect();
    times.sort_unstable();
    let requests = times.into_iter().zip((0..CALLERS).cycle());
    let periods = (0..).map(|arrival| PERIOD * arrival).take_while(|due| *due < window);
    let mut schedule: Schedule = requests.chain(periods.map(|due| (due, CALLERS))).collect();
    schedule.sort_unstable();
    schedule
}

/// Sends all of it from a thread of its own, whatever becomes of it, to tasks: the latency of calls, and how late the bystander was.
fn call_on_schedule(
    database: &Arc<impl Database>,
    statement: Statement,
    schedule: &Schedule,
    on: &Machine,
) -> Result<(Times, Times)> {
    let sockets = (0..=CALLERS).map(|_| UnixStream::pair()).collect::<io::Result<Vec<_>>>();
    let (senders, receivers): (Vec<_>, Vec<_>) = sockets.context("cannot make pairs of sockets")?.into_iter().unzip();
    let due_at = |socket| schedule.iter().filter(move |(_, to)| *to == socket).map(|(due, _)| *due).collect::<Vec<_>>();
    let mut receivers = receivers.into_iter().enumerate().map(|(socket, receiver)| {
        receiver.set_nonblocking(true)?;
        anyhow::Ok((tokio::net::UnixStream::from_std(receiver)?, due_at(socket)))
    });
    // Made before the clock starts: each takes as long as many calls.
    let mut bystander = Times::default();
    let times: Vec<_> = (0..CALLERS).map(|_| Times::default()).collect();
    let start = Instant::now();
    let mut calling = JoinSet::new();
    for (receiver, mut latency) in receivers.by_ref().take(CALLERS).zip(times) {
        let ((mut receiver, due), database) = (receiver?, Arc::clone(database));
        calling.spawn_on(
            async move {
                for (due, number) in due.into_iter().zip((0..ROWS).cycle()) {
                    receiver.read_u64_le().await?;
                    call(&*database, statement, number).await?;
                    latency.record((start + due).elapsed());
                }
                Ok(latency)
            },
            on.runtime.handle(),
        );
    }
    let (mut receiver, due) = receivers.next().context("nobody stands by")??;
    let standing_by = on.runtime.spawn(async move {
        for _ in due {
            let sent = Duration::from_nanos(receiver.read_u64_le().await?);
            bystander.record((start + sent).elapsed());
        }
        io::Result::Ok(bystander)
    });
    let sending = thread::spawn({
        let schedule = schedule.clone();
        move || {
            for (due, socket) in schedule {
                thread::sleep((start + due).saturating_duration_since(Instant::now()));
                let sent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
                (&senders[socket]).write_all(&sent.to_le_bytes())?;
            }
            io::Result::Ok(())
        }
    });
    let latency = sum(on.runtime.block_on(calling.join_all()))?;
    let bystander = on.runtime.block_on(standing_by)??;
    sending.join().map_err(|_| anyhow!("a thread died"))??;
    Ok((latency, bystander))
}

pub fn fill(file: &Path) -> Result<()> {
    let mut connection = Connection::open(file)?;
    connection.execute_batch(TABLE)?;
    let transaction = connection.transaction()?;
    for number in 0..ROWS {
        transaction.execute(FILL, [number, number * FACTOR])?;
    }
    Ok(transaction.commit()?)
}

fn rows(file: &Path) -> Result<u64> {
    let count: i64 = Connection::open(file)?.query_row("SELECT COUNT(*) FROM numbers", [], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

#[cfg(test)]
mod tests;
