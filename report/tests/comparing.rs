//! What several rounds by the same claims say together.

use report::claims::Form;
use report::judge;
use report::judged::Verdict::{
    self, Higher, Holds, HoldsSizeOpen, Lower, NoDifference, NotBetter, NotMeasured, Opposite, Undecided, Unstable,
};
use report::judged::{Agreement, JudgedStudy};
use samples::{RATIO, fair, near, ratio_of};

mod samples;

/// The study as it is judged after a round in which `a / b` was `before`.
fn compared(claims: &str, before: f64, now: f64) -> JudgedStudy {
    let mut study = ratio_of(now).judge(claims);
    judge::compare(&mut study, &[ratio_of(before).judge(claims)]);
    study
}

#[test]
fn a_claim_that_two_runs_judge_differently_is_unstable() {
    let study = compared(RATIO, 1.2, 0.8);
    let claim = fair(&study, 0);
    assert_eq!(claim.verdict, Unstable);
    assert!(claim.reason.contains("holds in another round") && claim.reason.contains("opposite"), "{}", claim.reason);
    let repeats = study.rounds.expect("it was compared").repeats;
    assert_eq!(repeats[0].verdicts, [Some(Opposite), Some(Holds)]);
    // Undecided is no judgement.
    for (before, now, verdict) in [(1.2, 1.3, Holds), (1.05, 1.2, Holds), (1.2, 1.05, Undecided)] {
        assert_eq!(fair(&compared(RATIO, before, now), 0).verdict, verdict, "{before}, then {now}");
    }
}

#[test]
fn rounds_agree_leave_open_or_contradict_each_other() {
    // Effects of one profile or the other, this round's first; margins of 5 %, so that 1.05 is open.
    let agreement = |now: (f64, &str), earlier: &[(f64, &str)]| {
        let round = |&(effect, profile): &(f64, &str)| {
            let mut study = ratio_of(effect).judge(RATIO);
            study.profile = profile.to_owned();
            study
        };
        let mut study = round(&now);
        judge::compare(&mut study, &earlier.iter().map(round).collect::<Vec<_>>());
        let repeat = &study.rounds.as_ref().expect("it was compared").repeats[0];
        (repeat.agreement, fair(&study, 0).verdict)
    };
    let (quick, full) = ("quick", "full");
    assert_eq!(agreement((1.2, quick), &[(1.3, quick), (1.2, full)]), (Agreement::Same, Holds));
    assert_eq!(agreement((1.2, quick), &[(1.05, quick), (1.2, full)]), (Agreement::Open, Holds));
    assert_eq!(agreement((1.2, full), &[(0.8, quick), (0.8, quick)]), (Agreement::ByProfile, Holds));
    // What two quick rounds left in doubt, a full one may settle.
    assert_eq!(agreement((1.2, full), &[(0.8, quick), (1.2, quick)]), (Agreement::Differs, Holds));
    // Another profile in between does not hide the run before.
    assert_eq!(agreement((1.2, quick), &[(1.2, full), (0.8, quick)]), (Agreement::Differs, Unstable));
    // What no round measured is no repetition.
    let unmeasured = || ratio_of(1.2).judge(&RATIO.replace("quick = 12, ", ""));
    let mut study = unmeasured();
    judge::compare(&mut study, &[unmeasured()]);
    assert_eq!(fair(&study, 0).verdict, NotMeasured);
    assert!(study.rounds.expect("it was compared").repeats.is_empty());
    let mut alone = ratio_of(1.2).judge(RATIO);
    judge::compare(&mut alone, &[]);
    assert_eq!(alone.rounds, None);
}

#[test]
fn a_round_whose_control_failed_says_so_and_contradicts_nothing() {
    let with = |copies: f64, effect: f64| ratio_of(effect).work("b@aa", &near(copies, 0.01, 12)).judge(RATIO);
    let mut study = with(1.0, 1.2);
    judge::compare(&mut study, &[with(1.2, 0.8)]);
    assert_eq!(fair(&study, 0).verdict, Holds);
    let rounds = study.rounds.expect("it was compared");
    assert_eq!(rounds.repeats[0].agreement, Agreement::Open);
    assert!(rounds.measured[0].failed_controls.is_empty());
    assert_eq!(rounds.measured[1].failed_controls, ["aa b work_s s"]);
}

#[test]
fn rounds_of_several_tests_contradict_each_other_only_where_one_test_does() {
    let parts = "fair = { part = [{ text = \"a\" }, { text = \"c\", ratio = \"c / b\" }] }";
    let claims = RATIO.replace("fair = {}", parts).replace("\"ratio\"", "\"band\"\nband = [1.1, 1.3]");
    let judged = |a: f64, c: f64| ratio_of(a).work("c", &near(c, 0.01, 12)).judge(&claims);
    let after = |now: (f64, f64), before: (f64, f64)| {
        let mut study = judged(now.0, now.1);
        judge::compare(&mut study, &[judged(before.0, before.1)]);
        (fair(&study, 0).verdict, study.rounds.expect("it was compared").repeats[0].agreement)
    };
    // The worst verdict is another test's: that of c was open and is settled now.
    assert_eq!(fair(&judged(1.5, 1.1), 0).verdict, Higher);
    assert_eq!(after((1.5, 1.0), (1.5, 1.1)), (Lower, Agreement::Open));
    assert_eq!(after((1.5, 1.0), (1.5, 1.5)), (Unstable, Agreement::Differs));
}

#[test]
fn a_size_left_open_in_one_run_and_settled_in_the_other_is_stable() {
    let claims = RATIO.replace("margin", "size = 1.44\nmargin");
    // The band of 1.44 runs from 1.2 to 2.07: 1.2 straddles its edge.
    assert_eq!(ratio_of(1.2).verdict(&claims), HoldsSizeOpen);
    // Smaller and of the claimed size cannot both be right.
    for (before, now, verdict) in [(1.2, 1.5, Holds), (1.5, 1.2, HoldsSizeOpen), (1.1, 1.5, Unstable)] {
        assert_eq!(fair(&compared(&claims, before, now), 0).verdict, verdict, "{before}, then {now}");
    }
}

#[test]
fn what_is_not_better_agrees_with_no_difference_and_with_the_opposite_and_the_forms_are_compared_apart() {
    // As published c / b, what is fair a / b.
    let claims = RATIO.replace("{ absent = \"a made-up claim has no author\" }", "{ ratio = \"c / b\" }");
    let with = |c: f64, a: f64| ratio_of(a).work("c", &near(c, 0.01, 12)).judge(&claims);
    let after = |now: (f64, f64), before: (f64, f64)| -> Vec<(Form, Verdict)> {
        let mut study = with(now.0, now.1);
        judge::compare(&mut study, &[with(before.0, before.1)]);
        study.claims[0].forms().map(|(form, found)| (form, found.verdict)).collect()
    };
    let (published, fair) = (Form::Published, Form::Fair);
    assert_eq!(after((0.95, 1.0), (0.8, 0.95)), [(published, NotBetter), (fair, NoDifference)]);
    assert_eq!(after((0.8, 1.2), (1.0, 1.2)), [(published, Unstable), (fair, Holds)]);
    assert_eq!(after((1.2, 1.2), (1.2, 0.95)), [(published, Holds), (fair, Unstable)]);
}
