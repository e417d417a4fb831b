//! A mirror and the authors' own code: do both show the same effect?

use report::judge;
use report::judged::MirrorState::{Agrees, CouldNotTell, Disagrees};
use report::judged::Verdict::{Holds, Invalid};
use report::judged::{Judged, JudgedStudy, MirrorState};
use samples::{RATIO, Samples, fair, near, parsed, ratio_of, refused};

mod samples;

/// The claim as published, in which `more` says what it mirrors.
fn published(more: &str) -> String {
    let forms = format!("published = {{ {more} }}\nfair = {{}}");
    RATIO.replace("published = { absent = 'a made-up claim has no author' }\nfair = {}", &forms)
}

/// Samples in which our effect is 1.2 and that of the authors' code `theirs`, give or take `noise`.
fn with(theirs: f64, noise: f64) -> Samples {
    ratio_of(1.2).work("x", &near(theirs, noise, 12)).work("y", &near(1.0, 0.0, 12))
}

fn as_published(study: &JudgedStudy) -> &Judged {
    study.claims[0].published.judged().expect("the form is judged")
}

fn states(study: &JudgedStudy) -> Vec<MirrorState> {
    as_published(study).mirrors.iter().map(|mirror| mirror.state).collect()
}

/// A claim whose mirror is compared over `t` in rounds of the authors' code alone.
fn in_other_rounds() -> String {
    published("mirrors = { ratio = 'x / y', scenarios = ['t'], blocks = { originals = 8 } }")
}

/// Adds to a study judged by `claims` what a round of the authors' code on `host` says of them, in which their effect is `theirs`.
fn add_round(study: &mut JudgedStudy, claims: &str, (theirs, noise): (f64, f64), host: usize) {
    let there = Samples::default().both("t", "work_s", 1.2).metric("t", "x", "work_s", &near(theirs, noise, 12));
    let there = there.metric("t", "y", "work_s", &[1.0; 12]);
    let own = parsed(&in_other_rounds());
    judge::mirrors(study, &parsed(claims), there.evidence(&own, "originals"), "toy/x-originals", host);
}

#[test]
fn a_mirror_agrees_within_ten_percent_and_one_that_does_not_invalidates_what_is_published_alone() {
    let claims = published("mirrors = 'x / y'");
    for (theirs, noise, state, verdict) in [
        (1.2, 0.01, Agrees, Holds),
        (1.27, 0.01, Agrees, Holds),
        (1.5, 0.01, Disagrees, Invalid),
        (0.9, 0.01, Disagrees, Invalid),
        // Too noisy to say, and so no reason to disbelieve.
        (1.3, 0.2, CouldNotTell, Holds),
    ] {
        let study = with(theirs, noise).judge(&claims);
        assert_eq!(states(&study), [state], "{theirs} {noise}");
        assert_eq!(as_published(&study).verdict, verdict, "{theirs} {noise}");
        let reason = format!("in s the authors' code shows {theirs:.2}");
        assert_eq!(as_published(&study).reason.starts_with(&reason), verdict == Invalid);
        assert_eq!((fair(&study, 0).verdict, fair(&study, 0).mirrors.len()), (Holds, 0));
    }
}

#[test]
fn what_a_round_of_the_authors_code_says_counts_for_a_round_without_it() {
    let text = in_other_rounds();
    let mut here = with(1.0, 0.01).judge(&text);
    let blocks: Vec<_> = parsed(&text).blocks("originals").into_iter().collect();
    assert_eq!(blocks, ["a", "b", "x", "y"].map(|arm| (("t".to_owned(), arm.to_owned()), 8)));
    // Of claims that compare it with something else, it says nothing.
    add_round(&mut here, &text.replace("scenarios = ['t']", "scenarios = ['u']"), (1.8, 0.01), 1);
    assert_eq!(states(&here), []);
    // What the claim itself is judged by does not matter.
    add_round(&mut here, &text.replace("scenarios = ['s']", "scenarios = ['u']"), (1.8, 0.01), 1);
    assert_eq!(states(&here), [Disagrees]);
    let found = as_published(&here);
    assert_eq!((found.verdict, found.mirrors[0].apart.n), (Invalid, 8));
    assert_eq!(found.mirrors[0].at, Some(("toy/x-originals".to_owned(), 1)));
}

