//! Files that are not as docs/FORMAT.md says: each is refused with its name, the line and what to do.

use report::claims::Claims;
use report::error::Error;
use report::folder::cases;
use report::folder::plan_file;
use report::page::Page;
use support::{PAGE, line_of};

mod support;

/// Replaces `from` by `to` once and expects the reader to refuse the result at the line where `at` stands then, saying `what`.
fn refuse<T>(name: &str, text: &str, read: fn(&str, &str) -> Result<T, Error>, [from, to, at, what]: [&str; 4]) {
    assert!(read(text, name).is_ok(), "{name} is well formed before the change");
    assert!(text.contains(from), "'{from}' stands in {name}");
    let changed = text.replacen(from, to, 1);
    let place = format!("{name}:{}: ", line_of(&changed, at));
    let Err(error) = read(&changed, name) else {
        panic!("{name} with '{to}' for '{from}' is accepted");
    };
    let error = error.to_string();
    assert!(error.starts_with(&place), "'{error}' does not begin with '{place}'");
    assert!(error.contains(what), "'{error}' does not say '{what}'");
    assert!(!error.contains('\n'), "'{error}' is one line");
}

fn refuse_claims(change: [&str; 4]) {
    refuse("claims.toml", support::CLAIMS, Claims::parse, change);
}

const C1: &str = "id = \"C1\"";
const C2: &str = "id = \"C2\"";

#[test]
fn claims_with_unknown_keys_or_words_are_refused() {
    for change in [
        ["schema = 2", "schema = 1", "schema = 1", "schema 1 is unknown"],
        ["schema = 2\n", "", "study", "missing field `schema`"],
        ["size = 1.1,", "size = 1.1, syze = 1.1,", "planted", "'syze', which means nothing"],
        ["figure = 50.0", "numerator = \"a\"", C1, "C1 has the key 'numerator', which means nothing"],
        ["budget =", "share = []\nbudget =", "share", "unknown field `share`"],
        ["planted.process", "planted.proces", "proces ", "unknown variant `proces`"],
        ["quick_s = 60", "quick = 60", "quick = 60", "expected `quick_s`"],
        ["kind = \"ratio\"", "kind = \"ration\"", C1, "choose one of ratio, equal, band"],
        [
            "figure = 50.0\n",
            "replicate = \"duel\"\n",
            C1,
            "'replicate': unknown variant `duel`, expected `process` or `duet`",
        ],
        ["figure = 50.0\n", "better = \"smaller\"\n", C1, "`higher` or `lower`"],
        ["full = 12", "long = 12", "id = \"C1\"", "only quick and full judge"],
        ["= [\"big\"]\nfigure", "= { long = [\"big\"] }\nfigure", "id = \"C1\"", "only quick and full judge"],
        ["schema = 2", "schema = 2\nschema = 2", "schema = 2\nstudy", "duplicate"],
        ["figure = 50.0", "unit = \"ns\"", C1, "`plain`, `percent`"],
    ] {
        refuse_claims(change);
    }
}

