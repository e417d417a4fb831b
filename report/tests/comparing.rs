//! What several rounds by the same claims say together.

use report::claims::Form;
use report::judge;
use report::judged::Verdict::{
    self, Higher, Holds, HoldsSizeOpen, Lower, NoDifference, NotBetter, NotMeasured, Opposite, Undecided, Unstable,
};
use report::judged::{Agreement, JudgedStudy};
use samples::{RATIO, fair, near, ratio_of};

mod samples;

/// The study as it is judged beside other rounds.
fn compared(mut now: JudgedStudy, others: &[JudgedStudy]) -> JudgedStudy {
    judge::compare(&mut now, others);
    now
}

/// What became of the first claim in its fair form.
fn outcome(study: &JudgedStudy) -> (Agreement, Verdict) {
    (study.rounds.as_ref().expect("it was compared").repeats[0].agreement, fair(study, 0).verdict)
}

#[test]
fn a_claim_that_two_runs_judge_differently_is_unstable_and_one_that_either_leaves_open_is_not() {
    let study = compared(ratio_of(0.8).judge(RATIO), &[ratio_of(1.2).judge(RATIO)]);
    assert_eq!(fair(&study, 0).reason, "holds in another round, opposite in this one");
    let repeats = study.rounds.expect("it was compared").repeats;
    assert_eq!(repeats[0].verdicts, [Some(Opposite), Some(Holds)]);
    let sized = RATIO.replace("margin", "size = 1.44\nmargin");
    // The band of 1.44 runs from 1.2 to 2.07: 1.2 straddles its edge.
    assert_eq!(ratio_of(1.2).verdict(&sized), HoldsSizeOpen);
    for (claims, before, now, verdict) in [
        (RATIO, 1.2, 0.8, Unstable),
        (RATIO, 1.2, 1.3, Holds),
        (RATIO, 1.05, 1.2, Holds),
        (RATIO, 1.2, 1.05, Undecided),
        (&sized, 1.2, 1.5, Holds),
        (&sized, 1.5, 1.2, HoldsSizeOpen),
        // Smaller and of the claimed size cannot both be right.
        (&sized, 1.1, 1.5, Unstable),
    ] {
        let study = compared(ratio_of(now).judge(claims), &[ratio_of(before).judge(claims)]);
        assert_eq!(fair(&study, 0).verdict, verdict, "{before}, then {now}");
    }
}

#[test]
fn rounds_agree_leave_open_or_contradict_each_other() {
    // Effects of one profile or the other, this round's first; margins of 5 %, so that 1.05 is open.
    let of = |profile: &str, effect: f64| JudgedStudy { profile: profile.to_owned(), ..ratio_of(effect).judge(RATIO) };
    let (quick, full) = (|effect| of("quick", effect), |effect| of("full", effect));
    for (now, others, expected) in [
        (quick(1.2), [quick(1.3), full(1.2)], (Agreement::Same, Holds)),
        (quick(1.2), [quick(1.05), full(1.2)], (Agreement::Open, Holds)),
        (full(1.2), [quick(0.8), quick(0.8)], (Agreement::ByProfile, Holds)),
        // What two quick rounds left in doubt, a full one may settle.
        (full(1.2), [quick(0.8), quick(1.2)], (Agreement::Differs, Holds)),
        // Another profile in between does not hide the run before.
        (quick(1.2), [full(1.2), quick(0.8)], (Agreement::Differs, Unstable)),
    ] {
        assert_eq!(outcome(&compared(now, &others)), expected);
    }
    // What no round measured is no repetition.
    let unmeasured = || ratio_of(1.2).judge(&RATIO.replace("quick = 12, ", ""));
    let study = compared(unmeasured(), &[unmeasured()]);
    assert_eq!(fair(&study, 0).verdict, NotMeasured);
    assert!(study.rounds.expect("it was compared").repeats.is_empty());
    assert_eq!(compared(ratio_of(1.2).judge(RATIO), &[]).rounds, None);
}

#[test]
fn a_round_whose_control_failed_says_so_and_contradicts_nothing() {
    let with = |copies: f64, effect: f64| ratio_of(effect).work("b@aa", &near(copies, 0.01, 12)).judge(RATIO);
    let study = compared(with(1.0, 1.2), &[with(1.2, 0.8)]);
    assert_eq!(outcome(&study), (Agreement::Open, Holds));
    let rounds = study.rounds.expect("it was compared");
    assert!(rounds.measured[0].failed_controls.is_empty());
    assert_eq!(rounds.measured[1].failed_controls, ["aa b work_s s"]);
}

#[test]
fn rounds_of_several_tests_contradict_each_other_only_where_one_test_does() {
    let parts = "fair = { part = [{ text = 'a' }, { text = 'c', ratio = 'c / b' }] }";
    let claims = RATIO.replace("fair = {}", parts).replace("'ratio'", "'band'\nband = [1.1, 1.3]");
    let judged = |a: f64, c: f64| ratio_of(a).work("c", &near(c, 0.01, 12)).judge(&claims);
    // The worst verdict is another test's: that of c was open and is settled now.
    assert_eq!(fair(&judged(1.5, 1.1), 0).verdict, Higher);
    assert_eq!(outcome(&compared(judged(1.5, 1.0), &[judged(1.5, 1.1)])), (Agreement::Open, Lower));
    assert_eq!(outcome(&compared(judged(1.5, 1.0), &[judged(1.5, 1.5)])), (Agreement::Differs, Unstable));
}

#[test]
fn what_is_not_better_agrees_with_no_difference_and_with_the_opposite_and_the_forms_are_compared_apart() {
    // As published c / b, what is fair a / b.
    let claims = RATIO.replace("{ absent = 'a made-up claim has no author' }", "{ ratio = 'c / b' }");
    let with = |c: f64, a: f64| ratio_of(a).work("c", &near(c, 0.01, 12)).judge(&claims);
    let after = |now: (f64, f64), before: (f64, f64)| -> Vec<(Form, Verdict)> {
        let study = compared(with(now.0, now.1), &[with(before.0, before.1)]);
        study.claims[0].forms().map(|(form, found)| (form, found.verdict)).collect()
    };
    let (published, fair) = (Form::Published, Form::Fair);
    assert_eq!(after((0.95, 1.0), (0.8, 0.95)), [(published, NotBetter), (fair, NoDifference)]);
    assert_eq!(after((0.8, 1.2), (1.0, 1.2)), [(published, Unstable), (fair, Holds)]);
    assert_eq!(after((1.2, 1.2), (1.2, 0.95)), [(published, Holds), (fair, Unstable)]);
}
