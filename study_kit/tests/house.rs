//! The micro-crates and the workspace that measures them are built alike: another profile or version would be a confound.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::{Table, Value};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn table(path: &str) -> Table {
    text(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// The micro-crates, which the workspace excludes, as it does the folder of tools.
fn crates() -> Vec<String> {
    words(&table("Cargo.toml")["workspace"]["exclude"]).into_iter().filter(|name| !name.starts_with('.')).collect()
}

#[test]
fn every_crate_is_excluded_its_study_a_member_and_both_are_in_the_makefile() {
    let members = words(&table("Cargo.toml")["workspace"]["members"]);
    let studies: Vec<String> = crates().iter().map(|name| format!("{name}/study")).collect();
    let [kit, report, oracle] = ["study_kit", "report", "txn_engine/tests/oracle"].map(|name| vec![name.to_owned()]);
    assert_eq!(members, [kit, report, studies, oracle].concat());
    let listed = text("Makefile").lines().find_map(|line| line.strip_prefix("STUDIES := ").map(str::to_owned)).unwrap();
    assert_eq!(listed.split(' ').collect::<Vec<_>>(), crates());
}

#[test]
fn every_crate_has_the_release_profile_and_the_lints_of_the_workspace() {
    let workspace = table("Cargo.toml");
    for name in crates() {
        let own = table(&format!("{name}/Cargo.toml"));
        assert_eq!(own["profile"]["release"], workspace["profile"]["release"], "{name}");
        let dev = own["profile"].get("dev").map(|dev| dev.as_table().unwrap().keys().collect::<Vec<_>>());
        assert!(dev.is_none_or(|keys| keys == ["package"]), "{name}");
        assert_eq!(own["lints"]["clippy"], workspace["workspace"]["lints"]["clippy"], "{name}");
        // A workspace of its own would keep it out of the workspaces of those who take it home.
        assert!(!own.contains_key("workspace"), "{name}");
    }
}

#[test]
fn what_a_crate_locks_the_workspace_locks_in_the_same_version() {
    // By name and compatible series: 1 of 1.4.0, 0.13 of 0.13.2.
    let versions = |path: &str| {
        let mut versions: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for package in table(path)["package"].as_array().unwrap() {
            let field = |name: &str| package[name].as_str().unwrap().to_owned();
            let version = field("version");
            let numbers = if version.starts_with("0.") { 2 } else { 1 };
            let series = version.split('.').take(numbers).collect::<Vec<_>>().join(".");
            versions.entry((field("name"), series)).or_default().insert(version);
        }
        versions
    };
    let measured = versions("Cargo.lock");
    let differs = |(package, own): (&(String, String), &BTreeSet<String>)| {
        let other = measured.get(package)?;
        (own != other).then(|| format!("{} {own:?} {other:?}", package.0))
    };
    for name in crates() {
        let own = versions(&format!("{name}/Cargo.lock"));
        let different: Vec<_> = own.iter().filter_map(differs).collect();
        assert!(different.is_empty(), "{name}/Cargo.lock and Cargo.lock: {different:?}");
    }
}
