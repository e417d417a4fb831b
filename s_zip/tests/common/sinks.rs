//! A sink that misbehaves as told, sync and async, and that lets the test see what it holds.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

/// How a sink behaves.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    pub limit: usize,
    /// At its limit it takes nothing, without an error.
    pub takes_nothing: bool,
    /// The most that one write takes.
    pub most: usize,
    /// Every so many calls it is interrupted by a signal if sync, not ready if async. 0: never.
    pub pause_every: usize,
    pub flush_fails: bool,
}

impl Manner {
    pub const GOOD: Manner =
        Manner { limit: usize::MAX, takes_nothing: false, most: usize::MAX, pause_every: 0, flush_fails: false };
}

#[derive(Debug)]
struct State {
    bytes: Vec<u8>,
    calls: usize,
    writes: usize,
    flushes: usize,
    manner: Manner,
}

/// Its clones are the same sink.
#[derive(Debug, Clone)]
pub struct Sink(Arc<Mutex<State>>);

impl Sink {
    pub fn new(manner: Manner) -> Self {
        Sink(Arc::new(Mutex::new(State { bytes: Vec::new(), calls: 0, writes: 0, flushes: 0, manner })))
    }

    /// All that arrived.
    pub fn bytes(&self) -> Vec<u8> {
        self.state().bytes.clone()
    }

    pub fn len(&self) -> usize {
        self.state().bytes.len()
    }

    /// Writes that took something.
    pub fn writes(&self) -> usize {
        self.state().writes
    }

    /// Flushes that succeeded.
    pub fn flushes(&self) -> usize {
        self.state().flushes
    }

    /// How many hold this sink.
    pub fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl State {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let room = self.manner.limit - self.bytes.len();
        if room == 0 && !data.is_empty() {
            let full = io::Error::new(io::ErrorKind::StorageFull, "the sink is full");
            return if self.manner.takes_nothing { Ok(0) } else { Err(full) };
        }
        let taken = data.len().min(room).min(self.manner.most);
        self.bytes.extend_from_slice(&data[..taken]);
        self.writes += 1;
        Ok(taken)
    }

    /// Whether this call finds the sink busy.
    fn is_busy(&mut self) -> bool {
        self.calls += 1;
        self.manner.pause_every > 0 && self.calls.is_multiple_of(self.manner.pause_every)
    }

    /// The same of a poll; if so, it wakes the task at once.
    fn poll<T>(&mut self, context: &Context, act: impl FnOnce(&mut Self) -> T) -> Poll<T> {
        if self.is_busy() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(act(self))
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.manner.flush_fails {
            return Err(io::Error::other("the flush failed"));
        }
        self.flushes += 1;
        Ok(())
    }
}

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        if state.is_busy() { Err(io::ErrorKind::Interrupted.into()) } else { state.write(data) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.state().flush()
    }
}

impl AsyncWrite for Sink {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.state().poll(context, |state| state.write(data))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state().poll(context, State::flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
