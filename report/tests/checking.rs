//! `report check`, `report seal` and `report page`: whatever is wrong with a results folder is found, with file and line.

use std::fs;
use std::path::Path;

use report::{check, manifest, plan_file};
use support::{FIRST, Outcome, Toy, findings, forge, line_of, read, sealed, temporary, usual, write};

mod support;

/// Expects exactly one finding, which begins with `FOLDER/FILE:LINE:` (or `FOLDER/FILE:` for line 0) and contains `what`.
fn expect_one(folder: &Path, file: &str, line: usize, what: &str) {
    let found = findings(folder);
    let line = if line == 0 { String::new() } else { format!("{line}:") };
    let place = format!("{}:{line}", folder.join(file).display());
    let [finding] = found.as_slice() else {
        panic!("one finding at {place} about '{what}' is expected: {found:#?}");
    };
    assert!(finding.starts_with(&place) && finding.contains(what), "'{finding}' is not '{place} ... {what}'");
}

/// The lines of a text with its breaks.
fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

#[test]
fn a_sealed_folder_is_all_right() {
    let (_results, folder) = sealed();
    assert_eq!(findings(&folder), Vec::<String>::new());
}

#[test]
fn histograms_have_a_unit_and_can_be_decoded() {
    for (name, content, what) in [
        ("read", "AAAA", "histogram 'read' does not end in a unit"),
        ("read_ns", "AAAA", "histogram 'read_ns' cannot be read: it is no compressed"),
        ("read_ns", "A", "histogram 'read_ns' cannot be read: it is no padded base64"),
    ] {
        let (_results, folder) = sealed();
        forge(&folder, "runs.jsonl", |text| {
            text.replacen("\"metrics\":", &format!("\"histograms\":{{\"{name}\":\"{content}\"}},\"metrics\":"), 1)
        });
        let found = findings(&folder);
        assert!(found.iter().any(|finding| finding.contains("runs.jsonl:1: ") && finding.contains(what)), "{found:#?}");
    }
}

#[test]
fn one_changed_digit_contradicts_the_manifest() {
    let (_results, folder) = sealed();
    let text = read(&folder, "runs.jsonl");
    let place = text.find("\"work_s\":1.").expect("a time of work") + "\"work_s\":1.".len();
    let digit = if &text[place..=place] == "4" { "5" } else { "4" };
    write(&folder, "runs.jsonl", &format!("{}{digit}{}", &text[..place], &text[place + 1..]));
    expect_one(&folder, "runs.jsonl", 0, "changed after it was sealed");
}

#[test]
fn files_that_are_missing_or_unknown_contradict_the_manifest() {
    let (_results, folder) = sealed();
    write(&folder, "notes.txt", "I was here\n");
    expect_one(&folder, "notes.txt", 0, "does not list it");
    fs::remove_file(folder.join("notes.txt")).expect("it can be removed");
    fs::remove_file(folder.join("memory.jsonl")).expect("it can be removed");
    expect_one(&folder, "memory.jsonl", 0, "missing");
}

#[test]
fn a_manifest_that_is_none_is_named_with_its_line() {
    let (_results, folder) = sealed();
    let manifest = read(&folder, "SHA256SUMS");
    write(&folder, "SHA256SUMS", &manifest.replacen("  ", " ", 1));
    expect_one(&folder, "SHA256SUMS", 1, "two spaces");
    fs::remove_file(folder.join("SHA256SUMS")).expect("it can be removed");
    assert!(findings(&folder)[0].contains("SHA256SUMS"), "{:?}", findings(&folder));
}

/// Changes the lines of a file.
fn in_lines(text: &str, change: impl Fn(&mut Vec<String>)) -> String {
    let mut lines = lines(text);
    change(&mut lines);
    lines.concat()
}

/// A forgery of a file.
type Change<'a> = &'a dyn Fn(&str) -> String;

#[test]
fn lines_that_are_gone_twice_there_out_of_order_unplanned_or_torn_are_found() {
    let another = |text: &str| text.to_owned() + &lines(text)[0].replace("toy-0001", "toy-9999");
    let changes: [(Change, usize, &str); 6] = [
        (&|text| in_lines(text, |lines| drop(lines.remove(4))), 0, "toy-0005"),
        (&|text| in_lines(text, |lines| lines.insert(5, lines[4].clone())), 6, "toy-0005 stands twice"),
        (&|text| in_lines(text, |lines| lines.swap(4, 5)), 6, "order"),
        (&another, 34, "toy-9999 is not planned"),
        (&|text| text[..text.len() - 20].to_owned(), 33, "interrupted"),
        (&|text| text.replacen("\"exit\":0", "\"exit\":9", 1), 1, "toy-0001 failed: exit code 9"),
    ];
    for (change, line, what) in changes {
        let (_results, folder) = sealed();
        forge(&folder, "runs.jsonl", change);
        expect_one(&folder, "runs.jsonl", line, what);
    }
}

