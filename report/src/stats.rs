//! Statistics: pure functions on numbers, exact where the method is exact.

pub mod binomial;
pub mod duet;
pub mod floor;
pub mod holm;
pub mod layout;
pub mod modes;
pub mod monotone;
pub mod share;
pub mod signed_rank;
pub mod slope;

pub use signed_rank::{Interval, estimate, median_estimate};

/// Confidence of every interval that judges.
pub const CONFIDENCE: f64 = 0.95;
/// Confidence of the interval that must lie at a planted size: a true one may miss it once in a hundred runs, not in twenty.
pub const PLANTED_CONFIDENCE: f64 = 0.99;

/// The median: of an even number the mean of the middle two, not a number between opposite infinities. Floors take thousands: it is not sorted for.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let (upper, is_odd) = (values.len() / 2, values.len() % 2 == 1);
    let (below, &mut high, _) = values.select_nth_unstable_by(upper, f64::total_cmp);
    if is_odd {
        return Some(high);
    }
    below.iter().copied().max_by(f64::total_cmp).map(|low| f64::midpoint(low, high))
}

/// The smallest of the values that a share of all (0 to 1) does not exceed.
pub fn reached_by(share: f64, mut values: Vec<f64>) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small index")]
    let place = (share * values.len() as f64).ceil() as usize - 1;
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}
