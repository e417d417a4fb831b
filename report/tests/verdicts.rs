//! The verdict rules, one outcome at a time.

use proptest::prelude::*;
use report::judged::Estimate;
use report::judged::Verdict::{
    self, Confirmed, Inconclusive, Invalid, NotMeasured, NotReproduced, Refuted, Reproduced, ReproducedLarger,
    ReproducedSizeUndecided, ReproducedSmaller, Reversed, Unstable,
};
use report::stats::Interval;
use report::verdict::{self, Band, Control, Direction};
use strum::VariantArray as _;

fn between(lo: f64, hi: f64) -> Estimate {
    Estimate { point: f64::midpoint(lo, hi), lo, hi, n: 12, level: 0.048 }
}

/// Too few blocks: a point, and an interval that is the whole line.
fn point_only(point: f64) -> Estimate {
    Estimate { point, lo: f64::NEG_INFINITY, hi: f64::INFINITY, n: 3, level: 1.0 }
}

mod ratio {
    use super::*;

    #[track_caller]
    fn expect(margin: f64, floor: f64, size: Option<Band>, cases: &[(f64, f64, Verdict)]) {
        for (lo, hi, verdict) in cases {
            assert_eq!(verdict::ratio(&between(*lo, *hi), margin, floor, size), *verdict, "[{lo}, {hi}]");
        }
    }

    const SIZE: Option<Band> = Some(Band { lo: 1.2, hi: 1.5 });

    #[test]
    fn beyond_the_floor_is_reproduced_or_reversed_inside_the_margin_absent_and_between_inconclusive() {
        let cases = [
            (1.11, 1.5, Reproduced),
            (0.5, 0.90, Reversed),
            (0.96, 1.04, NotReproduced),
            // The lower end of the margin is 1/1.05 = 0.9524, not 0.95.
            (0.951, 1.04, Inconclusive),
            (1.06, 1.5, Inconclusive),
            (0.5, 0.94, Inconclusive),
            (0.9, 1.2, Inconclusive),
        ];
        expect(0.05, 0.10, None, &cases);
    }

    #[test]
    fn a_floor_below_the_margin_does_not_make_a_negligible_difference_count() {
        expect(0.05, 0.0, None, &[(1.01, 1.04, NotReproduced), (0.96, 0.99, NotReproduced)]);
    }

    #[test]
    fn an_infinite_floor_reproduces_nothing() {
        expect(0.05, f64::INFINITY, None, &[(5.0, 9.0, Inconclusive), (0.1, 0.2, Inconclusive)]);
    }

    #[test]
    fn the_size_says_whether_it_is_inside_smaller_larger_or_undecided_and_softens_no_other_verdict() {
        let cases = [
            (1.25, 1.45, Reproduced),
            (1.06, 1.19, ReproducedSmaller),
            (1.6, 1.9, ReproducedLarger),
            (1.1, 1.3, ReproducedSizeUndecided),
            (1.4, 1.6, ReproducedSizeUndecided),
            (1.1, 1.9, ReproducedSizeUndecided),
            (0.5, 0.9, Reversed),
            (0.97, 1.03, NotReproduced),
            (0.97, 1.3, Inconclusive),
        ];
        expect(0.05, 0.05, SIZE, &cases);
    }

    #[test]
    fn a_claimed_size_counts_from_half_to_twice_its_log_effect_in_either_direction() {
        let band = Band::around(1.44);
        assert!((band.lo - 1.2).abs() < 1e-12 && (band.hi - 2.0736).abs() < 1e-12);
        let band = Band::around(1.0 / 1.44);
        assert!((band.hi - 1.0 / 1.2).abs() < 1e-12 && (band.lo - 1.0 / 2.0736).abs() < 1e-12);
    }

    #[test]
    fn failed_runs_of_the_slower_arm_keep_the_direction_and_leave_the_size_open() {
        let open = f64::INFINITY;
        expect(0.05, 0.10, None, &[(1.2, open, Reproduced), (0.0, open, Inconclusive), (open, open, Reproduced)]);
        expect(0.05, 0.05, SIZE, &[(1.3, open, ReproducedSizeUndecided)]);
    }

