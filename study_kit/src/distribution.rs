//! How long operations took: an `HdrHistogram` with an exact sum.

use std::io;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

/// The longest time that is told apart; longer ones count as this.
const LONGEST: Duration = Duration::from_hours(1);
/// Significant decimal digits of a time.
const DIGITS: u8 = 3;

/// Times of operations, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Distribution {
    histogram: Histogram<u64>,
    sum_ns: u128,
    /// Longest and exact: the histogram has only its three digits.
    max_ns: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution::new()
    }
}

impl Distribution {
    /// Without any time.
    ///
    /// # Panics
    /// Never: the bounds are constants.
    #[must_use]
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, nanoseconds(LONGEST), DIGITS).unwrap();
        Distribution { histogram, sum_ns: 0, max_ns: 0 }
    }

    /// Counts `time`.
    pub fn record(&mut self, time: Duration) {
        let time_ns = nanoseconds(time);
        self.histogram.saturating_record(time_ns);
        self.sum_ns += u128::from(time_ns);
        self.max_ns = self.max_ns.max(time_ns);
    }

    /// Adds the times of `other`.
    pub fn add(&mut self, other: &Distribution) {
        // Both have the same bounds, so that adding cannot fail.
        let _ = self.histogram.add(&other.histogram);
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The mean; `None` without times.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_ns.checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The time that this share of the operations did not exceed; `None` without times.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let value = self.histogram.value_at_quantile(share);
        (self.count() > 0).then(|| Duration::from_nanos(value.min(self.max_ns)))
    }

    /// The longest time; `None` without times.
    #[must_use]
    pub fn max(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_nanos(self.max_ns))
    }

    /// How many operations took longer than `limit`, to within the three digits.
    #[must_use]
    pub fn count_above(&self, limit: Duration) -> u64 {
        self.count() - self.histogram.count_between(0, nanoseconds(limit))
    }

    /// The histogram as a record keeps it: compressed V2 format, in base64.
    ///
    /// # Errors
    /// If it cannot be compressed.
    pub fn encode(&self) -> io::Result<String> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes).map_err(io::Error::other)?;
        Ok(STANDARD.encode(bytes))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_exact_and_no_quantile_exceeds_the_longest() {
        let mut times = Distribution::new();
        assert_eq!((times.mean(), times.quantile(0.5), times.max()), (None, None, None));
        for us in [1, 2, 3, 994] {
            times.record(Duration::from_micros(us));
        }
        assert_eq!(times.mean(), Some(Duration::from_micros(250)));
        assert_eq!(times.quantile(1.0), Some(Duration::from_micros(994)));
        assert_eq!(times.count_above(Duration::from_micros(3)), 1);
        let mut twice = times.clone();
        twice.add(&times);
        assert_eq!((twice.count(), twice.mean()), (8, times.mean()));
    }
}
