//! What `report page` leaves as it is, what a plan or manifest must not say twice, and faults of several files at once.

use std::fs;
use std::path::{Path, PathBuf};

use report::{check, manifest, plan_file};
use support::{Toy, forge, read, usual, write};
use tempfile::TempDir;

mod support;

const STAMP: &str = "20261121T050000Z";

fn sealed() -> (TempDir, PathBuf) {
    let results = tempfile::tempdir().expect("a temporary folder");
    let folder = Toy::default().seal(results.path(), STAMP, usual);
    (results, folder)
}

fn texts(errors: &[report::error::Error]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
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
    assert!(check::check(&folder).is_empty());
}

#[test]
fn a_run_that_is_planned_twice_is_found_at_the_second() {
    let (_results, folder) = sealed();
    forge_plan(&folder, |text| text.replacen("toy-0007\t", "toy-0006\t", 1));
    let found = texts(&check::check(&folder));
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
        let found = texts(&check::check(&folder));
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
    let found = texts(&check::check(&folder));
    assert!(found.iter().any(|finding| finding.contains("SHA256SUMS:2: cases.tsv stands twice")), "{found:#?}");
}

#[test]
fn faults_of_several_files_are_all_named_at_once() {
    let (_results, folder) = sealed();
    forge(&folder, "cases.tsv", |text| text.replacen("small", "Small", 1));
    forge(&folder, "page.toml", |text| text.replacen("row_header", "row_heading", 1));
    forge(&folder, "runs.jsonl", |text| text.replacen("\"exit\":0", "\"exit\":0,\"host\":\"x\"", 2));
    let found = texts(&check::check(&folder));
    for place in ["cases.tsv:5: ", "page.toml:8: ", "runs.jsonl:1: ", "runs.jsonl:2: "] {
        assert!(found.iter().any(|finding| finding.contains(place)), "{place} is not in {found:#?}");
    }
}
