//! A mirror and the authors' own code: do both show the same effect?

use report::judge::{self, Evidence};
use report::judged::Verdict::{Holds, Invalid};
use report::judged::{JudgedStudy, MirrorState};
use samples::{RATIO, Samples, near, parsed, ratio_of, refused};
use std::num::NonZeroU64;

mod samples;

/// The claim as published, in which `more` says what it mirrors.
fn published(more: &str) -> String {
    let forms = format!("published = {{ {more} }}\nfair = {{}}");
    RATIO.replace("published = { absent = \"a made-up claim has no author\" }\nfair = {}", &forms)
}

/// Samples in which our effect is 1.2 and that of the authors' code `theirs`, give or take `noise`.
fn with(theirs: f64, noise: f64) -> Samples {
    ratio_of(1.2).work("x", &near(theirs, noise, 12)).work("y", &near(1.0, 0.0, 12))
}

fn states(study: &JudgedStudy) -> Vec<MirrorState> {
    let found = study.claims[0].published.judged().expect("the form is judged");
    found.mirrors.iter().map(|mirror| mirror.state).collect()
}

#[test]
fn a_mirror_agrees_within_ten_percent_and_one_that_does_not_invalidates_what_is_published_alone() {
    let claims = published("mirrors = \"x / y\"");
    for (theirs, noise, state, verdict) in [
        (1.2, 0.01, MirrorState::Agrees, Holds),
        (1.27, 0.01, MirrorState::Agrees, Holds),
        (1.5, 0.01, MirrorState::Disagrees, Invalid),
        (0.9, 0.01, MirrorState::Disagrees, Invalid),
        // Too noisy to say, and so no reason to disbelieve.
        (1.3, 0.2, MirrorState::CouldNotTell, Holds),
    ] {
        let study = with(theirs, noise).judge(&claims);
        assert_eq!(states(&study), [state], "{theirs} {noise}");
        let of = |form: &report::judged::JudgedForm| form.judged().expect("the form is judged").clone();
        assert_eq!(of(&study.claims[0].published).verdict, verdict, "{theirs} {noise}");
        assert_eq!((of(&study.claims[0].fair).verdict, of(&study.claims[0].fair).mirrors.len()), (Holds, 0));
    }
    let study = with(1.5, 0.01).judge(&claims);
    let reason = &study.claims[0].published.judged().expect("the form is judged").reason;
    assert!(reason.starts_with("in s the authors' code shows 1.50"), "{reason}");
}

#[test]
fn what_a_round_of_the_authors_code_says_counts_for_a_round_without_it() {
    let text = published("mirrors = { ratio = \"x / y\", scenarios = [\"t\"], blocks = { originals = 8 } }");
    let mut here = with(1.0, 0.01).judge(&text);
    assert_eq!(states(&here), []);
    let claims = parsed(&text);
    let cases: Vec<_> = claims.blocks("originals").into_iter().map(|((scenario, arm), n)| (scenario, arm, n)).collect();
    let case = |arm: &str| ("t".to_owned(), arm.to_owned(), 8);
    assert_eq!(cases, ["a", "b", "x", "y"].map(case));
    let there = Samples::default().both("t", "work_s", 1.2);
    let there = there.metric("t", "x", "work_s", &near(1.8, 0.01, 12)).metric("t", "y", "work_s", &near(1.0, 0.0, 12));
    let evidence = Evidence { claims: &claims, data: &there.0, profile: "originals", layouts: NonZeroU64::MIN };
    // Of claims that compare it with something else, it says nothing.
    let other = parsed(&text.replace("scenarios = [\"t\"]", "scenarios = [\"u\"]"));
    judge::mirrors(&mut here, &other, evidence, "toy/x-originals", 1);
    assert_eq!(states(&here), []);
    // What the claim itself is judged by does not matter.
    let other = parsed(&text.replace("scenarios = [\"s\"]", "scenarios = [\"u\"]"));
    judge::mirrors(&mut here, &other, evidence, "toy/x-originals", 1);
    assert_eq!(states(&here), [MirrorState::Disagrees]);
    let found = here.claims[0].published.judged().expect("the form is judged");
    assert_eq!((found.verdict, found.mirrors[0].apart.n), (Invalid, 8));
    assert_eq!(found.mirrors[0].at, Some(("toy/x-originals".to_owned(), 1)));
}

