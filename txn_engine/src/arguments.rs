//! Values that are typed.

use std::time::Duration;

/// Seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    /// Clocks end somewhere, and patience before.
    const LONGEST_S: f64 = 1e6;
    let seconds = text.parse().ok().filter(|seconds| (0.0..=LONGEST_S).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or("not a number of seconds from 0 to 1000000".to_owned())
}

/// A count of something that there must be.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&count| count > 0).ok_or("not a whole number above zero".to_owned())
}

/// Rows per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    /// More than any machine sends, and less than times in nanoseconds can tell apart.
    const HIGHEST: f64 = 1e8;
    let rate = text.parse().ok().filter(|&rate| rate > 0.0 && rate <= HIGHEST);
    rate.ok_or("not a number above 0 and up to 100000000".to_owned())
}
