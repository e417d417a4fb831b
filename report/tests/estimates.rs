//! Floors, shares, slopes, proportions and several tests at once, against known answers and naive oracles.

#![expect(clippy::float_cmp, reason = "what is exact must be equal, and infinities have no distance")]

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use report::folder::record::{DuetPair, Order};
use report::stats::signed_rank::{hodges_lehmann, interval_rank, walsh_averages};
use report::stats::{CONFIDENCE, binomial, duet, floor, holm, layout, modes, share, slope};

mod numbers;

use numbers::{assert_close, close, interval, values};

const AA: [f64; 8] = [0.012, -0.034, 0.051, -0.008, 0.022, 0.041, -0.017, 0.063];

/// The floor of twins of a single layout.
fn floor_of(twins: &[f64], n: usize, margin: f64) -> f64 {
    let twins: Vec<(u64, f64)> = twins.iter().map(|&ratio| (0, ratio)).collect();
    floor::over_layouts(&twins, n, margin)
}

#[test]
fn fewer_than_six_twins_leave_the_noise_unknown_and_nothing_exceeds_that() {
    let quiet: Vec<(u64, f64)> = (0..6).map(|block| (block, 0.0)).collect();
    let claim = repeated(0.3);
    for few in 0..6 {
        assert_eq!(floor_of(&AA[..few], 8, 0.05), f64::INFINITY, "{few} of one layout");
        assert_eq!(floor::over_layouts(&quiet[..few], 12, 0.05), f64::INFINITY, "{few} layouts");
        assert_eq!(floor::of_duets(&quiet[..few], &claim, 0.05), f64::INFINITY, "{few} of duets");
    }
    assert!(floor_of(&AA[..6], 8, 0.05).is_finite());
    // That of quiet ones is the margin.
    assert_close(floor_of(&[0.001, -0.002, 0.003, 0.0, 0.001, -0.001], 12, 0.05), 0.05);
    assert_close(floor::over_layouts(&quiet, 12, 0.05), 0.05);
    assert!(floor::of_duets(&quiet, &claim, 0.05).is_finite());
    // Nor does no block at all exceed anything.
    assert_eq!(floor_of(&AA, 0, 0.05), f64::INFINITY);
}

/// The sizes of the estimates over all choices of signs of so many whole layouts.
fn by_all_signs(pairs: &[(u64, f64)], layouts: u32) -> Vec<f64> {
    let effect = |signs: u32| {
        let turn = |&(layout, ratio): &(u64, f64)| if signs >> layout & 1 == 1 { -ratio } else { ratio };
        hodges_lehmann(&pairs.iter().map(turn).collect::<Vec<_>>()).expect("finite").abs()
    };
    (0..1 << layouts).map(effect).collect()
}

