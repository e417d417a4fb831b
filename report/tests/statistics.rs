//! The statistics against naive versions, published tables and the values that R prints.

use proptest::prelude::*;
use report::record::{DuetPair, Order};
use report::stats::signed_rank::{Alternative, Pair, cumulative, estimate, interval_rank, p_value, quantile};
use report::stats::{CONFIDENCE, binomial, duet, floor::floor, holm, share, slope};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn exact(values: &[f64]) -> Vec<Pair> {
    values.iter().copied().map(Pair::exact).collect()
}

/// The p-value by trying all signs, with mid-ranks by counting.
fn naive_p_value(differences: &[f64], alternative: Alternative) -> f64 {
    let rank = |value: f64| {
        let below = differences.iter().filter(|other| other.abs() < value.abs()).count() as f64;
        let same = differences.iter().filter(|other| other.abs() == value.abs()).count() as f64;
        below + (same + 1.0) / 2.0
    };
    let ranks: Vec<f64> = differences.iter().filter(|value| **value != 0.0).map(|&value| rank(value)).collect();
    let observed: f64 = differences.iter().filter(|value| **value > 0.0).map(|&value| rank(value)).sum();
    let all = 1_u32 << ranks.len();
    let sum = |signs: u32| -> f64 {
        ranks.iter().enumerate().filter(|(place, _)| signs >> place & 1 == 1).map(|(_, rank)| rank).sum()
    };
    let share = |keep: &dyn Fn(f64) -> bool| (0..all).filter(|&signs| keep(sum(signs))).count() as f64 / f64::from(all);
    let (below, above) = (share(&|sum| sum <= observed + 1e-9), share(&|sum| sum >= observed - 1e-9));
    match alternative {
        Alternative::Less => below,
        Alternative::Greater => above,
        Alternative::TwoSided => (2.0 * below.min(above)).min(1.0),
    }
}

/// Values with ties and zeros.
fn coarse() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-6..=6_i32).prop_map(f64::from), 0..10)
}

/// Values without.
fn fine(least: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-10.0..10.0_f64, least..11)
}

proptest! {
    #[test]
    fn p_values_are_those_of_trying_all_signs(differences in coarse()) {
        for alternative in [Alternative::Less, Alternative::Greater, Alternative::TwoSided] {
            let (ours, naive) = (p_value(&differences, alternative), naive_p_value(&differences, alternative));
            prop_assert!(close(ours, naive), "{:?}: {} is not {}", alternative, ours, naive);
        }
    }

    #[test]
    fn the_estimate_is_the_median_of_all_pairwise_means(values in fine(1)) {
        let mut means: Vec<f64> = (0..values.len()).flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| (values[i] + values[j]) / 2.0).collect();
        means.sort_by(f64::total_cmp);
        let half = means.len() / 2;
        let naive = if means.len() % 2 == 1 { means[half] } else { (means[half - 1] + means[half]) / 2.0 };
        let found = estimate(&exact(&values), CONFIDENCE).expect("there are pairs");
        prop_assert!(close(found.point, naive), "{} is not {}", found.point, naive);
    }

    #[test]
    fn the_interval_holds_the_shifts_that_the_test_does_not_reject(values in fine(6)) {
        let found = estimate(&exact(&values), CONFIDENCE).expect("there are pairs");
        let shifted = |by: f64| {
            let moved: Vec<f64> = values.iter().map(|value| value - by).collect();
            naive_p_value(&moved, Alternative::TwoSided)
        };
        let step = 1e-6;
        prop_assert!(shifted(found.lo - step) <= found.level + 1e-12 && shifted(found.lo + step) > 0.05);
        prop_assert!(shifted(found.hi + step) <= found.level + 1e-12 && shifted(found.hi - step) > 0.05);
        prop_assert!(found.level <= 0.05);
    }

    #[test]
    fn turning_all_pairs_round_turns_the_interval_round(values in fine(6)) {
        let turned: Vec<f64> = values.iter().map(|value| -value).collect();
        let (a, b) = (estimate(&exact(&values), CONFIDENCE).expect("pairs"), estimate(&exact(&turned), CONFIDENCE).expect("pairs"));
        prop_assert!(close(a.lo, -b.hi) && close(a.hi, -b.lo) && close(a.point, -b.point));
    }

    #[test]
    fn widened_pairs_never_narrow_the_interval(values in fine(6), step in 0.0..2.0_f64) {
        let wide: Vec<Pair> = values.iter().map(|&mid| Pair { lo: mid - step, mid, hi: mid + step }).collect();
        let (plain, wide) = (estimate(&exact(&values), CONFIDENCE).expect("pairs"), estimate(&wide, CONFIDENCE).expect("pairs"));
        prop_assert!(close(wide.lo, plain.lo - step) && close(wide.hi, plain.hi + step) && close(wide.point, plain.point));
    }

    #[test]
    fn a_share_is_found_again(mirror in prop::collection::vec(0.1..2.0_f64, 6..14), s in -0.5..1.5_f64) {
        let control: Vec<f64> = mirror.iter().map(|effect| s * effect).collect();
        for sign in [1.0, -1.0] {
            let turned = |values: &[f64]| values.iter().map(|value| sign * value).collect::<Vec<_>>();
            let found = share::explained(&turned(&control), &turned(&mirror), CONFIDENCE).expect("there is an effect");
            prop_assert!(close(found.point, s) && close(found.lo, s) && close(found.hi, s), "{:?} is not {}", found, s);
        }
    }

    #[test]
    fn a_power_law_has_its_exponent_as_slope(exponent in -3.0..3.0_f64, scale in 0.01..100.0_f64) {
        let points: Vec<(f64, f64)> = [1e2, 1e3, 5e4, 1e6].map(|x: f64| (x, scale * x.powf(exponent))).to_vec();
        prop_assert!(close(slope::of_logs(&points).expect("there are points"), exponent));
    }

    #[test]
    fn the_floor_is_never_below_the_margin_and_forgets_order_and_sign(values in fine(8), margin in 0.01..0.2_f64) {
        let noise: Vec<f64> = values.iter().map(|value| value / 100.0).collect();
        let found = floor(&noise, 8, margin);
        prop_assert!(found >= margin);
        let turned: Vec<f64> = noise.iter().rev().map(|value| -value).collect();
        prop_assert_eq!(found, floor(&turned, 8, margin));
    }
}

