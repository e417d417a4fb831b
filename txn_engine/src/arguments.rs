//! Values that are typed.

use std::time::Duration;

use crate::limits::MOST_CLIENTS;

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    /// Clocks end somewhere, and patience before.
    const LONGEST_S: f64 = 1e6;
    let seconds = text.parse().ok().filter(|seconds| (0.0..=LONGEST_S).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or("not a number of seconds from 0 to 1000000".to_owned())
}

pub(crate) fn clients(text: &str) -> Result<usize, String> {
    let clients = text.parse().ok().filter(|clients| (1..=MOST_CLIENTS).contains(clients));
    clients.ok_or_else(|| format!("not a whole number from 1 to {MOST_CLIENTS}"))
}

pub(crate) fn rate(text: &str) -> Result<f64, String> {
    /// More than any machine sends, and less than times in nanoseconds can tell apart.
    const HIGHEST: f64 = 1e8;
    let rate = text.parse().ok().filter(|&rate| rate > 0.0 && rate <= HIGHEST);
    rate.ok_or("not a number above 0 and up to 100000000".to_owned())
}
