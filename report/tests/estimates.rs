//! Floors, shares, slopes, proportions and several tests at once, against known answers and naive oracles.

#![expect(clippy::float_cmp, reason = "what is exact must be equal, and infinities have no distance")]

use proptest::prelude::*;
use report::record::{DuetPair, Order};
use report::stats::signed_rank::{hodges_lehmann, interval_rank, walsh_averages};
use report::stats::{CONFIDENCE, Interval, binomial, duet, floor, holm, layout, share, slope};

mod numbers;

use numbers::{assert_close, close, interval};

mod floors {
    use super::*;

    const AA: [f64; 8] = [0.012, -0.034, 0.051, -0.008, 0.022, 0.041, -0.017, 0.063];

    /// The floor of twins of a single layout.
    fn floor_of(twins: &[f64], n: usize, margin: f64) -> f64 {
        let twins: Vec<(u64, f64)> = twins.iter().map(|&ratio| (0, ratio)).collect();
        floor::over_layouts(&twins, n, margin)
    }

    #[test]
    fn the_floor_of_quiet_twins_is_the_margin() {
        for (twins, n) in [(&[0.0; 8][..], 8), (&[0.001, -0.002, 0.003, 0.0, 0.001, -0.001], 12)] {
            assert_close(floor_of(twins, n, 0.05), 0.05);
        }
    }

    #[test]
    fn fewer_than_six_twins_leave_the_noise_unknown_and_nothing_exceeds_that() {
        let quiet: Vec<(u64, f64)> = (0..6).map(|block| (block, 0.0)).collect();
        let claim: Vec<(u64, f64)> = repeated().into_iter().map(|(layout, ratio)| (layout, ratio + 0.3)).collect();
        for few in 0..6 {
            assert_eq!(floor_of(&AA[..few], 8, 0.05), f64::INFINITY, "{few} of one layout");
            assert_eq!(floor::over_layouts(&quiet[..few], 12, 0.05), f64::INFINITY, "{few} layouts");
            assert_eq!(floor::of_duets(&quiet[..few], &claim, 0.05), f64::INFINITY, "{few} of duets");
        }
        assert!(floor_of(&AA[..6], 8, 0.05).is_finite());
        assert_close(floor::over_layouts(&quiet, 12, 0.05), 0.05);
        assert!(floor::of_duets(&quiet, &claim, 0.05).is_finite());
        // Nor does no block at all exceed anything.
        assert_eq!(floor_of(&AA, 0, 0.05), f64::INFINITY);
    }

    #[test]
    fn the_floor_is_the_percentile_that_trying_every_sign_gives() {
        let mut effects: Vec<f64> = (0..256_u32)
            .map(|signs| {
                let signed: Vec<f64> =
                    AA.iter().enumerate().map(|(i, aa)| if signs >> i & 1 == 1 { -aa } else { *aa }).collect();
                hodges_lehmann(&signed).expect("finite").abs()
            })
            .collect();
        effects.sort_by(f64::total_cmp);
        let found = floor_of(&AA, 8, 0.0).ln_1p();
        // 2,000 random signs place the 95th percentile within 1.5 points of all 256 (three standard deviations).
        assert!(found >= effects[239] && found <= effects[248], "{found} of {effects:?}");
    }

    #[test]
    fn the_floor_is_the_same_on_every_machine_and_lower_with_more_blocks() {
        for (n, expected) in [(4, 0.036_396_714_922), (8, 0.026_340_948_473), (20, 0.017_145_322_325)] {
            assert_close(floor_of(&AA, n, 0.0), expected);
        }
        let floors = [4, 8, 12, 20].map(|n| floor_of(&AA, n, 0.0));
        assert!(floors.is_sorted_by(|a, b| a > b), "{floors:?}");
    }

    #[test]
    fn failed_twins_raise_the_floor_until_nothing_exceeds_it() {
        let mut twins = AA;
        twins[0] = f64::INFINITY;
        assert!(floor_of(&twins, 8, 0.0) > floor_of(&AA, 8, 0.0));
        twins[..4].fill(f64::NAN);
        assert_eq!(floor_of(&twins, 8, 0.0), f64::INFINITY);
    }