#[test]
fn of_several_hosts_the_first_that_can_tell_decides() {
    let [agrees, disagrees, open] = [(1.2, 0.01), (1.8, 0.01), (1.3, 0.2)];
    for (rounds, expected, verdict) in [
        (&[(agrees, 0), (disagrees, 1)][..], &[Agrees, Disagrees][..], Holds),
        (&[(open, 0), (disagrees, 1)], &[CouldNotTell, Disagrees], Invalid),
        (&[(open, 0), (agrees, 1), (disagrees, 2)], &[CouldNotTell, Agrees, Disagrees], Holds),
        // An older round of the same host adds nothing.
        (&[(agrees, 0), (disagrees, 0)], &[Agrees], Holds),
    ] {
        let mut here = with(1.0, 0.01).judge(&in_other_rounds());
        for (theirs, host) in rounds {
            add_round(&mut here, &in_other_rounds(), *theirs, *host);
        }
        assert_eq!((&states(&here)[..], as_published(&here).verdict), (expected, verdict), "{rounds:?}");
    }
}

#[test]
fn one_program_that_says_several_figures_is_compared_by_their_ratio() {
    let text = published(
        "mirrors = { arm = 'x', metric = 'a_ms', per = 'b_ms', blocks = { quick = 12 }, ours = { ratio = 'a / b', metric = 'work_s' } }",
    );
    let both = near(1.2, 0.01, 12).into_iter().map(|ratio| [3.0 * ratio, 3.0]);
    let study = ratio_of(1.2).metrics("s", "x", ["a_ms", "b_ms"], both).judge(&text);
    assert_eq!(states(&study), [Agrees]);
}

#[test]
fn what_shows_the_difference_is_told_with_it_and_decides_nothing() {
    let but = "mirrors = { ratio = 'x / y', but = { text = 'elsewhere', ratio = 'z / y' } }";
    for (theirs, elsewhere, verdict, told) in
        [(1.5, 1.2, Invalid, true), (1.5, 1.5, Invalid, false), (1.2, 1.5, Holds, false), (1.2, 1.2, Holds, false)]
    {
        let study = with(theirs, 0.01).work("z", &near(elsewhere, 0.01, 12)).judge(&published(but));
        assert_eq!(states(&study).len(), 2);
        let found = as_published(&study);
        let is_told = found.reason.contains("; elsewhere theirs shows 1.20");
        assert_eq!((found.verdict, is_told), (verdict, told), "{theirs} {elsewhere}");
        assert_eq!(found.mirrors[1].but, "elsewhere");
    }
}

#[test]
fn what_says_nothing_of_the_authors_code_is_refused() {
    let error = |mirrors: &str| refused(&published(&format!("mirrors = {mirrors}"))).expect_err("refused").to_string();
    assert!(error("'x'").contains("has the ratio 'x': write \"a / b\""));
    assert!(error("{ metric = 'work_s' }").contains("needs arms of the authors' code"));
    assert!(error("{ ratio = 'x / y', blocks = { sometimes = 2 } }").contains("originals beside them"));
    assert!(error("{ ratio = 'x / y', of = 'theirs' }").contains("unknown key `of`"));
}

#[test]
fn the_authors_code_is_no_part_of_the_question() {
    let claims = |more: &str| parsed(&published(more));
    assert!(claims("").ask_as(&claims("mirrors = 'x / y'")));
    assert!(!claims("").ask_as(&claims("margin = 0.01, mirrors = 'x / y'")));
}