#[test]
fn the_floor_is_the_percentile_that_trying_every_sign_gives() {
    let pairs: Vec<(u64, f64)> = (0..).zip(AA).collect();
    let mut effects = by_all_signs(&pairs, 8);
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

/// The root mean square of the estimates over all choices of signs of six layouts.
fn spread(pairs: &[(u64, f64)]) -> f64 {
    let squares: f64 = by_all_signs(pairs, 6).iter().map(|effect| effect.powi(2)).sum();
    (squares / 64.0).sqrt()
}

/// Twelve pairs over six layouts, in turn.
fn in_turn(ratio: impl Fn(usize) -> f64) -> Vec<(u64, f64)> {
    (0..12_u64).zip(0..).map(|(block, place)| (block % 6, ratio(place))).collect()
}

/// Such pairs of an effect, to both of which their layout does the same.
fn repeated(effect: f64) -> Vec<(u64, f64)> {
    in_turn(|block| effect + [0.05, -0.02, 0.04, -0.06, 0.03, -0.04][block % 6])
}

#[test]
fn the_pairs_of_a_layout_turn_together_and_six_layouts_tell_little_of_their_spread() {
    let pairs = repeated(0.0);
    // Student's t at 97.5 % with 4 degrees of freedom.
    let expected = spread(&pairs) * 2.776_445_105_198;
    assert_close(floor::over_layouts(&pairs, 12, 0.0).ln_1p(), expected);
    assert!(floor_of(&values(&pairs), 12, 0.0) < 0.7 * floor::over_layouts(&pairs, 12, 0.0));
    // More blocks do not average layouts away.
    assert!(floor::over_layouts(&pairs, 60, 0.0) > 0.9 * floor::over_layouts(&pairs, 12, 0.0));
    // A single layout, whichever it is, gives the floor of its pairs one by one.
    assert_eq!(floor::over_layouts(&AA.map(|ratio| (3, ratio)), 4, 0.0), floor_of(&AA, 4, 0.0));
}

#[test]
fn the_floor_of_duets_sees_layouts_in_the_claim_that_its_copies_cannot_show() {
    let quiet = in_turn(|_| 0.0);
    let claim = repeated(0.3);
    let centre = hodges_lehmann(&values(&claim)).expect("finite");
    let residuals: Vec<(u64, f64)> = claim.iter().map(|(layout, ratio)| (*layout, ratio - centre)).collect();
    // Student's t at 99.75 % with 5 degrees of freedom.
    let expected = spread(&residuals) * 1.2_f64.sqrt() * 4.773_340_605;
    assert!((floor::of_duets(&quiet, &claim, 0.0).ln_1p() - expected).abs() < 1e-6);
    assert_close(floor::of_duets(&quiet, &claim, 0.5), 0.5);
    // The effect itself is no noise, nor is anything where there is one layout only.
    assert_close(floor::of_duets(&quiet, &[(0, 0.3), (1, 0.3), (0, 0.3), (1, 0.3)], 0.0), 0.0);
    let one: Vec<(u64, f64)> = claim.iter().map(|(_, ratio)| (0, *ratio)).collect();
    assert_eq!(floor::of_duets(&AA.map(|ratio| (0, ratio)), &one, 0.0), floor_of(&AA, 12, 0.0));
}

#[test]
fn one_failed_run_of_a_claim_leaves_it_a_floor_and_two_layouts_of_them_leave_none() {
    let quiet = in_turn(|_| 0.001);
    let mut claim = repeated(0.0);
    claim[1].1 = f64::NAN;
    assert!(floor::of_duets(&quiet, &claim, 0.0).is_finite());
    for block in [0, 6, 3, 9] {
        claim[block].1 = f64::INFINITY;
    }
    assert_eq!(floor::of_duets(&quiet, &claim, 0.0), f64::INFINITY);
}

#[test]
fn what_a_layout_does_is_told_from_noise() {
    // Ratios of neighbours in a ring of layouts at 0.03 and -0.03 in turn: each is twice that.
    let ring = in_turn(|block| if block % 2 == 0 { 0.06 } else { -0.06 });
    assert_close(layout::sd(&ring).expect("two pairs each"), 0.06 / std::f64::consts::SQRT_2);
    let noise = in_turn(|block| if block < 6 { 0.04 } else { -0.04 });
    assert_close(layout::sd(&noise).expect("two pairs each"), 0.0);
    let mut failed = ring.clone();
    failed[0].1 = f64::INFINITY;
    assert!(layout::sd(&failed).is_some());
    for unknown in [&ring[..6], &[], &[(0, 0.1), (0, 0.2)]] {
        assert_eq!(layout::sd(unknown), None);
    }
}

proptest! {
    // Two floors of 2,000 estimates each: few cases are enough of them.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_order_of_the_pairs_does_not_move_the_floor(
        pairs in prop::collection::vec((0..4_u64, -0.2..0.2_f64), 6..14), n in 1..14_usize,
    ) {
        let reversed: Vec<(u64, f64)> = pairs.iter().rev().copied().collect();
        prop_assert_eq!(floor::over_layouts(&pairs, n, 0.02), floor::over_layouts(&reversed, n, 0.02));
    }

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

const MIRROR: [f64; 8] = [0.20, 0.22, 0.25, 0.19, 0.30, 0.27, 0.24, 0.21];

#[test]
fn a_control_explains_the_share_of_the_effect_that_it_has_itself_and_a_failed_run_widens_it() {
    let control = [0.11, 0.25, 0.17, 0.05, 0.21, 0.19, 0.14, 0.08];
    let plain = interval(&control);
    let (mut turned, mut failed) = ([0.2; 12], [0.1; 12]);
    turned[3] = -0.05;
    (failed[0], failed[1]) = (f64::NAN, 0.16);
    for (control, mirror, lo, point, hi) in [
        (&MIRROR[..], &MIRROR[..], 1.0, 1.0, 1.0),
        (&MIRROR.map(|effect| effect / 2.0), &MIRROR, 0.5, 0.5, 0.5),
        (&[0.0; 8], &MIRROR, 0.0, 0.0, 0.0),
        // Of an effect that is always the same, the plain interval of the control over it.
        (&control, &[0.5; 8], plain.lo * 2.0, plain.point * 2.0, plain.hi * 2.0),
        // Too few blocks for an interval.
        (&[0.1; 3], &[0.2; 3], f64::NEG_INFINITY, 0.5, f64::INFINITY),
        // One block of twelve in which the mirror went the other way does not stop the answer.
        (&turned, &turned, 1.0, 1.0, 1.0),
        // Without its failed run it would have no width.
        (&failed, &[0.2; 12], 0.5, 0.5, 0.65),
    ] {
        let found = share::explained(control, mirror, CONFIDENCE).expect("there is an effect");
        assert_close(found.lo, lo);
        assert_close(found.point, point);
        assert_close(found.hi, hi);
        let level = if point.is_finite() && lo.is_finite() { interval(mirror).level } else { 1.0 };
        assert_eq!((found.level, found.n), (level, mirror.len()));
    }
}

#[test]
fn a_mirror_that_is_not_told_from_zero_has_nothing_to_explain() {
    let noise = [0.1, -0.1, 0.12, -0.09, 0.05, -0.06, 0.02, -0.03];
    // Of 8 blocks none may fail for the ends to exist at all: 28 of 36 sums stay, and the 33rd is asked for.
    let mut failed = MIRROR;
    failed[4] = f64::INFINITY;
    for (control, mirror) in [(&MIRROR[..], &noise[..]), (&MIRROR, &[0.0; 8]), (&[], &[]), (&failed, &MIRROR)] {
        assert_eq!(share::explained(control, mirror, CONFIDENCE), None, "{control:?} {mirror:?}");
    }
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
}

#[test]
fn powers_have_their_exponent_as_the_slope_and_other_points_the_least_squares_one() {
    for exponent in [-1.0, 0.0, 0.5, 1.0, 2.0] {
        let points = [1e2, 1e3, 5e4, 2e6].map(|x: f64| (x, 3.0 * x.powf(exponent)));
        assert_close(slope::of_logs(&points).expect("four points"), exponent);
    }
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
    // Nothing seen, and nonsense, leave the whole range.
    for (met, n, confidence) in [(0, 0, CONFIDENCE), (3, 2, CONFIDENCE), (1, 2, f64::NAN), (1, 2, -4.0)] {
        assert_eq!(binomial::interval(met, n, confidence), (0.0, 1.0));
    }
}

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
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| close(*a, *b)), "{found:?}");
    }
}