    /// The root mean square of the estimates over all 64 choices of signs of whole layouts.
    fn by_all_signs(pairs: &[(u64, f64)]) -> f64 {
        let squares: f64 = (0..64_u32)
            .map(|signs| {
                let turn = |&(layout, ratio): &(u64, f64)| if signs >> layout & 1 == 1 { -ratio } else { ratio };
                hodges_lehmann(&pairs.iter().map(turn).collect::<Vec<_>>()).expect("finite").powi(2)
            })
            .sum();
        (squares / 64.0).sqrt()
    }

    /// Twelve pairs over six layouts, each of which does the same to both of its pairs.
    fn repeated() -> Vec<(u64, f64)> {
        let effects = [0.05, -0.02, 0.04, -0.06, 0.03, -0.04];
        (0..12_u64).zip(effects.iter().cycle()).map(|(block, effect)| (block % 6, *effect)).collect()
    }

    #[test]
    fn the_pairs_of_a_layout_turn_together_and_six_layouts_tell_little_of_their_spread() {
        let pairs = repeated();
        // Student's t at 97.5 % with 4 degrees of freedom.
        let expected = by_all_signs(&pairs) * 2.776_445_105_198;
        assert_close(floor::over_layouts(&pairs, 12, 0.0).ln_1p(), expected);
        let one_by_one: Vec<f64> = pairs.iter().map(|(_, ratio)| *ratio).collect();
        assert!(floor_of(&one_by_one, 12, 0.0) < 0.7 * floor::over_layouts(&pairs, 12, 0.0));
    }

    #[test]
    fn layouts_are_not_averaged_away_by_more_blocks() {
        let floors = [12, 60].map(|n| floor::over_layouts(&repeated(), n, 0.0));
        assert!(floors[1] > 0.9 * floors[0], "{floors:?}");
    }

    #[test]
    fn a_single_layout_gives_the_floor_of_its_pairs_one_by_one() {
        for (layout, n) in [(0, 8), (3, 4), (5, 20)] {
            let pairs = AA.map(|ratio| (layout, ratio));
            assert_eq!(floor::over_layouts(&pairs, n, 0.0), floor_of(&AA, n, 0.0));
        }
    }

    #[test]
    fn the_floor_of_duets_sees_layouts_in_the_claim_that_its_copies_cannot_show() {
        let quiet: Vec<(u64, f64)> = (0..12).map(|block| (block % 6, 0.0)).collect();
        let claim: Vec<(u64, f64)> = repeated().into_iter().map(|(layout, ratio)| (layout, ratio + 0.3)).collect();
        let centre = hodges_lehmann(&claim.iter().map(|(_, ratio)| *ratio).collect::<Vec<_>>()).expect("finite");
        let residuals: Vec<(u64, f64)> = claim.iter().map(|(layout, ratio)| (*layout, ratio - centre)).collect();
        // Student's t at 99.75 % with 5 degrees of freedom.
        let expected = by_all_signs(&residuals) * 1.2_f64.sqrt() * 4.773_340_605;
        assert!((floor::of_duets(&quiet, &claim, 0.0).ln_1p() - expected).abs() < 1e-6);
        assert_close(floor::of_duets(&quiet, &claim, 0.5), 0.5);
        // The effect itself is no noise, nor is anything where there is one layout only.
        assert_close(floor::of_duets(&quiet, &[(0, 0.3), (1, 0.3), (0, 0.3), (1, 0.3)], 0.0), 0.0);
        let one: Vec<(u64, f64)> = claim.iter().map(|(_, ratio)| (0, *ratio)).collect();
        let copies = AA.map(|ratio| (0, ratio));
        assert_eq!(floor::of_duets(&copies, &one, 0.0), floor_of(&AA, 12, 0.0));
    }