#[test]
fn the_distribution_is_the_one_r_has() {
    // psignrank(c(3, 8, 38), c(8, 10, 12)) and qsignrank(0.025, c(8, 10, 12, 20)).
    for (statistic, n, expected) in [(3, 8, 5.0 / 256.0), (8, 10, 25.0 / 1024.0), (38, 12, 0.484_863_281_25)] {
        assert!(
            close(cumulative(statistic, n), expected),
            "psignrank({statistic}, {n}) = {}",
            cumulative(statistic, n)
        );
    }
    assert_eq!([8, 10, 12, 20].map(|n| quantile(0.025, n)), [4, 9, 14, 53]);
}

#[test]
fn the_levels_are_those_of_the_exact_test() {
    let level = |n| interval_rank(n, CONFIDENCE).map(|(_, level)| (level * 1e4).round() / 1e4);
    assert_eq!([5, 6, 8, 12, 20].map(level), [None, Some(0.0313), Some(0.0391), Some(0.0425), Some(0.0484)]);
}

#[test]
fn six_pairs_give_the_whole_range_and_five_give_none() {
    let values = [0.3, -0.1, 0.2, 0.5, 0.1, 0.4];
    let six = estimate(&exact(&values), CONFIDENCE).expect("pairs");
    assert_eq!((six.lo, six.hi), (-0.1, 0.5));
    let five = estimate(&exact(&values[..5]), CONFIDENCE).expect("pairs");
    assert_eq!((five.lo, five.hi, five.level), (f64::NEG_INFINITY, f64::INFINITY, 1.0));
    assert_eq!(estimate(&[], CONFIDENCE), None);
}

#[test]
fn the_example_of_hollander_and_wolfe_comes_out_as_in_r() {
    // Depression scores before and after; wilcox.test(x, y, paired = TRUE, conf.int = TRUE) of R's manual page.
    let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    let differences: Vec<f64> = before.iter().zip(after).map(|(a, b)| a - b).collect();
    assert!(close(p_value(&differences, Alternative::Greater), 0.019_531_25));
    assert!(close(p_value(&differences, Alternative::TwoSided), 0.039_062_5));
    let found = estimate(&exact(&differences), CONFIDENCE).expect("pairs");
    assert!(
        (found.point - 0.46).abs() < 1e-9 && (found.lo - 0.01).abs() < 1e-9 && (found.hi - 0.786).abs() < 1e-9,
        "{found:?}"
    );
}

