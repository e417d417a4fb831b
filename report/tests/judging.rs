//! From claims and samples to verdicts, on made-up samples for each kind of claim and each verdict.

use report::judged::Verdict::{
    self, Confirmed, Inconclusive, Invalid, NotMeasured, NotReproduced, NotTestable, NotTestableHere, Refuted,
    Reproduced, ReproducedLarger, ReproducedSizeUndecided, ReproducedSmaller, Reversed,
};
use report::judged::{GoalStanding, Standing};
use samples::{AA, RATIO, Samples, n, near, ratio_of, works};

mod samples;

/// Expects verdicts by the ratio of `a` to `b`.
#[track_caller]
fn expect<const N: usize>(claims: &str, verdicts: [(f64, Verdict); N]) {
    for (ratio, verdict) in verdicts {
        assert_eq!(ratio_of(ratio).verdict(claims), verdict, "a / b = {ratio}");
    }
}

/// A claim of another kind, over twelve blocks of `s` unless `more` says otherwise.
fn claim_of(kind: &str, more: &str) -> String {
    let scenarios = if more.contains("scenarios") { "" } else { "scenarios = [\"s\"]\n" };
    let head = "[[claim]]\nid = \"X\"\ntext = \"t\"\noriginal = \"o\"\nmargin = 0.05\nblocks = { quick = 12 }\n";
    format!("{head}{scenarios}kind = \"{kind}\"\n{more}\n")
}

#[test]
fn a_ratio_is_reproduced_reversed_or_shown_to_be_absent() {
    expect(RATIO, [(1.20, Reproduced), (0.80, Reversed), (1.00, NotReproduced), (1.05, Inconclusive)]);
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
    assert_eq!(of(0.2).verdict(&claims), Reproduced);
    let claim = of(0.199).claim(&claims);
    assert_eq!((claim.verdict, claim.rows[0].verdict), (Inconclusive, Inconclusive));
    assert!(claim.reason.contains("a process took 0.199 s"), "{}", claim.reason);
    // The clock inside the process does not see its start.
    assert_eq!(works(&near(0.06, 0.01, 12), &[0.03; 12]).verdict(RATIO), Reproduced);
}

#[test]
fn a_claimed_size_is_judged_apart_from_the_direction() {
    let sized = format!("{RATIO}size = 1.2\n");
    // Half and twice of log 1.2 are the ratios 1.095 and 1.44.
    let smaller_and_larger = [(1.075, ReproducedSmaller), (2.00, ReproducedLarger), (1.44, ReproducedSizeUndecided)];
    expect(&sized, smaller_and_larger);
    expect(&sized, [(1.20, Reproduced), (0.80, Reversed)]);
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
    assert_eq!(works(&[2.0; 5], &[1.0; 5]).verdict(RATIO), Inconclusive);
    assert_eq!(Samples::default().verdict(RATIO), Inconclusive, "no samples at all");
}

#[test]
fn blocks_beyond_the_plan_of_the_claim_are_not_looked_at() {
    let mut a = near(1.0, 0.0, 20);
    a[12..].fill(9.0);
    let claim = works(&a, &[1.0; 20]).claim(RATIO);
    assert_eq!(n(&claim), Some(12));
    assert_eq!(claim.verdict, NotReproduced);
}

#[test]
fn a_claim_over_several_scenarios_takes_the_worst_verdict() {
    let claims = RATIO.replace("[\"s\"]", "[\"s\", \"t\"]");
    let claim = ratio_of(1.2).both("t", "work_s", 0.8).claim(&claims);
    assert_eq!(claim.rows.iter().map(|row| row.verdict).collect::<Vec<_>>(), [Reproduced, Reversed]);
    assert_eq!(claim.verdict, Reversed);
    assert_eq!(claim.deciding_row().map(|row| row.scenario.as_str()), Some("t"));
}

