//! The pool beside what a service would use instead, in what its users notice: reads, inserts, both, and opening, by 1, 16 and 256 callers, in
//! memory and on disk. Prints the table of the crate's README, in three minutes:
//!
//! ```sh
//! cargo bench -p sqlite_bench_study --bench peers                            # /dev/shm and target/tmp
//! cargo bench -p sqlite_bench_study --bench peers -- /dev/shm /var/tmp       # a folder in memory, one on disk
//! ```
//!
//! Everybody has a log, `synchronous = FULL`, one writing and two reading connections, and compiles a statement once. The callers are tasks,
//! each of which asks again once it has its answer. In a round each design has its turn, in another order each time; a ratio is the median of
//! those of the rounds, its range their quartiles.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use async_sqlite::PoolBuilder;
use rusqlite::Connection;
use sqlite_bench::design::{Database, spawn_blocking};
use sqlite_bench::driver::{own_folder, runtime};
use sqlite_bench::pool::{Options, Pool, Work};
use sqlite_bench_study::designs::{Deadpool, InTurn, Split, connect, set_up, split};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// How long a row of the table is measured, and each design in a round.
const ROW: Duration = Duration::from_secs(6);
const TURN: Duration = Duration::from_millis(120);
/// Rounds of a row, however long they take.
const FEWEST_ROUNDS: usize = 4;

const READERS: usize = 2;
/// Rows of the table at the start.
const ROWS: u64 = 10_000;
const TABLE: &str = "
PRAGMA journal_mode = WAL;
CREATE TABLE entries (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, text TEXT NOT NULL);
WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10000)
INSERT INTO entries (number, text) SELECT x, hex(randomblob(50)) FROM n;";
const INSERT: &str =
    "INSERT INTO entries (number, text) VALUES (?1, 'what a service keeps of one request, about as much as this')";
const SELECT: &str = "SELECT number FROM entries WHERE id = ?1";

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    Reads,
    Inserts,
    /// Four reads, one insert.
    Mixed,
    /// A database is opened, until it has answered a read and an insert.
    Opening,
}

impl Load {
    fn name(self) -> &'static str {
        match self {
            Load::Reads => "reads",
            Load::Inserts => "inserts",
            Load::Mixed => "4 reads : 1 insert",
            Load::Opening => "opening",
        }
    }
}

/// The rows of the table.
const LOADS: [(Load, usize); 10] = [
    (Load::Reads, 1),
    (Load::Reads, 16),
    (Load::Reads, 256),
    (Load::Inserts, 1),
    (Load::Inserts, 16),
    (Load::Inserts, 256),
    (Load::Mixed, 1),
    (Load::Mixed, 16),
    (Load::Mixed, 256),
    (Load::Opening, 1),
];

type Open = fn(&Path) -> Result<Arc<dyn Peer>>;

/// The columns of the table; the first is what the others are compared with.
const PEERS: [(&str, Open); 6] = [
    ("this pool", |file| {
        let options = Options::default().readers(const { std::num::NonZero::new(READERS).unwrap() });
        Ok(peer(Pool::open_blocking(file, &options)?))
    }),
    ("tokio-rusqlite", |file| Ok(peer(split(file, READERS, InTurn::tokio_rusqlite)?))),
    ("deadpool-sqlite", |file| Ok(peer(split(file, READERS, Deadpool::open)?))),
    ("async-sqlite", |file| Ok(peer(split(file, READERS, AsyncSqlite::open)?))),
    ("spawn_blocking + Mutex", |file| {
        let open = || Ok(spawn_blocking(connect(file)?));
        Ok(peer(Split { reading: InTurn::new(READERS, open)?, writing: open()? }))
    }),
    ("64 by hand", |file| {
        Ok(peer(Split { reading: InTurn::tokio_rusqlite(file, READERS)?, writing: ByHand::new(connect(file)?.into()) }))
    }),
];

/// How many reads and inserts were answered.
#[derive(Clone, Copy, Default)]
struct Answered {
    reads: u64,
    inserts: u64,
}

impl Answered {
    fn add(&mut self, other: Answered) {
        self.reads += other.reads;
        self.inserts += other.inserts;
    }
}

/// A design with its database open.
trait Peer: Send + Sync {
    /// One caller, who asks until then, at least once.
    fn call(self: Arc<Self>, load: Load, caller: usize, until: Instant) -> Calling;
}

type Calling = Pin<Box<dyn Future<Output = Result<Answered>> + Send>>;

