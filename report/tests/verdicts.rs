//! The verdict rules, one outcome at a time, and on both sides of every limit.

use proptest::prelude::*;
use report::claims::rules::Verdict::{
    self, Depends, DoesNot, DoesNotHold, ExplainsIt, Holds, NoDifference, NotTested, PartOfIt, Reversed, Unclear,
};
use report::claims::rules::{self, Band, ControlState, Direction, Each, Over, over, together};
use report::stats::Interval;
use strum::VariantArray as _;

// Exact in binary, so that both sides of each limit can be stood on.
const MARGIN: f64 = 0.0625;
const FLOOR: f64 = 0.125;
const ABOVE: f64 = 1.0 + MARGIN;
const BELOW: f64 = 1.0 / ABOVE;

fn of(point: f64, lo: f64, hi: f64) -> Interval {
    Interval { point, lo, hi, n: 12, level: 0.048 }
}

fn between(lo: f64, hi: f64) -> Interval {
    of(f64::midpoint(lo, hi), lo, hi)
}

/// Too few blocks: a point, and an interval that is the whole line.
fn point_only(point: f64) -> Interval {
    Interval { point, lo: f64::NEG_INFINITY, hi: f64::INFINITY, n: 3, level: 1.0 }
}

/// The next number up.
fn up(x: f64) -> f64 {
    x.next_up()
}

/// The next number down.
fn down(x: f64) -> f64 {
    x.next_down()
}

#[track_caller]
fn expect_ratios(margin: f64, floor: f64, cases: &[(Interval, Verdict)]) {
    for (estimate, verdict) in cases {
        assert_eq!(rules::ratio(estimate, margin, floor), *verdict, "{estimate:?}");
    }
}

#[test]
fn an_effect_needs_all_of_the_interval_beyond_the_margin_and_the_estimate_beyond_the_floor() {
    let cases = [
        (of(1.2, up(ABOVE), 1.5), Holds),
        (of(1.2, ABOVE, 1.5), Unclear),
        (of(up(1.125), 1.07, 1.5), Holds),
        (of(1.125, 1.07, 1.5), Unclear),
        (of(0.8, 0.5, down(BELOW)), Reversed),
        (of(0.8, 0.5, BELOW), NoDifference),
        (of(down(1.0 / 1.125), 0.5, 0.93), Reversed),
        (of(1.0 / 1.125, 0.5, 0.93), NoDifference),
    ];
    expect_ratios(MARGIN, FLOOR, &cases);
}

#[test]
fn no_difference_is_inside_the_margin_ends_included_and_not_better_all_below_its_upper_end() {
    let cases = [
        (between(BELOW, ABOVE), NoDifference),
        (between(down(BELOW), 1.0), NoDifference),
        (between(1.0, up(ABOVE)), Unclear),
        (between(0.5, down(ABOVE)), NoDifference),
        (between(0.5, ABOVE), NoDifference),
        (between(0.5, up(ABOVE)), Unclear),
        (between(0.9, 1.2), Unclear),
    ];
    expect_ratios(MARGIN, FLOOR, &cases);
}

#[test]
fn a_floor_below_the_margin_counts_as_the_margin_and_an_infinite_one_finds_nothing() {
    expect_ratios(MARGIN, 0.0, &[(between(1.01, 1.04), NoDifference), (of(1.07, up(ABOVE), 1.1), Holds)]);
    // The estimate of an interval beyond the margin could lie within it only by a mistake; then it is no effect.
    expect_ratios(MARGIN, 0.0, &[(of(ABOVE, up(ABOVE), 1.1), Unclear)]);
    expect_ratios(MARGIN, f64::INFINITY, &[(between(5.0, 9.0), Unclear), (between(0.1, 0.2), NoDifference)]);
}

#[test]
fn failed_runs_of_the_slower_arm_keep_the_direction_and_leave_the_size_open() {
    let open = f64::INFINITY;
    let cases = [(of(1.5, 1.2, open), Holds), (of(1.5, 0.0, open), Unclear), (of(open, open, open), Holds)];
    expect_ratios(MARGIN, FLOOR, &cases);
}

