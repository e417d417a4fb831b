//! Prices: a wake by a socket and by a timer, the memory of what waits.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use procfs::process::Process;
use study_kit::price::{self, Table};
use study_kit::{Observation, Span};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// A byte over a loopback connection, one way.
pub const WAKE_SOCKET: Table = &[
    ("thread", || {
        let (near, far) = connection()?;
        let far = thread::spawn(move || echo(far));
        let observed = wakes(|trips| exchange(&near, trips));
        drop(near);
        far.join().map_err(|_| anyhow!("the other side panicked"))??;
        observed
    }),
    ("tokio", || wakes_of_tasks(&multi_thread()?)),
    ("tokio_current", || wakes_of_tasks(&Builder::new_current_thread().enable_all().build()?)),
];

/// How late a sleep of a millisecond ends: of one sleeper, of a hundred at once.
pub const TIMER_1MS: Table = &[
    ("thread", || lateness_of_threads(1)),
    ("tokio", || lateness_of_tasks(1)),
    ("thread_100", || lateness_of_threads(100)),
    ("tokio_100", || lateness_of_tasks(100)),
];

/// What each of many that wait takes in memory: for a message, for a byte from a connection.
pub const WAITING_MEMORY: Table = &[
    ("thread", || {
        let start = |number: u64, there: Arc<AtomicU64>| {
            let (sender, receiver) = mpsc::sync_channel(1);
            let waiting = thread::Builder::new().spawn(move || {
                there.fetch_add(1, Ordering::Relaxed);
                receiver.recv()
            })?;
            anyhow::Ok((number, sender, waiting))
        };
        waiting(WAITERS, start, |(number, sender, waiting)| {
            sender.send(number)?;
            Ok(waiting.join().map_err(|_| anyhow!("a thread panicked"))??)
        })
    }),
    ("task", || {
        let runtime = multi_thread()?;
        let start = |number: u64, there: Arc<AtomicU64>| {
            let (sender, receiver) = oneshot::channel();
            let waiting = runtime.spawn(async move {
                there.fetch_add(1, Ordering::Relaxed);
                receiver.await
            });
            anyhow::Ok((number, sender, waiting))
        };
        waiting(WAITERS, start, |(number, sender, waiting)| {
            sender.send(number).map_err(|_| anyhow!("a task has left"))?;
            Ok(runtime.block_on(waiting)??)
        })
    }),
    ("thread_connection", || {
        let mut connections = connections()?;
        let start = |number: u64, there: Arc<AtomicU64>| {
            let (near, mut far) = connections.pop().context("too few connections")?;
            let waiting = thread::Builder::new().spawn(move || {
                there.fetch_add(1, Ordering::Relaxed);
                let mut bytes = [0; 8];
                far.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
            })?;
            anyhow::Ok((number, near, waiting))
        };
        waiting(CONNECTIONS, start, |(number, mut near, waiting)| {
            near.write_all(&number.to_le_bytes())?;
            Ok(waiting.join().map_err(|_| anyhow!("a thread panicked"))??)
        })
    }),
    ("task_connection", || {
        let mut connections = connections()?;
        let runtime = multi_thread()?;
        let _entered = runtime.enter();
        let start = |number: u64, there: Arc<AtomicU64>| {
            let (near, far) = connections.pop().context("too few connections")?;
            let mut far = polled(far)?;
            let waiting = tokio::spawn(async move {
                there.fetch_add(1, Ordering::Relaxed);
                far.read_u64_le().await
            });
            anyhow::Ok((number, near, waiting))
        };
        waiting(CONNECTIONS, start, |(number, mut near, waiting)| {
            near.write_all(&number.to_le_bytes())?;
            Ok(runtime.block_on(waiting)??)
        })
    }),
];

/// Threads or tasks that wait at once.
const WAITERS: u64 = 2000;
/// The same with a connection each: both of its ends are files of this process, which may have 1,024.
const CONNECTIONS: u64 = 400;
/// After this the last that has said that it waits does so.
const SETTLE: Duration = Duration::from_millis(20);

const SLEEP: Duration = Duration::from_millis(1);
/// Sleepers have started within this.
const WARM_UP: Duration = Duration::from_millis(20);
/// How long they sleep over and over.
const SLEEPING: Duration = Duration::from_millis(200);
/// Fewer sleeps have no 99th percentile.
const ENOUGH: usize = 1000;

fn multi_thread() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}

/// Both ends of a connection that sends every byte at once.
fn connection() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok((near, far))
}