    #[test]
    fn one_failed_run_of_a_claim_leaves_it_a_floor_and_two_layouts_of_them_leave_none() {
        let quiet: Vec<(u64, f64)> = (0..12).map(|block| (block % 6, 0.001)).collect();
        let mut claim = repeated();
        claim[1].1 = f64::NAN;
        assert!(floor::of_duets(&quiet, &claim, 0.0).is_finite());
        for block in [0, 6, 3, 9] {
            claim[block].1 = f64::INFINITY;
        }
        let many = floor::of_duets(&quiet, &claim, 0.0);
        assert!(many == f64::INFINITY, "{many}");
    }

    #[test]
    fn what_a_layout_does_is_told_from_noise() {
        // Ratios of neighbours in a ring of layouts at 0.03 and -0.03 in turn: each is twice that.
        let ring: Vec<(u64, f64)> =
            (0..12).map(|block| (block % 6, if block % 2 == 0 { 0.06 } else { -0.06 })).collect();
        assert_close(layout::sd(&ring).expect("two pairs each"), 0.06 / std::f64::consts::SQRT_2);
        let noise: Vec<(u64, f64)> = (0..12).map(|block| (block % 6, if block < 6 { 0.04 } else { -0.04 })).collect();
        assert_close(layout::sd(&noise).expect("two pairs each"), 0.0);
        let mut failed = ring.clone();
        failed[0].1 = f64::INFINITY;
        assert!(layout::sd(&failed).is_some());
        for unknown in [&ring[..6], &[], &[(0, 0.1), (0, 0.2)]] {
            assert_eq!(layout::sd(unknown), None);
        }
    }

    proptest! {
        #[test]
        fn the_order_of_the_pairs_does_not_move_the_floor(
            pairs in prop::collection::vec((0..4_u64, -0.2..0.2_f64), 6..14).prop_shuffle(), n in 1..14_usize,
        ) {
            let mut sorted = pairs.clone();
            sorted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            prop_assert_eq!(floor::over_layouts(&pairs, n, 0.02), floor::over_layouts(&sorted, n, 0.02));
        }
    }

    proptest! {
        // Two floors of 2,000 estimates each: few cases are enough of them.
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn neither_order_nor_sign_of_the_twins_moves_the_floor(
            twins in prop::collection::vec((-0.2..0.2_f64, any::<bool>()), 6..14), n in 1..14_usize,
        ) {
            let plain: Vec<f64> = twins.iter().map(|(twin, _)| *twin).collect();
            let turned: Vec<f64> = twins.iter().rev().map(|&(twin, turn)| if turn { -twin } else { twin }).collect();
            let found = floor_of(&plain, n, 0.02);
            prop_assert_eq!(found, floor_of(&turned, n, 0.02));
            prop_assert!(found >= 0.02);
        }
    }
}

mod shares {
    use super::*;

    const MIRROR: [f64; 8] = [0.20, 0.22, 0.25, 0.19, 0.30, 0.27, 0.24, 0.21];

    fn explained(control: &[f64]) -> Interval {
        share::explained(control, &MIRROR, CONFIDENCE).expect("there is an effect")
    }

    #[test]
    fn a_control_explains_all_of_the_effect_that_it_has_itself_half_of_twice_and_nothing_without_one() {
        let found = explained(&MIRROR);
        assert_eq!((found.lo, found.point, found.hi, found.n), (1.0, 1.0, 1.0, 8));
        assert_close(found.level, 0.039_062_5);
        let half = explained(&MIRROR.map(|effect| effect / 2.0));
        assert_close(half.lo, 0.5);
        assert_close(half.hi, 0.5);
        let none = explained(&[0.01, -0.01, 0.02, -0.02, 0.01, -0.01, 0.02, -0.02]);
        assert!(none.lo < 0.0 && none.hi > 0.0 && none.hi < 0.2, "{none:?}");
    }

    #[test]
    fn a_constant_mirror_gives_the_plain_interval_of_the_control_over_it() {
        let control = [0.11, 0.25, 0.17, 0.05, 0.21, 0.19, 0.14, 0.08];
        let plain = interval(&control);
        let found = share::explained(&control, &[0.5; 8], CONFIDENCE).expect("there is an effect");
        assert_close(found.lo, plain.lo * 2.0);
        assert_close(found.point, plain.point * 2.0);
        assert_close(found.hi, plain.hi * 2.0);
    }