proptest! {
    #[test]
    fn more_noise_never_makes_a_verdict_another_one_of_those_that_are_firm(
        middle in -1.0..1.0_f64, half in 0.0..0.5_f64, more in 0.0..0.5_f64, floor in 0.05..0.5_f64, higher in 0.0..0.5_f64,
    ) {
        let at = |half: f64| of(middle.exp(), (middle - half).exp(), (middle + half).exp());
        let before = rules::ratio(&at(half), 0.05, floor);
        for after in [
            rules::ratio(&at(half + more), 0.05, floor), rules::ratio(&at(half), 0.05, floor + higher),
        ] {
            let weaker = matches!((before, after), (_, Unclear) | (Reversed, NoDifference));
            prop_assert!(after == before || weaker, "{before} became {after}");
        }
    }

    #[test]
    fn swapping_the_arms_swaps_holds_and_opposite(lo in -1.0..1.0_f64, width in 0.0..1.0_f64, floor in 0.05..0.5_f64) {
        let around = |lo: f64, hi: f64| of(f64::midpoint(lo, hi).exp(), lo.exp(), hi.exp());
        let plain = rules::ratio(&around(lo, lo + width), 0.05, floor);
        let swapped = rules::ratio(&around(-lo - width, -lo), 0.05, floor);
        prop_assert_eq!(plain == Holds, swapped == Reversed);
        prop_assert_eq!(plain == Reversed, swapped == Holds);
    }
}