fn connections() -> Result<Vec<(TcpStream, TcpStream)>> {
    (0..CONNECTIONS).map(|_| connection().context("cannot open a connection")).collect()
}

/// The same socket as the runtime that was entered waits for it.
fn polled(socket: TcpStream) -> io::Result<tokio::net::TcpStream> {
    socket.set_nonblocking(true)?;
    tokio::net::TcpStream::from_std(socket)
}

/// What `exchange` takes, which sends so many bytes to the other side and back.
fn wakes(mut exchange: impl FnMut(u64) -> Result<()>) -> Result<Observation> {
    price::observe_by(2, |ways| exchange(ways / 2))
}

/// What the other side answers.
fn answer([byte]: [u8; 1]) -> [u8; 1] {
    [byte.wrapping_add(1)]
}

fn check(sent: [u8; 1], received: [u8; 1]) -> Result<()> {
    let expected = answer(sent);
    ensure!(received == expected, "wrong answer: {received:?}, expected {expected:?}");
    Ok(())
}

/// Answers until the connection is closed.
fn echo(mut socket: TcpStream) -> io::Result<()> {
    let mut byte = [0];
    while socket.read(&mut byte)? > 0 {
        socket.write_all(&answer(byte))?;
    }
    Ok(())
}

fn exchange(mut socket: &TcpStream, trips: u64) -> Result<()> {
    let (mut byte, mut received) = ([0], [0]);
    for _ in 0..trips {
        socket.write_all(&byte)?;
        socket.read_exact(&mut received)?;
        check(byte, received)?;
        byte = received;
    }
    Ok(())
}

/// The same by two tasks.
fn wakes_of_tasks(runtime: &Runtime) -> Result<Observation> {
    let (near, far) = connection()?;
    let _entered = runtime.enter();
    let mut far = polled(far)?;
    let echo = tokio::spawn(async move {
        let mut byte = [0];
        while far.read(&mut byte).await? > 0 {
            far.write_all(&answer(byte)).await?;
        }
        io::Result::Ok(())
    });
    let mut near = Some(polled(near)?);
    let observed = wakes(|trips| {
        let mut socket = near.take().context("the connection is lost")?;
        let exchange = tokio::spawn(async move {
            let (mut byte, mut received) = ([0], [0]);
            for _ in 0..trips {
                socket.write_all(&byte).await?;
                socket.read_exact(&mut received).await?;
                check(byte, received)?;
                byte = received;
            }
            anyhow::Ok(socket)
        });
        near = Some(runtime.block_on(exchange)??);
        Ok(())
    });
    drop(near);
    runtime.block_on(echo)??;
    observed
}

fn lateness_of_threads(sleepers: usize) -> Result<Observation> {
    let start = Instant::now() + WARM_UP;
    let sleep = move || {
        thread::sleep(start.saturating_duration_since(Instant::now()));
        let mut late = Vec::new();
        while start.elapsed() < SLEEPING {
            let asleep = Instant::now();
            thread::sleep(SLEEP);
            late.push(asleep.elapsed().saturating_sub(SLEEP));
        }
        late
    };
    let sleeping = (0..sleepers).map(|_| thread::Builder::new().spawn(sleep)).collect::<io::Result<Vec<_>>>()?;
    thread::sleep(start.saturating_duration_since(Instant::now()));
    let span = Span::start();
    let mut late = Vec::new();
    for sleeper in sleeping {
        late.extend(sleeper.join().map_err(|_| anyhow!("a sleeper panicked"))?);
    }
    lateness(span, late)
}

fn lateness_of_tasks(sleepers: usize) -> Result<Observation> {
    let start = Instant::now() + WARM_UP;
    let sleep = move || async move {
        tokio::time::sleep_until(start.into()).await;
        let mut late = Vec::new();
        while start.elapsed() < SLEEPING {
            let asleep = Instant::now();
            tokio::time::sleep(SLEEP).await;
            late.push(asleep.elapsed().saturating_sub(SLEEP));
        }
        late
    };
    multi_thread()?.block_on(async {
        let sleeping: Vec<_> = (0..sleepers).map(|_| tokio::spawn(sleep())).collect();
        tokio::time::sleep_until(start.into()).await;
        let span = Span::start();
        let mut late = Vec::new();
        for sleeper in sleeping {
            late.extend(sleeper.await?);
        }
        lateness(span, late)
    })
}