    #[test]
    fn one_block_in_which_the_mirror_went_the_other_way_does_not_stop_the_answer() {
        let mut mirror = [0.2; 12];
        mirror[3] = -0.05;
        let found = share::explained(&mirror, &mirror, CONFIDENCE).expect("eleven of twelve agree");
        assert_close(found.point, 1.0);
        assert!(found.lo <= 1.0 && found.hi >= 1.0);
    }

    #[test]
    fn a_mirror_that_is_not_told_from_zero_has_nothing_to_explain() {
        let noise = [0.1, -0.1, 0.12, -0.09, 0.05, -0.06, 0.02, -0.03];
        assert_eq!(share::explained(&MIRROR, &noise, CONFIDENCE), None);
        assert_eq!(share::explained(&MIRROR, &[0.0; 8], CONFIDENCE), None);
        assert_eq!(share::explained(&[], &[], CONFIDENCE), None);
    }

    #[test]
    fn too_few_blocks_give_a_share_without_an_interval() {
        let found = share::explained(&[0.1; 3], &[0.2; 3], CONFIDENCE).expect("all agree");
        assert_eq!((found.point, found.lo, found.hi), (0.5, f64::NEG_INFINITY, f64::INFINITY));
        assert_close(found.level, 1.0);
    }

    #[test]
    fn failed_runs_widen_the_share_and_many_of_them_leave_none() {
        let control = [0.10, 0.12, 0.13, 0.09, 0.16, 0.13, 0.11, 0.10];
        let sharp = explained(&control);
        let mut failed = control;
        failed[4] = f64::INFINITY;
        let wide = share::explained(&failed, &MIRROR, CONFIDENCE);
        // Of 8 blocks one may fail for the ends to exist at all: 28 of 36 sums stay, and the 33rd is asked for.
        assert_eq!(wide, None);
        let (mut twelve, mirror) = ([0.1; 12], [0.2; 12]);
        twelve[0] = f64::NAN;
        twelve[1] = 0.16;
        let found = share::explained(&twelve, &mirror, CONFIDENCE).expect("66 of 78 sums stay");
        assert!(found.lo <= 0.5 && found.hi >= 0.5, "{found:?}");
        assert!(sharp.hi - sharp.lo < 0.2);
    }

    /// Whether the signed-rank test lets `share` pass: neither too many averages above zero nor below.
    fn passes(control: &[f64], mirror: &[f64], share: f64, most: usize) -> bool {
        let rest: Vec<f64> = control.iter().zip(mirror).map(|(c, m)| c - share * m).collect();
        let above = walsh_averages(&rest).filter(|average| *average > 0.0).count();
        let below = walsh_averages(&rest).filter(|average| *average < 0.0).count();
        above <= most && below <= most
    }

    proptest! {
        #[test]
        fn every_share_that_the_test_lets_pass_lies_in_the_interval_and_its_ends_are_sharp(
            blocks in prop::collection::vec((-0.2..0.4_f64, -0.1..0.5_f64), 6..12), probe in -3.0..3.0_f64,
        ) {
            let (control, mirror): (Vec<f64>, Vec<f64>) = blocks.into_iter().unzip();
            let n = control.len();
            let most = n * (n + 1) / 2 - interval_rank(n, CONFIDENCE).expect("six or more").0;
            if let Some(found) = share::explained(&control, &mirror, CONFIDENCE) {
                prop_assert!(found.lo <= found.point && found.point <= found.hi);
                if passes(&control, &mirror, probe, most) {
                    prop_assert!(found.lo <= probe && probe <= found.hi, "{probe} is missing in {found:?}");
                }
                let step = 1e-9 * (1.0 + found.lo.abs() + found.hi.abs());
                prop_assert!(!passes(&control, &mirror, found.lo - step, most), "{found:?}");
                prop_assert!(!passes(&control, &mirror, found.hi + step, most), "{found:?}");
            } else {
                let averages: Vec<f64> = walsh_averages(&mirror).collect();
                let above = averages.iter().filter(|average| **average > 0.0).count();
                prop_assert!(above <= most && averages.len() - above <= most, "the mirror has an effect");
            }
        }

        #[test]
        fn turning_both_claims_round_or_scaling_them_leaves_the_share(
            blocks in prop::collection::vec((-0.2..0.4_f64, 0.05..0.5_f64), 6..12), factor in -8_i32..8,
        ) {
            prop_assume!(factor != 0);
            let (control, mirror): (Vec<f64>, Vec<f64>) = blocks.into_iter().unzip();
            let times = |effects: &[f64]| effects.iter().map(|effect| effect * f64::from(factor)).collect::<Vec<_>>();
            let plain = share::explained(&control, &mirror, CONFIDENCE).expect("all mirrors are positive");
            let scaled = share::explained(&times(&control), &times(&mirror), CONFIDENCE).expect("all agree in direction");
            prop_assert!(close(plain.lo, scaled.lo) && close(plain.point, scaled.point) && close(plain.hi, scaled.hi));
        }
    }
}