#[test]
fn an_interval_that_cannot_be_computed_decides_nothing_in_any_kind() {
    let all = Band { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    for estimate in [point_only(1.5), of(1.5, f64::NAN, 2.0), of(1.5, 1.0, f64::NAN)] {
        assert!(!rules::computable(&estimate));
        assert_eq!(rules::ratio(&estimate, 0.05, 0.05), Unclear);
        assert_eq!(rules::equal(&estimate, 0.05), Unclear);
        assert_eq!(rules::value(&estimate, all), Unclear);
        for direction in [Direction::Up, Direction::Down, Direction::Flat] {
            assert_eq!(rules::slope(&estimate, 0.05, direction), Unclear);
        }
        assert_eq!(rules::cause(&estimate), Unclear);
        assert_eq!(rules::every(&estimate, &[], 0.05, 0.05), Unclear);
        assert_eq!(rules::aa(&estimate, 0.05), ControlState::CouldNotTell);
        assert_eq!(rules::planted(&estimate, &between(1.0, 2.0), 0.05, 0.05, 1.5), ControlState::CouldNotTell);
        let far = between(9.0, 9.5);
        assert!(!rules::disagree(&estimate, &far, 0.05) && !rules::disagree(&far, &estimate, 0.05));
    }
    assert!(rules::computable(&between(1.0, 2.0)));
}

#[test]
fn equal_arms_hold_and_copies_pass_inside_the_margin_and_differ_wholly_outside() {
    for (lo, hi, verdict, copies) in [
        (BELOW, ABOVE, Holds, ControlState::Passed),
        (1.01, 1.02, Holds, ControlState::Passed),
        (down(BELOW), 1.0, Unclear, ControlState::CouldNotTell),
        (1.0, up(ABOVE), Unclear, ControlState::CouldNotTell),
        (ABOVE, 1.2, Unclear, ControlState::CouldNotTell),
        (up(ABOVE), 1.2, DoesNotHold, ControlState::Failed),
        (0.8, BELOW, Unclear, ControlState::CouldNotTell),
        (0.8, down(BELOW), DoesNotHold, ControlState::Failed),
    ] {
        let found = between(lo, hi);
        assert_eq!((rules::equal(&found, MARGIN), rules::aa(&found, MARGIN)), (verdict, copies), "[{lo}, {hi}]");
    }
}

#[test]
fn values_lie_in_their_range_below_it_above_it_or_nobody_knows() {
    let band = Band { lo: 100.0, hi: 300.0 };
    for (lo, hi, verdict) in [
        (100.0, 300.0, Holds),
        (down(100.0), 300.0, Unclear),
        (100.0, up(300.0), Unclear),
        (5.0, down(100.0), DoesNotHold),
        (5.0, 100.0, Unclear),
        (up(300.0), 400.0, DoesNotHold),
        (300.0, 400.0, Unclear),
    ] {
        assert_eq!(rules::value(&between(lo, hi), band), verdict, "[{lo}, {hi}]");
    }
}

#[test]
fn a_slope_goes_its_way_the_other_way_neither_way_or_nobody_knows() {
    use Direction::{Down, Flat, Up};
    for (lo, hi, direction, verdict) in [
        (0.101, 0.4, Up, Holds),
        (0.099, 0.4, Up, Unclear),
        (-0.4, -0.101, Up, Reversed),
        (-0.4, -0.099, Up, NoDifference),
        (-0.4, 0.101, Up, Unclear),
        (-0.099, 0.099, Up, NoDifference),
        (-0.4, -0.101, Down, Holds),
        (-0.4, -0.099, Down, Unclear),
        (0.101, 0.4, Down, Reversed),
        (0.099, 0.4, Down, NoDifference),
        (-0.099, 0.099, Down, NoDifference),
        (-0.1, 0.1, Flat, Holds),
        (down(-0.1), 0.0, Flat, Unclear),
        (0.0, up(0.1), Flat, Unclear),
        (up(0.1), 0.4, Flat, DoesNotHold),
        (-0.4, down(-0.1), Flat, DoesNotHold),
    ] {
        assert_eq!(rules::slope(&between(lo, hi), 0.1, direction), verdict, "[{lo}, {hi}] {direction:?}");
    }
}

#[test]
fn a_cause_explains_most_a_part_or_little_of_the_effect() {
    for (lo, hi, verdict) in [
        (0.8, 1.1, ExplainsIt),
        (down(0.8), 1.1, Unclear),
        (-0.1, 0.2, DoesNot),
        (-0.1, up(0.2), Unclear),
        (up(0.2), down(0.8), PartOfIt),
        (0.2, 0.7, Unclear),
        (0.3, 0.8, Unclear),
        (0.1, 0.9, Unclear),
    ] {
        assert_eq!(rules::cause(&between(lo, hi)), verdict, "[{lo}, {hi}]");
    }
}

#[test]
fn an_outcome_needs_its_share_of_blocks_beyond_chance() {
    for (lo, hi, share, verdict) in [
        (0.63, 1.0, down(0.63), Holds),
        (0.63, 1.0, 0.63, Unclear),
        (0.0, 0.37, up(0.37), DoesNotHold),
        (0.0, 0.37, 0.37, Unclear),
        (0.0, 1.0, 0.5, Unclear),
    ] {
        assert_eq!(rules::outcome(&between(lo, hi), share), verdict, "[{lo}, {hi}] {share}");
    }
}

const POOL: (f64, f64) = (1.1, 1.3);

fn scenario((point, lo, hi): (f64, f64, f64), p_value: f64) -> Each {
    Each { estimate: of(point, lo, hi), floor: FLOOR, p_value }
}

fn judged(pool: (f64, f64), scenarios: &[Each]) -> Verdict {
    rules::every(&between(pool.0, pool.1), scenarios, MARGIN, MARGIN)
}

const GOOD: (f64, f64, f64) = (1.3, 1.2, 1.4);

#[test]
fn each_scenario_has_to_clear_the_margin_and_its_floor_by_its_own_estimate() {
    // A floor below the margin counts as the margin.
    let below_margin = Each { floor: 0.0, ..scenario((ABOVE, 0.9, 1.4), 1.0) };
    for (other, verdict) in [
        (scenario((up(1.125), 0.9, 1.4), 1.0), Holds),
        (scenario((1.125, 0.9, 1.4), 1.0), Unclear),
        (below_margin, Unclear),
    ] {
        assert_eq!(judged(POOL, &[scenario(GOOD, 1.0), other]), verdict, "{other:?}");
    }
    assert_eq!(judged(POOL, &[]), Holds);
}

#[test]
fn one_scenario_that_is_shown_not_to_refutes_it_by_its_own_word() {
    let good = scenario(GOOD, 1.0);
    for (own, verdict) in [
        ((0.8, 0.7, 0.85), Reversed),
        ((1.0, 0.98, 1.02), NoDifference),
        ((0.95, 0.9, 1.0), NoDifference),
        // Its own interval says less than its p-value.
        ((1.0, 0.9, 1.2), NoDifference),
    ] {
        assert_eq!(judged(POOL, &[good, scenario(own, 0.049)]), verdict);
        // An open pool does not save it.
        assert_eq!(judged((0.9, 1.3), &[good, scenario(own, 0.049)]), verdict);
    }
    assert_eq!(judged(POOL, &[good, scenario((1.0, 0.98, 1.02), 0.05)]), Unclear);
    let two = [scenario((1.0, 0.98, 1.02), 0.01), scenario((0.8, 0.7, 0.85), 0.01)];
    assert_eq!(judged(POOL, &two), Reversed, "the worst word counts");
}

#[test]
fn a_pool_that_does_not_hold_stands_by_itself() {
    let open = scenario((1.0, 0.9, 1.2), 1.0);
    assert_eq!(judged((0.9, 1.3), &[open]), Unclear);
    assert_eq!(judged((0.98, 1.02), &[open]), NoDifference);
    assert_eq!(judged((0.5, 0.8), &[scenario((1.0, 0.98, 1.02), 0.01)]), Reversed);
}

#[test]
fn a_planted_effect_is_found_beyond_margin_and_floor_at_its_size_or_missed_or_could_not_be_told() {
    use ControlState::{CouldNotTell, Failed, Passed};
    let wide = between(1.0625, 1.25);
    for (lo, wide, floor, size, state) in [
        (1.08, wide, 0.05, 1.10, Passed),
        // Half the margin beyond either end is still found.
        (1.08, wide, 0.05, 1.0370, Passed),
        (1.08, wide, 0.05, 1.2812, Passed),
        (1.08, wide, 0.05, 1.0365, Failed),
        (1.08, wide, 0.05, 1.2813, Failed),
        // An estimate of 1.105 does not clear a floor of 11 %, an interval from 1.04 no margin of 5 %.
        (1.08, wide, 0.11, 1.10, CouldNotTell),
        (1.04, wide, 0.05, 1.10, CouldNotTell),
        // Seven blocks have an interval of 95 % and none of 99 %: nothing says that the size is right.
        (1.08, point_only(1.10), 0.05, 1.10, CouldNotTell),
    ] {
        assert_eq!(rules::planted(&between(lo, 1.13), &wide, 0.05, floor, size), state, "{lo} {floor} {size}");
    }
}

#[test]
fn single_processes_contradict_a_duet_only_from_beyond_the_margin() {
    let duet = between(1.0, 1.25);
    // Exactly a margin away: 1.25 x 1.0625 = 1.328125.
    for (lo, hi, is_apart) in [(1.328_125, 1.5, false), (up(1.328_125), 1.5, true), (1.1, 1.2, false)] {
        assert_eq!(rules::disagree(&duet, &between(lo, hi), MARGIN), is_apart, "[{lo}, {hi}]");
        assert_eq!(rules::disagree(&between(lo, hi), &duet, MARGIN), is_apart, "[{lo}, {hi}] the other way round");
    }
}

#[test]
fn going_first_matters_only_when_its_interval_is_wholly_beyond_the_margin_and_a_tenth_of_the_effect() {
    let limit = 0.02_f64.ln_1p();
    let large = between(0.045, 0.05);
    for (first, effect, matters) in [
        (between(up(limit), 0.05), 0.0, true),
        (between(limit, 0.05), 0.0, false),
        (between(-0.05, down(-limit)), 0.0, true),
        (between(-0.05, -limit), 0.0, false),
        (Interval { level: 1.0, ..between(0.03, 0.05) }, 0.0, false),
        // On the scale of logarithms, in either direction.
        (large, 0.4, true),
        (large, -0.4, true),
        (large, 0.46, false),
        (large, -0.46, false),
    ] {
        assert_eq!(rules::order_matters(&first, effect, 0.02), matters, "{first:?} {effect}");
    }
}

#[test]
fn settings_that_are_decided_alike_have_their_word_and_others_depend() {
    for (settings, verdict) in [
        (&[Holds, Holds][..], Holds),
        (&[Holds, Reversed], Depends),
        (&[Holds, NoDifference], Depends),
        (&[NoDifference, Reversed, Unclear], DoesNotHold),
        (&[NoDifference, Reversed, Depends], Depends),
        // What refutes it in one setting is not saved by one that is unclear; what agrees is.
        (&[Holds, Unclear], Unclear),
        (&[DoesNotHold, Unclear], DoesNotHold),
        (&[Holds, NotTested], Holds),
        (&[Unclear, NotTested], Unclear),
        (&[NotTested, NotTested], NotTested),
        (&[ExplainsIt, PartOfIt], Depends),
        (&[ExplainsIt, Unclear], Unclear),
        (&[], NotTested),
    ] {
        assert_eq!(together(settings.iter().copied()), verdict, "{settings:?}");
        assert_eq!(together(settings.iter().rev().copied()), verdict, "{settings:?} reversed");
    }
}

#[test]
fn hosts_that_leave_it_unclear_are_counted_apart() {
    for (hosts, verdict, decided, unclear) in [
        (&[Holds, Holds, Holds][..], Holds, 3, 0),
        (&[Holds, Unclear, Holds, NotTested], Holds, 2, 1),
        (&[Holds, Reversed], Depends, 2, 0),
        (&[NoDifference, Depends], Depends, 2, 0),
        (&[Unclear, Unclear, NotTested], Unclear, 0, 2),
        (&[NotTested], NotTested, 0, 0),
    ] {
        assert_eq!(over(hosts.iter().copied()), Over { verdict, decided, unclear }, "{hosts:?}");
    }
}

#[test]
fn there_are_seven_words_on_claims_and_four_on_causes_of_which_one_is_shared() {
    let words: Vec<&str> = Verdict::VARIANTS.iter().map(|verdict| (*verdict).into()).collect();
    let claims = ["holds", "no difference", "reversed", "does not hold", "depends", "unclear", "not tested"];
    assert_eq!(words, [&claims[..], &["explains it", "part of it", "does not"]].concat());
}

#[test]
fn two_rounds_contradict_each_other_where_both_decide_and_no_gain_is_no_contradiction_of_a_loss() {
    for (a, b, expected) in [
        (Holds, Reversed, true),
        (Holds, NoDifference, true),
        (Holds, DoesNotHold, true),
        (Reversed, NoDifference, false),
        (DoesNotHold, Reversed, false),
        (Holds, Unclear, false),
        (Holds, NotTested, false),
        (Holds, Holds, false),
    ] {
        assert_eq!((a.contradicts(b), b.contradicts(a)), (expected, expected), "{a} and {b}");
    }
}
