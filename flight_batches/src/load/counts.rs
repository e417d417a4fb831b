//! What the streams of a load have seen, together.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use study_kit::distribution::Distribution;
use tokio::sync::Notify;
use tonic::Code;

use super::Outcome;

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What the server, or the transport, called it.
    pub code: Code,
    /// What was said.
    pub reason: String,
}

/// Between the streams and the one that counts.
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
    latency: Mutex<Distribution>,
    first_batch: Mutex<Distribution>,
    gap: Mutex<Distribution>,
    failures: Mutex<Vec<Failure>>,
}

impl Shared {
    pub(super) fn new(requests: usize) -> Self {
        Shared {
            requests,
            begun: AtomicUsize::new(0),
            all_begun: Notify::new(),
            counting: AtomicBool::new(false),
            batches: AtomicU64::new(0),
            row_bytes: AtomicUsize::new(0),
            compared: AtomicU64::new(0),
            bytes_per_stream: (0..requests).map(|_| AtomicU64::new(0)).collect(),
            latency: Mutex::default(),
            first_batch: Mutex::default(),
            gap: Mutex::default(),
            failures: Mutex::default(),
        }
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

    pub(super) fn outcome(&self, elapsed: Duration) -> Outcome {
        let bytes_per_stream: Vec<u64> =
            self.bytes_per_stream.iter().map(|bytes| bytes.load(Ordering::Relaxed)).collect();
        Outcome {
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
