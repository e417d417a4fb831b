//! What `create` makes of files and folders that change, vanish or cannot be read while it looks for them and packs them.
#![cfg(all(feature = "cli", target_os = "linux"))]

mod common;

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::calls::noise;
use common::faults::Faults;
use s_zip::StreamingZipReader;
use tempfile::TempDir;

/// What is waited for takes a moment; a minute is a failure.
const PATIENCE: Duration = Duration::from_mins(1);
/// All that the tree holds, in the order of the archive.
const TREE: [&str; 7] = ["tree/", "tree/a", "tree/big", "tree/sub/", "tree/sub/c", "tree/sub/d", "tree/z"];
const WRITERS: [&str; 3] = ["", "--async ", "--jobs 2 "];

/// A folder with a tree, and with what does not belong to it.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, data: &[u8]| fs::write(folder.path().join(name), data).unwrap();
    fs::create_dir_all(folder.path().join("tree/sub")).unwrap();
    fs::create_dir_all(folder.path().join("elsewhere/sub")).unwrap();
    for name in TREE.iter().filter(|name| !name.ends_with('/')) {
        write(name, name.as_bytes());
        write(&name.replace("tree", "elsewhere"), b"secret");
    }
    write("tree/big", &vec![7; 5_000_000]);
    folder
}

fn program(folder: &TempDir, words: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("s_zip"));
    command.args(words.split(' ')).current_dir(folder).stderr(Stdio::piped());
    command
}

/// Names and data in the archive `out.zip`, which is whole.
fn packed(folder: &TempDir) -> Vec<(String, Vec<u8>)> {
    let mut reader = StreamingZipReader::open(folder.path().join("out.zip")).unwrap();
    reader.test().unwrap();
    let names: Vec<String> = reader.entries().iter().map(|entry| entry.name.clone()).collect();
    let data = |(index, name)| {
        let mut data = Vec::new();
        std::io::copy(&mut reader.read(index).unwrap(), &mut data).unwrap();
        (name, data)
    };
    names.into_iter().enumerate().map(data).collect()
}

/// Runs `create`, which waits for its standard input after it has found all files, and changes something meanwhile. Gives the exit code and
/// the lines on stderr.
fn change_under(folder: &TempDir, command: &mut Command, change: impl FnOnce(&Path)) -> (Option<i32>, Vec<String>) {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let partial = || {
        let mut items = fs::read_dir(folder).unwrap();
        items.any(|item| item.unwrap().file_name().to_string_lossy().starts_with(".s_zip-"))
    };
    let start = Instant::now();
    while !partial() {
        assert!(start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none(), "no archive was begun");
        thread::sleep(Duration::from_millis(2));
    }
    change(folder.path());
    drop(child.stdin.take());
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the program hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect())
}

