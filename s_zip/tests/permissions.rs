//! What becomes of permissions and times: the umask, recorded modes, file systems that take neither.
#![cfg(all(feature = "cli", target_os = "linux"))]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use common::faults::Faults;
use common::forged::{Member, Zip, stored, zip};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().unwrap()
}

/// The program under a umask, in a folder.
fn typed(folder: &TempDir, umask: u32, words: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {umask:03o}; exec \"$0\" {words}")]);
    command.arg(assert_cmd::cargo::cargo_bin("s_zip")).current_dir(folder);
    command
}

fn ends(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// An entry without a mode, and one that a program on another system than Unix made.
fn without_modes() -> Zip {
    let none = |name: &str| Member { mode: 0, ..stored(name, b"x") };
    let members =
        [none("none"), stored("dos", b"x"), Member { data: vec![], uncompressed: 0, crc32: 0, ..none("folder/") }];
    let zip = zip(&[&members[..], &[none("folder/below"), none("implied/below")]].concat());
    let made_by = zip.central[1] + 5;
    zip.with(made_by, &[0])
}

#[test]
fn what_has_no_recorded_permissions_follows_the_umask_and_what_has_them_does_not() {
    let recorded = [0o600, 0o640, 0o644, 0o664, 0o755, 0o777, 0o400];
    let members: Vec<Member> =
        recorded.iter().map(|mode| Member { mode: 0o100_000 | mode, ..stored(&format!("{mode:o}"), b"x") }).collect();
    for umask in [0o000, 0o002, 0o022, 0o027, 0o077] {
        let folder = folder();
        fs::write(folder.path().join("without.zip"), without_modes().bytes).unwrap();
        fs::write(folder.path().join("with.zip"), zip(&members).bytes).unwrap();
        for archive in ["without", "with"] {
            let output = typed(&folder, umask, &format!("extract {archive}.zip --into {archive}")).output().unwrap();
            assert_eq!(ends(&output), (Some(0), String::new()));
        }
        for name in ["", "none", "dos", "folder", "folder/below", "implied", "implied/below"] {
            let path = folder.path().join("without").join(name);
            let most = if path.is_dir() { 0o777 } else { 0o666 };
            assert_eq!(mode(&path), most & !umask, "{name:?} under {umask:03o}");
        }
        for wanted in recorded {
            assert_eq!(mode(folder.path().join(format!("with/{wanted:o}"))), wanted, "under {umask:03o}");
        }
    }
}

/// Every mode is put where the call that would widen it is refused: what a file or folder is created with is what it is while it is written.
#[test]
fn nothing_can_be_used_while_it_is_written_by_whom_it_is_not_for() {
    let faults = Faults::build();
    for permissions in [0o600, 0o640, 0o644, 0o700, 0o751] {
        let folder = folder();
        let file = Member { mode: 0o100_000 | permissions, ..stored("private/file", b"x") };
        let private = Member { mode: 0o040_000 | permissions, ..stored("private/", b"") };
        // A folder may come behind what it holds.
        fs::write(folder.path().join("a.zip"), zip(&[file, private]).bytes).unwrap();
        let mut extract = typed(&folder, 0, "extract a.zip --into out");
        let (code, _) = ends(&faults.befall(&mut extract, &[("REFUSED", "fchmod:1")]).output().unwrap());
        assert_eq!(code, Some(0));
        for (name, own) in [("out/private", 0o700), ("out/private/file", 0o600)] {
            let found = mode(folder.path().join(name));
            assert_eq!(found, permissions | own, "{name}: {found:o}");
        }
        fs::set_permissions(folder.path().join("a.zip"), fs::Permissions::from_mode(permissions & 0o666)).unwrap();
        let mut create = typed(&folder, 0, "create a.zip out");
        let (code, _) = ends(&faults.befall(&mut create, &[("REFUSED", "fchmod:1")]).output().unwrap());
        assert_eq!((code, mode(folder.path().join("a.zip"))), (Some(0), permissions & 0o666));
    }
}

#[test]
fn an_archive_keeps_the_permissions_of_the_one_that_it_replaces() {
    for wanted in [0o600, 0o640, 0o664] {
        let folder = folder();
        fs::write(folder.path().join("file"), "x").unwrap();
        let create = || ends(&typed(&folder, 0o027, "create a.zip file").output().unwrap());
        assert_eq!(create(), (Some(0), String::new()));
        assert_eq!(mode(folder.path().join("a.zip")), 0o640, "a new one follows the umask");
        fs::set_permissions(folder.path().join("a.zip"), fs::Permissions::from_mode(wanted)).unwrap();
        assert_eq!(create(), (Some(0), String::new()));
        assert_eq!(mode(folder.path().join("a.zip")), wanted);
    }
}

#[test]
fn an_archive_that_is_protected_from_writing_is_not_replaced() {
    let (faults, folder) = (Faults::build(), folder());
    fs::write(folder.path().join("file"), "x").unwrap();
    assert_eq!(ends(&typed(&folder, 0o022, "create a.zip file").output().unwrap()).0, Some(0));
    fs::set_permissions(folder.path().join("a.zip"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::write(folder.path().join("file"), "another").unwrap();
    let before = fs::read(folder.path().join("a.zip")).unwrap();
    let mut create = typed(&folder, 0o022, "create a.zip file");
    let (code, told) = ends(&faults.befall(&mut create, &[("POWERLESS", "1")]).output().unwrap());
    assert_eq!((code, told.lines().count()), (Some(2), 1), "{told}");
    assert!(told.contains("cannot replace a.zip: "), "{told}");
    assert_eq!(fs::read(folder.path().join("a.zip")).unwrap(), before);
}

/// As a drop box is: others put files there and do not see those of others.
#[test]
fn a_folder_that_may_be_written_to_and_not_read_is_extracted_to() {
    let (faults, folder) = (Faults::build(), folder());
    let made = Member { mode: 0o040_710, ..stored("made/", b"") };
    let members = [made, stored("made/file", b"x"), stored("there/file", b"x"), stored("file", b"x")];
    fs::write(folder.path().join("a.zip"), zip(&members).bytes).unwrap();
    for jobs in [1, 2] {
        let out = folder.path().join(format!("out{jobs}"));
        let closed = [out.join("there"), out.clone()];
        fs::create_dir_all(&closed[0]).unwrap();
        let chmod =
            |mode| closed.iter().try_for_each(|path| fs::set_permissions(path, PermissionsExt::from_mode(mode)));
        chmod(0o300).unwrap();
        let mut extract = typed(&folder, 0o022, &format!("extract a.zip --into out{jobs} --jobs {jobs}"));
        let ends = ends(&faults.befall(&mut extract, &[("POWERLESS", "1")]).output().unwrap());
        chmod(0o700).unwrap();
        assert_eq!(ends, (Some(0), String::new()));
        for path in ["made/file", "there/file", "file"] {
            assert_eq!(fs::read(out.join(path)).unwrap(), b"x", "{path}");
        }
        assert_eq!(mode(out.join("made")), 0o710);
    }
}

/// NFS, FUSE and quotas may say only then that there was no room.
#[test]
fn an_error_at_closing_is_a_failure() {
    let (faults, folder) = (Faults::build(), folder());
    fs::write(folder.path().join("file"), "x").unwrap();
    assert_eq!(ends(&typed(&folder, 0o022, "create a.zip file").output().unwrap()).0, Some(0));
    // A shell could not start anything any more.
    let alone = |words: &str| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("s_zip"));
        command.args(words.split(' ')).current_dir(&folder);
        command
    };
    let before = fs::read(folder.path().join("a.zip")).unwrap();
    for words in ["create a.zip file", "create a.zip file --async", "create a.zip file --jobs 2"] {
        let mut create = alone(words);
        let (code, told) = ends(&faults.befall(&mut create, &[("REFUSED", "close:122")]).output().unwrap());
        assert_eq!((code, told.lines().count()), (Some(2), 1), "{words}: {told}");
        assert!(told.contains("cannot write all of a.zip: "), "{words}: {told}");
        assert_eq!(fs::read(folder.path().join("a.zip")).unwrap(), before, "{words}");
    }
    let mut extract = alone("extract a.zip --into out");
    let (code, told) = ends(&faults.befall(&mut extract, &[("REFUSED", "close:122")]).output().unwrap());
    assert_eq!((code, told.lines().count()), (Some(2), 1), "{told}");
    assert!(!folder.path().join("out/file").exists());
}

/// EPERM, EACCES, EINVAL, EROFS, ENOSYS, EOPNOTSUPP: vfat, CIFS and FUSE answer in many ways.
#[test]
fn file_systems_that_take_no_permissions_or_times_take_the_data() {
    let faults = Faults::build();
    let names: Vec<Member> = (0..300).map(|index| stored(&format!("folder {}/{index}", index % 3), b"data")).collect();
    let folders = (0..3).map(|index| Member { mode: 0o040_755, ..stored(&format!("folder {index}/"), b"") });
    let archive = zip(&folders.chain(names).collect::<Vec<_>>());
    for errno in [1, 13, 22, 30, 38, 95] {
        for (calls, told) in [
            (&["fchmod"][..], &["permissions"][..]),
            (&["utimensat"], &["times"]),
            (&["fchmod", "utimensat"], &["permissions", "times"]),
        ] {
            let folder = folder();
            fs::write(folder.path().join("a.zip"), &archive.bytes).unwrap();
            let refusals: Vec<String> = calls.iter().map(|call| format!("{call}:{errno}")).collect();
            let refused_by = |words: &str| {
                let mut command = typed(&folder, 0o022, words);
                ends(&faults.befall(&mut command, &[("REFUSED", &refusals.join(" "))]).output().unwrap())
            };
            let (code, text) = refused_by("extract a.zip --into out");
            assert_eq!((code, text.lines().count()), (Some(0), told.len()), "{refusals:?}: {text}");
            for (line, what) in text.lines().zip(told) {
                assert!(line.contains(&format!("out: cannot set the {what} of 303 entries")), "{refusals:?}: {line}");
            }
            for index in 0..300 {
                let path = folder.path().join(format!("out/folder {}/{index}", index % 3));
                assert_eq!(fs::read(path).unwrap(), b"data");
            }
            let (code, text) = refused_by("create a.zip out");
            let lines = usize::from(calls.contains(&"fchmod"));
            assert_eq!((code, text.lines().count()), (Some(0), lines), "{refusals:?}: {text}");
            assert!(lines == 0 || text.contains("cannot keep the permissions of"), "{text}");
            assert_eq!(refused_by("test a.zip"), (Some(0), String::new()));
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing temporary is left");
        }
    }
}

#[test]
fn file_systems_that_cannot_rename_without_replacing_get_their_files_and_lose_none() {
    let faults = Faults::build();
    for errno in [1, 22, 38, 95] {
        let folder = folder();
        fs::write(folder.path().join("a.zip"), zip(&[stored("a", b"1"), stored("b", b"2")]).bytes).unwrap();
        let refused = format!("renameat2:{errno}");
        let extract = || {
            let mut command = typed(&folder, 0o022, "extract a.zip --into out");
            ends(&faults.befall(&mut command, &[("REFUSED", &refused)]).output().unwrap())
        };
        assert_eq!(extract(), (Some(0), String::new()));
        assert_eq!(fs::read(folder.path().join("out/b")).unwrap(), b"2");
        fs::remove_file(folder.path().join("out/a")).unwrap();
        fs::write(folder.path().join("out/b"), "mine").unwrap();
        let (code, text) = extract();
        assert!(code == Some(2) && text.contains("exists already"), "{text}");
        assert_eq!(fs::read(folder.path().join("out/b")).unwrap(), b"mine");
        // A link that leads nowhere is not replaced either.
        fs::remove_file(folder.path().join("out/a")).unwrap();
        symlink("elsewhere", folder.path().join("out/a")).unwrap();
        let (code, text) = extract();
        assert!(code == Some(2) && text.contains("exists already"), "{text}");
    }
}