impl<D: Database> Peer for D {
    fn call(self: Arc<Self>, load: Load, caller: usize, until: Instant) -> Calling {
        Box::pin(async move {
            let mut answered = Answered::default();
            let mut random = caller as u64;
            loop {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let inserts = match load {
                    Load::Reads => false,
                    Load::Inserts => true,
                    Load::Mixed => (answered.reads + answered.inserts + caller as u64) % 5 == 4,
                    Load::Opening => answered.reads > 0,
                };
                let number = (random >> 33) % ROWS + 1;
                if inserts {
                    self.write(move |db| db.prepare_cached(INSERT)?.execute([number.cast_signed()])).await?;
                    answered.inserts += 1;
                } else {
                    let read = self.read(move |db| {
                        db.prepare_cached(SELECT)?.query_row([number.cast_signed()], |row| row.get::<_, i64>(0))
                    });
                    ensure!(read.await?.cast_unsigned() == number, "a read returned another row");
                    answered.reads += 1;
                }
                if Instant::now() >= until && (load != Load::Opening || inserts) {
                    return Ok(answered);
                }
            }
        })
    }
}

fn peer(database: impl Database) -> Arc<dyn Peer> {
    Arc::new(database)
}

/// What one writes who has heard of transactions: a task commits what waits, at most 64 inserts, in one. One that failed would take the others
/// with it.
struct ByHand(mpsc::Sender<Job>);

/// Does its work, and returns how to say so after the commit.
type Job = Box<dyn FnOnce(&Connection) -> rusqlite::Result<Box<dyn FnOnce() + Send>> + Send>;

impl ByHand {
    fn new(writer: tokio_rusqlite::Connection) -> Self {
        const MOST: usize = 64;
        let (jobs, mut waiting) = mpsc::channel::<Job>(1_024);
        tokio::spawn(async move {
            let mut batch = Vec::new();
            while waiting.recv_many(&mut batch, MOST).await > 0 {
                let jobs = std::mem::take(&mut batch);
                let committed = writer.call(move |db| {
                    let transaction = db.unchecked_transaction()?;
                    let answers =
                        jobs.into_iter().map(|job| job(&transaction)).collect::<rusqlite::Result<Vec<_>>>()?;
                    transaction.commit()?;
                    for answer in answers {
                        answer();
                    }
                    Ok::<_, rusqlite::Error>(())
                });
                if committed.await.is_err() {
                    // Whoever waits for an answer hears that there is none.
                    return;
                }
            }
        });
        ByHand(jobs)
    }
}

impl Database for ByHand {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |db| {
            let value = work(db)?;
            Ok(Box::new(move || drop(tell.send(value))))
        });
        self.0.send(job).await.map_err(|error| anyhow!("{error}"))?;
        Ok(told.await?)
    }
}

/// async-sqlite: a thread per connection.
struct AsyncSqlite(async_sqlite::Pool);

impl AsyncSqlite {
    fn open(file: &Path, size: usize) -> Result<Self> {
        let pool = PoolBuilder::new().path(file).num_conns(size).open_blocking()?;
        pool.conn_for_each_blocking(set_up).into_iter().collect::<Result<(), _>>()?;
        Ok(AsyncSqlite(pool))
    }
}

impl Database for AsyncSqlite {
    async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        Ok(self.0.conn(work).await?)
    }
}

/// A design in one row of the table.
struct Measured {
    open: Open,
    file: PathBuf,
    peer: Arc<dyn Peer>,
    answered: Answered,
    /// Operations per second, by round.
    rates: Vec<f64>,
}

impl Measured {
    fn new(number: usize, open: Open, folder: &Path) -> Result<Self> {
        let file = folder.join(format!("{number}.db"));
        Connection::open(&file)?.execute_batch(TABLE)?;
        let peer = open(&file)?;
        Ok(Measured { open, file, peer, answered: Answered::default(), rates: Vec::new() })
    }

    /// One turn.
    fn measure(&mut self, runtime: &Runtime, load: Load, callers: usize, turn: Duration) -> Result<()> {
        let begin = Instant::now();
        let (mut spent, mut answered, mut count) = (Duration::ZERO, Answered::default(), 0);
        if load == Load::Opening {
            while begin.elapsed() < turn {
                let begin = Instant::now();
                let peer = (self.open)(&self.file)?;
                answered.add(runtime.block_on(peer.call(load, count, begin))?);
                spent += begin.elapsed();
                count += 1;
            }
        } else {
            answered = runtime.block_on(all(&self.peer, load, callers, begin + turn))?;
            spent = begin.elapsed();
            count = usize::try_from(answered.reads + answered.inserts)?;
        }
        self.answered.add(answered);
        self.rates.push(count as f64 / spent.as_secs_f64());
        Ok(())
    }

