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
use tokio::task::JoinHandle;

/// A byte over a loopback connection, one way.
pub const WAKE_SOCKET: Table = &[
    ("thread", || {
        let (near, far) = connection()?;
        let far = thread::spawn(move || echo(far));
        wakes_from_outside(near, || Ok(joined(far)??))
    }),
    ("tokio", || wakes_of_tasks(&multi_thread()?)),
    ("tokio_current", || wakes_of_tasks(&Builder::new_current_thread().enable_all().build()?)),
    ("tokio_outside", || {
        let runtime = multi_thread()?;
        let (near, far) = connection()?;
        let far = echoing(&runtime, far)?;
        wakes_from_outside(near, || Ok(runtime.block_on(far)??))
    }),
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
        waiting(vec![(); WAITERS], |number, (), there| {
            let (sender, receiver) = mpsc::sync_channel(1);
            let waiting = thread::Builder::new().spawn(move || {
                there.fetch_add(1, Ordering::Relaxed);
                receiver.recv()
            })?;
            Ok(move || {
                sender.send(number)?;
                Ok(joined(waiting)??)
            })
        })
    }),
    ("task", || {
        let runtime = &multi_thread()?;
        waiting(vec![(); WAITERS], |number, (), there| {
            let (sender, receiver) = oneshot::channel();
            let waiting = runtime.spawn(async move {
                there.fetch_add(1, Ordering::Relaxed);
                receiver.await
            });
            Ok(move || {
                sender.send(number).map_err(|_| anyhow!("a task has left"))?;
                Ok(runtime.block_on(waiting)??)
            })
        })
    }),
    ("thread_connection", || {
        waiting(connections()?, |number, (mut near, mut far), there| {
            let waiting = thread::Builder::new().spawn(move || {
                there.fetch_add(1, Ordering::Relaxed);
                let mut bytes = [0; 8];
                far.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
            })?;
            Ok(move || {
                near.write_all(&number.to_le_bytes())?;
                Ok(joined(waiting)??)
            })
        })
    }),
    ("task_connection", || {
        let connections = connections()?;
        let runtime = &multi_thread()?;
        let _entered = runtime.enter();
        waiting(connections, |number, (mut near, far), there| {
            let mut far = polled(far)?;
            let waiting = tokio::spawn(async move {
                there.fetch_add(1, Ordering::Relaxed);
                far.read_u64_le().await
            });
            Ok(move || {
                near.write_all(&number.to_le_bytes())?;
                Ok(runtime.block_on(waiting)??)
            })
        })
    }),
];

/// Threads or tasks that wait at once.
const WAITERS: usize = 2000;
/// The same with a connection each: both of its ends are files of this process, which may have 1,024.
const CONNECTIONS: usize = 400;
/// After this the last that has said that it waits does so.
const SETTLE: Duration = Duration::from_millis(20);

const SLEEP: Duration = Duration::from_millis(1);
/// Sleepers have started within this.
const WARM_UP: Duration = Duration::from_millis(20);
const SLEEPING: Duration = Duration::from_millis(200);

fn joined<T>(thread: thread::JoinHandle<T>) -> Result<T> {
    thread.join().map_err(|_| anyhow!("a thread panicked"))
}

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

/// What an exchange takes with this thread at the `near` end; `end` waits for the other one, which goes with the connection.
fn wakes_from_outside(near: TcpStream, end: impl FnOnce() -> Result<()>) -> Result<Observation> {
    let observed = wakes(|trips| exchange(&near, trips));
    drop(near);
    end()?;
    observed
}

/// A task of `runtime` that answers until the connection is closed.
fn echoing(runtime: &Runtime, socket: TcpStream) -> io::Result<JoinHandle<io::Result<()>>> {
    let _entered = runtime.enter();
    let mut socket = polled(socket)?;
    Ok(tokio::spawn(async move {
        let mut byte = [0];
        while socket.read(&mut byte).await? > 0 {
            socket.write_all(&answer(byte)).await?;
        }
        Ok(())
    }))
}

fn wakes_of_tasks(runtime: &Runtime) -> Result<Observation> {
    let (near, far) = connection()?;
    let echo = echoing(runtime, far)?;
    let _entered = runtime.enter();
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
    let late = sleeping.into_iter().map(joined).collect::<Result<Vec<_>>>()?;
    lateness(span, &late.concat())
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
        lateness(span, &late)
    })
}

/// What sleeps within `span` came to, which ended so late.
fn lateness(span: Span, late: &[Duration]) -> Result<Observation> {
    let mut metrics = span.end().metrics();
    ensure!(!late.is_empty(), "nobody slept");
    let count = late.len() as f64;
    metrics.put("handoff_ns", late.iter().sum::<Duration>().as_secs_f64() * 1e9 / count);
    metrics.put("handoff_cpu_ns", metrics.get("cpu_s").map(|seconds| seconds * 1e9 / count));
    metrics.put("handoffs_count", count);
    Ok(Observation::new("", metrics))
}

/// What each waiter takes in memory, one for each of `means`. `start` starts one, which says that it is there before it waits; what it returns sends
/// it its number and returns its answer.
fn waiting<M, E: FnOnce() -> Result<u64>>(
    means: Vec<M>,
    mut start: impl FnMut(u64, M, Arc<AtomicU64>) -> Result<E>,
) -> Result<Observation> {
    let waiters = means.len() as u64;
    let there = Arc::new(AtomicU64::new(0));
    // Reading takes memory the first time.
    resident_bytes();
    let before = resident_bytes();
    let span = Span::start();
    let mut started = Vec::new();
    for (number, means) in (0..).zip(means) {
        started.push(start(number, means, Arc::clone(&there)).context("cannot start what waits")?);
    }
    while there.load(Ordering::Relaxed) < waiters {
        thread::sleep(Duration::from_millis(1));
    }
    let mut metrics = span.end().metrics();
    thread::sleep(SETTLE);
    let taken = resident_bytes().zip(before).map(|(after, before)| after - before);
    metrics.put("waiting_bytes", taken.map(|bytes| bytes / waiters as f64));
    metrics.put("waiters_count", waiters as f64);
    for (number, end) in (0..).zip(started) {
        let answer = end()?;
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

    #[test]
    fn lateness_is_the_mean_of_the_sleeps() {
        let metrics = lateness(Span::start(), &[10, 30].map(Duration::from_micros)).unwrap().metrics;
        assert_eq!((metrics.get("handoff_ns"), metrics.get("handoffs_count")), (Some(20_000.0), Some(2.0)));
    }

    #[test]
    fn what_waits_takes_the_memory_that_it_touches() {
        const BLOCK: usize = 1 << 16;
        let observed = waiting(vec![(); 1000], |number, (), there| {
            there.fetch_add(1, Ordering::Relaxed);
            let block = std::hint::black_box(vec![1_u8; BLOCK]);
            Ok(move || Ok(number + block.len() as u64 - BLOCK as u64))
        });
        let metrics = observed.unwrap().metrics;
        if let Some(bytes) = metrics.get("waiting_bytes") {
            assert!(bytes > 0.9 * BLOCK as f64, "{bytes}");
        }
    }

    #[test]
    fn a_waiter_that_answers_for_another_is_an_error() {
        let observed = waiting(vec![(); 2], |_, (), there| {
            there.fetch_add(1, Ordering::Relaxed);
            Ok(|| Ok(0))
        });
        let error = observed.unwrap_err().to_string();
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