    proptest! {
        #[test]
        fn a_higher_floor_or_a_wider_interval_never_makes_a_verdict_firmer(
            middle in -1.0..1.0_f64, half in 0.0..0.5_f64, more in 0.0..0.5_f64, floor in 0.05..0.5_f64, higher in 0.0..0.5_f64,
        ) {
            let narrow = between((middle - half).exp(), (middle + half).exp());
            let wide = between((middle - half - more).exp(), (middle + half + more).exp());
            let before = verdict::ratio(&narrow, 0.05, floor, None);
            for after in [verdict::ratio(&wide, 0.05, floor, None), verdict::ratio(&narrow, 0.05, floor + higher, None)] {
                prop_assert!(after == before || after == Inconclusive, "{before} became {after}");
            }
        }

        #[test]
        fn swapping_the_arms_swaps_reproduced_and_reversed(lo in -1.0..1.0_f64, width in 0.0..1.0_f64, floor in 0.05..0.5_f64) {
            let plain = verdict::ratio(&between(lo.exp(), (lo + width).exp()), 0.05, floor, None);
            let swapped = verdict::ratio(&between((-lo - width).exp(), (-lo).exp()), 0.05, floor, None);
            let turned = [(Reproduced, Reversed), (Reversed, Reproduced)].into_iter().find(|(before, _)| *before == plain);
            prop_assert_eq!(swapped, turned.map_or(plain, |(_, after)| after));
        }
    }
}

#[test]
fn an_interval_that_cannot_be_computed_is_inconclusive_in_every_kind() {
    for estimate in [point_only(1.5), Estimate { lo: f64::NAN, ..between(1.0, 2.0) }] {
        assert_eq!(verdict::ratio(&estimate, 0.05, 0.05, None), Inconclusive);
        assert_eq!(verdict::equal(&estimate, 0.05), Inconclusive);
        assert_eq!(verdict::band(&estimate, Band { lo: f64::NEG_INFINITY, hi: f64::INFINITY }), Inconclusive);
        assert_eq!(verdict::slope(&estimate, 0.05, Direction::Up), Inconclusive);
        assert_eq!(verdict::cause(&estimate, Control::Claimed), Inconclusive);
        assert_eq!(verdict::every(&estimate, &[], 0.05, 0.05, None), Inconclusive);
        assert!(!verdict::aa_failed(&estimate, 0.05));
        assert!(!verdict::planted_found(&estimate, &between(1.0, 2.0), 0.05, 1.5));
    }
}

#[test]
fn equal_arms_and_values_are_inside_their_range_outside_it_or_undecided() {
    for (lo, hi, verdict) in
        [(0.97, 1.04, Reproduced), (1.06, 1.2, NotReproduced), (0.8, 0.95, NotReproduced), (1.0, 1.2, Inconclusive)]
    {
        assert_eq!(verdict::equal(&between(lo, hi), 0.05), verdict, "[{lo}, {hi}]");
    }
    let band = Band { lo: 100.0, hi: 300.0 };
    for (lo, hi, verdict) in [
        (100.0, 300.0, Reproduced),
        (310.0, 400.0, NotReproduced),
        (5.0, 9.0, NotReproduced),
        (250.0, 350.0, Inconclusive),
    ] {
        assert_eq!(verdict::band(&between(lo, hi), band), verdict, "[{lo}, {hi}]");
    }
}

#[test]
fn a_slope_goes_its_way_the_other_way_neither_way_or_nobody_knows() {
    use Direction::{Down, Flat, Up};
    for (lo, hi, direction, verdict) in [
        (0.2, 0.4, Up, Reproduced),
        (-0.4, -0.2, Up, Reversed),
        (-0.05, 0.05, Up, NotReproduced),
        (0.05, 0.4, Up, Inconclusive),
        (-0.4, -0.2, Down, Reproduced),
        (0.2, 0.4, Down, Reversed),
        (-0.05, 0.05, Down, NotReproduced),
        (-0.4, 0.0, Down, Inconclusive),
        (-0.1, 0.1, Flat, Reproduced),
        (0.2, 0.4, Flat, NotReproduced),
        (0.0, 0.4, Flat, Inconclusive),
    ] {
        assert_eq!(verdict::slope(&between(lo, hi), 0.1, direction), verdict, "[{lo}, {hi}] {direction:?}");
    }
}

#[test]
fn a_cause_is_confirmed_or_refuted_by_the_share_that_its_control_explains() {
    let judged = |lo, hi, control| verdict::cause(&between(lo, hi), control);
    assert_eq!(judged(0.8, 1.1, Control::Claimed), Confirmed);
    assert_eq!(judged(-0.1, 0.2, Control::Claimed), Refuted);
    assert_eq!(judged(0.3, 0.6, Control::Claimed), Inconclusive);
    assert_eq!(judged(0.8, 1.1, Control::Rival), Refuted);
    assert_eq!(judged(-0.1, 0.2, Control::Rival), Confirmed);
    assert_eq!(judged(0.1, 0.9, Control::Rival), Inconclusive);
}

#[test]
fn an_outcome_needs_its_share_of_blocks_beyond_chance() {
    // The exact interval of 8 of 8 begins at 0.63, that of 7 of 8 at 0.47.
    assert_eq!(verdict::outcome(8, 8, 0.5), Reproduced);
    assert_eq!(verdict::outcome(7, 8, 0.5), Inconclusive);
    assert_eq!(verdict::outcome(1, 8, 0.5), Inconclusive);
    assert_eq!(verdict::outcome(0, 8, 0.5), NotReproduced);
    assert_eq!(verdict::outcome(0, 0, 0.5), Inconclusive);
}

