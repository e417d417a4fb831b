//! The signed-rank test and interval against published examples, tables and a naive oracle that tries every sign.

#![expect(clippy::float_cmp, reason = "what is exact must be equal, and infinities have no distance")]

use proptest::prelude::*;
use report::stats::signed_rank::{interval_rank, p_value_below, p_value_beyond};
use report::stats::{CONFIDENCE, Interval, PLANTED_CONFIDENCE, estimate, median_estimate};

mod numbers;

use numbers::{assert_close, close, interval};

/// The p-value for a middle below zero.
fn below(differences: &[f64]) -> f64 {
    p_value_below(differences, 0.0)
}

/// The p-value for a middle above zero.
fn above(differences: &[f64]) -> f64 {
    below(&differences.iter().map(|difference| -difference).collect::<Vec<_>>())
}

/// Hamilton's depression scale before and after a tranquilliser, nine patients (Hollander and Wolfe; R's `?wilcox.test`).
#[expect(clippy::approx_constant, reason = "a reading of 3.14, not pi")]
fn depression() -> Vec<f64> {
    let first = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let second = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    first.iter().zip(second).map(|(a, b)| a - b).collect()
}

#[test]
fn p_values_are_those_that_r_prints_or_that_counting_signs_gives() {
    let depression = depression();
    for (p_value, expected) in [
        (above(&depression), 0.019_531_25),
        // V = 40 of 45: P(V <= 40) = 1 - P(V <= 4) by symmetry, and 7 of 512 sign choices give at most 4.
        (below(&depression), 1.0 - 7.0 / 512.0),
        // No differences and only zeros.
        (below(&[]), 1.0),
        (below(&[0.0, -0.0, 0.0]), 1.0),
        // Tied sizes share their ranks. Doubled ranks 3, 3, 6: of eight sign choices only the one that was seen reaches the sum of all.
        (above(&[1.0, 1.0, 2.0]), 0.125),
        // Doubled sum 9 of 12: also reached by the other 1 turning and by none turning.
        (above(&[-1.0, 1.0, 2.0]), 0.375),
        // Zeros keep their ranks and take no side: ranks 2 and 3 remain for the other two, four sign choices.
        (above(&[0.0, 1.0, 2.0]), 0.25),
        (above(&[0.0, 1.0, -2.0]), 0.75),
        // Unknown pairs speak against either: all of seven above zero and one unknown, which is the largest, below.
        (below(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, f64::NAN]), 1.0),
        (above(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, f64::NAN]), 25.0 / 256.0),
        // A reversal smaller than a floor is significant against zero and not against the floor.
        (below(&[-0.01, -0.02, -0.03, -0.04]), 1.0 / 16.0),
        (p_value_below(&[-0.01, -0.02, -0.03, -0.04], -0.05), 1.0),
    ] {
        assert_close(p_value, expected);
    }
}

/// An end that a failed run leaves open.
const OPEN: f64 = f64::INFINITY;

/// Compares what values come to with lower end, point, upper end and level.
fn assert_intervals(estimate: impl Fn(&[f64]) -> Interval, cases: &[(&[f64], [f64; 3], f64)]) {
    for (values, [lo, point, hi], level) in cases {
        let found = estimate(values);
        for (found, expected) in [(found.lo, lo), (found.point, point), (found.hi, hi), (found.level, level)] {
            assert_close(found, *expected);
        }
        assert_eq!(found.n, values.len());
    }
}

