//! How long something took, many times over.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that is told apart, in nanoseconds: an hour. Longer ones count as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Times to three digits; their sum and the longest are exact.
#[derive(Debug, Clone)]
pub struct Times {
    /// In nanoseconds.
    histogram: Histogram<u64>,
    sum: Duration,
    max: Duration,
}

impl Default for Times {
    fn default() -> Self {
        // Constants within the bounds that the library has.
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("bounds of a histogram");
        Times { histogram, sum: Duration::ZERO, max: Duration::ZERO }
    }
}

impl Times {
    /// Counts `time`.
    pub fn record(&mut self, time: Duration) {
        self.histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.sum = self.sum.saturating_add(time);
        self.max = self.max.max(time);
    }

    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The mean; `None` without times.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        (self.count() > 0).then(|| self.sum.div_f64(self.count() as f64))
    }

    /// The time that this share did not exceed; `None` without times.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let value = Duration::from_nanos(self.histogram.value_at_quantile(share));
        (self.count() > 0).then_some(value.min(self.max))
    }

    /// The longest; `None` without times.
    #[must_use]
    pub fn max(&self) -> Option<Duration> {
        (self.count() > 0).then_some(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_exact_and_no_quantile_exceeds_the_longest() {
        let mut times = Times::default();
        assert_eq!((times.mean(), times.quantile(0.5), times.max()), (None, None, None));
        for us in [1, 2, 3, 994] {
            times.record(Duration::from_micros(us));
        }
        assert_eq!((times.count(), times.mean()), (4, Some(Duration::from_micros(250))));
        assert_eq!(times.quantile(1.0), Some(Duration::from_micros(994)));
    }
}