#[test]
fn claims_with_missing_or_impossible_values_are_refused() {
    for change in [
        ["text = \"a and b need the same memory\"\n", "", C2, "C2 needs the key 'text'"],
        ["metric = \"peak_rss_kib\"", "metric = \"memory\"", "id = \"C2\"", "does not end in a unit"],
        ["margin = 0.10", "margin = 0.0", C2, "not between 0 and 1"],
        ["margin = 0.10", "margin = 1.0", C2, "not between 0 and 1"],
        ["margin = 0.10", "margin = \"5 %\"", C2, "'margin': invalid type: string \"5 %\", expected f64"],
        ["figure = 50.0", "figure = [2.0, 1.5]", C1, "lower end comes first"],
        ["figure = 50.0", "figure = \"many\"", C1, "expected a figure, or the two ends of a range"],
        ["kind = \"equal\"", "kind = \"band\"", C2, "band = [lo, hi]"],
        ["kind = \"equal\"", "kind = \"band\"\nband = [3, 3]", C2, "of nothing"],
        ["kind = \"equal\"", "kind = \"slope\"", C2, "x, a metric"],
        ["kind = \"equal\"", "kind = \"slope\"\nx = \"rows_count\"", C2, "either band or direction"],
        ["kind = \"equal\"", "kind = \"cause\"", C2, "explains"],
        ["kind = \"equal\"", "kind = \"outcome\"", C2, "at_least or at_most"],
        ["kind = \"equal\"", "kind = \"outcome\"\nat_most = 1.0\nshare = 1.5", C2, "share from 0"],
        ["size = 1.1, ", "", "planted", "needs the key 'size'"],
        ["size = 1.1, ", "size = 0.9, ", "planted", "above 1"],
        ["at_most = 2.0\n", "", "id = \"fast\"", "at_most or at_least"],
        ["at_most = 2.0\n", "at_most = 2.0\nat_least = 1.0\n", "id = \"fast\"", "keep one"],
        ["kind = \"ratio\"\nratio = \"a / b\"", "kind = \"ratio\"", C1, "needs arms"],
        ["kind = \"ratio\"\nratio = \"a / b\"", "kind = \"ratio\"\nratio = \"a/b\"", C1, "write \"a / b\""],
        ["blocks = { quick = 8, full = 12 }\n", "", C1, "needs the key 'blocks'"],
        ["published = {}\n", "", C1, "C1 needs the key 'published'"],
        ["published = {}", "published = 3", C1, "C1 cannot have this 'published': invalid type: integer"],
        ["published = {}", "published = { part = [] }", C1, "at least one part"],
        ["published = {}", "published = { replicate = \"duet\", arm = \"a\", aa = \"b\" }", C1, "needs ratio"],
        ["_kib\"\nratio = \"a / b\"", "_kib\"\narm = \"a\"", C2, "wrong arms"],
    ] {
        refuse_claims(change);
    }
}

#[test]
fn keys_that_mean_nothing_where_they_stand_are_refused() {
    for change in [
        ["figure = 50.0", "band = [1.2, 1.5]", C1, "C1 has the key 'band', which means nothing"],
        ["figure = 50.0", "per = \"rows_count\"", C1, "value of one arm"],
        ["figure = 50.0", "part = [{}]", C1, "'part', which means nothing"],
        [
            "at_most = 2.0",
            "at_most = 2.0\nmargin = 0.1",
            "id = \"fast\"",
            "fast has the key 'margin', which means nothing",
        ],
        ["published = {}", "published = { id = \"x\" }", C1, "C1 (as published) has the key 'id'"],
        ["published = {}", "published = { kind = \"equal\" }", C1, "'kind', which means nothing"],
        // Neither form inherits it.
        ["published = {}", "published = { ratio = \"b / a\" }", C1, "names its own arms"],
        ["ed = {}", "ed = { text = \"both\", part = [{}] }", C1, "C1 (as published) has the key 'text'"],
        [
            "published = {}",
            "further = [{ id = \"F\", text = \"f\" }]\npublished = { ratio = \"c / b\", part = [{ ratio = \"a / b\" }] }",
            C1,
            "names its own arms",
        ],
        ["{ absent =", "{ arm = \"a\", absent =", C1, "'arm', which means nothing"],
        ["size = 1.1, ", "size = 1.1, minus = \"a\", ", "planted", "'minus', which means nothing"],
        ["figure = 50.0", "aa = { arm = \"b\", metric = \"user_s\" }", C1, "'metric', which means nothing"],
        ["figure = 50.0", "aa = 3", C1, "a table of arm, scenarios and blocks"],
        ["published = {}", "published = { mirrors = [] }", C1, "a table of what is measured of the authors' code"],
    ] {
        refuse_claims(change);
    }
}

#[test]
fn claims_that_name_what_is_not_there_are_refused() {
    let cause = |explains: &str| format!("kind = \"cause\"\nexplains = \"{explains}\"");
    for (explains, what) in [
        ("C9", "'C9', which is no claim or further test"),
        ("C1", "'C1', which is absent fair"),
        ("C1.fair", "'C1', which is absent fair"),
        ("C1.best", "'C1.best', which is no claim"),
    ] {
        refuse_claims(["kind = \"equal\"", &cause(explains), "id = \"C2\"", what]);
    }
    let elsewhere = cause("C1.published") + "\nmetric = \"peak_rss_kib\"\nratio = \"a / b\"\nscenarios = [\"small\"]";
    let own = "kind = \"equal\"\nmetric = \"peak_rss_kib\"\nratio = \"a / b\"\nscenarios = [\"big\"]";
    for change in [
        [own, &elsewhere, "id = \"C2\"", "measured in small, where it is"],
        ["id = \"C2\"", "id = \"C1\"", "id = \"C1\"", "stands twice"],
        ["id = \"fast\"", "id = \"C2\"", "id = \"C2\"", "stands twice"],
        ["figure = 50.0", "further = [{ id = \"C2\", text = \"x\" }]", "id = \"C2\"", "stands twice"],
    ] {
        refuse_claims(change);
    }
}

