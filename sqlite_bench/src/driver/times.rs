//! How long operations took.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that is told apart; longer ones count as this.
const LONGEST: Duration = Duration::from_hours(1);

/// Times of operations, to three digits.
#[derive(Debug, Clone)]
pub struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        Times(Histogram::new_with_bounds(1, nanoseconds(LONGEST), 3).expect("an hour has more than two nanoseconds"))
    }
}

impl Times {
    /// Counts `time`.
    pub fn record(&mut self, time: Duration) {
        self.0.saturating_record(nanoseconds(time));
    }

    /// Adds the times of `other`.
    pub fn add(&mut self, other: &Times) {
        // Both have the same bounds, so that adding cannot fail.
        let _ = self.0.add(&other.0);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// How many are longer than `limit`.
    pub fn count_above(&self, limit: Duration) -> u64 {
        self.count() - self.0.count_between(0, nanoseconds(limit))
    }

    /// The mean in milliseconds; `None` without times.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.0.mean() / 1e6)
    }

    /// The time that this share of the operations did not exceed, in milliseconds: the longest for 1; `None` without times.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        (self.count() > 0).then(|| self.0.value_at_quantile(share) as f64 / 1e6)
    }

    /// In nanoseconds.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
