//! From claims and samples to verdicts, on made-up samples for each kind of claim and each verdict.

use report::folder::dataset::{CORE_TO_CORE, Sample};
use report::folder::plan_file::Calibration;
use report::folder::record::{DuetPair, Order};
use report::judge::judged::Verdict::{
    Depends, DoesNot, DoesNotHold, ExplainsIt, Holds, NoDifference, NotTested, PartOfIt, Reversed, Unclear,
};
use report::judge::judged::{Aside, ControlState, Judged, JudgedControl, JudgedStudy};
use samples::{RATIO, Samples, fair, n, near, parsed, ratio_of, works};

mod samples;

/// A claim of another kind, over twelve blocks of `s` unless `more` says otherwise.
fn claim_of(kind: &str, more: &str) -> String {
    let scenarios = if more.contains("scenarios") { "" } else { "scenarios = ['s']\n" };
    let head = "[[claim]]\nid = 'X'\ntext = 't'\noriginal = 'o'\npublished = { absent = 'no' }\nfair = {}\nblocks = { quick = 12 }\n";
    format!("{head}{scenarios}kind = '{kind}'\n{more}\n")
}

/// [`RATIO`] over `s` and `t`.
fn over_two() -> String {
    RATIO.replace("['s']", "['s', 't']")
}

/// Copies that differ by up to 60 % either way.
fn scatter() -> Vec<f64> {
    (0..12).map(|block| if block % 2 == 0 { 1.6 } else { 1.0 / 1.6 }).collect()
}

#[test]
fn a_claim_about_whole_processes_stays_open_where_one_is_too_short_to_be_timed_whole() {
    let claims = RATIO.replace("work_s", "process_s");
    assert_ne!(claims, RATIO);
    let of = |shortest: f64| {
        let mut b = near(0.3, 0.0, 12);
        b[5] = shortest;
        Samples::default().metric("s", "a", "process_s", &near(0.6, 0.01, 12)).metric("s", "b", "process_s", &b)
    };
    assert_eq!(of(0.2).verdict(&claims), Holds);
    let claim = of(0.199).claim(&claims);
    assert_eq!((claim.verdict, claim.rows[0].verdict), (Unclear, Unclear));
    assert!(claim.reason.contains("a process took 0.199 s"), "{}", claim.reason);
    // The clock inside the process does not see its start.
    assert_eq!(works(&near(0.06, 0.01, 12), &[0.03; 12]).verdict(RATIO), Holds);
}