#[test]
fn what_a_record_lacks_does_not_know_or_says_of_another_run_is_named_with_its_line() {
    for (from, to, what) in [
        ("\"digest\":", "\"digits\":", "unknown field `digits`"),
        ("\"exit\":0", "\"exit\":0,\"host\":\"x\"", "unknown field `host`"),
        ("\"times\":", "\"moments\":", "unknown field `moments`"),
        ("\"seed\":0,", "", "missing field `seed`"),
        ("\"schema\":2", "\"schema\":1", "schema 1 is unknown"),
        ("\"work_s\":", "\"work\":", "does not end in a unit"),
        ("\"block\":3", "\"block\":4", "block '4', planned is '3'"),
        ("\"scenario\":\"small\"", "\"scenario\":\"tiny\"", "scenario 'tiny', planned is 'small'"),
        ("\"arm\":\"b@slow\"", "\"arm\":\"b\"", "arm 'b', planned is 'b@slow'"),
        ("\"study\":\"toy\"", "\"study\":\"joy\"", "study 'joy'"),
    ] {
        let (_results, folder) = sealed();
        let line = line_of(&read(&folder, "runs.jsonl"), from);
        forge(&folder, "runs.jsonl", |text| text.replacen(from, to, 1));
        expect_one(&folder, "runs.jsonl", line, what);
    }
}

#[test]
fn arms_that_give_different_answers_are_found() {
    let (_results, folder) = sealed();
    // The last run of the scenario on the input of seed 1: others gave the answer before it.
    let text = read(&folder, "runs.jsonl");
    let place = text.rfind("\"digest\":\"big-1\"").expect("seed 1 was used");
    let line = text[..place].matches('\n').count() + 1;
    forge(&folder, "runs.jsonl", |text| format!("{}{}", &text[..place], text[place..].replacen("big-1", "another", 1)));
    expect_one(&folder, "runs.jsonl", line, "another answer");
}

#[test]
fn failed_runs_are_listed_and_do_not_hinder_the_seal() {
    let results = temporary();
    let folder = Toy::default().seal(results.path(), FIRST, |run| match (run.case.arm.as_str(), run.block) {
        ("a", 2) => Outcome::Failed("the balance of client 3 differs"),
        _ => usual(run),
    });
    let line = line_of(&read(&folder, "runs.jsonl"), "the balance");
    expect_one(&folder, "runs.jsonl", line, "failed: the balance of client 3 differs");
}

#[test]
fn memory_passes_must_be_of_the_cases() {
    for (from, to, line, what) in [
        ("\"arm\":\"b@aa\",\"exit\"", "\"arm\":\"c\",\"exit\"", 0, "big c does not stand in cases.tsv"),
        ("\"block\":0,\"digest\"", "\"block\":0,\"digits\"", 1, "unknown field `digits`"),
        ("\"max_rss_kib\"", "\"max_rss\"", 1, "unknown field `max_rss`"),
    ] {
        let (_results, folder) = sealed();
        forge(&folder, "memory.jsonl", |text| text.replacen(from, to, 1));
        let line = if line == 0 { line_of(&read(&folder, "memory.jsonl"), to) } else { line };
        expect_one(&folder, "memory.jsonl", line, what);
    }
    let (_results, folder) = sealed();
    forge(&folder, "memory.jsonl", |text| text.to_owned() + &lines(text)[0]);
    expect_one(&folder, "memory.jsonl", 6, "twice in pass 0");
}

#[test]
fn an_incomplete_measurement_is_not_sealed() {
    let results = temporary();
    let folder = Toy::default().measure(results.path(), FIRST, usual);
    let text = read(&folder, "runs.jsonl");
    write(&folder, "runs.jsonl", &lines(&text)[..30].concat());
    let errors = check::seal(&folder).expect_err("three runs are missing");
    assert_eq!(errors.len(), 3);
    assert!(errors[0].to_string().contains("toy-0031"), "{}", errors[0]);
    assert!(!folder.join("SHA256SUMS").exists());
}