#[test]
fn a_failed_side_opens_the_interval_only_where_it_must() {
    let mut pairs = exact(&[0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 0.18, 0.19, 0.20]);
    pairs.push(Pair::exact(f64::INFINITY));
    let one = estimate(&pairs, CONFIDENCE).expect("pairs");
    assert!(one.lo > 0.1 && one.hi < 0.25 && one.point.is_finite(), "one of twelve moves the ends a little: {one:?}");
    let many: Vec<Pair> =
        pairs.iter().enumerate().map(|(i, pair)| if i < 5 { Pair::unknown() } else { *pair }).collect();
    let open = estimate(&many, CONFIDENCE).expect("pairs");
    assert_eq!((open.lo, open.hi), (f64::NEG_INFINITY, f64::INFINITY));
}

#[test]
fn shares_of_blocks_have_the_exact_binomial_interval() {
    // binom.test(x, n)$conf.int in R.
    for (met, n, lo, hi) in [
        (0, 10, 0.0, 0.308_497_1),
        (5, 10, 0.187_086, 0.812_914),
        (7, 8, 0.473_490_3, 0.996_840_3),
        (12, 12, 0.735_352, 1.0),
    ] {
        let found = binomial::interval(met, n, CONFIDENCE);
        assert!((found.0 - lo).abs() < 1e-5 && (found.1 - hi).abs() < 1e-5, "{met} of {n}: {found:?}");
    }
    assert_eq!(binomial::interval(0, 0, CONFIDENCE), (0.0, 1.0));
}

#[test]
fn holm_adjusts_as_r_does() {
    // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    let adjusted = holm::adjust(&[0.01, 0.04, 0.03, 0.005]);
    for (ours, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert!(close(*ours, expected), "{adjusted:?}");
    }
    assert_eq!(holm::adjust(&[0.9, 0.8]), [1.0, 1.0]);
    assert!(holm::adjust(&[]).is_empty());
}

#[test]
fn the_floor_grows_with_noise_and_shrinks_with_pairs() {
    let noise: Vec<f64> = (1..=20).map(|i| f64::from(i) / 100.0).collect();
    assert_eq!(floor(&[], 8, 0.05), 0.05);
    assert_eq!(floor(&[0.0; 12], 12, 0.05), 0.05);
    let (few, many) = (floor(&noise, 8, 0.01), floor(&noise, 20, 0.01));
    assert!(few > many && many > 0.01, "{few} at 8 pairs, {many} at 20");
    let louder: Vec<f64> = noise.iter().map(|value| 2.0 * value).collect();
    let ratio = (1.0 + floor(&louder, 8, 0.01)).ln() / (1.0 + few).ln();
    assert!(close(ratio, 2.0), "twice the noise is twice the floor in logarithms: {ratio}");
}

#[test]
fn a_share_needs_an_effect_to_be_a_share_of() {
    assert_eq!(share::explained(&[0.1; 8], &[0.5, -0.6, 0.5, -0.6, 0.5, -0.6, 0.5, 0.5], CONFIDENCE), None);
    assert_eq!(share::explained(&[0.1; 8], &[0.0; 8], CONFIDENCE), None);
    assert_eq!(share::explained(&[], &[], CONFIDENCE), None);
}

#[test]
fn slopes_need_two_points_above_zero() {
    assert_eq!(slope::of_logs(&[(1.0, 2.0)]), None);
    assert_eq!(slope::of_logs(&[(3.0, 2.0), (3.0, 4.0)]), None);
    assert_eq!(slope::of_logs(&[(1.0, 0.0), (2.0, 4.0)]), None);
}

#[test]
fn a_duet_is_the_median_of_its_pairs_and_knows_the_effect_of_order() {
    let pair = |order, a_s| DuetPair { order, a_s, b_s: 1.0 };
    let pairs =
        [pair(Order::Ab, 1.2), pair(Order::Ba, 1.0), pair(Order::Ab, 1.2), pair(Order::Ba, 1.0), pair(Order::Ab, 90.0)];
    assert!(
        close(duet::log_ratio(&pairs).expect("there are pairs"), 1.2_f64.ln()),
        "a stolen slice hits one pair only"
    );
    assert!(close(duet::order_effect(&pairs).expect("both orders occur"), 1.2_f64.ln()));
    assert_eq!(duet::order_effect(&pairs[..1]), None);
    assert_eq!(duet::log_ratio(&[]), None);
}
