//! The verdict rules, one outcome at a time, and on both sides of every limit.

use proptest::prelude::*;
use report::rules::Verdict::{
    self, Differs, DoesNotHappen, Happens, Higher, Holds, HoldsLarger, HoldsSizeOpen, HoldsSmaller, Invalid, Lower,
    NoDifference, NotBetter, NotMeasured, NotTestableHere, NotTheCause, Opposite, PartOfIt, TheCause, Undecided,
    UndecidedNotTheSize, Unstable,
};
use report::rules::{self, Band, Control, ControlState, Count, Direction, Each};
use report::stats::Interval;
use strum::VariantArray as _;

const SIZE: Option<Band> = Some(Band { lo: 1.25, hi: 1.5 });
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
fn expect_ratios(margin: f64, floor: f64, size: Option<Band>, cases: &[(Interval, Verdict)]) {
    for (estimate, verdict) in cases {
        assert_eq!(rules::ratio(estimate, margin, floor, size), *verdict, "{estimate:?}");
    }
}

#[test]
fn an_effect_needs_all_of_the_interval_beyond_the_margin_and_the_estimate_beyond_the_floor() {
    let cases = [
        (of(1.2, up(ABOVE), 1.5), Holds),
        (of(1.2, ABOVE, 1.5), Undecided),
        (of(up(1.125), 1.07, 1.5), Holds),
        (of(1.125, 1.07, 1.5), Undecided),
        (of(0.8, 0.5, down(BELOW)), Opposite),
        (of(0.8, 0.5, BELOW), NotBetter),
        (of(down(1.0 / 1.125), 0.5, 0.93), Opposite),
        (of(1.0 / 1.125, 0.5, 0.93), NotBetter),
    ];
    expect_ratios(MARGIN, FLOOR, None, &cases);
}

#[test]
fn no_difference_is_inside_the_margin_ends_included_and_not_better_all_below_its_upper_end() {
    let cases = [
        (between(BELOW, ABOVE), NoDifference),
        (between(down(BELOW), 1.0), NotBetter),
        (between(1.0, up(ABOVE)), Undecided),
        (between(0.5, down(ABOVE)), NotBetter),
        (between(0.5, ABOVE), Undecided),
        (between(0.9, 1.2), Undecided),
    ];
    expect_ratios(MARGIN, FLOOR, None, &cases);
}

#[test]
fn a_floor_below_the_margin_counts_as_the_margin_and_an_infinite_one_finds_nothing() {
    expect_ratios(MARGIN, 0.0, None, &[(between(1.01, 1.04), NoDifference), (of(1.07, up(ABOVE), 1.1), Holds)]);
    // The estimate of an interval beyond the margin could lie within it only by a mistake; then it is no effect.
    expect_ratios(MARGIN, 0.0, None, &[(of(ABOVE, up(ABOVE), 1.1), Undecided)]);
    expect_ratios(MARGIN, f64::INFINITY, None, &[(between(5.0, 9.0), Undecided), (between(0.1, 0.2), NotBetter)]);
}

#[test]
fn the_size_says_whether_it_is_inside_smaller_larger_or_open() {
    let cases = [
        (between(1.25, 1.5), Holds),
        (between(down(1.25), 1.5), HoldsSizeOpen),
        (between(1.25, up(1.5)), HoldsSizeOpen),
        (of(1.14, 1.13, down(1.25)), HoldsSmaller),
        (of(1.14, 1.13, 1.25), HoldsSizeOpen),
        (of(1.8, up(1.5), 1.9), HoldsLarger),
        (of(1.8, 1.5, 1.9), HoldsSizeOpen),
        (between(1.13, 1.9), HoldsSizeOpen),
    ];
    expect_ratios(MARGIN, MARGIN, SIZE, &cases);
}

#[test]
fn it_is_another_size_only_if_the_estimate_is_further_from_it_than_the_floor() {
    // The ends of the band are 1.25 * 1.125 and 1.5.
    let band = Some(Band { lo: 1.40625, hi: 1.5 });
    let cases = [
        (of(down(1.25), 1.2, 1.3), HoldsSmaller),
        (of(1.25, 1.2, 1.3), HoldsSizeOpen),
        (of(up(1.6875), 1.6, 1.8), HoldsLarger),
        (of(1.6875, 1.6, 1.8), HoldsSizeOpen),
        (of(1.25, 1.0, 1.3), Undecided),
        (of(down(1.25), 1.0, 1.3), UndecidedNotTheSize),
    ];
    expect_ratios(MARGIN, FLOOR, band, &cases);
}

