//! The connections of a load, how each of them fares, and how long its rows take.

use std::collections::VecDeque;
use std::net::TcpStream;
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

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Unserved,
    Served,
    Refused,
    Broken,
}

#[derive(Default)]
pub(super) struct Connection {
    /// Set when it is opened.
    pub(super) stream: OnceLock<TcpStream>,
    fate: Mutex<Fate>,
}

#[derive(Default)]
pub(super) struct Fate {
    pub(super) state: State,
    /// Rows without an answer, in the order in which they were sent.
    pub(super) waiting: VecDeque<Waiting>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) due: Instant,
    pub(super) sent: Instant,
}

impl Connection {
    pub(super) fn fate(&self) -> MutexGuard<'_, Fate> {
        self.fate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn waits(&self, state: State) -> bool {
        let fate = self.fate();
        fate.state == state && !fate.waiting.is_empty()
    }
}
