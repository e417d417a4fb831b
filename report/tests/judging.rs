//! From claims and samples to verdicts, on made-up samples for each kind of claim and each verdict.

use report::claims::Form;
use report::dataset::Sample;
use report::judged::Verdict::{
    self, Differs, DoesNotHappen, Happens, Higher, Holds, HoldsLarger, HoldsSmaller, Invalid, Lower, NoDifference,
    NotMeasured, NotTestableHere, NotTheCause, Opposite, PartOfIt, TheCause, Undecided,
};
use report::judged::{ControlState, Counts, JudgedForm, JudgedStudy, Kept, Standing};
use report::record::{DuetPair, Order};
use samples::{RATIO, Samples, fair, n, near, parsed, ratio_of, works};
use strum::VariantArray as _;

mod samples;

/// A claim of another kind, over twelve blocks of `s` unless `more` says otherwise.
fn claim_of(kind: &str, more: &str) -> String {
    let scenarios = if more.contains("scenarios") { "" } else { "scenarios = [\"s\"]\n" };
    let head = "[[claim]]\nid = \"X\"\ntext = \"t\"\noriginal = \"o\"\npublished = { absent = \"no\" }\nfair = {}\nblocks = { quick = 12 }\n";
    format!("{head}{scenarios}kind = \"{kind}\"\n{more}\n")
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
    assert_eq!((claim.verdict, claim.rows[0].verdict), (Undecided, Undecided));
    assert!(claim.reason.contains("a process took 0.199 s"), "{}", claim.reason);
    // The clock inside the process does not see its start.
    assert_eq!(works(&near(0.06, 0.01, 12), &[0.03; 12]).verdict(RATIO), Holds);
}

