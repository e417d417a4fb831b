//! What one handoff costs: a lock, free and contended, and a small read of a database, in place and by other threads.

use std::hint::black_box;
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;

use anyhow::{Result, anyhow, ensure};
use parking_lot::MutexGuard;
use rusqlite::Connection;
use sqlite_bench::design::{Database, spawn_blocking};
use sqlite_bench::driver::{own_folder, runtime};
use sqlite_bench::pool::{Options, Pool};
use study_kit::{Observation, price};
use tokio::task::JoinSet;

use crate::map::{ROWS, Statement, call, fill};

/// As many as the published runtime has.
const WORKERS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Price {
    /// One of so many callers gets the lock, counts, and gives it back.
    Lock { callers: usize },
    /// One of so many callers reads a row by its key.
    Read { callers: usize },
}

type Make = Box<dyn FnMut(u64) -> Result<()>>;

type Locks = fn(usize) -> Result<Make>;

const LOCKS: [(&str, Locks); 4] = [
    ("std", |callers| {
        let count = |lock: &Mutex<u64>| add_one(&mut lock.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(in_threads(callers, count, |lock| lock.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }),
    ("parking_lot", |callers| {
        let count = |lock: &parking_lot::Mutex<u64>| add_one(&mut lock.lock());
        Ok(in_threads(callers, count, parking_lot::Mutex::into_inner))
    }),
    ("parking_lot_fair", |callers| {
        let count = |lock: &parking_lot::Mutex<u64>| {
            let mut counted = lock.lock();
            add_one(&mut counted);
            MutexGuard::unlock_fair(counted);
        };
        Ok(in_threads(callers, count, parking_lot::Mutex::into_inner))
    }),
    ("tokio", in_tasks),
];

/// What reads from the database in that file for so many callers.
type Reads = fn(&Path, usize) -> Result<Make>;

const READS: [(&str, Reads); 4] = [
    ("in_place", |file, callers| reading(callers, || Ok(Mutex::new(Connection::open(file)?)))),
    ("spawn_blocking", |file, callers| reading(callers, || Ok(spawn_blocking(Connection::open(file)?)))),
    ("tokio_rusqlite", |file, callers| {
        reading(callers, || Ok(tokio_rusqlite::Connection::from(Connection::open(file)?)))
    }),
    ("pool", |file, callers| reading(callers, || Ok(Pool::open_blocking(file, &Options::default())?))),
];

/// Makes handoffs as `arm` does and observes what one took; a database lies below `folder`.
pub fn observe(price: Price, arm: &str, folder: &Path) -> Result<Observation> {
    match price {
        Price::Lock { callers } => price::observe(price::find(&LOCKS, arm)?(callers)?),
        Price::Read { callers } => {
            let folder = own_folder(folder)?;
            let file = folder.path().join("numbers.db");
            fill(&file)?;
            price::observe(price::find(&READS, arm)?(&file, callers)?)
        }
    }
}

fn share(count: u64, callers: usize, caller: usize) -> u64 {
    price::share(count, callers as u64, caller as u64)
}

fn add_one(counted: &mut u64) {
    *counted = black_box(*counted + 1);
}

fn check(counted: u64, expected: u64) -> Result<()> {
    ensure!(counted == expected, "wrong answer: {counted} were counted, expected {expected}");
    Ok(())
}

/// Callers that are threads, and begin together.
fn in_threads<L: Default + Sync + 'static>(
    callers: usize,
    add_one: impl Fn(&L) + Sync + 'static,
    counted: impl Fn(L) -> u64 + 'static,
) -> Make {
    Box::new(move |count| {
        let (lock, all_there) = (L::default(), Barrier::new(callers));
        let call = |caller| {
            all_there.wait();
            (0..share(count, callers, caller)).for_each(|_| add_one(&lock));
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..callers).map(|caller| scope.spawn(move || call(caller))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread died")))
        })?;
        check(counted(lock), count)
    })
}

/// Callers that are tasks, with a worker each, and a lock that is awaited.
fn in_tasks(callers: usize) -> Result<Make> {
    let runtime = runtime(callers)?;
    Ok(Box::new(move |count| {
        let lock = Arc::new(tokio::sync::Mutex::new(0_u64));
        let call = |caller| {
            let (lock, count) = (Arc::clone(&lock), share(count, callers, caller));
            async move {
                for _ in 0..count {
                    add_one(&mut *lock.lock().await);
                }
            }
        };
        runtime.block_on(async { (0..callers).map(call).collect::<JoinSet<_>>().join_all().await });
        let counted = *runtime.block_on(lock.lock());
        check(counted, count)
    }))
}

/// Callers that are tasks of a runtime like the published one.
fn reading<D: Database>(callers: usize, open: impl FnOnce() -> Result<D>) -> Result<Make> {
    let database = Arc::new(open()?);
    let runtime = runtime(WORKERS)?;
    Ok(Box::new(move |count| {
        let call = |caller| read(Arc::clone(&database), share(count, callers, caller));
        runtime.block_on(async {
            let callers: JoinSet<_> = (0..callers).map(call).collect();
            callers.join_all().await.into_iter().collect()
        })
    }))
}

async fn read(database: Arc<impl Database>, count: u64) -> Result<()> {
    for (number, _) in (0..ROWS).cycle().zip(0..count) {
        call(&*database, Statement::Point, number).await?;
    }
    Ok(())
}
