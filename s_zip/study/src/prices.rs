//! What one handoff costs: a trip to tokio's blocking pool and back, a write through its file, each beside the same thing done in place.
//! And what a write costs by its size.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use flate2::{Compress, Compression, FlushCompress};
use study_kit::usage::processor_s;
use study_kit::{Observation, Span, price};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::task::{JoinSet, block_in_place, spawn_blocking, yield_now};

use crate::cases::Drive;
use crate::encoders::LEVEL;
use crate::input::Input;
use crate::place::Place;
use crate::write::{BUFFER_BYTES, Driver};

/// A file is made anew when it is this long.
const FILE_BYTES: u64 = 64 << 20;
/// What is compressed at once by a caller that computes: about half a microsecond of work.
const PIECE_BYTES: usize = 256;
/// So many pieces are timed to tell how many last for a given time.
const TRIAL_PIECES: u32 = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Price {
    /// A trip of one of so many callers, each of whom makes one after another. One alone computes for about so long before each, which is not
    /// part of the price.
    Trip { callers: u64, between: Duration },
    /// A write of an entry's data to a file in memory, which grows as an archive does.
    Write,
}

/// How a thing is done on a trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is not: it is called.
    Call,
    SpawnBlocking,
    BlockInPlace,
}

/// How trips are made, by arm.
pub const TRIPS: [(&str, (Drive, Way)); 5] = [
    ("call", (Drive::Sync, Way::Call)),
    ("task", (Drive::Task, Way::SpawnBlocking)),
    ("block_on", (Drive::MultiThread, Way::SpawnBlocking)),
    ("current_thread", (Drive::CurrentThread, Way::SpawnBlocking)),
    ("block_in_place", (Drive::Task, Way::BlockInPlace)),
];

/// Writes the bytes so many times to the file.
pub type Writes = fn(&Driver, File, &[u8], u64) -> Result<()>;

/// How writes are made, by arm.
pub const WRITES: [(&str, (Drive, Writes)); 4] = [
    ("std", (Drive::Sync, |_, file, bytes, count| write_all(file, bytes, count))),
    (
        "std_buffered",
        (Drive::Sync, |_, file, bytes, count| write_all(BufWriter::with_capacity(BUFFER_BYTES, file), bytes, count)),
    ),
    (
        "tokio_file",
        (Drive::MultiThread, |driver, file, bytes, count| {
            driver.run(write_all_async(tokio::fs::File::from_std(file), bytes, count))
        }),
    ),
    (
        "tokio_buffered",
        (Drive::MultiThread, |driver, file, bytes, count| {
            let file = tokio::io::BufWriter::with_capacity(BUFFER_BYTES, tokio::fs::File::from_std(file));
            driver.run(write_all_async(file, bytes, count))
        }),
    ),
];

/// Writes an entry to a file in memory as `arm` does, each call a write of its own, and observes what one took.
pub fn in_writes(arm: &str, input: &Input) -> Result<Observation> {
    let (drive, write) = price::find(&WRITES, arm)?;
    let driver = Driver::new(drive)?;
    let folder = Place::Tmpfs.folder()?;
    let path = folder.path().join("written");
    let (bytes, count) = (input.calls().next().unwrap_or_default(), input.calls().count() as u64);
    // The first trip starts the thread that makes it.
    write(&driver, File::create(&path)?, bytes, 1)?;
    let file = File::create(&path)?;
    let span = Span::start();
    write(&driver, file, bytes, count)?;
    let cost = span.end();
    let mut metrics = cost.metrics();
    metrics.extend([
        ("write_bytes", bytes.len() as f64),
        ("write_us", cost.wall.as_secs_f64() * 1e6 / count as f64),
        ("writes_count", count as f64),
    ]);
    let written = std::fs::read(&path)?;
    let (crc32, expected) = (crc32fast::hash(&written), input.entry_crc32());
    let is_whole = written.len() as u64 == input.shape.entry_bytes() && crc32 == expected;
    ensure!(is_whole, "wrong answer: {} bytes with CRC {crc32:08x} were written", written.len());
    Ok(Observation::new(format!("{crc32:08x}"), metrics))
}

/// Makes handoffs as `arm` does and observes what one took.
pub fn observe(price: Price, arm: &str, input: &Arc<Input>) -> Result<Observation> {
    match price {
        Price::Trip { callers: 1, between } => one_after_another(price::find(&TRIPS, arm)?, between, input),
        Price::Trip { callers, .. } => together(price::find(&TRIPS, arm)?, callers),
        Price::Write => writes(price::find(&WRITES, arm)?, &input.entry()),
    }
}

/// The thing that is done: as little as can be.
fn next(number: u64) -> u64 {
    black_box(number) + 1
}

async fn trip(way: Way, number: u64) -> Result<()> {
    let answer = match way {
        Way::Call => next(number),
        Way::SpawnBlocking => spawn_blocking(move || next(number)).await?,
        Way::BlockInPlace => {
            let answer = block_in_place(|| next(number));
            // The worker gave the rest of its work away and gets it back when it turns to the next task: until then further calls are free.
            yield_now().await;
            answer
        }
    };
    check(number, answer)
}

fn check(number: u64, answer: u64) -> Result<()> {
    ensure!(answer == number + 1, "wrong answer: {answer} follows {number}");
    Ok(())
}

