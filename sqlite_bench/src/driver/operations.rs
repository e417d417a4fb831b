//! What became of operations: counts of every way to end, and both times of those that were answered.

use std::time::{Duration, Instant};

use anyhow::Result;
use hdrhistogram::Histogram;

/// The longest time that is told apart; longer ones count as this.
const LONGEST: Duration = Duration::from_hours(1);
/// A request is late if its response takes longer than this.
const LATE_AFTER: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Default)]
pub struct Operations {
    /// Answered, within the window.
    pub in_window: u64,
    /// Answered, at any time.
    pub answered: u64,
    pub late: u64,
    pub failed: u64,
    /// Without an answer when the driver gave up waiting.
    pub unanswered: u64,
    /// From when the task first ran, of those that began before the window was over: these are what the published program counts and times.
    pub service: Times,
    pub response: Times,
    pub first_error: Option<String>,
    /// Time of all who asked, from the begin of the run to their last answer.
    pub(super) asking: Duration,
}

impl Operations {
    /// Counts an operation that was due, began and ended at these times. One without a begin came to its turn when the window was over: the
    /// published program begins none then, so that it has a response time alone.
    pub fn record(&mut self, result: Result<()>, due: Instant, begin: Option<Instant>, end: Instant, in_window: bool) {
        if let Err(error) = result {
            self.failed += 1;
            self.first_error.get_or_insert_with(|| error.to_string());
            return;
        }
        let response = end.saturating_duration_since(due);
        self.answered += 1;
        self.in_window += u64::from(in_window);
        self.late += u64::from(response > LATE_AFTER);
        if let Some(begin) = begin {
            self.service.record(end.saturating_duration_since(begin));
        }
        self.response.record(response);
    }

    #[must_use]
    pub fn plus(mut self, other: &Operations) -> Self {
        self.in_window += other.in_window;
        self.answered += other.answered;
        self.late += other.late;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.service.add(&other.service);
        self.response.add(&other.response);
        self.asking += other.asking;
        self.first_error = self.first_error.or_else(|| other.first_error.clone());
        self
    }

    pub fn failures(&self) -> u64 {
        self.failed + self.unanswered
    }

    /// Time per answer of one who asks, pauses included; `None` without answers or without a loop.
    pub fn period(&self) -> Option<Duration> {
        let answers = u32::try_from(self.answered).ok().filter(|&answers| answers > 0)?;
        (!self.asking.is_zero()).then(|| self.asking / answers)
    }
}

/// Times of operations, to three digits.
#[derive(Debug, Clone)]
pub struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        Times(Histogram::new_with_bounds(1, nanoseconds(LONGEST), 3).expect("an hour has more than two nanoseconds"))
    }
}

impl Times {
    pub fn record(&mut self, time: Duration) {
        self.0.saturating_record(nanoseconds(time));
    }

    pub fn add(&mut self, other: &Times) {
        // It cannot fail: both have the same bounds.
        let _ = self.0.add(&other.0);
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    pub fn count_above(&self, limit: Duration) -> u64 {
        self.count() - self.0.count_between(0, nanoseconds(limit))
    }

    pub fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.0.mean() / 1e6)
    }

    /// The time that this share of the operations did not exceed, in milliseconds: the longest for 1; `None` without times.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        (self.count() > 0).then(|| self.0.value_at_quantile(share) as f64 / 1e6)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