#[test]
fn intervals_are_those_of_the_walsh_averages_by_rank() {
    let mut failed = [0.1; 12];
    failed[0] = OPEN;
    let mut one_better = [OPEN; 8];
    one_better[0] = -OPEN;
    let mut unknown = [5.0; 8];
    unknown[..2].fill(f64::NAN);
    assert_intervals(
        interval,
        &[
            // Inverting the test on the depression example.
            (&depression()[..], [0.01, 0.46, 0.786], 0.039_062_5),
            // Six pairs: their extremes, at three percent.
            (&[0.3, -0.1, 0.7, 0.2, 0.5, 0.4], [-0.1, 0.35, 0.7], 0.031_25),
            // Eight: the fourth average from either end. Powers of two: they are 1, 1.5, 2, 2.5, ... and 128, 96, 80, 72, ...
            (&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], [2.5, 19.0, 72.0], 0.039_062_5),
            // Fewer than six: a point without an interval.
            (&[0.1, 0.2, 0.3, 0.4, 0.5], [-OPEN, 0.3, OPEN], 1.0),
            // Equal differences: zero width.
            (&[0.25; 8], [0.25; 3], 0.039_062_5),
            // One failed run in twelve leaves the interval finite, three in eight open it.
            (&failed, [0.1; 3], 0.042_480_468_75),
            (&[OPEN, OPEN, OPEN, 0.1, 0.1, 0.1, 0.1, 0.1], [0.1, 0.1, OPEN], 0.039_062_5),
            // Where failures of both arms meet, the end is open; an arm that always fails is infinitely worse.
            (&one_better, [-OPEN, OPEN, OPEN], 0.039_062_5),
            (&one_better.map(|difference| -difference), [-OPEN, -OPEN, OPEN], 0.039_062_5),
            (&[OPEN; 8], [OPEN; 3], 0.039_062_5),
            // Pairs that failed on both sides open both ends and do not move the point.
            (&unknown, [-OPEN, 5.0, OPEN], 0.039_062_5),
        ],
    );
}

#[test]
fn the_null_distribution_agrees_with_the_published_tables() {
    // Critical values of the two-sided test at 5 %, one less than the rank.
    for (n, critical) in [(6, 0), (8, 3), (10, 8), (12, 13), (15, 25), (20, 52), (25, 89), (30, 137), (50, 434)] {
        assert_eq!(interval_rank(n, CONFIDENCE).map(|(rank, _)| rank), Some(critical + 1), "n = {n}");
    }
    assert_close(interval_rank(10, CONFIDENCE).expect("ten pairs").1, 50.0 / 1024.0);
    // The normal approximation: mean 10050, standard deviation 819.6.
    let (rank, level) = interval_rank(200, CONFIDENCE).expect("two hundred pairs");
    assert!(rank.abs_diff(8_444) <= 3 && level > 0.0499 && level <= 0.05, "{rank} {level}");
    // An interval of 99 % needs eight pairs.
    assert_eq!(interval_rank(7, PLANTED_CONFIDENCE), None);
    assert_eq!(interval_rank(8, PLANTED_CONFIDENCE), Some((1, 2.0 / 256.0)));
    for confidence in [1.0, 2.0, f64::NAN] {
        assert_eq!(interval_rank(12, confidence), None, "{confidence}");
    }
}

#[test]
fn without_values_or_a_middle_there_is_no_estimate() {
    for none in [&[][..], &[f64::NAN; 8], &[f64::INFINITY, f64::NEG_INFINITY]] {
        assert_eq!((estimate(none, CONFIDENCE), median_estimate(none, CONFIDENCE)), (None, None));
    }
}

#[test]
fn the_interval_of_a_median_lies_between_two_of_the_values_at_the_level_of_coins() {
    let values = [9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0, 11.0, 10.0, 1000.0];
    let mut failed = [2.0; 12];
    failed[0] = OPEN;
    let mut unknown = [5.0; 8];
    unknown[0] = f64::NAN;
    let estimate = |values: &[f64]| median_estimate(values, CONFIDENCE).expect("there are values");
    assert_intervals(
        estimate,
        &[
            // P(at most 2 heads of 12) = 79 / 4096, on either side.
            (&values[..], [3.0, 6.5, 10.0], 158.0 / 4096.0),
            // P(no head of 6) = 1 / 64, of 8: 1 / 256, while one head of 8 is too frequent.
            (&values[..6], [1.0, 5.0, 9.0], 2.0 / 64.0),
            (&values[..8], [1.0, 5.0, 9.0], 2.0 / 256.0),
            (&values[..5], [-OPEN, 7.0, OPEN], 1.0),
            (&[4.0; 8], [4.0; 3], 2.0 / 256.0),
            // A failed run is infinitely bad: one in twelve is beyond the interval, one in eight its end.
            (&failed, [2.0; 3], 158.0 / 4096.0),
            (&failed[..8], [2.0, 2.0, OPEN], 2.0 / 256.0),
            // A value that is not known widens it.
            (&unknown, [-OPEN, 5.0, OPEN], 2.0 / 256.0),
        ],
    );
}