#[test]
fn a_cause_of_processes_explains_no_duet_and_the_other_way_round() {
    let cause = "cause = [{ short = \"locks\", text = \"t\", ratio = \"a / c\", replicate = ";
    let own = |replicate: &str, of: &str| format!("published = {{ replicate = \"{of}\", {cause}\"{replicate}\" }}] }}");
    for (replicate, of) in [("process", "duet"), ("duet", "process")] {
        let what = format!(
            "C1 (as published) has a cause, locks, that explains nothing: no effect has replicate = \"{replicate}\" like its own"
        );
        refuse_claims(["published = {}", &own(replicate, of), C1, &what]);
        let both = support::CLAIMS.replacen("published = {}", &own(of, of), 1);
        assert!(Claims::parse(&both, "claims.toml").is_ok());
        // A counter of one arm is of processes, and shares nothing.
        let counter = own("process", of).replace("ratio = \"a / c\"", "arm = \"a\", at_least = 1");
        assert!(Claims::parse(&support::CLAIMS.replacen("published = {}", &counter, 1), "claims.toml").is_ok());
    }
    let claim = "kind = \"cause\"\nexplains = \"C1.published\"\nreplicate = \"duet\"";
    let what = "C2 explains 'C1', but no effect has replicate = \"duet\" like its own";
    refuse_claims(["kind = \"equal\"", claim, "id = \"C2\"", what]);
}

#[test]
fn causes_need_words_and_evidence() {
    let counter =
        "short = \"faults\"\ntext = \"It faults more.\"\nmetric = \"faults_count\"\narm = \"a\"\nat_least = 9\n";
    let with = support::CLAIMS.replacen("figure = 50.0\n", "", 1).replacen(
        "[[claim]]\nid = \"C2\"",
        &format!("[[claim.cause]]\n{counter}\n[[claim]]\nid = \"C2\""),
        1,
    );
    for change in [
        ["text = \"It faults more.\"\n", "", C1, "needs the key 'text'"],
        ["at_least = 9\n", "", C1, "at_least or at_most"],
        ["at_least = 9\n", "at_least = 9\nid = \"F\"\n", C1, "'id', which means nothing"],
        ["at_least = 9\n", "at_least = 9\nmargin = 0.1\n", C1, "'margin', which means nothing"],
        ["faults_count", "faults", "id = \"C1\"", "does not end in a unit"],
        ["arm = \"a\"\nat_least = 9\n", "", C1, "a ratio of its own"],
        [
            "arm = \"a\"\nat_least = 9",
            "ratio = \"a / c\"\nscenarios = [\"small\"]",
            C1,
            "measured in small, where it is",
        ],
    ] {
        refuse("claims.toml", &with, Claims::parse, change);
    }
}

/// An answer of two rows whose second says only what its authors said.
const UNEVEN: &str = r#"[answer]
name = "Toy"
said = ["a is faster", "b is not"]
setup = ["1"]
equal = ["1"]
so = "-"
why = "-"
[[table]]"#;

