//! What a load brings: counted by its streams together, and given out when it has ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::sync::Semaphore;
use tonic::Status;

/// The longest time that is told apart, in nanoseconds: an hour. Longer ones count as this.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Significant digits of times: the goal for requests below saturation tells 2 % from 1 %.
const DIGITS: u8 = 4;

/// What came of a load. Histograms are of nanoseconds.
#[derive(Debug)]
pub struct Delivery {
    /// The window, or from the first request to the end of the last.
    pub elapsed: Duration,
    /// Bytes of values that arrived in it.
    pub bytes: u64,
    /// Batches that arrived in it whole.
    pub batches: u64,
    pub(super) last_batch: Option<Instant>,
    pub(super) begin: Option<Instant>,
    /// Bytes of the values of a row; `None` if nothing arrived or they vary.
    pub row_bytes: Option<usize>,
    /// Messages whose values were compared with what they must be.
    pub compared: u64,
    /// Of requests that ended in it.
    pub latency: Histogram<u64>,
    /// From a request that was sent in it to its first batch.
    pub first_batch: Histogram<u64>,
    /// Between two batches of a stream that both came in it.
    pub gap: Histogram<u64>,
    /// `bytes` by number of stream, 0 to `requests` - 1; 0 for a stream that brought nothing in it.
    pub bytes_per_stream: Vec<u64>,
    /// Of requests that failed: what the server, the transport or the check of what came said.
    pub failures: Vec<Status>,
}

impl Delivery {
    fn nothing(streams: usize) -> Self {
        // Constants within the bounds that the library has.
        let times = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("bounds of a histogram");
        Delivery {
            elapsed: Duration::ZERO,
            bytes: 0,
            batches: 0,
            last_batch: None,
            begin: None,
            row_bytes: None,
            compared: 0,
            latency: times.clone(),
            first_batch: times.clone(),
            gap: times,
            bytes_per_stream: vec![0; streams],
            failures: Vec::new(),
        }
    }

    pub fn mb_per_s(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.elapsed.as_secs_f64()
    }

    /// The time between two batches of a stream, in seconds, requests that follow one another included; `None` without batches.
    pub fn batch_s(&self) -> Option<f64> {
        // Until the last one: the part of an interval that the window ends with would count for none.
        let span = self.last_batch?.duration_since(self.begin?).as_secs_f64();
        Some(span * self.bytes_per_stream.len() as f64 / self.batches as f64)
    }

    /// How evenly the streams were served: 1 if all got the same, 1/n if one of n got everything (Jain's index).
    pub fn fairness(&self) -> f64 {
        let bytes = || self.bytes_per_stream.iter().map(|&bytes| bytes as f64);
        let (sum, squares): (f64, f64) = (bytes().sum(), bytes().map(|bytes| bytes.powi(2)).sum());
        let streams = self.bytes_per_stream.len() as f64;
        if squares > 0.0 { sum * sum / (streams * squares) } else { 0.0 }
    }
}

pub(super) fn record(times: &mut Histogram<u64>, time: Duration) {
    times.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

/// The time in seconds that this share did not exceed; `None` without times.
pub fn quantile_s(times: &Histogram<u64>, share: f64) -> Option<f64> {
    (!times.is_empty()).then(|| times.value_at_quantile(share) as f64 * 1e-9)
}

/// Between the streams and the one that counts.
pub(super) struct Shared {
    pub(super) counting: AtomicBool,
    /// Has a permit for every stream that has brought two batches, or failed.
    pub(super) under_way: Semaphore,
    delivery: Mutex<Delivery>,
}

impl Shared {
    pub(super) fn new(streams: usize, counting: bool) -> Self {
        let delivery = Mutex::new(Delivery::nothing(streams));
        Shared { counting: counting.into(), under_way: Semaphore::new(0), delivery }
    }

    pub(super) fn counts(&self) -> bool {
        self.counting.load(Ordering::Relaxed)
    }

    /// Notes what arrived, if that counts.
    pub(super) fn count(&self, note: impl FnOnce(&mut Delivery)) {
        if self.counts() {
            note(&mut self.delivery());
        }
    }

    /// For what is noted whether it counts or not: no failure is swallowed.
    pub(super) fn delivery(&self) -> MutexGuard<'_, Delivery> {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that was noted since `begin`, after which there is nothing.
    pub(super) fn take(&self, begin: Instant) -> Delivery {
        let elapsed = begin.elapsed();
        let mut delivery = self.delivery();
        // Streams that are about to be cut off may still note something.
        let nothing = Delivery::nothing(delivery.bytes_per_stream.len());
        Delivery { elapsed, begin: Some(begin), ..std::mem::replace(&mut delivery, nothing) }
    }
}