#[test]
fn noise_between_copies_makes_a_claim_inconclusive_and_never_equal() {
    let claims = format!("{RATIO}{AA}");
    let calm = ratio_of(1.08).work("b@aa", &near(1.0, 0.01, 12));
    assert_eq!(calm.verdict(&claims), Reproduced);
    // Copies that differ by up to 60 % either way: 8 % cannot be told from that.
    let scatter: Vec<f64> = (0..12).map(|block| if block % 2 == 0 { 1.6 } else { 1.0 / 1.6 }).collect();
    let noisy = ratio_of(1.08).work("b@aa", &scatter).judge(&claims);
    assert!(noisy.controls[0].passed, "the copies differ in both directions: {:?}", noisy.controls[0]);
    assert!(noisy.claims[0].rows[0].floor > Some(0.08), "{:?}", noisy.claims[0].rows[0].floor);
    assert_eq!(noisy.claims[0].verdict, Inconclusive);
}

const PLANTED: &str = r#"planted = "p"
[[control]]
id = "p"
kind = "planted"
arm = "b"
metric = "work_s"
scenarios = ["s"]
margin = 0.05
size = 1.1
blocks = { quick = 12 }
"#;

#[test]
fn a_planted_effect_that_noise_hides_is_not_resolved_and_invalidates_nothing() {
    let study = ratio_of(1.5).work("b@slow", &near(1.1, 0.2, 12)).judge(&format!("{RATIO}{PLANTED}"));
    let control = &study.controls[0];
    assert!(control.passed && control.reason.starts_with("not resolved"), "{}", control.reason);
    assert_eq!(study.claims[0].verdict, Reproduced);
}

#[test]
fn copies_that_differ_beyond_the_margin_make_the_claim_invalid() {
    let study = ratio_of(1.2).work("b@aa", &near(1.2, 0.01, 12)).judge(&format!("{RATIO}{AA}"));
    assert!(!study.controls[0].passed);
    assert_eq!(study.claims[0].verdict, Invalid);
    assert!(study.claims[0].reason.contains("noise"), "{}", study.claims[0].reason);
}

#[test]
fn a_planted_effect_must_be_found_at_its_size() {
    let claims = format!("{RATIO}{PLANTED}");
    for (slow, passed) in [(1.10, true), (1.30, false), (1.00, false)] {
        let study = ratio_of(1.2).work("b@slow", &near(slow, 0.01, 12)).judge(&claims);
        assert_eq!(study.controls[0].passed, passed, "planted 1.1, measured {slow}: {}", study.controls[0].reason);
        assert_eq!(study.controls[0].reason.is_empty(), passed);
        assert_eq!(study.claims[0].verdict == Invalid, !passed);
    }
}

#[test]
fn equality_is_decided_by_the_margin_alone() {
    let claims = RATIO.replace("\"ratio\"", "\"equal\"");
    expect(&claims, [(1.0, Reproduced), (1.2, NotReproduced), (0.8, NotReproduced), (1.05, Inconclusive)]);
}

