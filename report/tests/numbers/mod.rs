//! Numbers that are compared, and intervals of differences known exactly.
#![allow(dead_code, reason = "every test file uses a part of it")]

use report::stats::{CONFIDENCE, Interval, estimate};

pub fn interval(differences: &[f64]) -> Interval {
    estimate(differences, CONFIDENCE).expect("there are pairs")
}

/// The ratios without their layouts.
pub fn values(ratios: &[(u64, f64)]) -> Vec<f64> {
    ratios.iter().map(|(_, ratio)| *ratio).collect()
}

#[expect(clippy::float_cmp, reason = "infinities have no distance")]
pub fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

#[track_caller]
pub fn assert_close(actual: f64, expected: f64) {
    assert!(close(actual, expected), "{actual} is not {expected}");
}