fn pair(order: Order, a_s: f64, b_s: f64) -> DuetPair {
    DuetPair { order, a_s, b_s }
}

#[test]
fn a_process_gives_the_median_of_its_log_ratios_and_impossible_times_none() {
    let [tenth, double, same] = [(1.1, 1.0), (2.0, 1.0), (1.0, 1.0)].map(|(a, b)| pair(Order::Ab, a, b));
    let stolen_slice = pair(Order::Ba, 90.0, 1.0);
    for (pairs, ratio) in [
        (&[tenth, tenth, tenth, stolen_slice][..], 1.1_f64),
        // Between two middle ones.
        (&[same, stolen_slice, double, double, same, double], 2.0),
        (&[same, pair(Order::Ba, 4.0, 1.0)], 2.0),
        (&[pair(Order::Ba, 1.0, 4.0)], 0.25),
    ] {
        assert_close(duet::log_ratio(pairs).expect("there are pairs"), ratio.ln());
    }
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

#[test]
fn two_groups_with_nothing_between_them_are_two_modes() {
    let [low, high] = modes::two(vec![171.0, 348.0, 175.0, 169.0, 182.0, 369.0, 170.0, 329.0]).expect("two modes");
    assert_eq!((low.lo, low.hi, low.n), (169.0, 182.0, 5));
    assert_eq!((high.lo, high.hi, high.n), (329.0, 369.0, 3));
    // A single value apart is an outlier, a spread without a gap one mode, and seven runs are too few.
    assert_eq!(modes::two(vec![171.0, 175.0, 169.0, 182.0, 170.0, 174.0, 177.0, 369.0]), None);
    assert_eq!(modes::two((0..12).map(|step| 100.0 + 10.0 * f64::from(step)).collect()), None);
    assert_eq!(modes::two(vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]), None);
    // Steps of a coarse clock are no modes, nor is what has no logarithm.
    assert_eq!(modes::two(vec![1.00, 1.00, 1.00, 1.00, 1.04, 1.04, 1.04, 1.04]), None);
    assert_eq!(modes::two(vec![0.0; 12]), None);
}

#[test]
fn one_mode_is_seldom_taken_for_two() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let taken = (0..10_000).filter(|_| modes::two((0..12).map(|_| (0.2 * normal()).exp()).collect()).is_some());
    assert!(taken.count() < 100);
}