mod slopes {
    use super::*;

    #[test]
    fn powers_have_their_exponent_as_the_slope() {
        for exponent in [-1.0, 0.0, 0.5, 1.0, 2.0] {
            let points = [1e2, 1e3, 5e4, 2e6].map(|x: f64| (x, 3.0 * x.powf(exponent)));
            assert_close(slope::of_logs(&points).expect("four points"), exponent);
        }
    }

    #[test]
    fn the_slope_is_the_least_squares_one() {
        let e = std::f64::consts::E;
        // Logarithms (0, 0), (1, 1), (2, 0): by hand the slope is 0; with (2, 3) in place of the last it is 1.5.
        assert_close(slope::of_logs(&[(1.0, 1.0), (e, e), (e * e, 1.0)]).expect("three points"), 0.0);
        assert_close(slope::of_logs(&[(1.0, 1.0), (e, e), (e * e, e.powi(3))]).expect("three points"), 1.5);
    }

    #[test]
    fn a_slope_needs_two_different_x_and_positive_finite_points() {
        for points in [
            &[][..],
            &[(1.0, 2.0)],
            &[(3.0, 2.0), (3.0, 5.0), (3.0, 7.0)],
            &[(1.0, 2.0), (2.0, 0.0)],
            &[(1.0, 2.0), (-2.0, 3.0)],
            &[(1.0, 2.0), (2.0, f64::INFINITY)],
            &[(1.0, f64::NAN), (2.0, 3.0)],
        ] {
            assert_eq!(slope::of_logs(points), None, "{points:?}");
        }
    }

    #[test]
    fn the_margin_of_a_slope_spreads_over_the_tested_range() {
        let margin = slope::margin_over((100.0, 10_000.0), 0.05);
        assert_close((margin * 100.0_f64.ln()).exp(), 1.05);
        for range in [(5.0, 5.0), (7.0, 2.0), (0.0, 2.0), (f64::INFINITY, f64::NEG_INFINITY)] {
            assert_eq!(slope::margin_over(range, 0.05), f64::INFINITY, "{range:?}");
        }
    }

    proptest! {
        #[test]
        fn units_do_not_change_a_slope(
            ys in prop::collection::vec(0.1..10.0_f64, 2..8), unit_x in 0.001..1000.0_f64, unit_y in 0.001..1000.0_f64,
        ) {
            let points: Vec<(f64, f64)> = ys.iter().enumerate().map(|(i, &y)| (f64::from(1 << i), y)).collect();
            let scaled: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x * unit_x, y * unit_y)).collect();
            let (plain, scaled) = (slope::of_logs(&points), slope::of_logs(&scaled));
            prop_assert!((plain.expect("two x") - scaled.expect("two x")).abs() < 1e-6);
        }
    }
}

mod shares_of_blocks {
    use super::*;