#[test]
fn the_row_carries_estimate_interval_medians_and_level_of_the_blocks_that_were_asked_for() {
    let mut a = near(1.2, 0.01, 20);
    a[12..].fill(9.0);
    let claim = works(&a, &[1.0; 20]).claim(RATIO);
    let row = &claim.rows[0];
    let estimate = row.estimate.as_ref().expect("there are samples");
    assert_eq!((claim.verdict, estimate.n), (Holds, 12));
    assert!((estimate.point - 1.2).abs() < 0.01, "{estimate:?}");
    assert!(estimate.lo <= estimate.point && estimate.point <= estimate.hi && estimate.hi < 1.3, "{estimate:?}");
    assert!((estimate.level - 0.0425).abs() < 0.001, "the exact level of 12 pairs: {}", estimate.level);
    assert_eq!(row.sides.iter().map(|side| side.arm.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!((row.sides[0].median - 1.2).abs() < 0.02 && (row.sides[1].median - 1.0).abs() < 1e-12);
    for too_few in [works(&[2.0; 5], &[1.0; 5]), Samples::default()] {
        assert_eq!(too_few.verdict(RATIO), Unclear);
    }
}

/// Both arms in `blocks`, a of which takes 3 instead of 1.2 in those that find the cores so far apart, in ns.
fn moved(blocks: usize, far: &[usize], far_ns: f64) -> Samples {
    let of = |usual: f64, there: f64| move |block| [if far.contains(&block) { there } else { usual }];
    let [work_s, ns] = [of(1.2, 3.0), of(50.0, far_ns)];
    let a = (0..blocks).map(|block| [work_s(block)[0], ns(block)[0]]);
    let names = ["work_s", CORE_TO_CORE];
    Samples::default().metrics("s", "a", names, a).metrics("s", "b", names, vec![[1.0, 50.0]; blocks])
}

#[test]
fn pairs_that_found_the_cores_elsewhere_are_set_aside_where_six_are_left() {
    let row = |samples: &Samples| samples.claim(RATIO).rows[0].clone();
    let found = row(&moved(12, &[1, 5, 7], 195.0));
    assert_eq!(found.estimate.map(|estimate| (estimate.n, (estimate.point * 1e6).round())), Some((9, 1_200_000.0)));
    let aside = Aside { value: 3.0_f64.ln().exp(), apart_ns: 195.0, usual_ns: 50.0 };
    assert_eq!(found.aside, [aside; 3]);
    // Their medians are of the pairs that count.
    assert!((row(&moved(12, &[0, 1, 2, 3, 4, 5], 195.0)).sides[0].median - 1.2).abs() < 1e-12);
    for (blocks, far, far_ns, counted) in [
        (12, &[0, 1, 2, 3, 4, 5][..], 195.0, 6),
        (12, &[0, 1, 2, 3, 4, 5, 6], 195.0, 12),
        (6, &[3], 195.0, 6),
        (7, &[3], 195.0, 6),
        // Nearer is elsewhere, and what lies within half as much again is not.
        (12, &[3], 33.0, 11),
        (12, &[3], 34.0, 12),
        (12, &[3], 75.0, 12),
        (12, &[3], 76.0, 11),
    ] {
        let found = row(&moved(blocks, far, far_ns));
        assert_eq!(found.estimate.map(|estimate| estimate.n), Some(counted), "{far:?} of {blocks} at {far_ns} ns");
        assert_eq!(found.aside.len(), blocks - counted, "{far:?} of {blocks} at {far_ns} ns");
    }
}

#[test]
fn a_failed_run_counts_wherever_the_cores_were() {
    let names = ["work_s", CORE_TO_CORE];
    let b = (0..12).map(|block| [1.0, if block == 3 { 195.0 } else { 50.0 }]);
    let a = (0..12).map(|block| if block == 3 { [f64::INFINITY; 2] } else { [1.2, 50.0] });
    let row = Samples::default().metrics("s", "a", names, a).metrics("s", "b", names, b).claim(RATIO).rows[0].clone();
    assert_eq!((row.failed, row.estimate.map(|estimate| estimate.n), row.aside), (1, Some(12), vec![]));
}

/// The arms `a` at 1.2 and `b` at 1 in twelve blocks of a scenario, of which `a` finds the cores far apart in `far`.
fn far_in(samples: Samples, scenario: &str, far: std::ops::Range<usize>) -> Samples {
    let names = ["work_s", CORE_TO_CORE];
    let a = (0..12).map(|block| if far.contains(&block) { [3.0, 195.0] } else { [1.2, 50.0] });
    samples.metrics(scenario, "a", names, a).metrics(scenario, "b", names, [[1.0, 50.0]; 12])
}

#[test]
fn what_is_judged_together_loses_the_blocks_of_each() {
    // Each loses other blocks by itself; both together keep all where fewer than six would be left.
    for (of_s, of_t, expected) in [(0..4, 4..8, [12, 8, 8]), (0..3, 2..5, [7, 9, 9])] {
        let samples = far_in(far_in(Samples::default(), "s", of_s), "t", of_t);
        let rows = samples.claim(&over_two().replace("'ratio'", "'every'")).rows;
        let n: Vec<usize> = rows.iter().filter_map(|row| Some(row.estimate?.n)).collect();
        assert_eq!(n, expected);
    }
}

#[test]
fn a_cause_rests_on_blocks_that_count_for_both_of_its_sides() {
    // The control explains all of the effect, but in blocks of its own that find the cores far apart.
    let names = ["work_s", CORE_TO_CORE];
    let far = |far: std::ops::Range<usize>, near: [f64; 2], there: [f64; 2]| {
        (0..12).map(move |block| if far.contains(&block) { there } else { near })
    };
    let samples = Samples::default()
        .metrics("s", "a", names, [[1.2, 50.0]; 12])
        .metrics("s", "b", names, far(0..2, [1.0, 50.0], [0.5, 195.0]))
        .metrics("s", "c", names, far(8..11, [1.0, 50.0], [1.2, 195.0]));
    let row = samples.claim(&with_cause(RATIO, SHARE)).causes[0].evidence[0].clone();
    assert_eq!((row.estimate.map(|of| (of.n, of.point)), row.verdict), (Some((7, 1.0)), ExplainsIt));
    assert_eq!(row.aside.len(), 5);
}

#[test]
fn a_round_without_a_usual_place_of_its_cores_keeps_all_pairs() {
    let far: Vec<usize> = (0..8).collect();
    // Eight runs of a at 195 ns, the other 16 in halves at 25 and 50 ns.
    let names = ["work_s", CORE_TO_CORE];
    let a = (0..12).map(|block| [1.2, if far.contains(&block) { 195.0 } else { 50.0 }]);
    let b = (0..12).map(|block| [1.0, if block < 8 { 25.0 } else { 50.0 }]);
    let row = Samples::default().metrics("s", "a", names, a).metrics("s", "b", names, b).claim(RATIO).rows[0].clone();
    assert_eq!((row.estimate.map(|estimate| estimate.n), row.aside), (Some(12), vec![]));
}

#[test]
fn a_claim_over_several_scenarios_has_the_word_that_all_share_or_depends() {
    for (t, rows, verdict, deciding) in [
        (1.2, [Holds, Holds], Holds, "s"),
        (0.8, [Holds, Reversed], Depends, "s"),
        (1.05, [Holds, Unclear], Unclear, "t"),
    ] {
        let claim = ratio_of(1.2).both("t", "work_s", t).claim(&over_two());
        assert_eq!(claim.rows.iter().map(|row| row.verdict).collect::<Vec<_>>(), rows);
        assert_eq!(claim.verdict, verdict, "t at {t}");
        assert_eq!(claim.deciding_row().map(|row| row.scenario.as_str()), Some(deciding), "t at {t}");
    }
}

#[test]
fn copies_that_differ_make_a_claim_invalid_and_noise_between_them_undecided_and_never_equal() {
    let names_the_control = "the control aa b work_s s failed";
    for (copies, state, verdict, reason) in [
        (near(1.0, 0.01, 12), ControlState::Passed, Holds, ""),
        // An effect of 8 % cannot be told from that.
        (scatter(), ControlState::CouldNotTell, Unclear, ""),
        (near(1.2, 0.01, 12), ControlState::Failed, Unclear, names_the_control),
    ] {
        let study = ratio_of(1.08).work("b@aa", &copies).judge(RATIO);
        let claim = fair(&study, 0);
        assert_eq!((study.controls[0].state, claim.verdict), (state, verdict));
        assert_eq!(claim.rows[0].floor > Some(0.08), state != ControlState::Passed, "{:?}", claim.rows[0].floor);
        assert!(claim.reason.starts_with(reason), "{}", claim.reason);
    }
}

#[test]
fn the_floor_comes_from_copies_in_the_same_scenario_where_there_are_some_and_from_all_others_where_not() {
    let elsewhere = over_two().replace("kind", "aa = { arm = 'b', scenarios = ['s'] }\nkind");
    let two = || ratio_of(1.2).both("t", "work_s", 1.2);
    let own = two().at("s", "b@aa", 1.0).metric("t", "b@aa", "work_s", &scatter());
    for (samples, claims, is_loud) in
        [(own, over_two(), [false, true]), (two().work("b@aa", &scatter()), elsewhere, [true, true])]
    {
        let rows = samples.claim(&claims).rows;
        assert_eq!([0, 1].map(|row: usize| rows[row].floor > Some(0.08)), is_loud, "{rows:?}");
        assert!(is_loud[0] || rows[0].floor < Some(0.051), "{rows:?}");
    }
}

const PLANTED: &str = "[planted]\nprocess = { arm = 'b', scenarios = ['s'], size = 1.1, blocks = { quick = 12 } }\n";

fn planted_in(study: &JudgedStudy) -> &JudgedControl {
    study.controls.iter().find(|control| control.planted.is_some()).expect("it is planted")
}

#[test]
fn a_planted_effect_must_be_found_at_its_size_unless_noise_hides_it_or_no_copies_show_the_noise() {
    use ControlState::{CouldNotTell, Failed, Passed};
    let no_floor = "no noise floor: no A/A control measured the noise";
    let outside = "the planted 1.1 is off the 99 % interval";
    for (slow, spread, has_copies, state, reason) in [
        (1.10, 0.01, true, Passed, ""),
        (1.30, 0.01, true, Failed, outside),
        (1.00, 0.01, true, Failed, outside),
        (1.10, 0.20, true, CouldNotTell, "noise hides effects of this size"),
        (1.10, 0.01, false, CouldNotTell, no_floor),
        (1.30, 0.01, false, Failed, outside),
    ] {
        let samples = ratio_of(1.2).work("b@slow", &near(slow, spread, 12));
        let judged = |text: &str| {
            let claims = format!("{PLANTED}{text}");
            if has_copies { samples.judge(&claims) } else { samples.judge_alone(&claims) }
        };
        let study = judged(RATIO);
        let control = planted_in(&study);
        assert_eq!(control.state, state, "planted 1.1, measured {slow}: {}", control.reason);
        assert!(control.reason.starts_with(reason) && control.reason.is_empty() == reason.is_empty());
        let verdict = if state == Failed { Unclear } else { Holds };
        assert!(!has_copies || fair(&study, 0).verdict == verdict, "{slow} {spread}");
        // A value in a range has no floor, and no size that could be distorted.
        let band = judged(&RATIO.replace("'ratio'", "'band'\nband = [1.0, 1.5]"));
        assert_eq!(fair(&band, 0).verdict, Holds);
    }
    // An A/A control of another metric ran the same copies.
    let of_memory = format!("{PLANTED}{}", RATIO.replace("work_s", "peak_rss_kib"));
    let study = ratio_of(1.5).at("s", "b@slow", 1.1).at("s", "b@aa", 1.0).judge_alone(&of_memory);
    assert_eq!(planted_in(&study).state, Passed);
}

#[test]
fn a_trial_is_wrong_if_a_difference_is_found_beyond_the_floor_of_the_next_or_one_of_the_margin_called_none() {
    let claims = parsed(&RATIO.replace("quick = 12", "quick = 8"));
    let quiet = [0.001, -0.001, 0.001, -0.001, 0.001, -0.001, 0.001, -0.001];
    let noisy = [0.5, -0.5, 0.4, -0.4, 0.6, -0.6, 0.5, -0.3];
    let scattered = [0.01, -0.02, 0.03, -0.01, 0.02, -0.03, 0.015, -0.012];
    for (first, second, misses, wrong, equal) in [
        (scattered, scattered, 0, 0, 0),
        (quiet, [0.2; 8], 1, 1, 0),
        ([-0.2; 8], quiet, 1, 1, 0),
        (quiet, [0.03; 8], 1, 0, 1),
        (noisy, [0.1; 8], 1, 0, 0),
    ] {
        let copies = [first, second].concat().iter().map(|log| f64::exp(*log)).collect::<Vec<_>>();
        let samples = Samples::default().work("b", &[1.0; 16]).work("b@aa", &copies);
        let calibration = Calibration { controls: vec!["aa b work_s s".to_owned()], trials: 2 };
        let round = samples.round(&claims, "toy/round", "quick");
        let found = report::judge::calibrate(&round, &calibration).pop().expect("there are two trials");
        assert_eq!((found.trials, found.misses), (2, misses), "{first:?} {second:?}");
        assert_eq!((found.wrong, found.equal), (wrong, equal), "{first:?} {second:?}");
        // The lower end of the interval lies a few percent below one, so that an effect must exceed the margin by as much.
        assert!(misses > 0 || (0.05..0.09).contains(&found.least), "{}", found.least);
    }
}

#[test]
fn copies_that_are_told_apart_in_one_of_several_scenarios_fail_even_if_their_mean_is_quiet() {
    let claims = RATIO.replace("['s']", "['s', 't', 'u']");
    // Reversed biases, whose mean is none.
    for (bias, state, reason) in [
        (1.2, ControlState::Failed, "in t two copies of one arm differ by more than 5 %"),
        (1.03, ControlState::Passed, ""),
    ] {
        let samples = ratio_of(1.2).both("t", "work_s", 1.2).both("u", "work_s", 1.2);
        let copied = samples.at("s", "b@aa", 1.0).at("t", "b@aa", bias).at("u", "b@aa", 1.0 / bias);
        let study = copied.judge(&claims);
        let control = &study.controls[0];
        let point = control.row.estimate.map_or(f64::NAN, |estimate| estimate.point);
        assert!((point - 1.0).abs() < 0.01, "{point}");
        assert_eq!((control.state, control.reason.as_str()), (state, reason));
        assert_eq!(fair(&study, 0).verdict == Unclear, state == ControlState::Failed);
    }
}

#[test]
fn a_test_whose_noise_no_copies_show_is_undecided_and_says_so() {
    let of = |ratio: f64, copies: usize, text: &str| {
        let study = ratio_of(ratio).work("b@aa", &near(1.0, 0.01, copies)).judge_alone(text);
        let control = study.controls.first().map(|control| (control.state, control.reason.clone()));
        (fair(&study, 0).clone(), control)
    };
    for kind in ["ratio", "every"] {
        let text = RATIO.replace("'ratio'", &format!("'{kind}'"));
        for ratio in [1.5, 1.0, 0.5] {
            for (copies, reason) in [
                (0, "no noise floor: no A/A control measured the noise"),
                (5, "no noise floor: 5 A/A pairs measured the noise, 6 are the fewest"),
                (6, ""),
            ] {
                let (found, control) = of(ratio, copies, &text);
                let is_open = (found.verdict == Unclear, found.rows[0].verdict == Unclear);
                assert_eq!(is_open, (copies < 6, copies < 6), "{kind} {ratio} {copies}");
                assert_eq!(found.rows[0].floor == Some(f64::INFINITY), copies < 6);
                assert_eq!(found.reason, reason);
                let no_samples = (ControlState::CouldNotTell, "no samples".to_owned());
                assert_eq!(control == Some(no_samples), copies == 0);
            }
        }
    }
    // The margin alone decides what is equal.
    let equal = RATIO.replace("'ratio'", "'equal'");
    for (ratio, verdict) in [(1.5, DoesNotHold), (1.0, Holds), (0.5, DoesNotHold)] {
        let (found, _) = of(ratio, 0, &equal);
        assert_eq!((found.verdict, found.reason.as_str()), (verdict, ""));
    }
    let (unguarded, _) = of(1.5, 12, &RATIO.replace("kind", "aa = 'none'\nkind"));
    assert_eq!(unguarded.verdict, Unclear);
    assert!(unguarded.reason.starts_with("no noise floor"), "{}", unguarded.reason);
    let duet = Samples::default().duet("a~b", &near(1.5, 0.005, 12), 1.0);
    assert_eq!(fair(&duet.judge_alone(&duet_claim()), 0).verdict, Unclear);
}

#[test]
fn what_has_no_floor_by_definition_needs_no_copies() {
    let claims = |kind: &str| RATIO.replace("kind = 'ratio'", kind);
    for (text, verdict) in [
        (claims("kind = 'band'\nband = [1.1, 1.3]"), Holds),
        (claims("kind = 'outcome'\nat_least = 1.1\nshare = 0.5"), Holds),
        (claim_of("ratio", "metric = 'work_s'\narm = 'a'"), Holds),
    ] {
        let study = ratio_of(1.2).judge_alone(&text);
        let found = fair(&study, 0);
        assert_eq!((found.verdict, found.rows[0].floor, found.reason.as_str()), (verdict, None, ""), "{text}");
    }
}

#[test]
fn a_band_holds_a_value_that_is_a_difference_per_something() {
    for (cost_ns, verdict) in [(200.0, Holds), (500.0, DoesNotHold), (50.0, DoesNotHold), (300.0, Unclear)] {
        let a = near(cost_ns, 0.02, 12).into_iter().map(|cost| [1.0 + cost * 1e-3, 1e6]);
        let samples = Samples::default().metrics("s", "a", ["work_s", "messages_count"], a).work("b", &[1.0; 12]);
        let of = "metric = 'work_s'\narm = 'a'\nminus = 'b'\nper = 'messages_count'\nfactor = 1e9\nunit = 'ns'";
        let claim = samples.claim(&claim_of("band", &format!("{of}\nband = [100.0, 300.0]")));
        assert_eq!(claim.verdict, verdict, "{cost_ns} ns: {:?}", claim.rows[0].estimate);
        let point = claim.rows[0].estimate.as_ref().map_or(f64::NAN, |estimate| estimate.point);
        assert!((point / cost_ns - 1.0).abs() < 0.02, "{point} is about {cost_ns}");
    }
}

fn slope_claim(aim: &str) -> String {
    let of = "metric = 'work_s'\narms = ['a']\nx = 'rows_count'\nscenarios = ['r1', 'r2', 'r3']";
    claim_of("slope", &format!("{of}\n{aim}")).replace("quick = 12", "quick = 8")
}

/// Three scenarios of so many rows, eight blocks each.
const ROWS: [(&str, f64); 3] = [("r1", 1e5), ("r2", 3e5), ("r3", 1e6)];

/// An arm whose work grows with this power of the rows.
fn growing(samples: Samples, arm: &str, (level, spread, exponent): (f64, f64, f64)) -> Samples {
    ROWS.into_iter().fold(samples, |samples, (scenario, rows)| {
        let values = near(level, spread, 8).into_iter().map(move |level| [rows, level * f64::powf(rows, exponent)]);
        samples.metrics(scenario, arm, ["rows_count", "work_s"], values)
    })
}

#[test]
fn a_slope_is_judged_by_a_band_or_a_direction() {
    for (aim, exponent, verdict) in [
        ("band = [0.95, 1.05]", 1.0, Holds),
        ("band = [0.95, 1.05]", 1.3, DoesNotHold),
        ("direction = 'up'", 0.5, Holds),
        ("direction = 'up'", 0.0, NoDifference),
        ("direction = 'down'", 0.5, Reversed),
        ("direction = 'flat'", 0.5, DoesNotHold),
    ] {
        let claim = growing(Samples::default(), "a", (1e-6, 0.01, exponent)).claim(&slope_claim(aim));
        assert_eq!(claim.verdict, verdict, "{aim}, measured {exponent}: {:?}", claim.rows[0].estimate);
        assert_eq!(n(&claim), Some(8));
    }
}

#[test]
fn a_failed_run_leaves_a_slope_open_instead_of_leaving_the_block_out() {
    let samples = ROWS.into_iter().fold(Samples::default(), |samples, (scenario, rows)| {
        let fails = |block| scenario == "r2" && block < 4;
        let work_s = |block| if fails(block) { f64::INFINITY } else { 1e-6 * rows };
        samples.metrics(scenario, "a", ["rows_count", "work_s"], (0..8).map(|block| [rows, work_s(block)]))
    });
    let claim = samples.claim(&slope_claim("band = [0.95, 1.05]"));
    assert_eq!(claim.verdict, Unclear, "{:?}", claim.rows[0]);
    assert_eq!((claim.rows[0].failed, n(&claim)), (4, Some(8)));
}

/// A claim that what the arm c does without is the cause.
fn cause_claim(explains: &str) -> String {
    claim_of("cause", &format!("{SHARE}\nexplains = '{explains}'"))
}

#[test]
fn a_cause_is_judged_by_the_share_that_its_control_explains_of_an_effect_that_is_there() {
    for (effect, c, verdict, reason) in [
        // The control arm c takes all, half or none of the effect away.
        (1.5, 1.0, ExplainsIt, ""),
        (1.5, 1.5, DoesNot, ""),
        (1.5, 1.225, PartOfIt, ""),
        // A loss has a cause as a gain has.
        (0.6, 1.0, ExplainsIt, ""),
        // Nothing has none.
        (1.0, 1.0, Unclear, "C shows no effect that could have a cause"),
    ] {
        let study = ratio_of(effect).at("s", "c", c).judge(&format!("{RATIO}{}", cause_claim("C")));
        let claim = fair(&study, 1);
        assert_eq!((claim.verdict, claim.reason.as_str()), (verdict, reason), "{effect}, control at {c}");
    }
}

#[test]
fn a_cause_explains_the_part_that_is_a_ratio_of_arms() {
    // Four holds, and 1.5 times b: it is the latter that c takes away.
    let value = "{ metric = 'blocked_s', arm = 'a', per = 'work_s', kind = 'band', band = [1.0, 9.0] }";
    let effect = forms("{ absent = 'no' }", &format!("{{ part = [{value}, {{}}] }}"));
    let both = near(1.5, 0.005, 12).into_iter().map(|work| [4.0 * work, work]);
    let samples = ratio_of(1.5).at("s", "c", 1.0).metrics("s", "a", ["blocked_s", "work_s"], both);
    let study = samples.judge(&format!("{effect}{}", cause_claim("C")));
    let found = fair(&study, 1);
    assert_eq!(found.verdict, ExplainsIt, "{:?}", found.rows[0].estimate);
}

#[test]
fn an_outcome_counts_the_blocks_that_meet_the_criterion_and_those_of_which_nothing_is_known_leave_it_open() {
    let claims = claim_of("outcome", "metric = 'failed_percent'\narm = 'a'\nat_least = 0.1\nshare = 0.5");
    for (met, verdict) in [(12, Holds), (0, DoesNotHold), (6, Unclear)] {
        let values: Vec<f64> = (0..12).map(|block| if block < met { 3.0 } else { 0.0 }).collect();
        let claim = Samples::default().metric("s", "a", "failed_percent", &values).claim(&claims);
        assert_eq!(claim.verdict, verdict, "{met} of 12 blocks");
        let point = claim.rows[0].estimate.as_ref().map_or(f64::NAN, |estimate| estimate.point);
        assert!((point - f64::from(met) / 12.0).abs() < 1e-12);
    }
    let claims = claim_of("outcome", "metric = 'work_s'\nratio = 'a / b'\nat_most = 2.0\nshare = 0.5");
    let failed = [f64::INFINITY; 12];
    assert_eq!(works(&failed, &failed).verdict(&claims), Unclear);
    // One arm that fails everywhere is known: it is infinitely slow.
    assert_eq!(works(&failed, &[1.0; 12]).verdict(&claims), DoesNotHold);
}

#[test]
fn every_holds_where_each_scenario_shows_it_and_one_that_is_shown_not_to_refutes_it() {
    let claims = RATIO.replace("'ratio'", "'every'").replace("['s']", "['s', 't', 'u']");
    for (t, spread, verdict) in [
        (1.2, 0.01, Holds),
        (1.0, 0.01, NoDifference),
        (0.8, 0.01, Reversed),
        (1.03, 0.01, NoDifference),
        // Its own estimate does not clear the margin, and nothing is shown of it either.
        (1.03, 0.3, Unclear),
    ] {
        let samples = ratio_of(1.4).both("u", "work_s", 1.4).metric("t", "a", "work_s", &near(t, spread, 12));
        let found = samples.metric("t", "b", "work_s", &[1.0; 12]).claim(&claims);
        assert_eq!(found.verdict, verdict, "t at {t}: {:?}", found.rows);
        assert_eq!(found.rows.len(), 4, "the pooled row and one per scenario");
        assert_eq!(found.deciding_row().map(|row| row.scenario.as_str()), Some("all"));
    }
    assert_eq!(ratio_of(1.4).both("u", "work_s", 1.4).verdict(&claims), Unclear, "t did not run");
}

#[test]
fn what_was_not_or_cannot_be_measured_says_why() {
    const ABSENT: &str = "{ absent = 'a made-up claim has no author' }";
    let unread = "cycles_count could not be read on this machine";
    let slope = slope_claim("direction = 'up'").replace("work_s", "cycles_count");
    for (claims, verdict, reason) in [
        (RATIO.replace("quick = 12, ", ""), NotTested, "no round of this host asked it"),
        (RATIO.replace(ABSENT, "{}").replace("fair = {}", "fair = { pending = 'why' }"), NotTested, "why"),
        (RATIO.replace("work_s", "cycles_count"), NotTested, unread),
        (slope, NotTested, unread),
        (
            RATIO.replace("fair = {}", "fair = { least_cpus = 4.0 }"),
            NotTested,
            "it takes 4 processors, and this machine has 2",
        ),
        (RATIO.replace("fair = {}", "fair = { least_cpus = 2.0 }"), Holds, ""),
    ] {
        let claim = growing(ratio_of(1.2), "a", (1e-6, 0.01, 1.0)).claim(&claims);
        assert!(claim.rows.iter().all(|row| row.estimate.is_none() || row.verdict == verdict), "{:?}", claim.rows);
        assert_eq!((claim.verdict, claim.reason.as_str()), (verdict, reason), "{claims}");
    }
}

#[test]
fn failed_runs_count_as_infinitely_bad_and_are_never_dropped() {
    let (failed, well) = ([f64::INFINITY; 12], [1.0; 12]);
    let mut one = near(1.5, 0.01, 12);
    one[3] = f64::INFINITY;
    for (a, b, verdict, n_failed) in [
        // The failure only makes a worse.
        (&one[..], well, Holds, 1),
        (&failed, well, Holds, 12),
        (&failed, failed, Unclear, 24),
    ] {
        let claim = works(a, &b).claim(RATIO);
        let row = &claim.rows[0];
        assert_eq!((claim.verdict, row.failed), (verdict, n_failed));
        assert!(row.estimate.is_none_or(|found| found.n == 12 && found.lo.is_infinite() == (n_failed > 1)));
    }
    // Of a throughput, the worst is nothing at all.
    let rate = RATIO.replace("work_s", "requests_per_s") + "better = 'higher'\n";
    let samples = Samples::default().metric("s", "a", "requests_per_s", &failed);
    assert_eq!(samples.metric("s", "b", "requests_per_s", &well).verdict(&rate), Reversed);
}

fn duet_claim() -> String {
    RATIO.replace("kind = 'ratio'", "kind = 'ratio'\nreplicate = 'duet'").replace("0.05", "0.02")
}

/// Twelve duets in which `a` takes 5 % longer.
fn duets() -> Samples {
    Samples::default().duet("a~b", &near(1.05, 0.005, 12), 1.0)
}

#[test]
fn a_slope_over_duets_takes_their_ratios() {
    let slope = "kind = 'slope'\nx = 'size'\ndirection = 'up'\nreplicate = 'duet'\naa = 'none'";
    let claims = over_two().replace("kind = 'ratio'", slope);
    let mut samples = Samples::default();
    for (scenario, size, ratio) in [("s", 1.0, 1.0), ("t", 100.0, 10.0)] {
        for (block, ratio) in (0..).zip(near(ratio, 0.01, 12)) {
            let pairs = [Order::Ab, Order::Ba].map(|order| DuetPair { order, a_s: 0.01 * ratio, b_s: 0.01 }).repeat(5);
            let metrics = [("size".to_owned(), size)].into();
            samples.0.add(scenario, "a~b", Sample { block, pairs, metrics, ..Sample::default() });
        }
    }
    let estimate = fair(&samples.judge_alone(&claims), 0).rows[0].estimate.expect("there is a slope");
    assert!((estimate.point - 0.5).abs() < 0.01, "a tenfold ratio over a hundredfold size: {}", estimate.point);
}

#[test]
fn a_duet_gives_one_ratio_per_process_and_is_invalid_if_going_first_matters() {
    let claim = duets().claim(&duet_claim());
    assert_eq!((claim.verdict, n(&claim)), (Holds, Some(12)));
    assert!((claim.rows[0].sides[0].median - 0.0105).abs() < 1e-4, "{:?}", claim.rows[0].sides);
    // Up to the margin of 2 % it does not, on either side, nor up to a tenth of a larger effect.
    for (first, verdict, reason) in [
        (1.015, Holds, ""),
        (1.0 / 1.015, Holds, ""),
        (1.03, Unclear, "in s the arm that goes first differs by 3.0 %"),
        (1.0 / 1.03, Unclear, "in s the arm that goes first differs by 3.0 %"),
    ] {
        let claim = Samples::default().duet("a~b", &near(1.05, 0.005, 12), first).claim(&duet_claim());
        assert_eq!((claim.verdict, claim.reason.as_str()), (verdict, reason), "{first}");
    }
    let large = |first| Samples::default().duet("a~b", &near(2.0, 0.005, 12), first).verdict(&duet_claim());
    assert_eq!((large(1.05), large(1.1)), (Holds, Unclear));
}

#[test]
fn a_duet_in_which_one_arm_always_goes_first_shows_no_effect_of_order_and_is_invalid() {
    let thirteen = duet_claim().replace("quick = 12", "quick = 13");
    let one_sided = |arm: &str| {
        let pairs = vec![DuetPair { order: Order::Ba, a_s: 0.01, b_s: 0.01 }; 20];
        let mut samples = duets();
        samples.0.add("s", arm, Sample { block: 12, pairs, ..Sample::default() });
        samples
    };
    let found = one_sided("a~b").claim(&thirteen);
    assert_eq!(found.verdict, Unclear);
    assert_eq!(found.reason, "in s one arm goes first in all pairs of 1 of 13 duets");
    assert_eq!(one_sided("b~b@aa").judge(&thirteen).controls[0].state, ControlState::Failed);
    // A failed run has no pairs, and no order.
    let mut failed = duets();
    failed.0.add("s", "a~b", Sample { block: 12, error: Some("wrong answer".to_owned()), ..Sample::default() });
    assert_eq!(failed.verdict(&thirteen), Holds);
}

#[test]
fn the_controls_of_duets_are_duets_of_an_arm_and_its_copy() {
    let planted = "[planted]\nduet = { arm = 'b', scenarios = ['s'], size = 1.04, blocks = { quick = 12 } }\n";
    for (copies, slow, verdict) in [
        (1.0, 1.04, Holds),
        // The planted effect is not found; the copies differ.
        (1.0, 1.0, Unclear),
        (1.1, 1.04, Unclear),
    ] {
        let samples = duets().duet("b~b@aa", &near(copies, 0.002, 12), 1.0);
        let samples = samples.duet("b@slow~b", &near(slow, 0.002, 12), 1.0);
        assert_eq!(samples.verdict(&format!("{planted}{}", duet_claim())), verdict, "{copies} {slow}");
    }
}

#[test]
fn a_duet_must_agree_with_processes_of_its_arms() {
    // Seven processes prove nothing.
    for (a, n, verdict) in [(1.05, 8, Holds), (1.5, 8, Unclear), (1.5, 7, Holds)] {
        let found = duets().work("a", &near(a, 0.01, n)).work("b", &near(1.0, 0.0, n)).claim(&duet_claim());
        assert_eq!((found.verdict, found.reason.ends_with(" disagree")), (verdict, verdict == Unclear), "{a} {n}");
    }
}

/// The claim with a cause.
fn with_cause(claims: &str, keys: &str) -> String {
    claims.replace("kind =", &format!("cause = [{{ short = 'locks', text = 't', {keys} }}]\nkind ="))
}

const SHARE: &str = "ratio = 'a / c'";
const COUNTER: &str = "metric = 'faults_count', arm = 'd', at_least = 100";

#[test]
fn causes_are_stated_with_the_share_they_explain() {
    let claims = with_cause(RATIO, SHARE);
    for (c, standing, stated) in [
        (Some(1.0), ExplainsIt, &["locks"][..]),
        (Some(1.225), PartOfIt, &[]),
        (Some(1.5), DoesNot, &[]),
        (None, Unclear, &[]),
    ] {
        let samples = c.into_iter().fold(ratio_of(1.5), |samples, c| samples.at("s", "c", c));
        let claim = samples.claim(&claims);
        assert_eq!(claim.causes[0].verdict, standing, "c at {c:?}: {:?}", claim.causes[0].evidence);
        assert_eq!(stated_causes(&claim), stated);
    }
}

/// The causes that explain the effect of one host, by their names.
fn stated_causes(found: &Judged) -> Vec<&str> {
    let stated = found.causes.iter().filter(|cause| found.has_effect() && cause.verdict == ExplainsIt);
    stated.map(|cause| cause.short.as_str()).collect()
}

#[test]
fn a_cause_counts_in_all_scenarios_that_the_test_is_judged_in() {
    let samples = |c: f64, faults: f64| {
        let samples = ratio_of(1.5).both("t", "work_s", 1.5).at("s", "c", 1.0).at("t", "c", c);
        let samples = samples.metric("s", "d", "faults_count", &[500.0; 12]);
        samples.metric("t", "d", "faults_count", &[faults; 12])
    };
    for kind in ["ratio", "every"] {
        let claims = over_two().replace("'ratio'", &format!("'{kind}'"));
        for (c, standing, verdict) in
            [(1.0, ExplainsIt, ExplainsIt), (1.225, PartOfIt, Depends), (1.5, DoesNot, Depends)]
        {
            let found = samples(c, 0.0).claim(&with_cause(&claims, SHARE));
            assert_eq!(found.causes[0].verdict, verdict, "{kind}, c in t at {c}");
            let rows: Vec<_> =
                found.causes[0].evidence.iter().map(|row| (row.scenario.as_str(), row.verdict)).collect();
            assert_eq!(rows, [("s", ExplainsIt), ("t", standing)]);
        }
        for (faults, kept) in [(200.0, ExplainsIt), (10.0, Depends)] {
            let found = samples(1.0, faults).claim(&with_cause(&claims, COUNTER));
            assert_eq!(found.causes[0].verdict, kept, "{kind}, {faults} in t");
        }
    }
}

#[test]
fn the_cause_of_a_slope_explains_a_share_of_the_slope() {
    let of = "ratio = 'a / b'\nx = 'rows_count'\ndirection = 'up'\nscenarios = ['r1', 'r2', 'r3']";
    let claims = with_cause(&claim_of("slope", of), SHARE).replace("quick = 12", "quick = 8");
    // a / b grows with the square root of the rows; c takes all, half or nothing of that, whatever it takes of a by a constant.
    for (exponent, standing) in [(0.5, ExplainsIt), (0.25, PartOfIt), (0.0, DoesNot)] {
        let samples = growing(Samples::default(), "a", (1.0, 0.005, 0.5));
        let samples = growing(growing(samples, "b", (1.0, 0.0, 0.0)), "c", (0.3, 0.0, 0.5 - exponent));
        let found = samples.claim(&claims);
        assert_eq!(found.verdict, Holds);
        let [cause] = &found.causes[..] else { panic!("one cause") };
        assert_eq!(cause.verdict, standing, "{exponent}: {:?}", cause.evidence);
        assert_eq!(cause.evidence.iter().map(|row| row.scenario.as_str()).collect::<Vec<_>>(), ["all"]);
    }
}

#[test]
fn evidence_rests_on_the_blocks_of_its_own_part() {
    // From block 12 on, which others ask for, c explains nothing and the counter is small.
    let of_own = |level: f64, beyond: f64| [near(level, 0.005, 12), near(beyond, 0.005, 8)].concat();
    let samples = works(&near(1.5, 0.01, 20), &[1.0; 20]).work("c", &of_own(1.0, 1.5));
    let samples = samples.metric("s", "d", "faults_count", &of_own(500.0, 1.0));
    for (keys, standing) in [(SHARE, ExplainsIt), (COUNTER, ExplainsIt)] {
        let cause = &samples.claim(&with_cause(RATIO, &format!("{keys}, blocks = {{ quick = 20 }}"))).causes[0];
        assert_eq!((cause.evidence[0].estimate.map(|estimate| estimate.n), cause.verdict), (Some(12), standing));
    }
}

#[test]
fn counters_are_stated_if_they_keep_their_bound_even_measured_once_and_there_is_an_effect() {
    for (ratio, faults, kept, stated) in [
        (1.5, near(500.0, 0.0, 12), ExplainsIt, &["locks"][..]),
        (1.5, near(500.0, 0.0, 1), ExplainsIt, &["locks"]),
        (1.5, near(10.0, 0.0, 12), DoesNot, &[]),
        (1.5, near(10.0, 0.0, 1), DoesNot, &[]),
        // The interval holds the bound.
        (1.5, near(100.0, 0.5, 12), Unclear, &[]),
        // There is no effect.
        (1.01, near(500.0, 0.0, 12), ExplainsIt, &[]),
    ] {
        let claim = ratio_of(ratio).metric("s", "d", "faults_count", &faults).claim(&with_cause(RATIO, COUNTER));
        assert_eq!(claim.causes[0].verdict, kept, "{faults:?}");
        assert_eq!(stated_causes(&claim), stated, "{ratio} {faults:?}");
    }
}

#[test]
fn goals_hold_or_do_not_or_are_unclear() {
    let goal = "[[goal]]\nid = 'G'\ntext = 't'\nmetric = 'work_s'\nratio = 'a / b'\nscenarios = ['s']\n\
                at_most = 1.5\nblocks = { quick = 12 }\n";
    for (ratio, goal, standing) in [
        (1.2, goal, Holds),
        (2.0, goal, DoesNotHold),
        (1.5, goal, Unclear),
        (1.2, &goal.replace("quick", "full"), NotTested),
        // A metric that nothing recorded.
        (1.2, &goal.replace("work_s", "cycles_count"), NotTested),
    ] {
        let found = &ratio_of(ratio).judge(goal).goals[0];
        assert_eq!((found.verdict, found.bound.as_str()), (standing, "<= 1.5"), "a / b = {ratio}");
    }
}

#[test]
fn the_parts_of_a_form_come_to_one_verdict_with_its_reason() {
    let claims =
        RATIO.replace("fair = {}", "fair = { part = [{ text = 'here' }, { scenarios = ['t'], text = 'there' }] }");
    for (t, copies, verdict, reason) in [
        (1.3, 1.0, Holds, ""),
        (1.0, 1.0, Depends, ""),
        (1.05, 1.0, Unclear, ""),
        (1.3, 1.3, Unclear, "the control aa b work_s t failed"),
    ] {
        let found = ratio_of(1.2).both("t", "work_s", t).at("t", "b@aa", copies).claim(&claims);
        assert_eq!(found.verdict, verdict, "t at {t}");
        assert!(found.reason.starts_with(reason), "{}", found.reason);
        assert_eq!(found.rows.iter().map(|row| row.part.as_str()).collect::<Vec<_>>(), ["here", "there"]);
    }
    let one_profile = claims.replace("text = 'there'", "text = 'there', blocks = { full = 8 }");
    let half = ratio_of(1.2).claim(&one_profile);
    assert_eq!((half.verdict, half.rows.len()), (Holds, 1), "what was not tested stands apart");
}

/// A claim with both forms as they are written.
fn forms(published: &str, fair: &str) -> String {
    RATIO
        .replace("{ absent = 'a made-up claim has no author' }", published)
        .replace("fair = {}", &format!("fair = {fair}"))
}

#[test]
fn a_claim_about_a_cause_explains_the_same_form_unless_it_names_another() {
    // As published c takes all of the effect away; what is fair, a / e, it does not explain.
    let effect = forms("{}", "{ ratio = 'a / e' }");
    let samples = ratio_of(1.5).at("s", "c", 1.0).at("s", "e", 0.5);
    for (explains, expected) in
        [("C", [ExplainsIt, PartOfIt]), ("C.fair", [PartOfIt, PartOfIt]), ("C.published", [ExplainsIt, ExplainsIt])]
    {
        let cause = cause_claim(explains).replace("{ absent = 'no' }", "{}");
        let study = samples.judge(&format!("{effect}{cause}"));
        let verdicts = study.claims[1].forms().map(|(_, found)| found.verdict);
        assert_eq!(verdicts.collect::<Vec<_>>(), expected, "{explains}");
    }
}

#[test]
fn a_bound_that_is_asserted_of_a_ratio_is_judged_as_a_bound() {
    let claims = |bound: &str| RATIO.replace("kind = 'ratio'", &format!("kind = 'band'\n{bound}"));
    for (ratio, bound, verdict) in [
        (1.2, "at_least = 1.5", DoesNotHold),
        (1.6, "at_least = 1.5", Holds),
        (1.5, "at_least = 1.5", Unclear),
        (0.5, "at_least = 1.5", DoesNotHold),
        (1.6, "at_most = 1.5", DoesNotHold),
        (1.6, "band = [1.5, 2.0]", Holds),
        (2.4, "band = [1.5, 2.0]", DoesNotHold),
    ] {
        assert_eq!(ratio_of(ratio).verdict(&claims(bound)), verdict, "{ratio}, {bound}");
    }
}

#[test]
fn an_effect_has_its_cause_whatever_bound_it_misses_and_equality_has_none() {
    for (ratio, kind, expected) in [
        (1.5, "kind = 'band'\nat_least = 4.0", true),
        (1.5, "kind = 'equal'", true),
        (1.0, "kind = 'equal'", false),
        (0.5, "kind = 'ratio'", true),
        (1.03, "kind = 'ratio'", false),
    ] {
        let claim = ratio_of(ratio).claim(&RATIO.replace("kind = 'ratio'", kind));
        assert_eq!(claim.has_effect(), expected, "{ratio}, {kind}");
    }
}