/// P-value for a middle below zero by trying every choice of signs on the mid-ranks that were seen.
fn below_by_all_signs(differences: &[f64]) -> f64 {
    let rank = |a: &f64| {
        let smaller = differences.iter().filter(|b| b.abs() < a.abs()).count();
        let same = differences.iter().filter(|b| b.abs() == a.abs()).count();
        smaller as f64 + f64::midpoint(same as f64, 1.0)
    };
    let ranks: Vec<f64> = differences.iter().map(rank).collect();
    let free: Vec<f64> = ranks.iter().zip(differences).filter(|(_, d)| **d != 0.0).map(|(rank, _)| *rank).collect();
    let seen: f64 = ranks.iter().zip(differences).filter(|(_, d)| **d > 0.0).map(|(rank, _)| *rank).sum();
    let is_extreme = |signs: &u32| {
        let sum: f64 = free.iter().enumerate().filter(|(i, _)| signs >> i & 1 == 1).map(|(_, rank)| *rank).sum();
        sum <= seen
    };
    let choices = 1_u32 << free.len();
    (0..choices).filter(is_extreme).count() as f64 / f64::from(choices)
}

proptest! {
    #[test]
    fn p_values_agree_with_trying_every_sign(differences in prop::collection::vec((-4_i32..=4).prop_map(f64::from), 0..10)) {
        prop_assert!(close(below(&differences), below_by_all_signs(&differences)));
    }

    #[test]
    fn the_interval_excludes_a_value_exactly_when_the_test_rejects_it(
        differences in prop::collection::vec(-1.0..1.0_f64, 6..14), centre in -1.0..1.0_f64,
    ) {
        let found = interval(&differences);
        let around: Vec<f64> = differences.iter().map(|difference| difference - centre).collect();
        let p = p_value_beyond(&around, 0.0);
        prop_assert_eq!(centre < found.lo || centre > found.hi, p <= found.level * (1.0 + 1e-9), "p {}, {:?}", p, found);
    }

    #[test]
    fn point_and_ends_are_those_of_all_averages_sorted(differences in prop::collection::vec(-1.0..1.0_f64, 6..14)) {
        let mut averages = Vec::new();
        for (later, a) in differences.iter().enumerate() {
            averages.extend(differences[later..].iter().map(|b| (a + b) / 2.0));
        }
        averages.sort_by(f64::total_cmp);
        let (found, last) = (interval(&differences), averages.len() - 1);
        let (rank, _) = interval_rank(differences.len(), CONFIDENCE).expect("six or more");
        prop_assert!(close(found.point, f64::midpoint(averages[last / 2], averages[last.div_ceil(2)])));
        prop_assert!(close(found.lo, averages[rank - 1]) && close(found.hi, averages[last + 1 - rank]));
    }

    #[test]
    fn whatever_failed_the_estimate_is_ordered_and_a_number(pairs in prop::collection::vec(any_pair(), 0..14)) {
        if let Some(found) = estimate(&pairs, CONFIDENCE) {
            prop_assert!(found.lo <= found.point && found.point <= found.hi, "{found:?}");
        }
        if let Some(found) = median_estimate(&pairs, CONFIDENCE) {
            prop_assert!(found.lo <= found.point && found.point <= found.hi, "{found:?}");
        }
        for p in [below(&pairs), above(&pairs), p_value_beyond(&pairs, 0.1)] {
            prop_assert!(p > 0.0 && p <= 1.0, "{p}");
        }
    }
}

fn any_pair() -> impl Strategy<Value = f64> {
    prop_oneof![6 => -1.0..1.0_f64, 1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY), 1 => Just(f64::NAN)]
}