#[test]
fn of_several_hosts_the_first_that_can_tell_decides() {
    let text = published("mirrors = { ratio = \"x / y\", scenarios = [\"t\"], blocks = { originals = 8 } }");
    let claims = parsed(&text);
    let judged = |rounds: &[(f64, f64, usize)]| {
        let mut here = with(1.0, 0.01).judge(&text);
        for (theirs, noise, host) in rounds {
            let there = Samples::default().both("t", "work_s", 1.2);
            let there = there.metric("t", "x", "work_s", &near(*theirs, *noise, 12));
            let there = there.metric("t", "y", "work_s", &near(1.0, 0.0, 12));
            let evidence = Evidence { claims: &claims, data: &there.0, profile: "originals", layouts: NonZeroU64::MIN };
            judge::mirrors(&mut here, &claims, evidence, "toy/x-originals", *host);
        }
        (states(&here), here.claims[0].published.judged().expect("the form is judged").verdict)
    };
    let [agrees, disagrees, open] = [(1.2, 0.01), (1.8, 0.01), (1.3, 0.2)];
    let of = |(theirs, noise): (f64, f64), host| (theirs, noise, host);
    use MirrorState::{Agrees, CouldNotTell, Disagrees};
    assert_eq!(judged(&[of(agrees, 0), of(disagrees, 1)]), (vec![Agrees, Disagrees], Holds));
    assert_eq!(judged(&[of(open, 0), of(disagrees, 1)]), (vec![CouldNotTell, Disagrees], Invalid));
    assert_eq!(judged(&[of(open, 0), of(agrees, 1), of(disagrees, 2)]), (vec![CouldNotTell, Agrees, Disagrees], Holds));
    // An older round of the same host adds nothing.
    assert_eq!(judged(&[of(agrees, 0), of(disagrees, 0)]), (vec![Agrees], Holds));
}

#[test]
fn one_program_that_says_several_figures_is_compared_by_their_ratio() {
    let text = published(
        "mirrors = { arm = \"x\", metric = \"a_ms\", per = \"b_ms\", blocks = { quick = 12 }, ours = { ratio = \"a / b\", metric = \"work_s\" } }",
    );
    let both = near(1.2, 0.01, 12).into_iter().map(|ratio| [3.0 * ratio, 3.0]);
    let study = ratio_of(1.2).metrics("s", "x", ["a_ms", "b_ms"], both).judge(&text);
    assert_eq!(states(&study), [MirrorState::Agrees]);
}

#[test]
fn what_shows_the_difference_is_told_with_it_and_decides_nothing() {
    let but = "mirrors = { ratio = \"x / y\", but = { text = \"elsewhere\", ratio = \"z / y\" } }";
    for (theirs, elsewhere, verdict, told) in
        [(1.5, 1.2, Invalid, true), (1.5, 1.5, Invalid, false), (1.2, 1.5, Holds, false), (1.2, 1.2, Holds, false)]
    {
        let study = with(theirs, 0.01).work("z", &near(elsewhere, 0.01, 12)).judge(&published(but));
        assert_eq!(states(&study).len(), 2);
        let found = study.claims[0].published.judged().expect("the form is judged");
        let is_told = found.reason.contains("; elsewhere theirs shows 1.20");
        assert_eq!((found.verdict, is_told), (verdict, told), "{theirs} {elsewhere}");
        assert_eq!(found.mirrors[1].but, "elsewhere");
    }
}

#[test]
fn what_says_nothing_of_the_authors_code_is_refused() {
    let error = |more: &str| refused(&published(more)).expect_err("it is refused").to_string();
    assert!(error("mirrors = \"x\"").contains("has the ratio 'x': write \"a / b\""));
    assert!(error("mirrors = { metric = \"work_s\" }").contains("needs arms of the authors' code"));
    assert!(error("mirrors = { ratio = \"x / y\", blocks = { sometimes = 2 } }").contains("originals beside them"));
    assert!(error("mirrors = { ratio = \"x / y\", of = \"theirs\" }").contains("unknown key `of`"));
}

#[test]
fn the_authors_code_is_no_part_of_the_question() {
    let claims = |more: &str| parsed(&published(more));
    assert!(claims("").ask_as(&claims("mirrors = \"x / y\"")));
    assert!(!claims("").ask_as(&claims("margin = 0.01, mirrors = \"x / y\"")));
}