#[test]
fn every_scenario_must_agree_and_one_significant_contradiction_refutes() {
    let judged = |lo, hi, reversed: &[f64]| verdict::every(&between(lo, hi), reversed, 0.05, 0.05, None);
    assert_eq!(judged(1.1, 1.3, &[1.0, 0.9, 0.05]), Reproduced);
    assert_eq!(judged(1.1, 1.3, &[1.0, 0.9, 0.049]), NotReproduced);
    assert_eq!(judged(0.9, 1.3, &[1.0, 0.9, 0.049]), NotReproduced);
    assert_eq!(judged(0.9, 1.3, &[1.0, 1.0, 1.0]), Inconclusive);
    assert_eq!(judged(0.98, 1.02, &[1.0, 1.0, 1.0]), NotReproduced);
    assert_eq!(judged(0.5, 0.8, &[0.01, 0.01, 0.01]), Reversed);
}

#[test]
fn twins_fail_only_when_wholly_beyond_the_margin() {
    assert!(verdict::aa_failed(&between(1.06, 1.2), 0.05));
    assert!(verdict::aa_failed(&between(0.8, 0.95), 0.05));
    assert!(!verdict::aa_failed(&between(1.04, 1.2), 0.05));
    assert!(!verdict::aa_failed(&between(1.01, 1.02), 0.05));
}

#[test]
fn a_planted_effect_must_be_beyond_the_floor_and_of_the_planted_size() {
    let wide = between(1.06, 1.15);
    assert!(verdict::planted_found(&between(1.08, 1.13), &wide, 0.05, 1.10));
    assert!(!verdict::planted_found(&between(1.08, 1.13), &wide, 0.09, 1.10));
    assert!(!verdict::planted_found(&between(1.08, 1.13), &wide, 0.05, 1.20));
    assert!(!verdict::planted_found(&between(1.08, 1.13), &wide, 0.05, 1.01));
    // Seven blocks have an interval of 95 % and none of 99 %: nothing says that the size is right.
    assert!(!verdict::planted_found(&between(1.08, 1.13), &point_only(1.10), 0.05, 1.10));
}

#[test]
fn going_first_invalidates_only_when_its_interval_is_wholly_beyond_the_margin() {
    let first = |lo: f64, hi: f64| Interval { point: f64::midpoint(lo, hi), lo, hi, n: 20, level: 0.048 };
    assert!(verdict::order_failed(&first(0.03, 0.05), 0.02));
    assert!(verdict::order_failed(&first(-0.05, -0.03), 0.02));
    assert!(!verdict::order_failed(&first(0.01, 0.09), 0.02));
    assert!(!verdict::order_failed(&first(0.005, 0.01), 0.02));
    assert!(!verdict::order_failed(&Interval { level: 1.0, ..first(0.03, 0.05) }, 0.02));
}

mod over_several_scenarios {
    use super::*;

    #[test]
    fn only_reproduced_everywhere_is_reproduced() {
        assert_eq!(verdict::worst([Reproduced; 3]), Reproduced);
        for other in Verdict::VARIANTS.iter().copied().filter(|other| !matches!(other, Reproduced | Confirmed)) {
            assert_eq!(verdict::worst([Reproduced, other, Reproduced]), other);
        }
    }

    #[test]
    fn a_failed_control_outweighs_everything_and_two_runs_that_disagree_all_but_that() {
        for other in Verdict::VARIANTS.iter().copied() {
            assert_eq!(verdict::worst([other, Invalid]), Invalid);
            if other != Invalid {
                assert_eq!(verdict::worst([other, Unstable]), Unstable);
            }
        }
    }

    #[test]
    fn a_contradiction_outweighs_an_open_question_and_that_a_confirmation() {
        assert_eq!(verdict::worst([Inconclusive, Reversed]), Reversed);
        assert_eq!(verdict::worst([NotMeasured, NotReproduced]), NotReproduced);
        assert_eq!(verdict::worst([Inconclusive, Refuted, Confirmed]), Refuted);
        assert_eq!(verdict::worst([ReproducedSmaller, Inconclusive]), Inconclusive);
        assert_eq!(verdict::worst([ReproducedSizeUndecided, ReproducedSmaller]), ReproducedSmaller);
    }

    #[test]
    fn no_scenarios_are_not_measured() {
        assert_eq!(verdict::worst([]), NotMeasured);
    }

    proptest! {
        #[test]
        fn the_order_of_the_scenarios_does_not_matter(verdicts in prop::collection::vec(prop::sample::select(Verdict::VARIANTS), 0..8)) {
            let reversed = verdict::worst(verdicts.iter().rev().copied());
            prop_assert_eq!(verdict::worst(verdicts), reversed);
        }
    }
}