fn run(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Puts something else in the place of a file or folder.
fn replace(path: &Path, with: impl FnOnce(&Path)) {
    fs::rename(path, path.with_file_name("../moved")).unwrap();
    with(path);
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

type Change = fn(&Path);

#[test]
fn what_is_gone_or_something_else_when_it_is_packed_is_left_out_and_told_and_the_rest_is_packed() {
    let cases: [(&str, Change, &[&str]); 15] = [
        ("a file is removed", |at| fs::remove_file(at.join("tree/a")).unwrap(), &["tree/a"]),
        ("a large file is removed", |at| fs::remove_file(at.join("tree/big")).unwrap(), &["tree/big"]),
        (
            "two are",
            |at| ["tree/a", "tree/z"].iter().for_each(|name| fs::remove_file(at.join(name)).unwrap()),
            &["tree/a", "tree/z"],
        ),
        ("a file is renamed", |at| fs::rename(at.join("tree/a"), at.join("tree/new")).unwrap(), &["tree/a"]),
        ("a folder is removed", |at| fs::remove_dir_all(at.join("tree/sub")).unwrap(), &["tree/sub/c", "tree/sub/d"]),
        (
            "a folder is renamed",
            |at| fs::rename(at.join("tree/sub"), at.join("sub")).unwrap(),
            &["tree/sub/c", "tree/sub/d"],
        ),
        (
            "a file becomes a folder",
            |at| replace(&at.join("tree/a"), |path| fs::create_dir(path).unwrap()),
            &["tree/a"],
        ),
        (
            "a file becomes a link",
            |at| replace(&at.join("tree/a"), |path| symlink("../elsewhere/a", path).unwrap()),
            &["tree/a"],
        ),
        (
            "a file becomes a link to nothing",
            |at| replace(&at.join("tree/a"), |path| symlink("none", path).unwrap()),
            &["tree/a"],
        ),
        ("a file becomes a pipe", |at| replace(&at.join("tree/a"), pipe), &["tree/a"]),
        (
            "a file becomes a socket",
            |at| replace(&at.join("tree/a"), |path| drop(UnixListener::bind(path).unwrap())),
            &["tree/a"],
        ),
        (
            "a folder becomes a link",
            |at| replace(&at.join("tree/sub"), |path| symlink("../elsewhere/sub", path).unwrap()),
            &["tree/sub/c", "tree/sub/d"],
        ),
        (
            "a folder becomes a file",
            |at| replace(&at.join("tree/sub"), |path| fs::write(path, "").unwrap()),
            &["tree/sub/c", "tree/sub/d"],
        ),
        ("a file becomes unreadable", |at| set_mode(&at.join("tree/a"), 0), &["tree/a"]),
        ("a folder becomes unreadable", |at| set_mode(&at.join("tree/sub"), 0), &["tree/sub/c", "tree/sub/d"]),
    ];
    let faults = Faults::build();
    for (what, change, missing) in cases {
        for writer in WRITERS {
            let folder = folder();
            let mut create = program(&folder, &format!("create {writer}out.zip - tree"));
            let (code, lines) = change_under(&folder, faults.befall(&mut create, &[("POWERLESS", "1")]), change);
            assert_eq!((code, lines.len()), (Some(1), missing.len()), "{what} {writer}: {lines:?}");
            for (line, name) in lines.iter().zip(missing) {
                assert!(
                    line.contains(&format!("cannot read {name}: ")) && line.ends_with("left out"),
                    "{what}: {line}"
                );
            }
            let packed = packed(&folder);
            let names: Vec<&str> = packed.iter().map(|(name, _)| name.as_str()).collect();
            let rest = TREE.into_iter().filter(|name| !missing.contains(name));
            assert_eq!(names, ["stdin"].into_iter().chain(rest).collect::<Vec<_>>(), "{what} {writer}");
            assert!(packed.iter().all(|(_, data)| data != b"secret"), "{what} {writer}");
            let _ = fs::set_permissions(folder.path().join("tree/sub"), Permissions::from_mode(0o755));
        }
    }
}

#[test]
fn what_was_typed_is_treated_as_what_was_found() {
    let cases: [(&str, Change, &[&str], &[&str]); 6] = [
        ("tree/a tree/z", |at| fs::remove_file(at.join("tree/a")).unwrap(), &["tree/a"], &["tree/z"]),
        (
            "tree/a tree/z",
            |at| replace(&at.join("tree/a"), |path| symlink("../elsewhere/a", path).unwrap()),
            &["tree/a"],
            &["tree/z"],
        ),
        (
            "tree/sub/ tree/z",
            |at| replace(&at.join("tree/sub"), |path| symlink("../elsewhere/sub", path).unwrap()),
            &["tree/sub/c", "tree/sub/d"],
            &["tree/sub/", "tree/z"],
        ),
        (
            "tree/sub ./tree/z",
            |at| fs::remove_dir_all(at.join("tree/sub")).unwrap(),
            &["tree/sub/c", "tree/sub/d"],
            &["tree/sub/", "tree/z"],
        ),
        (
            "./tree/./sub tree/z",
            |at| fs::remove_file(at.join("tree/sub/c")).unwrap(),
            &["tree/sub/c"],
            &["tree/sub/", "tree/sub/d", "tree/z"],
        ),
        (
            "linked/sub linked/a",
            |at| fs::remove_file(at.join("tree/sub/c")).unwrap(),
            &["linked/sub/c"],
            &["linked/sub/", "linked/sub/d", "linked/a"],
        ),
    ];
    for (words, change, missing, rest) in cases {
        let folder = folder();
        symlink("tree", folder.path().join("linked")).unwrap();
        let (code, lines) = change_under(&folder, &mut program(&folder, &format!("create out.zip - {words}")), change);
        let names: Vec<String> = packed(&folder).into_iter().map(|(name, _)| name).collect();
        assert_eq!((code, lines.len()), (Some(1), missing.len()), "{words}: {lines:?}");
        assert!(
            lines
                .iter()
                .zip(missing)
                .all(|(line, name)| line.replace("./", "").contains(&format!("cannot read {name}: "))),
            "{lines:?}"
        );
        assert_eq!(names[1..], *rest, "{words}");
    }
}

/// Programs save a file by putting a new one in its place: the archive then has the new one, with its own time and permissions.
#[test]
fn a_file_is_packed_as_it_is_when_it_is_read() {
    for size in [0, 10, 5_000_000] {
        let folder = folder();
        let data = noise(size, 7);
        let then = std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let mut create = program(&folder, "create out.zip - tree --keep-times");
        let (code, lines) = change_under(&folder, &mut create, |at| {
            fs::write(at.join("new"), &data).unwrap();
            set_mode(&at.join("new"), 0o640);
            OpenOptions::new().write(true).open(at.join("new")).unwrap().set_modified(then).unwrap();
            fs::rename(at.join("new"), at.join("tree/a")).unwrap();
        });
        assert_eq!((code, lines.len()), (Some(0), 0), "{lines:?}");
        assert!(packed(&folder)[2] == ("tree/a".to_owned(), data));
        let entry = StreamingZipReader::open(folder.path().join("out.zip")).unwrap().entries()[2].clone();
        assert_eq!((entry.unix_mode, entry.modified_unix), (Some(0o100_640), 1_700_000_000));
    }
}

/// From 4 GiB on sizes are announced: of the file that is read, not of the one that was found.
#[test]
fn a_file_of_4_gib_may_shrink_before_it_is_packed_and_another_grow() {
    let folder = folder();
    File::create(folder.path().join("tree/a")).unwrap().set_len(5 << 30).unwrap();
    let (code, lines) = change_under(&folder, &mut program(&folder, "create out.zip - tree"), |at| {
        fs::write(at.join("tree/a"), "short").unwrap();
        OpenOptions::new().append(true).open(at.join("tree/big")).unwrap().write_all(b"more").unwrap();
    });
    assert_eq!((code, lines.len()), (Some(0), 0), "{lines:?}");
    let packed = packed(&folder);
    assert!(packed[2].1 == b"short" && packed[3].1.len() == 5_000_004);
}

#[test]
fn what_vanishes_or_cannot_be_read_while_files_are_looked_for_is_left_out() {
    let faults = Faults::build();
    let sub = ["tree/sub/", "tree/sub/c", "tree/sub/d"];
    let cases: [(&str, &str, &[&str]); 7] = [
        ("opendir:2:tree/sub", "tree/sub", &sub),
        ("opendir:13:tree/sub", "tree/sub", &sub),
        ("opendir:20:tree/sub", "tree/sub", &sub),
        ("statx:2:a", "tree/a", &["tree/a"]),
        ("statx:116:c", "tree/sub/c", &["tree/sub/c"]),
        ("read:5:tree/a", "tree/a", &["tree/a"]),
        ("read:116:tree/big", "tree/big", &["tree/big"]),
    ];
    for (fault, told, missing) in cases {
        for writer in WRITERS {
            let folder = folder();
            let mut create = program(&folder, &format!("create {writer}out.zip tree"));
            let (code, text) = run(faults.befall(&mut create, &[("FAILING", fault)]));
            assert_eq!((code, text.lines().count()), (Some(1), 1), "{fault} {writer}: {text}");
            assert!(text.contains(&format!("cannot read {told}: ")), "{fault} {writer}: {text}");
            let names: Vec<String> = packed(&folder).into_iter().map(|(name, _)| name).collect();
            let rest: Vec<&str> = TREE.into_iter().filter(|name| !missing.contains(name)).collect();
            assert_eq!(names, rest, "{fault} {writer}");
        }
    }
}

/// An entry that was begun cannot be taken back from a pipe.
#[test]
fn a_file_that_cannot_be_read_to_its_end_is_told_of() {
    let faults = Faults::build();
    for writer in WRITERS {
        let folder = folder();
        let mut create = program(&folder, &format!("create {writer}out.zip tree"));
        fs::write(folder.path().join("tree/big"), vec![7; 20_000_000]).unwrap();
        let (code, text) = run(faults.befall(&mut create, &[("FAILING", "read:5:tree/big:10000000")]));
        assert_eq!((code, text.lines().count()), (Some(1), 1), "{writer}: {text}");
        assert!(text.contains("cannot read all of tree/big: "), "{writer}: {text}");
        let packed = packed(&folder);
        assert_eq!(packed.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), TREE, "{writer}");
        assert!((9_000_000..=10_300_000).contains(&packed[2].1.len()), "{writer}");
    }
}

#[test]
fn a_name_that_a_folder_gives_twice_is_packed_once() {
    let (faults, folder) = (Faults::build(), folder());
    let mut create = program(&folder, "create out.zip tree");
    assert_eq!(run(faults.befall(&mut create, &[("TWICE", "1")])), (Some(0), String::new()));
    assert_eq!(packed(&folder).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), TREE);
}