#[test]
fn the_size_softens_no_other_verdict_and_what_excludes_it_says_so() {
    let cases = [
        (between(0.5, 0.9), Opposite),
        (between(0.97, 1.03), NoDifference),
        (between(0.7, 1.05), NotBetter),
        (between(0.97, 1.3), Undecided),
        (between(0.97, 1.25), Undecided),
        (of(1.1, 0.97, down(1.25)), UndecidedNotTheSize),
        // Beyond the margin as a whole, and not beyond the floor.
        (of(1.11, 1.07, 1.2), UndecidedNotTheSize),
    ];
    expect_ratios(MARGIN, FLOOR, SIZE, &cases);
    // Above a small size, and by more than the floor or not.
    let small = Some(Band { lo: 1.07, hi: 1.125 });
    expect_ratios(MARGIN, 0.5, small, &[(of(1.25, up(1.125), 1.3), Undecided), (of(1.25, 1.0, 1.3), Undecided)]);
    expect_ratios(MARGIN, MARGIN, small, &[(of(1.25, up(1.125), 1.3), HoldsLarger)]);
}

#[test]
fn a_claimed_size_counts_from_half_to_twice_its_log_effect_in_either_direction() {
    for (size, lo, hi) in [(1.44, 1.2, 2.0736), (1.0 / 1.44, 1.0 / 2.0736, 1.0 / 1.2)] {
        let band = Band::around(size);
        assert!((band.lo - lo).abs() < 1e-12 && (band.hi - hi).abs() < 1e-12, "{band:?}");
    }
}

#[test]
fn failed_runs_of_the_slower_arm_keep_the_direction_and_leave_the_size_open() {
    let open = f64::INFINITY;
    let cases = [(of(1.5, 1.2, open), Holds), (of(1.5, 0.0, open), Undecided), (of(open, open, open), Holds)];
    expect_ratios(MARGIN, FLOOR, None, &cases);
    expect_ratios(MARGIN, FLOOR, SIZE, &[(of(1.5, 1.3, open), HoldsSizeOpen)]);
}

proptest! {
    /// What the floor is for: rounds that differ by no more than two copies of one program do contradict each other in no size.
    #[test]
    fn rounds_that_differ_by_the_floor_never_contradict_each_other_in_the_size(
        (point, apart, half, floor) in (1.01..3.0f64, 0.0..1.0f64, 0.0..0.3f64, 0.0..0.3f64),
        (lo, width) in (1.05..2.0f64, 0.0..1.0f64),
    ) {
        let band = Some(Band { lo, hi: lo + width });
        let judged = |point: f64| rules::ratio(&of(point, point / (1.0 + half), point * (1.0 + half)), 0.0, floor, band);
        let found = [judged(point), judged(point * (1.0 + floor).powf(apart))];
        prop_assert!(!(found.contains(&Holds) && (found.contains(&HoldsSmaller) || found.contains(&HoldsLarger))), "{found:?}");
    }

    #[test]
    fn more_noise_never_makes_a_verdict_another_one_of_those_that_are_firm(
        middle in -1.0..1.0_f64, half in 0.0..0.5_f64, more in 0.0..0.5_f64, floor in 0.05..0.5_f64, higher in 0.0..0.5_f64,
    ) {
        let at = |half: f64| of(middle.exp(), (middle - half).exp(), (middle + half).exp());
        let before = rules::ratio(&at(half), 0.05, floor, None);
        for after in [
            rules::ratio(&at(half + more), 0.05, floor, None), rules::ratio(&at(half), 0.05, floor + higher, None),
        ] {
            let weaker = matches!((before, after), (_, Undecided) | (Opposite | NoDifference, NotBetter));
            prop_assert!(after == before || weaker, "{before} became {after}");
        }
    }

    #[test]
    fn swapping_the_arms_swaps_holds_and_opposite(lo in -1.0..1.0_f64, width in 0.0..1.0_f64, floor in 0.05..0.5_f64) {
        let around = |lo: f64, hi: f64| of(f64::midpoint(lo, hi).exp(), lo.exp(), hi.exp());
        let plain = rules::ratio(&around(lo, lo + width), 0.05, floor, None);
        let swapped = rules::ratio(&around(-lo - width, -lo), 0.05, floor, None);
        prop_assert_eq!(plain == Holds, swapped == Opposite);
        prop_assert_eq!(plain == Opposite, swapped == Holds);
        prop_assert_eq!(plain == NoDifference, swapped == NoDifference);
    }
}