/// Trips of one caller, who may compute before each.
async fn trips(way: Way, count: u64, mut computing: Option<Computing>) -> Result<Option<Computing>> {
    for number in 0..count {
        if let Some(computing) = &mut computing {
            computing.turn()?;
        }
        trip(way, number).await?;
    }
    if let Some(computing) = &mut computing {
        computing.alone(count)?;
    }
    Ok(computing)
}

fn one_after_another((drive, way): (Drive, Way), between: Duration, input: &Input) -> Result<Observation> {
    let driver = Driver::new(drive)?;
    let mut computing = Computing::lasting(between, input)?;
    let mut observation = price::observe(|count| {
        let own = computing.take();
        match drive {
            Drive::Sync => return (0..count).try_for_each(|number| check(number, next(number))),
            Drive::Task => computing = driver.run(async { tokio::spawn(trips(way, count, own)).await? })?,
            _ => computing = driver.run(trips(way, count, own))?,
        }
        Ok(())
    })?;
    if let Some(computing) = computing {
        for (name, alone_s) in [("handoff_ns", computing.alone_s), ("handoff_cpu_ns", computing.alone_cpu_s)] {
            // The caller computed twice per trip: before it, and for the time that this takes.
            let computed_ns = 2.0 * alone_s * 1e9 / computing.turns_alone as f64;
            let took = observation.metrics.get(name);
            observation.metrics.put(name, took.map(|took_ns| took_ns - computed_ns));
        }
    }
    Ok(observation)
}

fn together((drive, way): (Drive, Way), callers: u64) -> Result<Observation> {
    let driver = Driver::new(drive)?;
    price::observe(|count| {
        driver.run(async {
            let tasks: JoinSet<_> =
                (0..callers).map(|caller| trips(way, price::share(count, callers, caller), None)).collect();
            tasks.join_all().await.into_iter().try_for_each(|made| made.map(drop))
        })
    })
}

/// What a caller does between its trips: it compresses, and remembers how long a turn takes when there are no trips.
struct Computing {
    data: Vec<u8>,
    compress: Compress,
    output: Vec<u8>,
    at: usize,
    /// In a turn.
    pieces: u32,
    turns_alone: u64,
    alone_s: f64,
    alone_cpu_s: f64,
}

impl Computing {
    /// Turns of about `time`; none if that is nothing.
    fn lasting(time: Duration, input: &Input) -> Result<Option<Self>> {
        if time.is_zero() {
            return Ok(None);
        }
        let mut computing = Computing {
            data: input.entry().into_owned(),
            compress: Compress::new(Compression::new(LEVEL), false),
            output: Vec::with_capacity(BUFFER_BYTES),
            at: 0,
            pieces: TRIAL_PIECES,
            turns_alone: 0,
            alone_s: 0.0,
            alone_cpu_s: 0.0,
        };
        // The first turn warms up.
        computing.turn()?;
        let start = Instant::now();
        computing.turn()?;
        let trial = start.elapsed().as_nanos().max(1);
        computing.pieces = u32::try_from(time.as_nanos() * u128::from(TRIAL_PIECES) / trial)?.max(1);
        Ok(Some(computing))
    }

    fn turn(&mut self) -> Result<()> {
        for _ in 0..self.pieces {
            let piece = &self.data[self.at..self.data.len().min(self.at + PIECE_BYTES)];
            self.at = (self.at + piece.len()) % self.data.len();
            let before = self.compress.total_in();
            self.output.clear();
            self.compress.compress_vec(black_box(piece), &mut self.output, FlushCompress::None)?;
            ensure!(self.compress.total_in() - before == piece.len() as u64, "wrong answer: not all was compressed");
        }
        Ok(())
    }

    fn alone(&mut self, turns: u64) -> Result<()> {
        let (start, cpu_s) = (Instant::now(), processor_s());
        (0..turns).try_for_each(|_| self.turn())?;
        self.alone_s += start.elapsed().as_secs_f64();
        self.alone_cpu_s += processor_s() - cpu_s;
        self.turns_alone += turns;
        Ok(())
    }
}

fn writes((drive, write): (Drive, Writes), bytes: &[u8]) -> Result<Observation> {
    let driver = Driver::new(drive)?;
    let folder = Place::Tmpfs.folder()?;
    let path = folder.path().join("written");
    let most = (FILE_BYTES / bytes.len() as u64).max(1);
    price::observe(|count| {
        for start in (0..count).step_by(usize::try_from(most)?) {
            let count = most.min(count - start);
            write(&driver, File::create(&path)?, bytes, count)?;
            let (written, expected) = (std::fs::metadata(&path)?.len(), count * bytes.len() as u64);
            ensure!(written == expected, "wrong answer: {written} bytes are in the file, expected {expected}");
        }
        Ok(())
    })
}

fn write_all(mut file: impl Write, bytes: &[u8], count: u64) -> Result<()> {
    for _ in 0..count {
        file.write_all(black_box(bytes))?;
    }
    Ok(file.flush()?)
}

/// As the published writer does it, without a flush after each write: tokio's file itself waits with each for the one before.
async fn write_all_async(mut file: impl AsyncWrite + Unpin, bytes: &[u8], count: u64) -> Result<()> {
    for _ in 0..count {
        file.write_all(black_box(bytes)).await?;
    }
    Ok(file.flush().await?)
}
