//! The signed-rank test and interval against published examples, tables and a naive oracle that tries every sign.

#![expect(clippy::float_cmp, reason = "what is exact must be equal, and infinities have no distance")]

use proptest::prelude::*;
use report::stats::signed_rank::{Alternative, interval_rank, p_value_against, p_value_beyond};
use report::stats::{CONFIDENCE, PLANTED_CONFIDENCE, estimate, median_estimate};

mod numbers;

use numbers::{assert_close, close, interval};

/// The p-value against a middle of zero.
fn p_value(differences: &[f64], alternative: Alternative) -> f64 {
    p_value_against(differences, 0.0, alternative)
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
    use Alternative::{Greater, Less};
    let depression = depression();
    for (differences, alternative, expected) in [
        (&depression[..], Greater, 0.019_531_25),
        // V = 40 of 45: P(V <= 40) = 1 - P(V <= 4) by symmetry, and 7 of 512 sign choices give at most 4.
        (&depression, Less, 1.0 - 7.0 / 512.0),
        // No differences and only zeros.
        (&[], Less, 1.0),
        (&[], Greater, 1.0),
        (&[0.0, -0.0, 0.0], Less, 1.0),
        (&[0.0, -0.0, 0.0], Greater, 1.0),
        // Tied sizes share their ranks. Doubled ranks 3, 3, 6: of eight sign choices only the one that was seen reaches the sum of all.
        (&[1.0, 1.0, 2.0], Greater, 0.125),
        // Doubled sum 9 of 12: also reached by the other 1 turning and by none turning.
        (&[-1.0, 1.0, 2.0], Greater, 0.375),
        // Zeros keep their ranks and take no side: ranks 2 and 3 remain for the other two, four sign choices.
        (&[0.0, 1.0, 2.0], Greater, 0.25),
        (&[0.0, 1.0, -2.0], Greater, 0.75),
    ] {
        assert_close(p_value(differences, alternative), expected);
    }
}

/// An end that a failed run leaves open.
const OPEN: f64 = f64::INFINITY;

#[test]
fn intervals_are_those_of_the_walsh_averages_by_rank() {
    let mut failed = [0.1; 12];
    failed[0] = OPEN;
    let mut one_better = [OPEN; 8];
    one_better[0] = -OPEN;
    for (differences, expected, level) in [
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
    ] {
        let found = interval(differences);
        for (found, expected) in
            [found.lo, found.point, found.hi, found.level].iter().zip(expected.iter().chain([&level]))
        {
            assert_close(*found, *expected);
        }
        assert_eq!(found.n, differences.len());
    }
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
}

#[test]
fn the_rank_of_an_interval_follows_from_its_confidence() {
    assert_eq!(interval_rank(8, CONFIDENCE).map(|(rank, _)| rank), Some(4));
    // One of 99 % needs eight pairs.
    assert_eq!(interval_rank(7, PLANTED_CONFIDENCE), None);
    assert_eq!(interval_rank(8, PLANTED_CONFIDENCE), Some((1, 2.0 / 256.0)));
    for confidence in [1.0, 2.0, f64::NAN] {
        assert_eq!(interval_rank(12, confidence), None, "{confidence}");
    }
}

#[test]
fn pairs_that_failed_on_both_sides_open_both_ends_and_do_not_move_the_point() {
    let mut pairs = [5.0; 8];
    pairs[..2].fill(f64::NAN);
    let found = estimate(&pairs, CONFIDENCE).expect("six are known");
    assert_eq!((found.lo, found.point, found.hi), (f64::NEG_INFINITY, 5.0, f64::INFINITY));
    assert_eq!(found.n, 8);
}

#[test]
fn without_pairs_or_a_middle_there_is_no_estimate() {
    assert_eq!(estimate(&[], CONFIDENCE), None);
    assert_eq!(estimate(&[f64::NAN; 8], CONFIDENCE), None);
    assert_eq!(estimate(&[f64::INFINITY, f64::NEG_INFINITY], CONFIDENCE), None);
}

#[test]
fn unknown_pairs_speak_against_every_alternative() {
    let mut pairs = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let sharp = p_value_against(&pairs, 0.0, Alternative::Greater);
    pairs.push(f64::NAN);
    assert!(p_value_against(&pairs, 0.0, Alternative::Greater) > sharp);
    // Less: eight differences above zero. Greater: only the largest, the unknown one, is below.
    assert_close(p_value_against(&pairs, 0.0, Alternative::Less), 1.0);
    assert_close(p_value_against(&pairs, 0.0, Alternative::Greater), 25.0 / 256.0);
    assert_close(p_value(&[1.0, f64::NAN], Alternative::Greater), p_value(&[1.0, -9.0], Alternative::Greater));
    assert_close(p_value(&[-1.0, f64::NAN], Alternative::Less), p_value(&[-1.0, 9.0], Alternative::Less));
}

#[test]
fn a_reversal_smaller_than_the_floor_is_significant_against_zero_and_not_against_the_floor() {
    let pairs = [-0.011, -0.012, -0.013, -0.009, -0.008, -0.010, -0.014, -0.007];
    assert!(p_value_against(&pairs, 0.0, Alternative::Less) < 0.01);
    assert!(p_value_against(&pairs, -(0.05_f64.ln_1p()), Alternative::Less) > 0.99);
}

