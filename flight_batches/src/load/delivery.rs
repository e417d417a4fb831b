//! What a load brings: counted by its streams together, and given out when it has ended.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tonic::Code;

use super::times::Times;

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What the server, or the transport, called it.
    pub code: Code,
    /// What was said.
    pub reason: String,
}

/// What came of a load.
#[derive(Debug)]
pub struct Delivery {
    /// The window, or from the first request to the end of the last.
    pub elapsed: Duration,
    /// Until every stream was accepted; zero if nobody waited for that.
    pub accepted: Duration,
    /// Bytes of values that arrived in it.
    pub bytes: u64,
    /// Batches that arrived in it whole.
    pub batches: u64,
    /// Bytes of the values of a row; `None` if nothing arrived or they vary.
    pub row_bytes: Option<usize>,
    /// Messages whose values were compared with what they must be.
    pub compared: u64,
    /// Of requests that ended in it.
    pub latency: Times,
    /// From a request that was sent in it to its first batch.
    pub first_batch: Times,
    /// Between two batches of a stream that both came in it.
    pub gap: Times,
    /// Bytes of every stream.
    pub bytes_per_stream: Vec<u64>,
    /// Requests that failed.
    pub failures: Vec<Failure>,
}

impl Delivery {
    /// Megabytes per second over all streams.
    #[must_use]
    pub fn mb_per_s(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.elapsed.as_secs_f64()
    }

    /// How evenly the streams were served: 1 if all got the same, 1/n if one of n got everything (Jain's index).
    #[must_use]
    pub fn fairness(&self) -> f64 {
        let bytes = || self.bytes_per_stream.iter().map(|&bytes| bytes as f64);
        let (sum, squares): (f64, f64) = (bytes().sum(), bytes().map(|bytes| bytes.powi(2)).sum());
        let streams = self.bytes_per_stream.len() as f64;
        if squares > 0.0 { sum * sum / (streams * squares) } else { 0.0 }
    }
}

/// Between the streams and the one that counts.
#[derive(Default)]
pub(super) struct Shared {
    /// Streams there are to be.
    requests: usize,
    /// Streams whose first request was accepted, or failed.
    begun: AtomicUsize,
    all_begun: Notify,
    /// Whether what arrives counts.
    pub(super) counting: AtomicBool,
    batches: AtomicU64,
    /// Zero until something arrived of which it is known.
    row_bytes: AtomicUsize,
    compared: AtomicU64,
    bytes_per_stream: Vec<AtomicU64>,
    latency: Mutex<Times>,
    first_batch: Mutex<Times>,
    gap: Mutex<Times>,
    failures: Mutex<Vec<Failure>>,
}

impl Shared {
    pub(super) fn new(requests: usize) -> Self {
        let bytes_per_stream = (0..requests).map(|_| AtomicU64::new(0)).collect();
        Shared { requests, bytes_per_stream, ..Shared::default() }
    }

    /// A stream has its first answer.
    pub(super) fn begin(&self) {
        if self.begun.fetch_add(1, Ordering::SeqCst) + 1 == self.requests {
            self.all_begun.notify_one();
        }
    }

    /// Waits until every stream has its first answer.
    pub(super) async fn all_accepted(&self) {
        if self.requests > 0 {
            self.all_begun.notified().await;
        }
    }

    pub(super) fn counts(&self) -> bool {
        self.counting.load(Ordering::Relaxed)
    }

    /// The rows that arrive have so many bytes of values.
    pub(super) fn rows_have(&self, bytes: usize) {
        self.row_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Whether the values of any message were compared.
    pub(super) fn anything_compared(&self) -> bool {
        self.compared.load(Ordering::Relaxed) > 0
    }

    /// The values of a message were compared.
    pub(super) fn compared(&self) {
        self.compared.fetch_add(1, Ordering::Relaxed);
    }

    /// A message with so many bytes of values has arrived.
    pub(super) fn arrived(&self, stream: usize, bytes: u64) {
        if self.counts() {
            self.bytes_per_stream[stream].fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// A batch is whole: the first of its request, so long after it was sent, or so long after the one before; no time if that was before
    /// the window.
    pub(super) fn batch(&self, first: bool, time: Option<Duration>) {
        if self.counts() {
            self.batches.fetch_add(1, Ordering::Relaxed);
            if let Some(time) = time {
                locked(if first { &self.first_batch } else { &self.gap }).record(time);
            }
        }
    }

    /// A request has ended well.
    pub(super) fn ended(&self, time: Duration) {
        if self.counts() {
            locked(&self.latency).record(time);
        }
    }

    /// A request has failed, whether it counts or not: nothing is swallowed.
    pub(super) fn failed(&self, failure: Failure) {
        locked(&self.failures).push(failure);
    }

    pub(super) fn delivery(&self, elapsed: Duration) -> Delivery {
        let bytes_per_stream: Vec<u64> =
            self.bytes_per_stream.iter().map(|bytes| bytes.load(Ordering::Relaxed)).collect();
        Delivery {
            elapsed,
            accepted: Duration::ZERO,
            bytes: bytes_per_stream.iter().sum(),
            batches: self.batches.load(Ordering::Relaxed),
            row_bytes: Some(self.row_bytes.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0),
            compared: self.compared.load(Ordering::Relaxed),
            latency: locked(&self.latency).clone(),
            first_batch: locked(&self.first_batch).clone(),
            gap: locked(&self.gap).clone(),
            bytes_per_stream,
            failures: locked(&self.failures).clone(),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
