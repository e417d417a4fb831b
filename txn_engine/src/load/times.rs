//! How long things took.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Times in nanoseconds, three digits of each; longer ones than an hour count as one.
pub type Times = Histogram<u64>;

/// No times yet.
pub(super) fn none() -> Times {
    const HOUR_NS: u64 = 3_600_000_000_000;
    // The bounds are constants.
    Times::new_with_bounds(1, HOUR_NS, 3).unwrap_or_else(|_| unreachable!("an hour is above a nanosecond"))
}

/// Counts `time`.
pub(super) fn record(times: &mut Times, time: Duration) {
    times.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}