#[test]
fn files_that_do_not_agree_with_each_other_or_with_themselves_are_found() {
    let advice = "[[advice]]\ntext = \"Do.\"\nwhen = { claim = \"C9\", form = \"fair\", verdicts = [\"holds\"] }\n";
    for (name, from, to, file, what) in [
        ("claims.toml", "margin = 0.10", "margin = 0.50", "plan.json", "hash"),
        ("page.toml", "[[chart]]", &format!("{advice}[[chart]]"), "page.toml", "the claim C9"),
        ("machine.json", "\"governor\":\"", "\"gouverneur\":\"", "machine.json", "governor is null without a reason"),
    ] {
        let (_results, folder) = sealed();
        forge(&folder, name, |text| text.replacen(from, to, 1));
        expect_one(&folder, file, 0, what);
    }
}

/// Changes plan.tsv and everything that vouches for it, so that only its content can give it away.
fn forge_plan(folder: &Path, change: impl Fn(&str) -> String) {
    forge(folder, "plan.tsv", |text| change(text));
    let hash = plan_file::hash(&read(folder, "claims.toml"), &read(folder, "cases.tsv"), &read(folder, "plan.tsv"));
    let meta = report::results::read_meta(folder).expect("plan.json can be read");
    forge(folder, "plan.json", |text| text.replace(&meta.hash, &hash));
}

#[test]
fn a_new_page_changes_one_line_of_the_manifest() {
    let (results, folder) = sealed();
    let before = read(&folder, manifest::NAME);
    let page = results.path().join("page.toml");
    fs::write(&page, read(&folder, "page.toml").replace("Is a slower than b?", "Which is slower?"))
        .expect("it can be written");
    check::replace_page(&folder, &page).expect("the page is a page");
    let after = read(&folder, manifest::NAME);
    let changed: Vec<&str> =
        before.lines().zip(after.lines()).filter(|(before, after)| before != after).map(|(_, after)| after).collect();
    assert_eq!((changed.len(), before.lines().count()), (1, after.lines().count()));
    assert!(changed[0].ends_with("  page.toml"), "{changed:?}");
    assert!(findings(&folder).is_empty());
}

#[test]
fn a_run_that_is_planned_twice_is_found_at_the_second() {
    let (_results, folder) = sealed();
    forge_plan(&folder, |text| text.replacen("toy-0007\t", "toy-0006\t", 1));
    let found = findings(&folder);
    assert!(
        found.iter().any(|finding| finding.contains("plan.tsv:7: the run toy-0006 is planned twice")),
        "{found:#?}"
    );
}

#[test]
fn a_plan_that_runs_a_case_in_another_way_than_listed_is_found() {
    for (from, to) in [("\trelease\t", "\tdev\t"), ("run --scenario", "run --fast --scenario")] {
        let (_results, folder) = sealed();
        forge_plan(&folder, |text| text.replacen(from, to, 1));
        let found = findings(&folder);
        let [finding] = found.as_slice() else { panic!("{to}: {found:#?}") };
        assert!(finding.contains("plan.tsv:1: ") && finding.contains("cases.tsv"), "{finding}");
    }
}

#[test]
fn a_file_that_the_manifest_lists_twice_is_found() {
    let (_results, folder) = sealed();
    let listed = read(&folder, manifest::NAME);
    let wrong = format!("{}  cases.tsv\n{listed}", "0".repeat(64));
    write(&folder, manifest::NAME, &wrong);
    let found = findings(&folder);
    assert!(found.iter().any(|finding| finding.contains("SHA256SUMS:2: cases.tsv stands twice")), "{found:#?}");
}

#[test]
fn faults_of_several_files_are_all_named_at_once() {
    let (_results, folder) = sealed();
    forge(&folder, "cases.tsv", |text| text.replacen("small", "Small", 1));
    forge(&folder, "page.toml", |text| text.replacen("row_header", "row_heading", 1));
    forge(&folder, "runs.jsonl", |text| text.replacen("\"exit\":0", "\"exit\":0,\"host\":\"x\"", 2));
    let found = findings(&folder);
    for place in ["cases.tsv:5: ", "page.toml:12: ", "runs.jsonl:1: ", "runs.jsonl:2: "] {
        assert!(found.iter().any(|finding| finding.contains(place)), "{place} is not in {found:#?}");
    }
}
