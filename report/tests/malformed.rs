//! Files that are not as docs/FORMAT.md says: each is refused with its name, the line and what to do.

use report::cases;
use report::claims::Claims;
use report::page::Page;
use report::plan_file;
use support::{PAGE, line_of};

mod support;

/// Replaces `from` by `to` once and expects the reader to refuse the result at the line where `at` stands then, saying `what`.
fn refuse<T>(
    name: &str,
    text: &str,
    read: fn(&str, &str) -> Result<T, report::error::Error>,
    [from, to, at, what]: [&str; 4],
) {
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

#[test]
fn claims_with_unknown_keys_or_words_are_refused() {
    for change in [
        ["schema = 2", "schema = 1", "schema = 1", "schema 1 is unknown"],
        ["margin = 0.05, size = 1.1", "marign = 0.05, size = 1.1", "marign", "unknown field `marign`"],
        ["quick_s = 60", "quick = 60", "quick = 60", "PROFILE_s"],
        ["kind = \"ratio\"", "kind = \"ration\"", "\"C1\"", "ratio, equal, band"],
        ["kind = \"aa\"", "kind = \"ab\"", "\"aa\"", "choose aa or planted"],
        ["size = 1.5\n", "form = \"duel\"\n", "\"C1\"", "process or duet"],
        ["size = 1.5\n", "better = \"smaller\"\n", "\"C1\"", "lower or higher"],
        ["full = 12", "long = 12", "\"C1\"", "only quick and full judge"],
        ["schema = 2", "schema = 2\nschema = 2", "schema = 2\nstudy", "duplicate"],
    ] {
        refuse("claims.toml", support::CLAIMS, Claims::parse, change);
    }
}

#[test]
fn claims_with_missing_or_impossible_values_are_refused() {
    for change in [
        ["id = \"C2\"\ntext = \"a and b need the same memory\"", "id = \"C2\"", "\"C2\"", "needs the key 'text'"],
        ["kind = \"equal\"\nmetric = \"peak_rss_kib\"", "kind = \"equal\"", "\"C2\"", "needs the key 'metric'"],
        ["metric = \"peak_rss_kib\"", "metric = \"memory\"", "\"C2\"", "does not end in a unit"],
        ["margin = 0.10", "margin = 0.0", "\"C2\"", "not between 0 and 1"],
        ["margin = 0.10", "margin = -0.1", "\"C2\"", "not between 0 and 1"],
        ["margin = 0.10", "margin = \"5 %\"", "margin = \"5 %\"", "expected f64"],
        ["size = 1.5", "size = 0.7", "\"C1\"", "above 1"],
        ["size = 1.5", "size_band = [2.0, 1.5]", "\"C1\"", "lower end comes first"],
        ["size = 1.5", "size = 1.5\nsize_band = [1.2, 1.5]", "\"C1\"", "not both"],
        ["size = 1.5", "band = [1.2, 1.5]", "\"C1\"", "'band' means nothing"],
        ["size = 1.5", "share = 0.5", "\"C1\"", "'share' means nothing"],
        ["size = 1.5", "per = \"rows_count\"", "\"C1\"", "value of one arm"],
        ["size = 1.5", "unit = \"ns\"", "\"C1\"", "value of one arm"],
        ["at_most = 2.0", "at_most = 2.0\nmargin = 0.1", "\"fast\"", "'margin' means nothing"],
        ["kind = \"equal\"", "kind = \"band\"", "\"C2\"", "band = [lo, hi]"],
        ["kind = \"equal\"", "kind = \"slope\"", "\"C2\"", "x, a metric"],
        ["kind = \"equal\"", "kind = \"cause\"", "\"C2\"", "explains"],
        ["kind = \"equal\"", "kind = \"outcome\"", "\"C2\"", "at_least or at_most"],
        ["kind = \"equal\"", "kind = \"outcome\"\nat_most = 1.0\nshare = 1.5", "\"C2\"", "share from 0"],
        ["kind = \"planted\"", "kind = \"planted\", minus = \"a\"", "\"slow\"", "'minus' means nothing"],
        ["size = 1.1, ", "", "\"slow\"", "needs size"],
        ["at_most = 2.0\n", "", "\"fast\"", "at_most or at_least"],
        ["at_most = 2.0\n", "at_most = 2.0\nat_least = 1.0\n", "\"fast\"", "keep one"],
        [
            "denominator = \"b\"\nscenarios = [\"big\"]\nsize",
            "scenarios = [\"big\"]\nsize",
            "\"C1\"",
            "numerator and denominator",
        ],
    ] {
        refuse("claims.toml", support::CLAIMS, Claims::parse, change);
    }
}

#[test]
fn claims_that_name_what_is_not_there_are_refused() {
    for change in [
        ["aa = \"aa\"", "aa = \"noise\"", "\"C1\"", "'noise'"],
        ["aa = \"aa\"", "aa = \"slow\"", "\"C1\"", "kind aa"],
        ["planted = \"slow\"", "planted = \"aa\"", "\"C1\"", "kind planted"],
        ["planted = \"slow\"", "beside = \"C9\"", "\"C1\"", "'C9'"],
        ["id = \"C2\"", "id = \"C1\"", "\"C1\"", "stands twice"],
        ["id = \"fast\"", "id = \"aa\"", "\"aa\"", "stands twice"],
        ["kind = \"equal\"", "kind = \"cause\"\nexplains = \"C9\"\ncontrol = \"rival\"", "\"C2\"", "'C9'"],
    ] {
        refuse("claims.toml", support::CLAIMS, Claims::parse, change);
    }
}

#[test]
fn causes_need_words_and_evidence() {
    let with = support::CLAIMS.replacen(
        "[[goal]]",
        "[[claim.cause]]\nshort = \"faults\"\ntext = \"It faults more.\"\nmetric = \"faults_count\"\narm = \"a\"\nat_least = 9\n\n[[goal]]",
        1,
    );
    for change in [
        ["text = \"It faults more.\"\n", "", "\"faults\"", "needs the key 'text'"],
        ["at_least = 9\n", "", "\"faults\"", "at_least or at_most"],
        ["at_least = 9\n", "at_least = 9\nid = \"F\"\n", "\"F\"", "'id' means nothing"],
        ["faults_count", "faults", "\"faults\"", "does not end in a unit"],
    ] {
        refuse("claims.toml", &with, Claims::parse, change);
    }
}

#[test]
fn pages_with_unknown_keys_or_holes_are_refused() {
    for change in [
        ["schema = 2", "schema = 3", "schema = 3", "schema 3 is unknown"],
        ["row_header", "row_heading", "row_heading", "unknown field `row_heading`"],
        ["title = \"toy: a made-up study\"\n", "", "schema", "missing field `title`"],
        ["arm = \"a\", metric", "metric", "\"a (s)\"", "needs an arm and a metric"],
        ["[\"1.5\"]", "[\"1.5\", \"2.5\"]", "\"theirs\"", "2 values for 1 rows"],
        ["\"reversed\"", "\"inverted\"", "\"inverted\"", "no verdict 'inverted'"],
        ["x = \"rows_count\"\n", "", "\"scaling\"", "needs x"],
        [
            "kind = \"strip\"\nscenarios = [\"big\"]",
            "kind = \"strip\"\nscenarios = []",
            "\"arms\"",
            "shows one scenario",
        ],
        ["kind = \"strip\"", "kind = \"pie\"", "\"pie\"", "lines"],
    ] {
        refuse("page.toml", PAGE, Page::parse, change);
    }
}

#[test]
fn columns_that_compare_arms_say_which_and_how() {
    let page = PAGE.replacen(
        "values = [\"1.5\"]",
        "best = [\"a\", \"b\"], better = \"lower\", over = \"a\", metric = \"work_s\"",
        1,
    );
    let page = page.replacen("row_header", "labels = { a = \"Arm A\" }\nrow_header", 1);
    for change in [
        [", better = \"lower\"", "", "\"theirs\"", "needs better"],
        ["\"lower\"", "\"smaller\"", "\"smaller\"", "higher"],
        ["best = [\"a\", \"b\"]", "best = []", "\"theirs\"", "at least one arm"],
        ["best = [\"a\", \"b\"], ", "", "\"theirs\"", "mean nothing without it"],
        ["over = \"a\", metric", "over = \"a\", arm = \"a\", metric", "\"theirs\"", "mean nothing beside it"],
        ["over = \"a\", metric", "over = \"a\", dividend = \"a\", metric", "\"theirs\"", "mean nothing beside it"],
        [", over = \"a\", metric = \"work_s\"", "", "\"theirs\"", "needs a metric"],
        ["{ a = \"Arm A\" }", "{ c = \"Arm C\" }", "Arm C", "stands in no best"],
    ] {
        refuse("page.toml", &page, Page::parse, change);
    }
}

#[test]
fn charts_of_percentiles_need_a_histogram_and_no_metric() {
    let page = PAGE.replacen(
        "kind = \"strip\"\nscenarios = [\"big\"]\narms = [\"a\"]\nmetric = \"work_s\"",
        "kind = \"percentiles\"\nscenarios = [\"big\"]\narms = [\"a\"]\nhistogram = \"read_ns\"",
        1,
    );
    for change in [
        ["histogram = \"read_ns\"", "", "\"arms\"", "needs histogram"],
        ["histogram = \"read_ns\"", "histogram = \"read\"", "\"arms\"", "does not end in a unit"],
        ["histogram = \"read_ns\"", "histogram = \"read_ns\"\nmetric = \"work_s\"", "\"arms\"", "not metric"],
        ["arms = [\"a\"]\nhistogram", "arms = []\nhistogram", "\"arms\"", "needs scenarios and arms"],
        ["metric = \"work_s\"\nx =", "x =", "\"scaling\"", "needs metric"],
        ["metric = \"work_s\"\nx =", "metric = \"work_s\"\nhistogram = \"read_ns\"\nx =", "\"scaling\"", "percentiles"],
    ] {
        refuse("page.toml", &page, Page::parse, change);
    }
}

#[test]
fn cases_that_break_their_grammar_are_refused() {
    let cases_tsv = support::cases(&support::CASES);
    for change in [
        ["\trelease", "", "big\ta\t0.5", "4 columns"],
        ["small", "Small", "Small", "no name of a scenario"],
        ["b@slow", "b@fast", "b@fast", "NAME@slow"],
        ["b@aa", "b~", "b~", "joined by ~"],
        ["0.5", "soon", "soon", "'soon'"],
        ["0.5", "-1", "-1", "'-1'"],
        ["0.5", "86401", "86401", "of a day at most"],
        ["b@aa", "b", "big\tb\trelease\t0.5\trun --scenario big --arm b@aa", "stands twice"],
    ] {
        refuse("cases.tsv", &cases_tsv, cases::parse, change);
    }
    assert!(cases::parse("", "cases.tsv").is_err(), "no case at all");
}

#[test]
fn plans_that_break_their_grammar_are_refused() {
    let plan = "toy-0001\t0\tbig\ta\trelease\t0\t0\t0.5\trun\ntoy-0002\t1\tbig\ta\trelease\t0\t1\t0.5\trun\n";
    for change in [
        ["toy-0002\t", "", "1\tbig", "8 columns"],
        ["\t1\tbig", "\tone\tbig", "one", "'one'"],
        ["\t1\t0.5", "\t1\thalf", "half", "'half'"],
    ] {
        refuse("plan.tsv", plan, plan_file::from_tsv, change);
    }
}