#[test]
fn the_interval_of_a_median_lies_between_two_of_the_values_at_the_level_of_coins() {
    let values = [9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0, 11.0, 10.0, 1000.0];
    let mut failed = [2.0; 12];
    failed[0] = OPEN;
    for (values, expected, level) in [
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
    ] {
        let found = median_estimate(values, CONFIDENCE).expect("there are values");
        for (found, expected) in
            [found.lo, found.point, found.hi, found.level].iter().zip(expected.iter().chain([&level]))
        {
            assert_close(*found, *expected);
        }
        assert_eq!(found.n, values.len());
    }
}

#[test]
fn a_value_that_is_not_known_widens_the_interval_of_the_median_and_without_any_there_is_none() {
    let mut values = [5.0; 8];
    values[0] = f64::NAN;
    let found = median_estimate(&values, CONFIDENCE).expect("seven are known");
    assert_eq!((found.lo, found.point, found.hi), (f64::NEG_INFINITY, 5.0, f64::INFINITY));
    for none in [&[][..], &[f64::NAN; 8], &[f64::INFINITY, f64::NEG_INFINITY]] {
        assert_eq!(median_estimate(none, CONFIDENCE), None);
    }
}

/// P-value by trying every choice of signs on the mid-ranks that were seen.
fn p_value_by_all_signs(differences: &[f64], greater: bool) -> f64 {
    let ranks: Vec<f64> = differences
        .iter()
        .map(|a| {
            let smaller = differences.iter().filter(|b| b.abs() < a.abs()).count();
            let same = differences.iter().filter(|b| b.abs() == a.abs()).count();
            smaller as f64 + f64::midpoint(same as f64, 1.0)
        })
        .collect();
    let free: Vec<f64> = ranks.iter().zip(differences).filter(|(_, d)| **d != 0.0).map(|(rank, _)| *rank).collect();
    let seen: f64 = ranks.iter().zip(differences).filter(|(_, d)| **d > 0.0).map(|(rank, _)| *rank).sum();
    let extreme = (0..1_u32 << free.len())
        .filter(|signs| {
            let sum: f64 = free.iter().enumerate().filter(|(i, _)| signs >> i & 1 == 1).map(|(_, rank)| *rank).sum();
            if greater { sum >= seen } else { sum <= seen }
        })
        .count();
    extreme as f64 / f64::from(1_u32 << free.len())
}

proptest! {
    #[test]
    fn p_values_agree_with_trying_every_sign(differences in prop::collection::vec((-4_i32..=4).prop_map(f64::from), 0..10)) {
        prop_assert!(close(p_value(&differences, Alternative::Greater), p_value_by_all_signs(&differences, true)));
        prop_assert!(close(p_value(&differences, Alternative::Less), p_value_by_all_signs(&differences, false)));
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
    fn the_order_of_the_pairs_changes_nothing(differences in prop::collection::vec(-1.0..1.0_f64, 1..14).prop_shuffle()) {
        let mut sorted = differences.clone();
        sorted.sort_by(f64::total_cmp);
        prop_assert_eq!(interval(&differences), interval(&sorted));
        prop_assert_eq!(p_value(&differences, Alternative::Less), p_value(&sorted, Alternative::Less));
    }

    #[test]
    fn a_common_factor_on_one_arm_shifts_the_log_interval_by_its_logarithm(
        differences in prop::collection::vec(-1.0..1.0_f64, 6..14), factor in 0.01..100.0_f64,
    ) {
        let plain = interval(&differences);
        let scaled: Vec<f64> = differences.iter().map(|difference| difference + factor.ln()).collect();
        let scaled = interval(&scaled);
        prop_assert!(close(scaled.lo, plain.lo + factor.ln()));
        prop_assert!(close(scaled.point, plain.point + factor.ln()));
        prop_assert!(close(scaled.hi, plain.hi + factor.ln()));
    }

    #[test]
    fn swapping_the_arms_mirrors_the_interval(differences in prop::collection::vec(-1.0..1.0_f64, 1..14)) {
        let plain = interval(&differences);
        let swapped: Vec<f64> = differences.iter().map(|difference| -difference).collect();
        let swapped = interval(&swapped);
        prop_assert!(close(swapped.lo, -plain.hi) && close(swapped.point, -plain.point) && close(swapped.hi, -plain.lo));
    }

    #[test]
    fn whatever_failed_the_estimate_is_ordered_and_a_number(pairs in prop::collection::vec(any_pair(), 0..14)) {
        if let Some(found) = estimate(&pairs, CONFIDENCE) {
            prop_assert!(found.lo <= found.point && found.point <= found.hi, "{found:?}");
        }
        if let Some(found) = median_estimate(&pairs, CONFIDENCE) {
            prop_assert!(found.lo <= found.point && found.point <= found.hi, "{found:?}");
        }
        for alternative in [Alternative::Less, Alternative::Greater] {
            let p = p_value_against(&pairs, 0.0, alternative);
            prop_assert!(p > 0.0 && p <= 1.0, "{p}");
        }
    }
}

fn any_pair() -> impl Strategy<Value = f64> {
    prop_oneof![6 => -1.0..1.0_f64, 1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY), 1 => Just(f64::NAN)]
}