#[test]
fn the_row_carries_estimate_interval_medians_and_level() {
    let claim = ratio_of(1.2).claim(RATIO);
    let row = &claim.rows[0];
    let estimate = row.estimate.as_ref().expect("there are samples");
    assert_eq!(estimate.n, 12);
    assert!((estimate.point - 1.2).abs() < 0.01, "{estimate:?}");
    assert!(estimate.lo <= estimate.point && estimate.point <= estimate.hi, "{estimate:?}");
    assert!((estimate.level - 0.0425).abs() < 0.001, "the exact level of 12 pairs: {}", estimate.level);
    assert_eq!(row.sides.iter().map(|side| side.arm.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!((row.sides[0].median - 1.2).abs() < 0.02 && (row.sides[1].median - 1.0).abs() < 1e-12);
}

#[test]
fn too_few_blocks_decide_nothing() {
    assert_eq!(works(&[2.0; 5], &[1.0; 5]).verdict(RATIO), Undecided);
    assert_eq!(Samples::default().verdict(RATIO), Undecided, "no samples at all");
}

#[test]
fn blocks_beyond_the_plan_of_the_claim_are_not_looked_at() {
    let mut a = near(1.0, 0.0, 20);
    a[12..].fill(9.0);
    let claim = works(&a, &[1.0; 20]).claim(RATIO);
    assert_eq!(n(&claim), Some(12));
    assert_eq!(claim.verdict, NoDifference);
}

#[test]
fn a_claim_over_several_scenarios_takes_the_worst_verdict() {
    let claims = RATIO.replace("[\"s\"]", "[\"s\", \"t\"]");
    let claim = ratio_of(1.2).both("t", "work_s", 0.8).claim(&claims);
    assert_eq!(claim.rows.iter().map(|row| row.verdict).collect::<Vec<_>>(), [Holds, Opposite]);
    assert_eq!(claim.verdict, Opposite);
    assert_eq!(claim.deciding_row().map(|row| row.scenario.as_str()), Some("t"));
}

#[test]
fn noise_between_copies_makes_a_claim_undecided_and_never_equal() {
    let calm = ratio_of(1.08).work("b@aa", &near(1.0, 0.01, 12)).judge(RATIO);
    assert_eq!((calm.controls[0].state, fair(&calm, 0).verdict), (ControlState::Passed, Holds));
    // Copies that differ by up to 60 % either way: 8 % cannot be told from that.
    let scatter: Vec<f64> = (0..12).map(|block| if block % 2 == 0 { 1.6 } else { 1.0 / 1.6 }).collect();
    let noisy = ratio_of(1.08).work("b@aa", &scatter).judge(RATIO);
    assert_eq!(noisy.controls[0].state, ControlState::CouldNotTell, "{}", noisy.controls[0].reason);
    let claim = fair(&noisy, 0);
    assert!(claim.rows[0].floor > Some(0.08), "{:?}", claim.rows[0].floor);
    assert_eq!(claim.verdict, Undecided);
}

#[test]
fn the_floor_comes_from_copies_in_the_same_scenario_where_there_are_some_and_from_all_others_where_not() {
    let claims = RATIO.replace("[\"s\"]", "[\"s\", \"t\"]");
    let scatter: Vec<f64> = (0..12).map(|block| if block % 2 == 0 { 1.6 } else { 1.0 / 1.6 }).collect();
    let two = ratio_of(1.2).both("t", "work_s", 1.2).metric("t", "b@aa", "work_s", &scatter);
    let floors = |samples: Samples, claims: &str| {
        samples.claim(claims).rows.iter().map(|row| row.floor.unwrap_or_default()).collect::<Vec<_>>()
    };
    let own = floors(two.work("b@aa", &near(1.0, 0.01, 12)), &claims);
    assert!(own[0] < 0.051 && own[1] > 0.08, "{own:?}");
    let elsewhere = claims.replace("kind", "aa = { arm = \"b\", scenarios = [\"s\"] }\nkind");
    let loud = ratio_of(1.2).both("t", "work_s", 1.2).work("b@aa", &scatter);
    let pooled = floors(loud, &elsewhere);
    assert!(pooled[0] > 0.08 && pooled[1] > 0.08, "{pooled:?}");
}

const PLANTED: &str =
    "[planted]\nprocess = { arm = \"b\", scenarios = [\"s\"], size = 1.1, blocks = { quick = 12 } }\n";

#[test]
fn a_planted_effect_that_noise_hides_is_not_told_and_invalidates_nothing() {
    let study = ratio_of(1.5).work("b@slow", &near(1.1, 0.2, 12)).judge(&format!("{PLANTED}{RATIO}"));
    let control = &study.controls[1];
    assert_eq!(control.state, ControlState::CouldNotTell, "{}", control.reason);
    assert!(control.reason.starts_with("too noisy"), "{}", control.reason);
    assert_eq!(fair(&study, 0).verdict, Holds);
}

#[test]
fn copies_that_differ_beyond_the_margin_make_the_claim_invalid() {
    let study = ratio_of(1.2).work("b@aa", &near(1.2, 0.01, 12)).judge(RATIO);
    assert_eq!(study.controls[0].state, ControlState::Failed);
    let claim = fair(&study, 0);
    assert_eq!(claim.verdict, Invalid);
    assert!(claim.reason.contains("aa b work_s s"), "{}", claim.reason);
}

#[test]
fn copies_that_are_told_apart_in_one_of_several_scenarios_fail_even_if_their_mean_is_quiet() {
    let claims = RATIO.replace("[\"s\"]", "[\"s\", \"t\", \"u\"]");
    let with = |t: &[f64], u: &[f64]| {
        let samples = ratio_of(1.2).both("t", "work_s", 1.2).both("u", "work_s", 1.2);
        let samples = samples.metric("t", "b@aa", "work_s", t).metric("u", "b@aa", "work_s", u);
        samples.work("b@aa", &near(1.0, 0.01, 12)).judge(&claims)
    };
    // Opposite biases, whose mean is none.
    let study = with(&near(1.2, 0.01, 12), &near(1.0 / 1.2, 0.01, 12));
    let control = &study.controls[0];
    let point = control.row.estimate.map_or(f64::NAN, |estimate| estimate.point);
    assert!((point - 1.0).abs() < 0.01, "{point}");
    assert_eq!(control.state, ControlState::Failed);
    assert_eq!(control.reason, "in t two copies of one arm differ by more than 5 %");
    assert_eq!(fair(&study, 0).verdict, Invalid);
    let quiet = with(&near(1.03, 0.01, 12), &near(1.0 / 1.03, 0.01, 12));
    assert_eq!(quiet.controls[0].state, ControlState::Passed, "{}", quiet.controls[0].reason);
}

#[test]
fn a_test_whose_noise_no_copies_show_is_undecided_and_says_so() {
    let of = |ratio: f64, copies: usize, text: &str| {
        let samples = ratio_of(ratio).work("b@aa", &near(1.0, 0.01, copies));
        fair(&samples.judge_alone("quick", &parsed(text)), 0).clone()
    };
    for kind in ["ratio", "every"] {
        let text = RATIO.replace("\"ratio\"", &format!("\"{kind}\""));
        for ratio in [1.5, 1.0, 0.5] {
            let found = of(ratio, 0, &text);
            assert_eq!((found.verdict, found.rows[0].verdict), (Undecided, Undecided), "{kind} {ratio}");
            assert_eq!(found.rows[0].floor, Some(f64::INFINITY));
            assert_eq!(found.reason, "no noise floor: no A/A control measured the noise");
            let study = ratio_of(ratio).judge_alone("quick", &parsed(&text));
            let control = &study.controls[0];
            assert_eq!((control.state, control.reason.as_str()), (ControlState::CouldNotTell, "no samples"));
            let found = of(ratio, 5, &text);
            assert_eq!(found.verdict, Undecided, "{kind} {ratio}");
            assert_eq!(found.reason, "no noise floor: 5 A/A pairs measured the noise, 6 are the fewest");
            let found = of(ratio, 6, &text);
            assert_ne!(found.verdict, Undecided, "{kind} {ratio}: {}", found.reason);
            assert_eq!(found.reason, "");
        }
    }
    // The margin alone decides what is equal.
    let equal = RATIO.replace("\"ratio\"", "\"equal\"");
    for (ratio, verdict) in [(1.5, Differs), (1.0, Holds), (0.5, Differs)] {
        assert_eq!((of(ratio, 0, &equal).verdict, of(ratio, 0, &equal).reason.as_str()), (verdict, ""));
    }
    let unguarded = of(1.5, 12, &RATIO.replace("kind", "aa = \"none\"\nkind"));
    assert_eq!(unguarded.verdict, Undecided);
    assert!(unguarded.reason.starts_with("no noise floor"), "{}", unguarded.reason);
    let duet = Samples::default().duet("a~b", &near(1.5, 0.005, 12), 1.0);
    let study = duet.judge_alone("quick", &parsed(&duet_claim()));
    assert_eq!(fair(&study, 0).verdict, Undecided);
}

#[test]
fn what_has_no_floor_by_definition_needs_no_copies() {
    let claims = |kind: &str| RATIO.replace("kind = \"ratio\"", kind);
    for (text, verdict) in [
        (claims("kind = \"band\"\nband = [1.1, 1.3]"), Holds),
        (claims("kind = \"outcome\"\nat_least = 1.1\nshare = 0.5"), Happens),
        (claim_of("ratio", "metric = \"work_s\"\narm = \"a\""), Holds),
    ] {
        let study = ratio_of(1.2).judge_alone("quick", &parsed(&text));
        let found = fair(&study, 0);
        assert_eq!((found.verdict, found.rows[0].floor, found.reason.as_str()), (verdict, None, ""), "{text}");
    }
}

#[test]
fn a_planted_effect_without_a_floor_is_not_told_and_one_of_another_size_still_fails() {
    let claims = parsed(&format!("{PLANTED}{RATIO}"));
    let of_size = |study: &JudgedStudy| {
        study.controls.iter().find(|control| control.planted.is_some()).expect("it is planted").clone()
    };
    for (slow, state) in [(1.1, ControlState::CouldNotTell), (1.3, ControlState::Failed)] {
        let study = ratio_of(1.5).work("b@slow", &near(slow, 0.01, 12)).judge_alone("quick", &claims);
        let control = of_size(&study);
        assert_eq!(control.state, state, "{}", control.reason);
        // An A/A control of another metric ran the same copies.
        let of_memory = parsed(&format!("{PLANTED}{}", RATIO.replace("work_s", "peak_rss_kib")));
        let copied = ratio_of(1.5).work("b@slow", &near(slow, 0.01, 12)).work("b@aa", &near(1.0, 0.01, 12));
        let copied = copied.judge_alone("quick", &of_memory);
        assert_eq!(of_size(&copied).state == ControlState::Passed, state == ControlState::CouldNotTell);
        let says_why = control.reason == "no noise floor: no A/A control measured the noise";
        assert_eq!(says_why, state == ControlState::CouldNotTell, "{}", control.reason);
    }
}

#[test]
fn a_planted_effect_must_be_found_at_its_size() {
    let claims = format!("{PLANTED}{RATIO}");
    for (slow, state) in [(1.10, ControlState::Passed), (1.30, ControlState::Failed), (1.00, ControlState::Failed)] {
        let study = ratio_of(1.2).work("b@slow", &near(slow, 0.01, 12)).judge(&claims);
        let control = &study.controls[1];
        assert_eq!(control.state, state, "planted 1.1, measured {slow}: {}", control.reason);
        assert_eq!(control.reason.is_empty(), state == ControlState::Passed);
        assert_eq!(fair(&study, 0).verdict == Invalid, state == ControlState::Failed);
        // A value in a range has no floor, and no size that could be distorted.
        let band = claims.replace("\"ratio\"", "\"band\"\nband = [1.0, 1.5]");
        let study = ratio_of(1.2).work("b@slow", &near(slow, 0.01, 12)).judge(&band);
        assert_eq!(fair(&study, 0).verdict, Holds);
    }
}

#[test]
fn a_band_holds_a_value_that_is_a_difference_per_something() {
    for (cost_ns, verdict) in [(200.0, Holds), (500.0, Higher), (50.0, Lower), (300.0, Undecided)] {
        let a = near(cost_ns, 0.02, 12).into_iter().map(|cost| [1.0 + cost * 1e-3, 1e6]);
        let samples =
            Samples::default().metrics("s", "a", ["work_s", "messages_count"], a).work("b", &near(1.0, 0.0, 12));
        let of =
            "metric = \"work_s\"\narm = \"a\"\nminus = \"b\"\nper = \"messages_count\"\nfactor = 1e9\nunit = \"ns\"";
        let claim = samples.claim(&claim_of("band", &format!("{of}\nband = [100.0, 300.0]")));
        assert_eq!(claim.verdict, verdict, "{cost_ns} ns: {:?}", claim.rows[0].estimate);
        let point = claim.rows[0].estimate.as_ref().map_or(f64::NAN, |estimate| estimate.point);
        assert!((point / cost_ns - 1.0).abs() < 0.02, "{point} is about {cost_ns}");
    }
}

fn slope_claim(aim: &str) -> String {
    let of = "metric = \"work_s\"\narms = [\"a\"]\nx = \"rows_count\"\nscenarios = [\"r1\", \"r2\", \"r3\"]";
    claim_of("slope", &format!("{of}\n{aim}")).replace("quick = 12", "quick = 8")
}

fn growing(exponent: f64) -> Samples {
    [("r1", 1e5), ("r2", 3e5), ("r3", 1e6)].into_iter().fold(Samples::default(), |samples, (scenario, rows)| {
        let values = near(1e-6, 0.01, 8).into_iter().map(move |per_row| [rows, per_row * f64::powf(rows, exponent)]);
        samples.metrics(scenario, "a", ["rows_count", "work_s"], values)
    })
}

#[test]
fn a_slope_is_judged_by_a_band_or_a_direction() {
    for (aim, exponent, verdict) in [
        ("band = [0.95, 1.05]", 1.0, Holds),
        ("band = [0.95, 1.05]", 1.3, Higher),
        ("direction = \"up\"", 0.5, Holds),
        ("direction = \"up\"", -0.5, Opposite),
        ("direction = \"up\"", 0.0, NoDifference),
        ("direction = \"down\"", -0.5, Holds),
        ("direction = \"down\"", 0.5, Opposite),
        ("direction = \"flat\"", 0.0, Holds),
        ("direction = \"flat\"", 0.5, Differs),
    ] {
        let claim = growing(exponent).claim(&slope_claim(aim));
        assert_eq!(claim.verdict, verdict, "{aim}, measured {exponent}: {:?}", claim.rows[0].estimate);
        assert_eq!(n(&claim), Some(8));
    }
}

/// The samples of an arm, each changed.
fn changed(samples: &Samples, scenarios: &[&str], arm: &str, change: impl Fn(&str, &mut Sample)) -> Samples {
    let mut all = Samples::default();
    for scenario in scenarios {
        for sample in samples.0.samples(scenario, arm) {
            let mut sample = sample.clone();
            change(scenario, &mut sample);
            all.0.add(scenario, arm, sample);
        }
    }
    all
}

#[test]
fn a_failed_run_leaves_a_slope_open_instead_of_leaving_the_block_out() {
    let samples = growing(1.0);
    let failed = changed(&samples, &["r1", "r2", "r3"], "a", |scenario, sample| {
        if scenario == "r2" && sample.block < 4 {
            sample.metrics.clear();
            sample.error = Some("wrong answer".to_owned());
        }
    });
    let claim = failed.claim(&slope_claim("band = [0.95, 1.05]"));
    assert_eq!(claim.verdict, Undecided, "{:?}", claim.rows[0]);
    assert_eq!(claim.rows[0].failed, 4);
    assert_eq!(n(&claim), Some(8));
}

fn cause_claim(control: &str) -> String {
    let of = "explains = \"C\"\nmetric = \"work_s\"\nratio = \"a / c\"";
    format!("{RATIO}{}", claim_of("cause", &format!("{of}\ncontrol = \"{control}\"")))
}

#[test]
fn a_cause_is_judged_by_the_share_that_its_control_explains() {
    // a / b is 1.5; the control arm c takes all, half or none of that away.
    for (control, c, verdict) in [
        ("claimed", 1.0, TheCause),
        ("claimed", 1.5, NotTheCause),
        ("claimed", 1.225, PartOfIt),
        ("rival", 1.0, NotTheCause),
        ("rival", 1.5, TheCause),
    ] {
        let samples = ratio_of(1.5).work("c", &near(c, 0.005, 12));
        let study = samples.judge(&cause_claim(control));
        let claim = fair(&study, 1);
        assert_eq!(claim.verdict, verdict, "{control} control at {c}: {:?}", claim.rows[0].estimate);
    }
}

#[test]
fn a_cause_of_an_effect_that_is_not_there_stays_open() {
    let samples = ratio_of(1.0).work("c", &near(1.0, 0.005, 12));
    assert_eq!(fair(&samples.judge(&cause_claim("claimed")), 1).verdict, Undecided);
    // Nor is there a cause of a gain that is a loss.
    let samples = ratio_of(0.6).work("c", &near(0.6, 0.005, 12));
    let study = samples.judge(&cause_claim("claimed"));
    assert_eq!(fair(&study, 1).verdict, Undecided);
    assert!(fair(&study, 1).reason.contains("C reads opposite"), "{}", fair(&study, 1).reason);
}

#[test]
fn a_cause_explains_the_part_that_is_a_ratio_of_arms() {
    // Four holds, and 1.5 times b: it is the latter that c takes away.
    let value = "{ metric = \"blocked_s\", arm = \"a\", per = \"work_s\", kind = \"band\", band = [1.0, 9.0] }";
    let effect = forms("{ absent = \"no\" }", &format!("{{ part = [{value}, {{}}] }}"));
    let of = "explains = \"C\"\nmetric = \"work_s\"\nratio = \"a / c\"\ncontrol = \"claimed\"";
    let samples = ratio_of(1.5).work("c", &near(1.0, 0.005, 12));
    let samples = samples.metrics(
        "s",
        "a",
        ["blocked_s", "work_s"],
        near(1.5, 0.005, 12).into_iter().map(|work| [4.0 * work, work]),
    );
    let study = samples.judge(&format!("{effect}{}", claim_of("cause", of)));
    let found = fair(&study, 1);
    assert_eq!(found.verdict, TheCause, "{:?}", found.rows[0].estimate);
}

#[test]
fn an_outcome_counts_the_blocks_that_meet_the_criterion() {
    let claims = claim_of("outcome", "metric = \"failed_percent\"\narm = \"a\"\nat_least = 0.1\nshare = 0.5");
    for (met, verdict) in [(12, Happens), (0, DoesNotHappen), (6, Undecided)] {
        let values: Vec<f64> = (0..12).map(|block| if block < met { 3.0 } else { 0.0 }).collect();
        let claim = Samples::default().metric("s", "a", "failed_percent", &values).claim(&claims);
        assert_eq!(claim.verdict, verdict, "{met} of 12 blocks");
        let point = claim.rows[0].estimate.as_ref().map_or(f64::NAN, |estimate| estimate.point);
        assert!((point - f64::from(met) / 12.0).abs() < 1e-12);
    }
}

#[test]
fn blocks_in_which_nothing_is_known_leave_an_outcome_open() {
    let of = "metric = \"work_s\"\nratio = \"a / b\"\nat_most = 2.0\nshare = 0.5";
    let claims = claim_of("outcome", of);
    let failed = [f64::INFINITY; 12];
    assert_eq!(works(&failed, &failed).verdict(&claims), Undecided);
    // One arm that fails everywhere is known: it is infinitely slow.
    assert_eq!(works(&failed, &[1.0; 12]).verdict(&claims), DoesNotHappen);
}

#[test]
fn every_holds_where_each_scenario_shows_it_and_one_that_is_shown_not_to_refutes_it() {
    let claims = RATIO.replace("\"ratio\"", "\"every\"").replace("[\"s\"]", "[\"s\", \"t\", \"u\"]");
    let over = |t: f64, spread: f64| {
        let samples = ratio_of(1.4).both("u", "work_s", 1.4);
        samples.metric("t", "a", "work_s", &near(t, spread, 12)).metric("t", "b", "work_s", &near(1.0, 0.0, 12))
    };
    for (t, spread, verdict) in [
        (1.2, 0.01, Holds),
        (1.0, 0.01, NoDifference),
        (0.8, 0.01, Opposite),
        (1.03, 0.01, NoDifference),
        // Its own estimate does not clear the margin, and nothing is shown of it either.
        (1.03, 0.3, Undecided),
    ] {
        let found = over(t, spread).claim(&claims);
        assert_eq!(found.verdict, verdict, "t at {t}: {:?}", found.rows);
        assert_eq!(found.rows.len(), 4, "the pooled row and one per scenario");
        assert_eq!(found.deciding_row().map(|row| row.scenario.as_str()), Some("all"));
    }
    assert_eq!(ratio_of(1.4).both("u", "work_s", 1.4).verdict(&claims), Undecided, "t did not run");
}

#[test]
fn what_was_not_or_cannot_be_measured_says_why() {
    let full_only = RATIO.replace("quick = 12, ", "");
    let claim = ratio_of(1.2).claim(&full_only);
    assert_eq!((claim.verdict, claim.reason.as_str()), (NotMeasured, "not measured (quick)"));

    let pending = RATIO.replace("fair = {}", "fair = { pending = \"why\" }");
    let claim = Samples::default().claim(&pending);
    assert_eq!((claim.verdict, claim.reason.as_str()), (NotMeasured, "why"));

    let claim = ratio_of(1.2).claim(&RATIO.replace("work_s", "cycles_count"));
    assert_eq!(claim.verdict, NotTestableHere);
    assert!(claim.reason.contains("cycles_count"), "{}", claim.reason);
    let claim = growing(1.0).claim(&slope_claim("direction = \"up\"").replace("work_s", "cycles_count"));
    assert_eq!(claim.verdict, NotTestableHere, "of a slope, too");
}

#[test]
fn failed_runs_count_as_infinitely_bad_and_are_never_dropped() {
    let (failed, well) = ([f64::INFINITY; 12], [1.0; 12]);
    let mut a = near(1.5, 0.01, 12);
    a[3] = f64::INFINITY;
    let one = works(&a, &well).claim(RATIO);
    assert_eq!((one.verdict, one.rows[0].failed), (Holds, 1), "the failure only makes a worse");
    assert_eq!(n(&one), Some(12));

    let all = works(&failed, &well).claim(RATIO);
    let estimate = all.rows[0].estimate.as_ref().expect("failed runs are samples");
    assert!(estimate.lo.is_infinite() && estimate.hi.is_infinite(), "{estimate:?}");
    assert_eq!(all.verdict, Holds);
    let both = works(&failed, &failed).claim(RATIO);
    assert_eq!((both.verdict, both.rows[0].failed), (Undecided, 24));

    // Of a throughput, the worst is nothing at all.
    let rate = RATIO.replace("work_s", "requests_per_s") + "better = \"higher\"\n";
    let samples = Samples::default().metric("s", "a", "requests_per_s", &failed);
    assert_eq!(samples.metric("s", "b", "requests_per_s", &well).verdict(&rate), Opposite);
}

fn duet_claim() -> String {
    RATIO.replace("kind = \"ratio\"", "kind = \"ratio\"\nreplicate = \"duet\"").replace("0.05", "0.02")
}

#[test]
fn a_slope_over_duets_takes_their_ratios() {
    let slope = "kind = \"slope\"\nx = \"size\"\ndirection = \"up\"\nreplicate = \"duet\"\naa = \"none\"";
    let claims = RATIO.replace("kind = \"ratio\"", slope).replace("scenarios = [\"s\"]", "scenarios = [\"s\", \"t\"]");
    let claims = parsed(&claims);
    let mut samples = Samples::default();
    for (scenario, size, ratio) in [("s", 1.0, 1.0), ("t", 100.0, 10.0)] {
        for (block, ratio) in (0..).zip(near(ratio, 0.01, 12)) {
            let mut sample = Samples::sample(block);
            sample.metrics.insert("size".to_owned(), size);
            let pair = |order| DuetPair { order, a_s: 0.01 * ratio, b_s: 0.01 };
            sample.pairs = [Order::Ab, Order::Ba].map(pair).repeat(5);
            samples.0.add(scenario, "a~b", sample);
        }
    }
    let study = samples.judge_alone("quick", &claims);
    let row = study.claims[0].fair.judged().expect("the form is judged").rows[0].clone();
    let estimate = row.estimate.expect("there is a slope");
    assert!((estimate.point - 0.5).abs() < 0.01, "a tenfold ratio over a hundredfold size: {}", estimate.point);
}

#[test]
fn a_duet_gives_one_ratio_per_process_and_is_invalid_if_going_first_matters() {
    let duet = |first: f64| Samples::default().duet("a~b", &near(1.05, 0.005, 12), first).claim(&duet_claim());
    let claim = duet(1.0);
    assert_eq!((claim.verdict, n(&claim)), (Holds, Some(12)));
    assert!((claim.rows[0].sides[0].median - 0.0105).abs() < 1e-4, "{:?}", claim.rows[0].sides);
    let claim = duet(1.10);
    assert_eq!(claim.verdict, Invalid);
    assert!(claim.reason.contains("first"), "{}", claim.reason);
}

#[test]
fn a_duet_in_which_one_arm_always_goes_first_shows_no_effect_of_order_and_is_invalid() {
    let mut samples = Samples::default().duet("a~b", &near(1.05, 0.005, 12), 1.0);
    let one_sided = changed(&samples, &["s"], "a~b", |_, sample| {
        if sample.block == 3 {
            sample.pairs.iter_mut().for_each(|pair| pair.order = Order::Ab);
        }
    });
    let found = one_sided.claim(&duet_claim());
    assert_eq!(found.verdict, Invalid);
    assert_eq!(found.reason, "in s one arm goes first in all pairs of 1 of 12 duets");
    // A failed run has no pairs, and no order.
    let failed = Sample { block: 12, error: Some("wrong answer".to_owned()), ..Sample::default() };
    samples.0.add("s", "a~b", failed);
    assert_eq!(samples.claim(&duet_claim().replace("quick = 12", "quick = 13")).verdict, Holds);

    let mut control = Samples::default().duet("a~b", &near(1.05, 0.005, 12), 1.0);
    for block in 0..12 {
        let pairs = vec![DuetPair { order: Order::Ba, a_s: 0.01, b_s: 0.01 }; 20];
        control.0.add("s", "b~b@aa", Sample { block, pairs, ..Sample::default() });
    }
    let study = control.judge(&duet_claim());
    assert_eq!(study.controls[0].state, ControlState::Failed, "{}", study.controls[0].reason);
}

#[test]
fn the_controls_of_duets_are_duets_of_an_arm_and_its_copy() {
    let planted = "[planted]\nduet = { arm = \"b\", scenarios = [\"s\"], size = 1.04, blocks = { quick = 12 } }\n";
    let claims = format!("{planted}{}", duet_claim());
    let samples = |aa: f64, slow: f64| {
        let duets = [("a~b", 1.05), ("b~b@aa", aa), ("b@slow~b", slow)];
        duets
            .into_iter()
            .fold(Samples::default(), |samples, (arm, ratio)| samples.duet(arm, &near(ratio, 0.002, 12), 1.0))
    };
    assert_eq!(samples(1.0, 1.04).verdict(&claims), Holds);
    assert_eq!(samples(1.0, 1.0).verdict(&claims), Invalid, "the planted effect is not found");
    assert_eq!(samples(1.1, 1.04).verdict(&claims), Invalid, "the copies differ");
}

#[test]
fn a_duet_must_agree_with_processes_of_its_arms() {
    let with = |a: f64, n: usize| {
        let samples = Samples::default().duet("a~b", &near(1.05, 0.005, 12), 1.0);
        samples.work("a", &near(a, 0.01, n)).work("b", &near(1.0, 0.0, n)).claim(&duet_claim())
    };
    assert_eq!(with(1.05, 8).verdict, Holds);
    let disagreeing = with(1.5, 8);
    assert_eq!(disagreeing.verdict, Invalid);
    assert!(disagreeing.reason.contains("disagree"), "{}", disagreeing.reason);
    assert_eq!(with(1.5, 7).verdict, Holds, "seven processes prove nothing");
}

fn with_cause(keys: &str) -> String {
    RATIO.replace("kind =", &format!("cause = [{{ short = \"locks\", text = \"t\", {keys} }}]\nkind ="))
}

#[test]
fn causes_are_stated_with_the_share_they_explain() {
    let claims = with_cause("ratio = \"a / c\"");
    for (c, standing, stated) in
        [(1.0, TheCause, &["locks"][..]), (1.225, PartOfIt, &["part: locks"]), (1.5, NotTheCause, &[])]
    {
        let claim = ratio_of(1.5).work("c", &near(c, 0.005, 12)).claim(&claims);
        assert_eq!(claim.causes[0].standing, Standing::Share(standing), "c at {c}: {:?}", claim.causes[0].evidence);
        assert_eq!(claim.stated_causes(), stated);
    }
    let without = ratio_of(1.5).claim(&claims);
    assert_eq!(without.causes[0].standing, Standing::Share(Undecided), "without samples of c");
    assert!(without.stated_causes().is_empty());
}

#[test]
fn a_cause_counts_by_the_worst_of_the_scenarios_that_the_test_is_judged_in() {
    for kind in ["ratio", "every"] {
        let claims = RATIO.replace("\"ratio\"", &format!("\"{kind}\"")).replace("[\"s\"]", "[\"s\", \"t\"]");
        let cause = |keys: &str| {
            claims.replace("kind =", &format!("cause = [{{ short = \"locks\", text = \"t\", {keys} }}]\nkind ="))
        };
        let samples = |c: f64, faults: f64| {
            let samples = ratio_of(1.5).both("t", "work_s", 1.5).work("c", &near(1.0, 0.005, 12));
            let samples = samples.metric("t", "c", "work_s", &near(c, 0.005, 12));
            let samples = samples.metric("s", "d", "faults_count", &near(500.0, 0.0, 12));
            samples.metric("t", "d", "faults_count", &near(faults, 0.0, 12))
        };
        for (c, standing) in [(1.0, TheCause), (1.225, PartOfIt), (1.5, NotTheCause)] {
            let found = samples(c, 0.0).claim(&cause("ratio = \"a / c\""));
            assert_eq!(found.causes[0].standing, Standing::Share(standing), "{kind}, c in t at {c}");
            let rows: Vec<_> =
                found.causes[0].evidence.iter().map(|row| (row.scenario.as_str(), row.verdict)).collect();
            assert_eq!(rows, [("s", TheCause), ("t", standing)]);
        }
        let counter = cause("metric = \"faults_count\", arm = \"d\", at_least = 100");
        for (faults, kept) in [(200.0, Kept::Met), (10.0, Kept::Missed)] {
            let found = samples(1.0, faults).claim(&counter);
            assert_eq!(found.causes[0].standing, Standing::Counter(kept), "{kind}, {faults} in t");
        }
    }
}

#[test]
fn the_cause_of_a_slope_explains_a_share_of_the_slope() {
    // a / b grows with the square root of the rows; c takes all, half or nothing of that, whatever it takes of a by a constant.
    let samples = |exponent: f64| {
        [("r1", 1e5), ("r2", 3e5), ("r3", 1e6)].into_iter().fold(Samples::default(), |samples, (scenario, rows)| {
            let of = |level: f64, spread: f64| near(level, spread, 8).into_iter().map(move |work| [rows, work]);
            let samples = samples.metrics(scenario, "a", ["rows_count", "work_s"], of(f64::powf(rows, 0.5), 0.005));
            let samples = samples.metrics(scenario, "b", ["rows_count", "work_s"], of(1.0, 0.0));
            samples.metrics(scenario, "c", ["rows_count", "work_s"], of(0.3 * f64::powf(rows, 0.5 - exponent), 0.0))
        })
    };
    let of = "ratio = \"a / b\"\nx = \"rows_count\"\ndirection = \"up\"\nscenarios = [\"r1\", \"r2\", \"r3\"]\n\
              cause = [{ short = \"locks\", text = \"t\", ratio = \"a / c\" }]";
    let claims = claim_of("slope", of).replace("quick = 12", "quick = 8");
    for (exponent, standing) in [(0.5, TheCause), (0.25, PartOfIt), (0.0, NotTheCause)] {
        let found = samples(exponent).claim(&claims);
        assert_eq!(found.verdict, Holds);
        let [cause] = &found.causes[..] else { panic!("one cause") };
        assert_eq!(cause.standing, Standing::Share(standing), "{exponent}: {:?}", cause.evidence);
        assert_eq!(cause.evidence.iter().map(|row| row.scenario.as_str()).collect::<Vec<_>>(), ["all"]);
    }
}

#[test]
fn no_cause_is_stated_beside_a_form_that_is_undecided() {
    let claims = with_cause("metric = \"faults_count\", arm = \"d\", at_least = 100");
    let with = |ratio| ratio_of(ratio).metric("s", "d", "faults_count", &near(500.0, 0.0, 12)).claim(&claims);
    let (decided, open) = (with(1.5), with(1.05));
    assert_eq!((decided.verdict, decided.stated_causes()), (Holds, vec!["locks".to_owned()]));
    assert_eq!(open.causes[0].standing, Standing::Counter(Kept::Met));
    assert_eq!((open.verdict, open.stated_causes()), (Undecided, vec![]));
}

#[test]
fn a_cause_that_several_parts_name_counts_by_the_worst_of_them() {
    let claims =
        with_cause("ratio = \"a / c\"").replace("fair = {}", "fair = { part = [{}, { scenarios = [\"t\"] }] }");
    let with = |t: f64| {
        let samples = ratio_of(1.5).both("t", "work_s", 1.5).work("c", &near(1.0, 0.005, 12));
        samples.metric("t", "c", "work_s", &near(t, 0.005, 12)).claim(&claims).stated_causes()
    };
    assert_eq!((with(1.0), with(1.225), with(1.5)), (vec!["locks".to_owned()], vec!["part: locks".to_owned()], vec![]));
}

#[test]
fn evidence_rests_on_the_blocks_of_its_own_part() {
    // From block 12 on, which others ask for, c explains nothing and the counter is small.
    let mut c = near(1.0, 0.005, 20);
    c[12..].fill(1.5);
    let mut faults = near(500.0, 0.0, 20);
    faults[12..].fill(1.0);
    let blocks = ", blocks = { quick = 20 }";
    let share = with_cause(&format!("ratio = \"a / c\"{blocks}"));
    let counter = with_cause(&format!("metric = \"faults_count\", arm = \"d\", at_least = 100{blocks}"));
    let samples = works(&near(1.5, 0.01, 20), &near(1.0, 0.0, 20)).work("c", &c);
    let samples = samples.metric("s", "d", "faults_count", &faults);
    for claims in [share, counter] {
        let cause = &samples.claim(&claims).causes[0];
        assert_eq!(cause.evidence[0].estimate.map(|estimate| estimate.n), Some(12));
        let is_stated = matches!(cause.standing, Standing::Share(TheCause) | Standing::Counter(Kept::Met));
        assert!(is_stated, "{cause:?}");
    }
}

#[test]
fn counters_are_stated_if_they_keep_their_bound_even_measured_once() {
    let claims = with_cause("metric = \"faults_count\", arm = \"d\", at_least = 100");
    for (faults, kept) in [(500.0, Kept::Met), (10.0, Kept::Missed)] {
        for n in [1, 12] {
            let claim = ratio_of(1.5).metric("s", "d", "faults_count", &near(faults, 0.0, n)).claim(&claims);
            assert_eq!(claim.causes[0].standing, Standing::Counter(kept), "{faults} faults, n = {n}");
        }
    }
    let claim = ratio_of(1.5).metric("s", "d", "faults_count", &near(100.0, 0.5, 12)).claim(&claims);
    assert_eq!(claim.causes[0].standing, Standing::Counter(Kept::Undecided), "the interval holds the bound");
}

#[test]
fn goals_are_met_missed_or_undecided() {
    let goal = "[[goal]]\nid = \"G\"\ntext = \"t\"\nmetric = \"work_s\"\nratio = \"a / b\"\nscenarios = [\"s\"]\n\
                at_most = 1.5\nblocks = { quick = 12 }\n";
    for (ratio, standing) in [(1.2, Kept::Met), (2.0, Kept::Missed), (1.5, Kept::Undecided)] {
        let study = ratio_of(ratio).judge(goal);
        assert_eq!(study.goals[0].standing, standing, "a / b = {ratio}");
        assert_eq!(study.goals[0].bound, "<= 1.5");
    }
    assert_eq!(ratio_of(1.2).judge_in("full", goal).goals[0].standing, Kept::NotMeasured);
    let missing = ratio_of(1.2).judge(&goal.replace("work_s", "cycles_count"));
    assert_eq!(missing.goals[0].standing, Kept::NotMeasured, "a metric that nothing recorded");
}

#[test]
fn the_parts_of_a_form_take_the_worst_verdict_and_its_reason() {
    let claims = RATIO
        .replace("fair = {}", "fair = { part = [{ text = \"here\" }, { scenarios = [\"t\"], text = \"there\" }] }");
    for (t, verdict) in [(1.3, Holds), (1.0, NoDifference), (1.05, Undecided)] {
        let found = ratio_of(1.2).both("t", "work_s", t).claim(&claims);
        assert_eq!(found.verdict, verdict, "t at {t}");
        assert_eq!(found.rows.iter().map(|row| row.part.as_str()).collect::<Vec<_>>(), ["here", "there"]);
    }
    let broken =
        ratio_of(1.2).both("t", "work_s", 1.3).metric("t", "b@aa", "work_s", &near(1.3, 0.01, 12)).claim(&claims);
    assert_eq!(broken.verdict, Invalid);
    assert!(broken.reason.contains("aa b work_s t"), "{}", broken.reason);
    let one_profile = claims.replace("text = \"there\"", "text = \"there\", blocks = { full = 8 }");
    let half = ratio_of(1.2).claim(&one_profile);
    assert_eq!((half.verdict, half.reason.as_str()), (NotMeasured, "not measured (quick)"));
}

/// A claim with both forms as they are written.
fn forms(published: &str, fair: &str) -> String {
    RATIO
        .replace("{ absent = \"a made-up claim has no author\" }", published)
        .replace("fair = {}", &format!("fair = {fair}"))
}

#[test]
fn the_forms_of_a_claim_are_judged_apart() {
    let study = ratio_of(1.2).work("c", &near(1.0, 0.01, 12)).judge(&forms("{}", "{ ratio = \"c / b\" }"));
    let verdicts: Vec<_> = study.claims[0].forms().map(|(form, found)| (form, found.verdict)).collect();
    assert_eq!(verdicts, [(Form::Published, Holds), (Form::Fair, NoDifference)]);
    let absent = ratio_of(1.2).judge(RATIO);
    assert_eq!(absent.claims[0].published, JudgedForm::Absent("a made-up claim has no author".to_owned()));
}

#[test]
fn forms_are_counted_as_holding_or_not_or_undecided_and_what_was_not_judged_apart() {
    let claim = |id: &str, published: &str, fair: &str| forms(published, fair).replace("\"C\"", &format!("\"{id}\""));
    let further = "\nfurther = [{ id = \"F\", text = \"never counted\" }]\n";
    let claims = [
        claim("A", "{}", "{ ratio = \"c / b\" }") + further,
        claim("B", "{ absent = \"x\" }", "{ pending = \"x\" }"),
        claim("D", "{ ratio = \"d / b\" }", "{ metric = \"cycles_count\" }"),
    ];
    let samples = ratio_of(1.2).work("c", &near(1.0, 0.01, 12)).work("d", &near(1.05, 0.01, 12));
    let study = samples.judge(&claims.concat());
    let of = |form| Counts::of(&study.claims, form);
    let none = Counts::default();
    assert_eq!(of(Form::Published), Counts { judged: 2, holds: 1, undecided: 1, absent: 1, ..none });
    assert_eq!(of(Form::Fair), Counts { judged: 1, does_not_hold: 1, not_judged: 2, ..none });
    assert_eq!(study.claims[0].further[0].form.judged().map(|found| found.verdict), Some(Holds));
}

#[test]
fn a_claim_about_a_cause_explains_the_same_form_unless_it_names_another() {
    // As published c takes all of the effect away; what is fair, a / e, it does not explain.
    let effect = forms("{}", "{ ratio = \"a / e\" }");
    let cause = |explains: &str| {
        let keys = format!("ratio = \"a / c\"\ncontrol = \"claimed\"\nexplains = \"{explains}\"");
        format!("{effect}{}", claim_of("cause", &keys).replace("{ absent = \"no\" }", "{}"))
    };
    let samples = ratio_of(1.5).work("c", &near(1.0, 0.005, 12)).work("e", &near(0.5, 0.005, 12));
    let verdicts = |explains: &str| {
        let study = samples.judge(&cause(explains));
        study.claims[1].forms().map(|(_, found)| found.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts("C"), [TheCause, PartOfIt]);
    assert_eq!(verdicts("C.fair"), [PartOfIt, PartOfIt]);
    assert_eq!(verdicts("C.published"), [TheCause, TheCause]);
}

#[test]
fn a_value_that_is_a_ratio_in_itself_is_judged_like_one() {
    // Time blocked over one hold, published as 8 to 12 of them.
    let claims = claim_of("ratio", "metric = \"blocked_s\"\narm = \"a\"\nper = \"hold_s\"\nsize_band = [8.0, 12.0]");
    for (holds, verdict) in [(10.0, Holds), (16.0, HoldsLarger), (3.0, HoldsSmaller), (0.5, Opposite)] {
        let values = near(holds, 0.01, 12).into_iter().map(|blocked| [blocked * 0.3, 0.3]);
        let samples = Samples::default().metrics("s", "a", ["blocked_s", "hold_s"], values);
        assert_eq!(samples.verdict(&claims), verdict, "{holds} holds");
    }
}

#[test]
fn every_word_is_reached_from_samples() {
    let kind = |kind: &str| RATIO.replace("\"ratio\"", kind);
    let (sized, band) = (format!("{RATIO}size = 1.5\n"), kind("\"band\"\nband = [1.1, 1.3]"));
    let outcome = claim_of("outcome", "metric = \"work_s\"\narm = \"a\"\nat_least = 1.1\nshare = 0.5");
    let cause = |c: f64| {
        let study = ratio_of(1.5).work("c", &near(c, 0.005, 12)).judge(&cause_claim("claimed"));
        fair(&study, 1).verdict
    };
    let mut unstable = ratio_of(1.2).judge(RATIO);
    report::judge::compare(&mut unstable, &[ratio_of(0.8).judge(RATIO)]);
    let reached = [
        ratio_of(1.2).work("b@aa", &near(1.2, 0.01, 12)).verdict(RATIO),
        fair(&unstable, 0).verdict,
        ratio_of(0.8).verdict(RATIO),
        ratio_of(1.0).verdict(RATIO),
        ratio_of(0.95).verdict(RATIO),
        ratio_of(1.2).verdict(&kind("\"equal\"")),
        ratio_of(1.0).verdict(&band),
        ratio_of(1.5).verdict(&band),
        cause(1.5),
        cause(1.225),
        ratio_of(1.0).verdict(&outcome),
        ratio_of(1.2).verdict(&RATIO.replace("work_s", "cycles_count")),
        ratio_of(1.2).verdict(&RATIO.replace("quick = 12, ", "")),
        works(&near(1.03, 0.3, 12), &[1.0; 12]).verdict(&format!("{RATIO}size = 4.0\n")),
        ratio_of(1.05).verdict(RATIO),
        ratio_of(1.1).verdict(&sized),
        ratio_of(3.0).verdict(&sized),
        works(&near(1.5, 0.5, 12), &[1.0; 12]).verdict(&sized),
        ratio_of(1.2).verdict(RATIO),
        cause(1.0),
        ratio_of(1.2).verdict(&outcome),
    ];
    assert_eq!(reached, Verdict::VARIANTS);
}