#[test]
fn a_band_holds_a_value_that_is_a_difference_per_something() {
    for (cost_ns, verdict) in [(200.0, Reproduced), (500.0, NotReproduced), (300.0, Inconclusive)] {
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

#[test]
fn a_band_holds_a_ratio() {
    let claims = RATIO.replace("\"ratio\"", "\"band\"\nband = [1.1, 1.3]");
    expect(&claims, [(1.2, Reproduced), (1.0, NotReproduced), (0.8, NotReproduced), (1.3, Inconclusive)]);
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
        ("band = [0.95, 1.05]", 1.0, Reproduced),
        ("band = [0.95, 1.05]", 1.3, NotReproduced),
        ("direction = \"up\"", 0.5, Reproduced),
        ("direction = \"up\"", -0.5, Reversed),
        ("direction = \"up\"", 0.0, NotReproduced),
        ("direction = \"down\"", -0.5, Reproduced),
        ("direction = \"down\"", 0.5, Reversed),
        ("direction = \"flat\"", 0.0, Reproduced),
        ("direction = \"flat\"", 0.5, NotReproduced),
    ] {
        let claim = growing(exponent).claim(&slope_claim(aim));
        assert_eq!(claim.verdict, verdict, "{aim}, measured {exponent}: {:?}", claim.rows[0].estimate);
        assert_eq!(n(&claim), Some(8));
    }
}

#[test]
fn a_failed_run_leaves_a_slope_open_instead_of_leaving_the_block_out() {
    let samples = growing(1.0);
    let mut failed = Samples::default();
    for (scenario, arm, all) in samples.0.cases() {
        for sample in all {
            let mut sample = sample.clone();
            if scenario == "r2" && sample.block < 4 {
                sample.metrics.clear();
                sample.error = Some("wrong answer".to_owned());
            }
            failed.0.add(scenario, arm, sample);
        }
    }
    let claim = failed.claim(&slope_claim("band = [0.95, 1.05]"));
    assert_eq!(claim.verdict, Inconclusive, "{:?}", claim.rows[0]);
    assert_eq!(claim.rows[0].failed, 4);
    assert_eq!(n(&claim), Some(8));
}

fn cause_claim(control: &str) -> String {
    let of = "explains = \"C\"\nmetric = \"work_s\"\nnumerator = \"a\"\ndenominator = \"c\"";
    format!("{RATIO}{}", claim_of("cause", &format!("{of}\ncontrol = \"{control}\"")))
}

#[test]
fn a_cause_is_judged_by_the_share_that_its_control_explains() {
    // a / b is 1.5; the control arm c takes all, half or none of that away.
    for (control, c, verdict) in [
        ("claimed", 1.0, Confirmed),
        ("claimed", 1.5, Refuted),
        ("claimed", 1.225, Inconclusive),
        ("rival", 1.0, Refuted),
        ("rival", 1.5, Confirmed),
    ] {
        let samples = ratio_of(1.5).work("c", &near(c, 0.005, 12));
        let study = samples.judge(&cause_claim(control));
        let claim = &study.claims[1];
        assert_eq!(claim.verdict, verdict, "{control} control at {c}: {:?}", claim.rows[0].estimate);
    }
}

#[test]
fn a_cause_of_an_effect_that_is_not_there_stays_open() {
    let samples = ratio_of(1.0).work("c", &near(1.0, 0.005, 12));
    assert_eq!(samples.judge(&cause_claim("claimed")).claims[1].verdict, Inconclusive);
}

#[test]
fn an_outcome_counts_the_blocks_that_meet_the_criterion() {
    let claims = claim_of("outcome", "metric = \"failed_percent\"\narm = \"a\"\nat_least = 0.1\nshare = 0.5");
    for (met, verdict) in [(12, Reproduced), (0, NotReproduced), (6, Inconclusive)] {
        let values: Vec<f64> = (0..12).map(|block| if block < met { 3.0 } else { 0.0 }).collect();
        let claim = Samples::default().metric("s", "a", "failed_percent", &values).claim(&claims);
        assert_eq!(claim.verdict, verdict, "{met} of 12 blocks");
        let point = claim.rows[0].estimate.as_ref().map_or(f64::NAN, |estimate| estimate.point);
        assert!((point - f64::from(met) / 12.0).abs() < 1e-12);
    }
}

#[test]
fn a_block_in_which_nothing_is_known_does_not_meet_an_outcome() {
    let of = "metric = \"work_s\"\nnumerator = \"a\"\ndenominator = \"b\"\nat_most = 2.0\nshare = 0.5";
    let claims = claim_of("outcome", of);
    let failed = [f64::INFINITY; 12];
    assert_eq!(works(&failed, &failed).verdict(&claims), NotReproduced);
}

#[test]
fn every_holds_unless_one_scenario_goes_the_other_way() {
    let claims = RATIO.replace("\"ratio\"", "\"every\"").replace("[\"s\"]", "[\"s\", \"t\", \"u\"]");
    let over = |t: f64| {
        let all = [("s", 1.4), ("t", t), ("u", 1.4)];
        all.into_iter().fold(Samples::default(), |samples, (scenario, ratio)| samples.both(scenario, "work_s", ratio))
    };
    assert_eq!(over(1.2).verdict(&claims), Reproduced);
    assert_eq!(over(1.0).verdict(&claims), Reproduced, "no difference in one scenario reverses nothing");
    let reversed = over(0.8).claim(&claims);
    assert_eq!(reversed.verdict, NotReproduced);
    assert_eq!(reversed.rows.len(), 4, "the pooled row and one per scenario");
}

#[test]
fn what_was_not_or_cannot_be_measured_says_why() {
    let full_only = RATIO.replace("quick = 12, ", "");
    let claim = ratio_of(1.2).claim(&full_only);
    assert_eq!((claim.verdict, claim.reason.as_str()), (NotMeasured, "not measured (quick)"));

    let bare = |key: &str| {
        format!("[[claim]]\nid = \"P\"\ntext = \"t\"\noriginal = \"o\"\nkind = \"ratio\"\n{key} = \"why\"\n")
    };
    let claim = Samples::default().claim(&bare("pending"));
    assert_eq!((claim.verdict, claim.reason.as_str()), (NotMeasured, "why"));
    let claim = Samples::default().claim(&bare("untestable"));
    assert_eq!((claim.verdict, claim.reason.as_str()), (NotTestable, "why"));

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
    assert_eq!((one.verdict, one.rows[0].failed), (Reproduced, 1), "the failure only makes a worse");
    assert_eq!(n(&one), Some(12));

    let all = works(&failed, &well).claim(RATIO);
    let estimate = all.rows[0].estimate.as_ref().expect("failed runs are samples");
    assert!(estimate.lo.is_infinite() && estimate.hi.is_infinite(), "{estimate:?}");
    assert_eq!(all.verdict, Reproduced);
    let both = works(&failed, &failed).claim(RATIO);
    assert_eq!((both.verdict, both.rows[0].failed), (Inconclusive, 24));

    // Of a throughput, the worst is nothing at all.
    let rate = RATIO.replace("work_s", "requests_per_s") + "better = \"higher\"\n";
    let samples = Samples::default().metric("s", "a", "requests_per_s", &failed);
    assert_eq!(samples.metric("s", "b", "requests_per_s", &well).verdict(&rate), Reversed);
}

#[test]
fn a_counted_metric_is_known_only_to_within_its_resolution() {
    let samples = Samples::default().metric("s", "a", "switches_count", &[3.0; 12]);
    let samples = samples.metric("s", "b", "switches_count", &[2.0; 12]);
    let claims = RATIO.replace("work_s", "switches_count");
    assert_eq!(samples.verdict(&claims), Reproduced);
    assert_eq!(samples.verdict(&format!("{claims}resolution = 1\n")), Inconclusive);
}

fn duet_claim() -> String {
    RATIO.replace("kind = \"ratio\"", "kind = \"ratio\"\nform = \"duet\"").replace("0.05", "0.02")
}

#[test]
fn a_duet_gives_one_ratio_per_process_and_is_invalid_if_going_first_matters() {
    let duet = |first: f64| Samples::default().duet("a~b", &near(1.05, 0.005, 12), first).claim(&duet_claim());
    let claim = duet(1.0);
    assert_eq!((claim.verdict, n(&claim)), (Reproduced, Some(12)));
    assert!((claim.rows[0].sides[0].median - 0.0105).abs() < 1e-4, "{:?}", claim.rows[0].sides);
    let claim = duet(1.10);
    assert_eq!(claim.verdict, Invalid);
    assert!(claim.reason.contains("first"), "{}", claim.reason);
}

#[test]
fn the_controls_of_duets_are_duets_of_an_arm_and_its_copy() {
    let control = |kind: &str, rest: &str| {
        format!(
            "[[control]]\nid = \"{kind}\"\nkind = \"{kind}\"\nform = \"duet\"\narm = \"b\"\nmetric = \"work_s\"\nscenarios = [\"s\"]\n\
             margin = 0.02\nblocks = {{ quick = 12 }}\n{rest}"
        )
    };
    let controls = control("aa", "") + &control("planted", "size = 1.04\n");
    let claims = format!("{}aa = \"aa\"\nplanted = \"planted\"\n{controls}", duet_claim());
    let samples = |aa: f64, slow: f64| {
        let duets = [("a~b", 1.05), ("b~b@aa", aa), ("b@slow~b", slow)];
        duets
            .into_iter()
            .fold(Samples::default(), |samples, (arm, ratio)| samples.duet(arm, &near(ratio, 0.002, 12), 1.0))
    };
    assert_eq!(samples(1.0, 1.04).verdict(&claims), Reproduced);
    assert_eq!(samples(1.0, 1.0).verdict(&claims), Invalid, "the planted effect is not found");
    assert_eq!(samples(1.1, 1.04).verdict(&claims), Invalid, "the copies differ");
}

#[test]
fn a_duet_must_agree_with_processes_of_its_arms() {
    let with = |a: f64, n: usize| {
        let samples = Samples::default().duet("a~b", &near(1.05, 0.005, 12), 1.0);
        samples.work("a", &near(a, 0.01, n)).work("b", &near(1.0, 0.0, n)).claim(&duet_claim())
    };
    assert_eq!(with(1.05, 8).verdict, Reproduced);
    let disagreeing = with(1.5, 8);
    assert_eq!(disagreeing.verdict, Invalid);
    assert!(disagreeing.reason.contains("disagree"), "{}", disagreeing.reason);
    assert_eq!(with(1.5, 7).verdict, Reproduced, "seven processes prove nothing");
}

#[test]
fn causes_are_stated_with_the_share_they_explain() {
    let claims =
        format!("{RATIO}[[claim.cause]]\nshort = \"locks\"\ntext = \"t\"\nnumerator = \"a\"\ndenominator = \"c\"\n");
    for (c, standing, short) in [
        (1.0, Standing::Cause, "locks"),
        (1.225, Standing::Part, "part: locks"),
        (1.5, Standing::NotCause, "cause unknown"),
    ] {
        let claim = ratio_of(1.5).work("c", &near(c, 0.005, 12)).claim(&claims);
        assert_eq!(claim.causes[0].standing, standing, "c at {c}: {:?}", claim.causes[0].evidence.estimate);
        assert_eq!(claim.cause_in_short(), short);
    }
    assert_eq!(ratio_of(1.5).claim(&claims).causes[0].standing, Standing::Unknown, "without samples of c");
}

#[test]
fn counters_are_stated_if_they_keep_their_bound_even_measured_once() {
    let claims = format!(
        "{RATIO}[[claim.cause]]\nshort = \"faults\"\ntext = \"t\"\nmetric = \"faults_count\"\narm = \"d\"\nat_least = 100\n"
    );
    for (faults, standing) in [(500.0, Standing::Cause), (10.0, Standing::NotCause)] {
        for n in [1, 12] {
            let claim = ratio_of(1.5).metric("s", "d", "faults_count", &near(faults, 0.0, n)).claim(&claims);
            assert_eq!(claim.causes[0].standing, standing, "{faults} faults, n = {n}");
        }
    }
    let claim = ratio_of(1.5).metric("s", "d", "faults_count", &near(100.0, 0.5, 12)).claim(&claims);
    assert_eq!(claim.causes[0].standing, Standing::Unknown, "the interval holds the bound");
}

#[test]
fn goals_are_met_missed_or_undecided() {
    let goal = "[[goal]]\nid = \"G\"\ntext = \"t\"\nmetric = \"work_s\"\nnumerator = \"a\"\ndenominator = \"b\"\nscenarios = [\"s\"]\n\
                at_most = 1.5\nblocks = { quick = 12 }\n";
    for (ratio, standing) in [(1.2, GoalStanding::Met), (2.0, GoalStanding::Missed), (1.5, GoalStanding::Undecided)] {
        let study = ratio_of(ratio).judge(goal);
        assert_eq!(study.goals[0].standing, standing, "a / b = {ratio}");
        assert_eq!(study.goals[0].bound, "<= 1.5");
    }
    assert_eq!(ratio_of(1.2).judge_in("full", goal).goals[0].standing, GoalStanding::NotMeasured);
    let missing = ratio_of(1.2).judge(&goal.replace("work_s", "cycles_count"));
    assert_eq!(missing.goals[0].standing, GoalStanding::NotMeasured, "a metric that nothing recorded");
}

#[test]
fn holm_adjusts_over_the_claims_of_the_study() {
    let second = RATIO.replace("\"C\"", "\"D\"");
    let study = ratio_of(1.2).judge(&format!("{RATIO}{second}"));
    let p_value = study.claims[0].rows[0].p_value.expect("a ratio has one");
    assert!((p_value - 2.0 / 4096.0).abs() < 1e-12, "all twelve pairs on one side: {p_value}");
    assert_eq!(study.claims.iter().map(|claim| claim.holm).collect::<Vec<_>>(), [Some(2.0 * p_value); 2]);
}

#[test]
fn of_every_the_pooled_row_enters_holm() {
    let claims = RATIO.replace("\"ratio\"", "\"every\"").replace("[\"s\"]", "[\"s\", \"t\"]");
    let claim = ratio_of(1.4).both("t", "work_s", 1.0).claim(&claims);
    assert!(claim.rows[0].p_value < claim.rows[2].p_value, "the scenario t shows nothing");
    assert_eq!(claim.holm, claim.rows[0].p_value);
}