    /// Whether every acknowledged insert is there, once.
    fn check(&self) -> Result<()> {
        let connection = Connection::open(&self.file)?;
        let rows: i64 = connection.query_row("SELECT COUNT(*) FROM entries", [], |row| row.get(0))?;
        let integrity: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        ensure!(integrity == "ok", "the database is damaged: {integrity}");
        let expected = ROWS + self.answered.inserts;
        ensure!(u64::try_from(rows) == Ok(expected), "the database has {rows} rows instead of {expected}");
        Ok(())
    }
}

/// All callers until the last has its answer.
async fn all(peer: &Arc<dyn Peer>, load: Load, callers: usize, until: Instant) -> Result<Answered> {
    let mut tasks: JoinSet<_> = (0..callers).map(|caller| Arc::clone(peer).call(load, caller, until)).collect();
    let mut all = Answered::default();
    while let Some(joined) = tasks.join_next().await {
        all.add(joined??);
    }
    Ok(all)
}

/// A row of the table: our operations per second, then how many times as many as each peer's.
fn row(runtime: &Runtime, folder: &Path, load: Load, callers: usize) -> Result<String> {
    let folder = own_folder(folder)?;
    let open = |(number, (name, open)): (usize, &(_, Open))| {
        Measured::new(number, *open, folder.path()).with_context(|| format!("cannot open the database of {name}"))
    };
    let mut all = PEERS.iter().enumerate().map(open).collect::<Result<Vec<_>>>()?;
    for (measured, (name, _)) in all.iter_mut().zip(PEERS) {
        measured.measure(runtime, load, callers, TURN / 4).with_context(|| name)?;
        measured.rates.clear();
    }
    let begin = Instant::now();
    for round in (0..).take_while(|round| *round < FEWEST_ROUNDS || begin.elapsed() < ROW) {
        for place in 0..PEERS.len() {
            // Everybody is first, and everybody follows everybody.
            let place = if round % 2 == 0 { place } else { PEERS.len() - 1 - place };
            let number = (place + round / 2) % PEERS.len();
            all[number].measure(runtime, load, callers, TURN).with_context(|| PEERS[number].0)?;
        }
    }
    for (measured, (name, _)) in all.iter().zip(PEERS) {
        measured.check().with_context(|| name)?;
    }
    let (ours, peers) = all.split_first().context("nothing was measured")?;
    let cells = peers.iter().map(|peer| ratio(&ours.rates, &peer.rates));
    Ok(format!(" {:.0} | {} |", quantile(&ours.rates, 50), cells.collect::<Vec<_>>().join(" | ")))
}

/// The median of the rounds' ratios, with their quartiles; bold where we are slower.
fn ratio(ours: &[f64], theirs: &[f64]) -> String {
    let each: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    let [low, ratio, high] = [25, 50, 75].map(|percent| quantile(&each, percent));
    let mark = if ratio < 1.0 { "**" } else { "" };
    format!("{mark}{ratio:.2}{mark} ({low:.2} to {high:.2})")
}

/// The value that so many percent of all stay below; between two neighbors, by how near it is to each.
fn quantile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = percent * (sorted.len() - 1);
    let (below, above) = (sorted[place / 100], sorted[place.div_ceil(100)]);
    below + (above - below) * (place % 100) as f64 / 100.0
}

/// Of the machine, by its own words.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let words = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = words.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": an unknown processor");
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    format!("{cores} cores of {}, load {load}", model.trim_start_matches([' ', '\t', ':']))
}

fn main() -> Result<()> {
    // Cargo says `--bench`.
    let mut folders = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let memory = folders.next().unwrap_or_else(|| "/dev/shm".to_owned());
    let disk = folders.next().unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").to_owned());
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let runtime = runtime(workers)?;
    let _entered = Handle::enter(runtime.handle());
    println!("On {}:\n", machine());
    println!(
        "| where | what | callers | {} per second | {} |",
        PEERS[0].0,
        PEERS[1..].iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" | ")
    );
    println!("|---|---|--:|--:|{}", "--:|".repeat(PEERS.len() - 1));
    for (place, folder) in [("memory", &memory), ("disk", &disk)] {
        for (load, callers) in LOADS {
            let row = row(&runtime, Path::new(folder), load, callers)
                .with_context(|| format!("{}, {} callers, {folder}", load.name(), callers))?;
            println!("| {place} | {} | {callers} |{row}", load.name());
        }
    }
    Ok(())
}
