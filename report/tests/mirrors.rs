//! A mirror and the authors' own code: do both show the same effect?

use report::judge::judged::Verdict::{DoesNotHold as Disagrees, Holds as Agrees, Unclear as CouldNotTell};
use report::judge::judged::Verdict::{Holds, Unclear};
use report::judge::judged::{At, Judged, JudgedStudy, Verdict};
use report::judge::{self, Round};
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
    study.claims[0].tests[0].of.as_ref().expect("the form is judged")
}

fn states(study: &JudgedStudy) -> Vec<Verdict> {
    as_published(study).mirrors.iter().map(|mirror| mirror.agrees).collect()
}

/// A claim whose mirror is compared over `t` in rounds of the authors' code alone.
fn in_other_rounds() -> String {
    published("mirrors = { ratio = 'x / y', scenarios = ['t'], blocks = { originals = 8 } }")
}

/// Samples of a round of the authors' code, in which their effect is `theirs`.
fn round_of_theirs((theirs, noise): (f64, f64)) -> Samples {
    let there = Samples::default().both("t", "work_s", 1.2).metric("t", "x", "work_s", &near(theirs, noise, 12));
    there.metric("t", "y", "work_s", &[1.0; 12])
}

/// The study on host 0 by `claims`, beside rounds of the authors' code that were asked `asked`, the newest first, with their effects and hosts.
fn beside(claims: &str, asked: &str, rounds: &[((f64, f64), usize)]) -> JudgedStudy {
    let (claims, asked) = (parsed(claims), parsed(asked));
    let here = with(1.0, 0.01);
    let quiet = here.work("b@aa", &near(1.0, 0.001, 12));
    let restricted = claims.asked_in(&asked, "originals");
    let of_theirs = |(theirs, host): &((f64, f64), usize)| {
        let round = round_of_theirs(*theirs).round(&restricted, "toy/x-originals", "originals");
        Round { at: At { host: *host, ..round.at }, ..round }
    };
    let there: Vec<Round> = rounds.iter().map(of_theirs).collect();
    let here = quiet.round(&claims, "toy/round", "quick");
    judge::study(&claims, &[&here], &there.iter().collect::<Vec<_>>())
}

#[test]
fn a_mirror_agrees_within_ten_percent_and_one_that_does_not_invalidates_what_is_published_alone() {
    let claims = published("mirrors = 'x / y'");
    for (theirs, noise, state, verdict) in [
        (1.2, 0.01, Agrees, Holds),
        (1.27, 0.01, Agrees, Holds),
        (1.5, 0.01, Disagrees, Unclear),
        (0.9, 0.01, Disagrees, Unclear),
        // Too noisy to say, and so no reason to disbelieve.
        (1.3, 0.2, CouldNotTell, Holds),
    ] {
        let study = with(theirs, noise).judge(&claims);
        assert_eq!(states(&study), [state], "{theirs} {noise}");
        assert_eq!(as_published(&study).verdict, verdict, "{theirs} {noise}");
        let reason = format!("in s the authors' code shows {theirs:.2}");
        assert_eq!(as_published(&study).reason.starts_with(&reason), verdict == Unclear);
        assert_eq!((fair(&study, 0).verdict, fair(&study, 0).mirrors.len()), (Holds, 0));
    }
}

#[test]
fn what_a_round_of_the_authors_code_says_counts_for_a_round_without_it() {
    let text = in_other_rounds();
    let blocks: Vec<_> = parsed(&text).blocks("originals").into_iter().collect();
    assert_eq!(blocks, ["a", "b", "x", "y"].map(|arm| (("t".to_owned(), arm.to_owned()), 8)));
    let disagrees = [((1.8, 0.01), 0)];
    // Of claims that compare it with something else, it says nothing.
    let elsewhere = text.replace("scenarios = ['t']", "scenarios = ['u']");
    assert_eq!(states(&beside(&text, &elsewhere, &disagrees)), []);
    // What the claim itself is judged by does not matter.
    let here = beside(&text, &text.replace("scenarios = ['s']", "scenarios = ['u']"), &disagrees);
    assert_eq!(states(&here), [Disagrees]);
    let found = as_published(&here);
    assert_eq!((found.verdict, found.mirrors[0].apart.n), (Unclear, 8));
    assert_eq!((found.mirrors[0].at.round.as_str(), found.mirrors[0].at.host), ("toy/x-originals", 0));
}

#[test]
fn a_mirror_is_believed_where_it_agrees_somewhere_and_was_not_seen_to_disagree_here() {
    let [agrees, disagrees, open] = [(1.2, 0.01), (1.8, 0.01), (1.3, 0.2)];
    for (rounds, expected, verdict) in [
        (&[(agrees, 0), (disagrees, 1)][..], &[Agrees, Disagrees][..], Holds),
        (&[(agrees, 1), (disagrees, 0)], &[Agrees, Disagrees], Unclear),
        (&[(agrees, 1), (disagrees, 2)], &[Agrees, Disagrees], Holds),
        (&[(disagrees, 1)], &[Disagrees], Unclear),
        (&[(open, 0), (disagrees, 1)], &[CouldNotTell, Disagrees], Unclear),
        (&[(open, 0), (agrees, 1), (disagrees, 2)], &[CouldNotTell, Agrees, Disagrees], Holds),
        // An older round of the same host adds nothing.
        (&[(agrees, 0), (disagrees, 0)], &[Agrees], Holds),
    ] {
        let here = beside(&in_other_rounds(), &in_other_rounds(), rounds);
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
        [(1.5, 1.2, Unclear, true), (1.5, 1.5, Unclear, false), (1.2, 1.5, Holds, false), (1.2, 1.2, Holds, false)]
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
    assert!(error("{ metric = 'work_s' }").contains("has mirrors of which one needs arms"));
    assert!(error("{ ratio = 'x / y', blocks = { sometimes = 2 } }").contains("originals beside them"));
    assert!(error("{ ratio = 'x / y', of = 'theirs' }").contains("'of', which means nothing"));
}
