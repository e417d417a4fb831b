//! The program as a person types it.
#![cfg(feature = "cli")]

use std::fs;
use std::process::Command as Process;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;

fn s_zip(folder: &TempDir) -> Command {
    let mut command = Command::cargo_bin("s_zip").expect("the program is built");
    command.current_dir(folder);
    command
}

/// What comes of the words that were typed.
fn typed(folder: &TempDir, words: &str) -> Assert {
    s_zip(folder).args(words.split(' ')).assert()
}

/// A folder `tree` with files of several sizes, a subfolder and an empty file.
fn tree() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join("tree").join(name);
    fs::create_dir_all(path("deep/deeper")).expect("created");
    fs::write(path("a.txt"), "hello\n").expect("written");
    fs::write(path("empty"), "").expect("written");
    fs::write(path("deep/ü.txt"), "ü").expect("written");
    let noise: Vec<u8> = (0..400_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
    fs::write(path("deep/deeper/noise.bin"), noise).expect("written");
    folder
}

#[test]
fn a_tree_comes_back_as_it_was() {
    let folder = tree();
    typed(&folder, "create tree.zip tree").success().stdout("").stderr("");
    typed(&folder, "test tree.zip").success();
    let names = contains("tree/deep/deeper/noise.bin").and(contains("tree/deep/ü.txt"));
    typed(&folder, "list tree.zip").success().stdout(names);
    typed(&folder, "extract tree.zip --into out").success();
    let differ = Process::new("diff").args(["-r", "tree", "out/tree"]).current_dir(&folder).output().expect("it runs");
    assert!(differ.status.success(), "{}", String::from_utf8_lossy(&differ.stdout));
}

#[test]
fn every_writer_makes_a_whole_archive_and_the_async_one_the_same_bytes() {
    let folder = tree();
    let create = |name: &str, arguments: &[&str]| {
        s_zip(&folder).args(["create", name, "tree"]).args(arguments).assert().success();
        s_zip(&folder).args(["test", name]).assert().success();
        fs::read(folder.path().join(name)).expect("it is there")
    };
    let sync = create("sync.zip", &[]);
    assert_eq!(create("again.zip", &[]), sync, "the same files give the same bytes");
    for policy in ["inline", "block-in-place", "offload"] {
        assert_eq!(create("async.zip", &["--async", "--policy", policy]), sync, "{policy}");
    }
    assert_eq!(create("jobs1.zip", &["--jobs", "1"]), create("jobs4.zip", &["--jobs", "4"]));
    create("stored.zip", &["--method", "stored"]);
    create("best.zip", &["--level", "9"]);
    #[cfg(feature = "zstd")]
    create("zstd.zip", &["--method", "zstd", "--level", "19"]);
    create("times.zip", &["--keep-times"]);
}

#[test]
fn standard_input_and_output_are_a_dash() {
    let folder = tree();
    let output =
        s_zip(&folder).args(["create", "-", "-", "--stdin-name", "dump.sql"]).write_stdin("select 1;").output();
    let archive = output.expect("it ran").stdout;
    s_zip(&folder).args(["test", "-"]).write_stdin(archive.clone()).assert().success();
    s_zip(&folder).args(["list", "-"]).write_stdin(archive.clone()).assert().stdout(contains("dump.sql"));
    s_zip(&folder).args(["extract", "-", "--into", "out"]).write_stdin(archive).assert().success();
    assert_eq!(fs::read(folder.path().join("out/dump.sql")).expect("extracted"), b"select 1;");
}

#[test]
fn what_cannot_be_packed_is_one_line_and_leaves_nothing() {
    let folder = tree();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).expect("linked");
    for (arguments, part) in [
        (vec!["create", "out.zip", "absent.txt"], "cannot read absent.txt"),
        (vec!["create", "out.zip", "/etc/passwd"], "absolute"),
        (vec!["create", "out.zip", "../x"], "leaves the current folder"),
        (vec!["create", "out.zip", "tree", "tree/a.txt"], "twice"),
        (vec!["create", "out.zip", "link"], "symbolic link"),
        (vec!["create", "out.zip", "tree", "--level", "10"], "level"),
        (vec!["create", "absent/out.zip", "tree"], "absent"),
        (vec!["create", "out.zip", "-", "--stdin-name", "../up"], "--stdin-name"),
        (vec!["list", "tree/a.txt"], "a.txt"),
        (vec!["extract", "absent.zip"], "absent.zip"),
    ] {
        let one_line = predicate::function(|text: &str| text.lines().count() == 1 && text.starts_with("s_zip: "));
        let message = one_line.and(contains(part));
        s_zip(&folder).args(&arguments).assert().code(2).stdout("").stderr(message);
        assert!(!folder.path().join("out.zip").exists(), "{arguments:?}");
    }
}

#[test]
fn an_archive_does_not_hold_itself() {
    let folder = tree();
    typed(&folder, "create tree/self.zip tree").success();
    typed(&folder, "create tree/self.zip tree").code(2).stderr(contains("itself"));
}

#[test]
fn a_bomb_is_refused_by_its_limits() {
    let folder = TempDir::new().expect("a folder");
    let zeros = vec![0; 8 << 20];
    let archive = s_zip(&folder).args(["create", "-", "-"]).write_stdin(zeros).output().expect("it ran").stdout;
    fs::write(folder.path().join("bomb.zip"), archive).expect("written");
    let extract = ["extract", "bomb.zip", "--into", "in", "--limit-bytes", "1000000"];
    s_zip(&folder).args(extract).assert().code(2).stderr(contains("--limit-bytes"));
    assert!(!folder.path().join("in").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_line() {
    let folder = tree();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    let create = Process::new(assert_cmd::cargo::cargo_bin("s_zip"))
        .args(["create", "-", "tree"])
        .current_dir(&folder)
        .stdout(full)
        .output()
        .expect("it ran");
    assert_eq!(create.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&create.stderr).lines().count(), 1);
}

#[test]
fn without_arguments_it_says_what_can_be_typed() {
    let folder = TempDir::new().expect("a folder");
    let words = || contains("create").and(contains("extract"));
    s_zip(&folder).assert().code(2).stdout("").stderr(words());
    s_zip(&folder).arg("--help").assert().success().stdout(words());
    typed(&folder, "extract --help").success().stdout(contains("Examples:"));
}