/// What sleeps within `span` came to, which ended so late.
fn lateness(span: Span, mut late: Vec<Duration>) -> Result<Observation> {
    let mut metrics = span.end().metrics();
    ensure!(!late.is_empty(), "nobody slept");
    let count = late.len() as f64;
    metrics.put("handoff_ns", late.iter().sum::<Duration>().as_secs_f64() * 1e9 / count);
    metrics.put("handoff_cpu_ns", metrics.get("cpu_s").map(|seconds| seconds * 1e9 / count));
    metrics.put("handoffs_count", count);
    if late.len() >= ENOUGH {
        let rank = late.len() * 99 / 100;
        metrics.put("late_p99_us", late.select_nth_unstable(rank).1.as_secs_f64() * 1e6);
    }
    Ok(Observation::new("", metrics))
}

/// What each of so many waiters takes in memory. `start` starts one, which says that it is there before it waits; `end` sends it its number and returns
/// its answer.
fn waiting<W>(
    waiters: u64,
    mut start: impl FnMut(u64, Arc<AtomicU64>) -> Result<W>,
    mut end: impl FnMut(W) -> Result<u64>,
) -> Result<Observation> {
    let there = Arc::new(AtomicU64::new(0));
    // Reading takes memory the first time.
    resident_bytes();
    let before = resident_bytes();
    let span = Span::start();
    let mut started = Vec::new();
    for number in 0..waiters {
        started.push(start(number, Arc::clone(&there)).context("cannot start what waits")?);
    }
    while there.load(Ordering::Relaxed) < waiters {
        thread::sleep(Duration::from_millis(1));
    }
    let mut metrics = span.end().metrics();
    thread::sleep(SETTLE);
    let taken = resident_bytes().zip(before).map(|(after, before)| after - before);
    metrics.put("waiting_bytes", taken.map(|bytes| bytes / waiters as f64));
    metrics.put("waiters_count", waiters as f64);
    for (number, waiter) in (0..).zip(started) {
        let answer = end(waiter)?;
        ensure!(answer == number, "wrong answer: {answer}, expected {number}");
    }
    Ok(Observation::new("", metrics))
}

/// Resident memory of this process, counted page by page: the kernel's running count is some pages off per processor. `None` where there is no `/proc`.
fn resident_bytes() -> Option<f64> {
    let maps = Process::myself().ok()?.smaps_rollup().ok()?.memory_map_rollup;
    let resident = maps.0.first()?.extension.map.get("Rss").copied();
    resident.map(|bytes| bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{SCENARIOS, Setting};

    #[test]
    fn every_arm_of_a_price_is_there() {
        let table = |setting: &Setting| if let Setting::Price(table) = setting { Some(*table) } else { None };
        assert_eq!(price::missing_arms(SCENARIOS, table), Vec::<String>::new());
    }

    #[test]
    fn lateness_is_the_mean_of_the_sleeps_and_a_percentile_only_of_many() {
        let observed = |late: Vec<u64>| {
            lateness(Span::start(), late.into_iter().map(Duration::from_micros).collect()).unwrap().metrics
        };
        let few = observed(vec![10, 30]);
        assert_eq!((few.get("handoff_ns"), few.get("late_p99_us")), (Some(20_000.0), None));
        let many = observed((0..1000).rev().collect());
        assert_eq!((many.get("handoffs_count"), many.get("late_p99_us")), (Some(1000.0), Some(990.0)));
    }

    #[test]
    fn what_waits_takes_the_memory_that_it_touches() {
        const BLOCK: usize = 1 << 16;
        let start = |number: u64, there: Arc<AtomicU64>| {
            there.fetch_add(1, Ordering::Relaxed);
            anyhow::Ok((number, std::hint::black_box(vec![1_u8; BLOCK])))
        };
        let metrics = waiting(1000, start, |(number, _)| Ok(number)).unwrap().metrics;
        if let Some(bytes) = metrics.get("waiting_bytes") {
            assert!(bytes > 0.9 * BLOCK as f64, "{bytes}");
        }
    }

    #[test]
    fn a_waiter_that_answers_for_another_is_an_error() {
        let start = |number: u64, there: Arc<AtomicU64>| {
            there.fetch_add(1, Ordering::Relaxed);
            anyhow::Ok(number)
        };
        let error = waiting(2, start, |_| Ok(0)).unwrap_err().to_string();
        assert_eq!(error, "wrong answer: 0, expected 1");
    }

    #[test]
    fn a_byte_that_is_changed_on_its_way_is_an_error() {
        let (near, mut far) = connection().unwrap();
        let liar = thread::spawn(move || far.write_all(&[7]));
        assert!(exchange(&near, 1).unwrap_err().to_string().starts_with("wrong answer: [7]"));
        liar.join().unwrap().unwrap();
    }
}
