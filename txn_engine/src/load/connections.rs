//! The connections of a load, how each of them fares, and how long its rows take.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// Times in nanoseconds, three digits of each; longer ones than an hour count as one.
pub type Times = Histogram<u64>;

pub(super) fn no_times() -> Times {
    const HOUR_NS: u64 = 3_600_000_000_000;
    // The bounds are constants.
    Times::new_with_bounds(1, HOUR_NS, 3).unwrap_or_else(|_| unreachable!("an hour is above a nanosecond"))
}

pub(super) fn record(times: &mut Times, time: Duration) {
    times.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

/// How a connection fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::FromRepr)]
#[repr(u8)]
pub(super) enum State {
    /// It has had no answer yet.
    Unserved,
    /// It has had one.
    Served,
    /// It was refused in words.
    Refused,
    /// It was served, and then broke.
    Broken,
}

#[derive(Default)]
pub(super) struct Connection {
    stream: OnceLock<TcpStream>,
    state: AtomicU8,
    /// Rows without an answer, in the order in which they were sent.
    waiting: Mutex<VecDeque<Waiting>>,
}

/// A row without an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) due: Instant,
    pub(super) sent: Instant,
}

impl Connection {
    pub(super) fn state(&self) -> State {
        State::from_repr(self.state.load(Ordering::SeqCst)).unwrap_or(State::Unserved)
    }

    pub(super) fn now_is(&self, state: State) {
        self.state.store(state as u8, Ordering::SeqCst);
    }

    pub(super) fn stream(&self) -> Option<&TcpStream> {
        self.stream.get()
    }

    pub(super) fn open(&self, stream: TcpStream) {
        // A connection is opened once.
        let _ = self.stream.set(stream);
    }

    pub(super) fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