#[test]
fn pages_with_unknown_keys_or_holes_are_refused() {
    for change in [
        ["schema = 2", "schema = 3", "schema = 3", "schema 3 is unknown"],
        ["row_header", "row_heading", "row_heading", "unknown field `row_heading`"],
        ["title = \"toy: a made-up study\"\n", "", "schema", "missing field `title`"],
        ["arm = \"a\", metric", "metric", "\"a (s)\"", "needs an arm and a metric"],
        ["[\"1.5\"]", "[\"1.5\", \"2.5\"]", "\"theirs\"", "2 values for 1 rows"],
        ["Do not.", "{T2.fair.range", "advice", "lacks its '}'"],
        ["Do not.", "{T2.fair}", "advice", "{CLAIM.FORM.WHAT}"],
        ["Do not.", "{T2.unfair.range}", "advice", "`published` or `fair`"],
        ["Do not.", "{T2.fair.hold_1s.shorter}", "advice", "`range` or `theirs`"],
        ["[[table]]", UNEVEN, "[answer]", "an entry per row each, here [2, 1, 1]"],
    ] {
        refuse("page.toml", PAGE, Page::parse, change);
    }
}

#[test]
fn cases_and_plans_that_break_their_grammar_are_refused() {
    let cases_tsv = support::cases(&support::CASES);
    for change in [
        ["\trelease", "", "big\ta\t0.5", "4 columns"],
        ["small", "Small", "Small", "no name of a scenario"],
        ["b@slow", "b@fast", "b@fast", "NAME@slow"],
        ["b@aa", "b~", "b~", "joined by ~"],
        ["b@aa", "b", "big\tb\trelease\t0.5\trun --scenario big --arm b@aa", "stands twice"],
    ] {
        refuse("cases.tsv", &cases_tsv, cases::parse, change);
    }
    for build in ["", "Release", "variant-", "../x", "variant-a b"] {
        let build = format!("\t{build}\t");
        refuse("cases.tsv", &cases_tsv, cases::parse, ["\trelease\t", &build, &build, "no build"]);
    }
    for build in ["dev", "variant-lto-off"] {
        assert!(cases::parse(&cases_tsv.replace("release", build), "cases.tsv").is_ok(), "{build}");
    }
    assert!(cases::parse("", "cases.tsv").is_err(), "no case at all");

    let plan = "toy-0001\t0\tbig\ta\trelease\t0\t0\t0.5\trun\ntoy-0002\t1\tbig\ta\trelease\t0\t1\t0.5\trun\n";
    for change in [["toy-0002\t", "", "1\tbig", "8 columns"], ["\t1\tbig", "\tone\tbig", "one", "'one'"]] {
        refuse("plan.tsv", plan, plan_file::from_tsv, change);
    }
    for seconds in ["soon", "NaN", "inf", "-1", "0", "86400.1"] {
        let (time, what) = (format!("\t{seconds}\t"), format!("'{seconds}' is no time"));
        refuse("cases.tsv", &cases_tsv, cases::parse, ["\t0.5\t", &time, &time, &what]);
        refuse("plan.tsv", plan, plan_file::from_tsv, ["\t1\t0.5\t", &format!("\t1{time}"), "toy-0002", &what]);
    }
}

#[test]
fn keys_that_are_retired_say_nothing() {
    let old = support::CLAIMS.replace("figure = 50.0", "size = 1.5\nsize_band = [1.2, 1.5]\ncontrol = \"rival\"");
    let read = Claims::parse(&old, "claims.toml").expect("a round of before is read");
    assert_eq!(read.controls.len(), 3, "what is planted keeps its size: {:?}", read.controls);
    assert!(Claims::parse(&old.replace("control =", "kontrol ="), "claims.toml").is_err());
}

#[test]
fn a_metric_is_divided_by_what_is_of_the_same_thing() {
    let claims = |scope: &str, per: &str| {
        let of = format!("kind = \"band\"\nat_least = 1.0\nmetric = \"switches_count\"\narm = \"a\"\nper = \"{per}\"");
        let text = support::CLAIMS.replace("kind = \"equal\"\nmetric = \"peak_rss_kib\"\nratio = \"a / b\"", &of);
        Claims::parse(&text.replace("budget =", &format!("{scope}\nbudget =")), "claims.toml")
    };
    let scope = "scope = { archive = [\"operations_count\"], setting = [\"hold_ms\"] }";
    let error = claims(scope, "operations_count").expect_err("switches are of the process").to_string();
    assert!(
        error.contains("divides switches_count, which is of a process, by operations_count, which is of a archive"),
        "{error}"
    );
    for (scope, per) in [(scope, "work_s"), (scope, "hold_ms"), ("", "operations_count")] {
        assert!(claims(scope, per).is_ok(), "{scope} {per}");
    }
}