#[test]
fn what_no_entry_may_be_called_is_left_out_of_a_folder_and_refused_where_it_is_typed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder();
    let odd = ["dev\\x2duuid.swap", "C:drive"];
    for name in odd {
        fs::write(folder.path().join("tree").join(name), "x").unwrap();
    }
    for name in [&b"caf\xe9"[..], b"caf\xe8"] {
        fs::create_dir(folder.path().join("tree").join(OsStr::from_bytes(name))).unwrap();
    }
    let (code, text) = run(&mut program(&folder, "create out.zip tree"));
    assert_eq!((code, text.lines().count()), (Some(1), 3), "{text}");
    assert!(text.lines().all(|line| line.ends_with("left out")), "{text}");
    let names: Vec<String> = packed(&folder).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [&["tree/", "tree/C:drive"], &TREE[1..]].concat());
    let (code, text) = run(&mut program(&folder, &format!("create out.zip tree/{}", odd[0])));
    assert_eq!((code, text.lines().count()), (Some(2), 1), "{text}");
}

#[test]
fn an_archive_of_nothing_replaces_none() {
    let (faults, folder) = (Faults::build(), folder());
    assert_eq!(run(&mut program(&folder, "create out.zip tree/a")).0, Some(0));
    for (words, fault) in [("tree", "opendir:2:tree"), ("tree/a", "read:5:tree/a")] {
        let mut create = program(&folder, &format!("create out.zip {words}"));
        let (code, text) = run(faults.befall(&mut create, &[("FAILING", fault)]));
        assert_eq!((code, text.lines().count()), (Some(2), 2), "{words}: {text}");
        assert_eq!(packed(&folder).len(), 1, "{words}: the old archive is there");
    }
    // Folders are recorded, but without the files in them they are no archive.
    for name in ["tree/a", "tree/big", "tree/sub/c", "tree/sub/d", "tree/z"] {
        fs::set_permissions(folder.path().join(name), Permissions::from_mode(0o0)).unwrap();
    }
    let mut create = program(&folder, "create out.zip tree");
    let (code, text) = run(faults.befall(&mut create, &[("POWERLESS", "1")]));
    assert_eq!((code, text.lines().count()), (Some(2), 6), "{text}");
    assert_eq!(packed(&folder).len(), 1, "the old archive is there");
    // What is empty, and always was, is no failure.
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(
        run(program(&folder, "create ../out.zip .").current_dir(folder.path().join("empty"))),
        (Some(0), String::new())
    );
}
