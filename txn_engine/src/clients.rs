//! The document's own form of the question: so many clients in one process, without sockets, as threads or as tasks.
//!
//! All are there before the first applies its rows to the shared engine, or "concurrent" would mean one after the other. A thread that finds no
//! memory map left ends the program, as it does in the published example.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::accounts;
use crate::accounts::Books as _;
use crate::engine::Engine;
use crate::error::Error;
use crate::limits;
use crate::load::Script;
use crate::row::Row;
use crate::serve::Stats;

/// What a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Spawn {
    Threads,
    Tasks,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Pass {
    /// From the first spawn to the end of the last client, in seconds.
    pub whole_s: f64,
    /// From the first spawn until all were there.
    pub start_s: f64,
    /// From when all were there until the last had applied its rows.
    pub work_s: f64,
    pub accepted: u64,
    /// Of the accounts.
    pub digest: String,
    /// What the process was like when all were there.
    pub there: Stats,
    pub end: Stats,
}

/// Lets so many clients each apply their rows to one engine.
pub fn run(spawn: Spawn, clients: usize, rows_each: usize, seed: u64) -> Result<Pass, Error> {
    let rows_of = |client| {
        let mut script = Script::new(seed, client, clients, 1);
        (0..rows_each).map(|_| script.next_row()).collect()
    };
    let rows: Vec<Arc<[Row]>> = (0..clients).map(rows_of).collect();
    let gate = Arc::new(Gate::default());
    let pass = match spawn {
        Spawn::Threads => threads(&gate, &rows),
        Spawn::Tasks => tasks(&gate, &rows),
    }?;
    let end = Stats::of_this_process();
    let digest = accounts::digest(&accounts::to_csv(&gate.engine.accounts()));
    Ok(Pass { digest, end, ..pass })
}

fn threads(gate: &Arc<Gate>, rows: &[Arc<[Row]>]) -> Result<Pass, Error> {
    let start = Instant::now();
    let mut clients: Vec<JoinHandle<()>> = Vec::with_capacity(rows.len());
    let unpark = |client: &JoinHandle<()>| client.thread().unpark();
    for own in rows {
        let (own, waiting) = (Arc::clone(own), Arc::clone(gate));
        let client = move || {
            waiting.there.fetch_add(1, Ordering::SeqCst);
            while waiting.open.get().is_none() {
                thread::park();
            }
            waiting.apply(&own);
        };
        let started = Builder::new().spawn(client).map_err(|error| {
            // Those that are there must not wait for ever.
            gate.open();
            clients.iter().for_each(unpark);
            let reason = format!("after {} the system says: {error}", clients.len());
            Error::Threads { threads: rows.len(), reason }
        });
        clients.push(started?);
    }
    while gate.there.load(Ordering::SeqCst) < rows.len() {
        thread::sleep(Duration::from_micros(100));
    }
    let (paused, there) = (Instant::now(), Stats::of_this_process());
    gate.open();
    clients.iter().for_each(unpark);
    for client in clients {
        // A client that has panicked has printed why, and its rows are missing.
        let _ = client.join();
    }
    Ok(gate.pass(start, paused, there))
}

fn tasks(gate: &Arc<Gate>, rows: &[Arc<[Row]>]) -> Result<Pass, Error> {
    limits::try_threads(limits::workers())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    // Like the threads: the runtime is there when the first client comes, in either case the program's.
    let start = Instant::now();
    runtime.block_on(async {
        let (go, gone) = watch::channel(false);
        let spawn = |own: &Arc<[Row]>| {
            let (own, gate, mut gone) = (Arc::clone(own), Arc::clone(gate), gone.clone());
            tokio::spawn(async move {
                // As threads do: a barrier would wake them all once more, in the span that is measured.
                gate.there.fetch_add(1, Ordering::SeqCst);
                // The sender lives until all have ended.
                let _ = gone.wait_for(|gone| *gone).await;
                gate.apply(&own);
            })
        };
        let clients: Vec<_> = rows.iter().map(spawn).collect();
        while gate.there.load(Ordering::SeqCst) < rows.len() {
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
        let (paused, there) = (Instant::now(), Stats::of_this_process());
        gate.open();
        go.send_replace(true);
        for client in clients {
            let _ = client.await;
        }
        Ok(gate.pass(start, paused, there))
    })
}

/// Where clients wait, each thread on its own: a lock that all of them want would cost more than their rows; and what they did.
#[derive(Default)]
struct Gate {
    engine: Engine,
    there: AtomicUsize,
    open: OnceLock<Instant>,
    accepted: AtomicU64,
    /// From its opening to the end of the last client so far, in nanoseconds.
    last_ns: AtomicU64,
}

impl Gate {
    /// Opens it, and says when that was.
    fn open(&self) -> Instant {
        *self.open.get_or_init(Instant::now)
    }

    fn apply(&self, rows: &[Row]) {
        let accepted = rows.iter().filter(|row| self.engine.process(row).is_ok()).count() as u64;
        self.accepted.fetch_add(accepted, Ordering::SeqCst);
        let elapsed = u64::try_from(self.open().elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last_ns.fetch_max(elapsed, Ordering::SeqCst);
    }

    /// The outcome for clients that were spawned from `start` on and were all there when they were `paused`.
    fn pass(&self, start: Instant, paused: Instant, there: Stats) -> Pass {
        // Looking at the process is no part of the work.
        let whole = start.elapsed().saturating_sub(self.open() - paused);
        // To end a client is no part of applying its rows.
        let work = Duration::from_nanos(self.last_ns.load(Ordering::SeqCst));
        let [whole_s, start_s, work_s] = [whole, paused - start, work].map(|time| time.as_secs_f64());
        Pass { whole_s, start_s, work_s, accepted: self.accepted.load(Ordering::SeqCst), there, ..Pass::default() }
    }
}