#[test]
fn an_interval_that_cannot_be_computed_decides_nothing_in_any_kind() {
    let all = Band { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    for estimate in [point_only(1.5), of(1.5, f64::NAN, 2.0), of(1.5, 1.0, f64::NAN)] {
        assert!(!rules::computable(&estimate));
        assert_eq!(rules::ratio(&estimate, 0.05, 0.05, Some(Band { lo: 5.0, hi: 9.0 })), Undecided);
        assert_eq!(rules::equal(&estimate, 0.05), Undecided);
        assert_eq!(rules::value(&estimate, all), Undecided);
        for direction in [Direction::Up, Direction::Down, Direction::Flat] {
            assert_eq!(rules::slope(&estimate, 0.05, direction), Undecided);
        }
        assert_eq!(rules::cause(&estimate, Control::Claimed), Undecided);
        assert_eq!(rules::every(&estimate, &[], 0.05, 0.05, None), Undecided);
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
        (down(BELOW), 1.0, Undecided, ControlState::CouldNotTell),
        (1.0, up(ABOVE), Undecided, ControlState::CouldNotTell),
        (ABOVE, 1.2, Undecided, ControlState::CouldNotTell),
        (up(ABOVE), 1.2, Differs, ControlState::Failed),
        (0.8, BELOW, Undecided, ControlState::CouldNotTell),
        (0.8, down(BELOW), Differs, ControlState::Failed),
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
        (down(100.0), 300.0, Undecided),
        (100.0, up(300.0), Undecided),
        (5.0, down(100.0), Lower),
        (5.0, 100.0, Undecided),
        (up(300.0), 400.0, Higher),
        (300.0, 400.0, Undecided),
    ] {
        assert_eq!(rules::value(&between(lo, hi), band), verdict, "[{lo}, {hi}]");
    }
}

#[test]
fn a_slope_goes_its_way_the_other_way_neither_way_or_nobody_knows() {
    use Direction::{Down, Flat, Up};
    for (lo, hi, direction, verdict) in [
        (0.101, 0.4, Up, Holds),
        (0.099, 0.4, Up, Undecided),
        (-0.4, -0.101, Up, Opposite),
        (-0.4, -0.099, Up, NotBetter),
        (-0.099, 0.099, Up, NoDifference),
        (-0.4, -0.101, Down, Holds),
        (-0.4, -0.099, Down, Undecided),
        (0.101, 0.4, Down, Opposite),
        (0.099, 0.4, Down, NotBetter),
        (-0.099, 0.099, Down, NoDifference),
        (-0.1, 0.1, Flat, Holds),
        (down(-0.1), 0.0, Flat, Undecided),
        (0.0, up(0.1), Flat, Undecided),
        (up(0.1), 0.4, Flat, Differs),
        (-0.4, down(-0.1), Flat, Differs),
    ] {
        assert_eq!(rules::slope(&between(lo, hi), 0.1, direction), verdict, "[{lo}, {hi}] {direction:?}");
    }
}

#[test]
fn a_cause_explains_most_a_part_or_little_of_the_effect() {
    for (lo, hi, claimed, rival) in [
        (0.8, 1.1, TheCause, NotTheCause),
        (down(0.8), 1.1, Undecided, Undecided),
        (-0.1, 0.2, NotTheCause, TheCause),
        (-0.1, up(0.2), Undecided, Undecided),
        (up(0.2), down(0.8), PartOfIt, PartOfIt),
        (0.2, 0.7, Undecided, Undecided),
        (0.3, 0.8, Undecided, Undecided),
        (0.1, 0.9, Undecided, Undecided),
    ] {
        assert_eq!(rules::cause(&between(lo, hi), Control::Claimed), claimed, "[{lo}, {hi}]");
        assert_eq!(rules::cause(&between(lo, hi), Control::Rival), rival, "[{lo}, {hi}]");
    }
}

#[test]
fn an_outcome_needs_its_share_of_blocks_beyond_chance() {
    for (lo, hi, share, verdict) in [
        (0.63, 1.0, down(0.63), Happens),
        (0.63, 1.0, 0.63, Undecided),
        (0.0, 0.37, up(0.37), DoesNotHappen),
        (0.0, 0.37, 0.37, Undecided),
        (0.0, 1.0, 0.5, Undecided),
    ] {
        assert_eq!(rules::outcome(&between(lo, hi), share), verdict, "[{lo}, {hi}] {share}");
    }
}

const POOL: (f64, f64) = (1.1, 1.3);

fn scenario((point, lo, hi): (f64, f64, f64), p_value: f64) -> Each {
    Each { estimate: of(point, lo, hi), floor: FLOOR, p_value }
}

fn judged(pool: (f64, f64), scenarios: &[Each]) -> Verdict {
    rules::every(&between(pool.0, pool.1), scenarios, MARGIN, MARGIN, None)
}

const GOOD: (f64, f64, f64) = (1.3, 1.2, 1.4);

#[test]
fn each_scenario_has_to_clear_the_margin_and_its_floor_by_its_own_estimate() {
    // A floor below the margin counts as the margin.
    let below_margin = Each { floor: 0.0, ..scenario((ABOVE, 0.9, 1.4), 1.0) };
    for (other, verdict) in [
        (scenario((up(1.125), 0.9, 1.4), 1.0), Holds),
        (scenario((1.125, 0.9, 1.4), 1.0), Undecided),
        (below_margin, Undecided),
    ] {
        assert_eq!(judged(POOL, &[scenario(GOOD, 1.0), other]), verdict, "{other:?}");
    }
    assert_eq!(judged(POOL, &[]), Holds);
}

#[test]
fn one_scenario_that_is_shown_not_to_refutes_it_by_its_own_word() {
    let good = scenario(GOOD, 1.0);
    for (own, verdict) in [
        ((0.8, 0.7, 0.85), Opposite),
        ((1.0, 0.98, 1.02), NoDifference),
        ((0.95, 0.9, 1.0), NotBetter),
        // Its own interval says less than its p-value.
        ((1.0, 0.9, 1.2), NotBetter),
    ] {
        assert_eq!(judged(POOL, &[good, scenario(own, 0.049)]), verdict);
        // An open pool does not save it.
        assert_eq!(judged((0.9, 1.3), &[good, scenario(own, 0.049)]), verdict);
    }
    assert_eq!(judged(POOL, &[good, scenario((1.0, 0.98, 1.02), 0.05)]), Undecided);
    let two = [scenario((1.0, 0.98, 1.02), 0.01), scenario((0.8, 0.7, 0.85), 0.01)];
    assert_eq!(judged(POOL, &two), Opposite, "the worst word counts");
}

#[test]
fn a_pool_that_does_not_hold_stands_by_itself() {
    let open = scenario((1.0, 0.9, 1.2), 1.0);
    assert_eq!(judged((0.9, 1.3), &[open]), Undecided);
    assert_eq!(judged((0.98, 1.02), &[open]), NoDifference);
    assert_eq!(judged((0.5, 0.8), &[scenario((1.0, 0.98, 1.02), 0.01)]), Opposite);
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
fn every_word_is_counted_in_one_way() {
    let with = |count| Verdict::VARIANTS.iter().copied().filter(|verdict| verdict.count() == count).collect::<Vec<_>>();
    assert_eq!(with(Count::Holds), [HoldsSmaller, HoldsLarger, HoldsSizeOpen, Holds, TheCause, Happens]);
    let against = [Opposite, NoDifference, NotBetter, Differs, Lower, Higher, NotTheCause, PartOfIt, DoesNotHappen];
    assert_eq!(with(Count::DoesNotHold), against);
    assert_eq!(with(Count::Undecided), [Invalid, Unstable, UndecidedNotTheSize, Undecided]);
    assert_eq!(with(Count::NotJudged), [NotTestableHere, NotMeasured]);
}

#[test]
fn of_several_verdicts_the_worst_counts_and_without_any_nothing_was_measured() {
    // Doubt, contradiction, what was not judged, what is open, what holds.
    let rank = |verdict: Verdict| match verdict {
        Invalid => 0,
        Unstable => 1,
        _ => match verdict.count() {
            Count::DoesNotHold => 2,
            Count::NotJudged => 3,
            Count::Undecided => 4,
            Count::Holds => 5,
        },
    };
    for a in Verdict::VARIANTS {
        for b in Verdict::VARIANTS.iter().filter(|b| rank(*a) < rank(**b)) {
            assert_eq!((rules::worst([*a, *b]), rules::worst([*b, *a])), (*a, *a), "{a} and {b}");
        }
    }
    for other in [HoldsSmaller, HoldsLarger, HoldsSizeOpen] {
        assert_eq!(rules::worst([Holds, other, Holds]), other);
    }
    assert_eq!(rules::worst([HoldsSizeOpen, HoldsSmaller]), HoldsSmaller);
    assert_eq!(rules::worst([NoDifference, Opposite]), Opposite);
    assert_eq!(rules::worst([Holds; 3]), Holds);
    assert_eq!(rules::worst([]), NotMeasured);
}