    #[test]
    fn the_binomial_interval_agrees_with_r_binom_test() {
        for (met, n, lo, hi) in [
            (8, 8, 0.630_583_4, 1.0),
            (0, 8, 0.0, 0.369_416_6),
            (5, 10, 0.187_086, 0.812_914),
            (682, 925, 0.707_668_3, 0.765_406_6),
        ] {
            let found = binomial::interval(met, n, CONFIDENCE);
            assert!((found.0 - lo).abs() < 1e-6 && (found.1 - hi).abs() < 1e-6, "{met} of {n}: {found:?}");
        }
    }

    #[test]
    fn nothing_seen_and_nonsense_leave_the_whole_range() {
        assert_eq!(binomial::interval(0, 0, CONFIDENCE), (0.0, 1.0));
        assert_eq!(binomial::interval(3, 2, CONFIDENCE), (0.0, 1.0));
        assert_eq!(binomial::interval(1, 2, f64::NAN), (0.0, 1.0));
        assert_eq!(binomial::interval(1, 2, -4.0), (0.0, 1.0));
    }
}

mod several_tests {
    use super::*;

    #[test]
    fn holm_multiplies_step_by_step_and_never_falls() {
        for (p_values, expected) in [
            (&[0.01, 0.04, 0.03, 0.005][..], &[0.03, 0.06, 0.06, 0.02][..]),
            (&[0.5, 0.6], &[1.0, 1.0]),
            (&[0.04], &[0.04]),
            (&[], &[]),
            // What is not a number counts as one.
            (&[f64::NAN, 0.01], &[1.0, 0.02]),
        ] {
            let found = holm::adjust(p_values);
            assert!(
                found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| close(*a, *b)),
                "{found:?}"
            );
        }
    }
}

mod duets {
    use super::*;

    fn pair(order: Order, a_s: f64, b_s: f64) -> DuetPair {
        DuetPair { order, a_s, b_s }
    }

    #[test]
    fn a_process_gives_the_median_of_its_log_ratios_whatever_one_stolen_slice_did() {
        let mut pairs = vec![pair(Order::Ab, 0.11, 0.10); 5];
        pairs.push(pair(Order::Ba, 9.0, 0.10));
        assert_close(duet::log_ratio(&pairs).expect("there are pairs"), 1.1_f64.ln());
    }

    #[test]
    fn an_even_number_of_pairs_averages_the_middle_two_and_impossible_times_give_no_ratio() {
        let pairs = [pair(Order::Ab, 1.0, 1.0), pair(Order::Ba, 4.0, 1.0)];
        assert_close(duet::log_ratio(&pairs).expect("there are pairs"), 2.0_f64.ln());
        for pairs in [&[][..], &[pair(Order::Ab, 0.0, 0.0)], &[pair(Order::Ab, -1.0, 1.0)]] {
            assert_eq!(duet::log_ratio(pairs), None);
        }
    }

    #[test]
    fn the_order_effect_is_twice_the_cost_of_going_first_and_none_if_an_order_did_not_occur() {
        // Going first costs 3 %; the arms are 10 % apart.
        let pairs = [pair(Order::Ab, 1.1 * 1.03, 1.0), pair(Order::Ba, 1.1, 1.03)];
        assert_close(duet::order_effect(&pairs).expect("both orders"), 2.0 * 1.03_f64.ln());
        assert_eq!(duet::order_effect(&[pair(Order::Ba, 1.0, 1.0); 4]), None);
        assert_eq!(duet::order_effect(&[]), None);
    }

    proptest! {
        #[test]
        fn naming_the_arms_the_other_way_round_turns_the_ratio(times in prop::collection::vec((0.1..1.0_f64, 0.1..1.0_f64), 1..21)) {
            let named: Vec<DuetPair> = times.iter().map(|&(a, b)| pair(Order::Ab, a, b)).collect();
            let renamed: Vec<DuetPair> = times.iter().map(|&(a, b)| pair(Order::Ba, b, a)).collect();
            let (one, other) = (duet::log_ratio(&named), duet::log_ratio(&renamed));
            prop_assert!(close(one.expect("pairs"), -other.expect("pairs")));
        }
    }
}
