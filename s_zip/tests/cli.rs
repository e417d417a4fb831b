//! The program as a person types it.
#![cfg(all(feature = "cli", unix))]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command as Process;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin;
use common::calls::noise;
use common::forged::times::ut;
use common::forged::{Member, bomb, stored, zip};
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
    assert_eq!(create("async.zip", &["--async"]), sync);
    assert_eq!(create("jobs1.zip", &["--jobs", "1"]), create("jobs4.zip", &["--jobs", "4"]));
    create("stored.zip", &["--method", "stored"]);
    create("best.zip", &["--level", "9"]);
    #[cfg(feature = "zstd")]
    create("zstd.zip", &["--method", "zstd", "--level", "19"]);
    create("times.zip", &["--keep-times"]);
}

#[test]
fn the_times_that_are_listed_are_those_that_are_set() {
    let folder = TempDir::new().expect("a folder");
    let times = [
        ("old", ut(-315_619_141), -315_619_141, "1960-01-01 00:00"),
        ("new", ut(1_700_000_001), 1_700_000_001, "2023-11-14 22:13"),
    ];
    let members = times.clone().map(|(name, central_extra, ..)| Member { central_extra, ..stored(name, b"") });
    fs::write(folder.path().join("a.zip"), zip(&members).bytes).expect("written");
    typed(&folder, "extract a.zip --into out").success();
    for (name, _, seconds, shown) in times {
        typed(&folder, "list a.zip").success().stdout(contains(format!("{shown}  {name}\n")));
        assert_eq!(fs::metadata(folder.path().join("out").join(name)).expect("extracted").mtime(), seconds);
    }
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
fn what_cannot_be_done_is_one_line_that_no_terminal_acts_on_and_leaves_nothing() {
    let folder = tree();
    let evil = "red\u{1b}[31m\u{202e}gpj.exe";
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
    for (target, link) in [("/etc/passwd", "link"), ("out.zip", "nowhere")] {
        std::os::unix::fs::symlink(target, folder.path().join(link)).expect("linked");
    }
    write("a.zip", &zip(&[stored(evil, b"")]).bytes);
    write("b.zip", &zip(&[stored(&format!("{evil}/b"), b"")]).bytes);
    write("bomb.zip", &zip(&[bomb()]).bytes);
    write(evil, b"no archive");
    for (words, part) in [
        ("create out.zip absent.txt", "cannot read absent.txt"),
        ("create out.zip /etc/passwd", "absolute"),
        ("create out.zip ../x", "leaves the current folder"),
        ("create out.zip tree tree/a.txt", "twice"),
        ("create out.zip link", "symbolic link"),
        ("create out.zip tree --level 10", "level"),
        ("create absent/out.zip tree", "absent"),
        ("create out.zip - --stdin-name ../up", "--stdin-name"),
        ("create out.zip tree/a.txt - --stdin-name tree", "a file and a folder"),
        ("create out.zip tree - --stdin-name tree/a.txt/b", "a file and a folder"),
        ("create nowhere tree", "a link to nothing"),
        ("list tree/a.txt", "a.txt"),
        ("extract absent.zip", "absent.zip"),
        ("extract bomb.zip --into out.zip --limit-ratio 100000 --limit-bytes 1000000", "--limit-bytes"),
        ("extract a.zip", "exists"),
        ("extract b.zip", "is not a folder"),
        ("extract a.zip --into EVIL", "cannot write"),
        ("create out.zip EVIL EVIL", "twice"),
        ("create EVIL a.zip", "not an archive"),
        ("create EVIL/out.zip a.zip", "cannot create"),
        ("list EVIL", "no end record"),
        ("list no-EVIL", "cannot open"),
    ] {
        let one_line = predicate::function(|text: &str| text.lines().count() == 1 && text.starts_with("s_zip: "));
        let message = one_line.and(harmless()).and(contains(part));
        typed(&folder, &words.replace("EVIL", evil)).code(2).stdout("").stderr(message);
        assert!(!folder.path().join("out.zip").exists(), "{words}");
    }
    typed(&folder, &format!("list --{evil}")).code(2).stderr(harmless());
}

/// Nothing that acts on a terminal.
fn harmless() -> impl Predicate<str> {
    predicate::function(|text: &str| !text.contains(['\u{1b}', '\u{202e}']))
}

#[test]
fn an_archive_does_not_hold_itself() {
    let folder = tree();
    typed(&folder, "create tree/self.zip tree").success();
    typed(&folder, "create tree/self.zip tree").code(2).stderr(contains("itself"));
}

/// By another name and through the shell, too, where it would grow by what is read of it.
#[test]
fn an_archive_on_standard_output_does_not_hold_itself() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("a"), noise(6_000_000, 1)).expect("written");
    let script = "ulimit -f 100000; : > out.zip; ln out.zip same.zip; \"$0\" create - . > out.zip";
    let told = contains("out.zip is the archive itself: left out").and(contains("same.zip is the archive itself"));
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(cargo_bin("s_zip")).current_dir(&folder).assert().success().stderr(told);
    let names = |text: &str| text.lines().count() == 3 && text.lines().nth(1).is_some_and(|line| line.ends_with("  a"));
    typed(&folder, "list out.zip").success().stdout(predicate::function(names));
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" create - a out.zip > out.zip"]).arg(cargo_bin("s_zip")).current_dir(&folder);
    shell.assert().code(2).stderr(contains("out.zip is the archive itself"));
}

/// Nothing tells the program that its archive, behind another program, is among the files that it packs.
#[test]
fn an_archive_that_grows_by_what_is_read_of_it_ends() {
    let folder = TempDir::new().expect("a folder");
    for name in ["a", "z"] {
        fs::write(folder.path().join(name), noise(6_000_000, 1)).expect("written");
    }
    let script = "ulimit -f 100000; \"$0\" create - . | cat > m.zip";
    Command::new("sh").args(["-c", script]).arg(cargo_bin("s_zip")).current_dir(&folder).assert().success();
    let archive = fs::metadata(folder.path().join("m.zip")).expect("there");
    assert!(archive.len() < 25_000_000, "{}", archive.len());
    typed(&folder, "test m.zip").success();
}

#[test]
fn without_arguments_it_says_what_can_be_typed() {
    let folder = TempDir::new().expect("a folder");
    let words = || contains("create").and(contains("extract"));
    s_zip(&folder).assert().code(2).stdout("").stderr(words());
    s_zip(&folder).arg("--help").assert().success().stdout(words());
    typed(&folder, "extract --help").success().stdout(contains("Exit codes:"));
}
