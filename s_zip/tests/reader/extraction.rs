//! What extraction writes, and where it does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use s_zip::ReadError;
use s_zip::name::NameFault;
use s_zip::reader::Summary;
use tempfile::TempDir;

use crate::common::forged::{Member, Zip, deflated, stored, zip};

/// A folder with a folder to extract to.
struct Place {
    outer: TempDir,
    target: PathBuf,
}

fn place() -> Place {
    let outer = tempfile::tempdir().unwrap();
    let target = outer.path().join("target");
    Place { outer, target }
}

impl Place {
    fn extract(&self, zip: &Zip) -> Result<Summary, ReadError> {
        zip.open()?.extract(&self.target)
    }

    /// Everything in the outer folder, in order.
    fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(self.outer.path(), self.outer.path(), &mut found);
        found.sort();
        found
    }
}

fn list(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        if path.symlink_metadata().unwrap().is_dir() {
            list(root, &path, found);
        }
    }
}

#[test]
fn files_and_folders_are_extracted_with_their_data() {
    let place = place();
    let folder = Member { mode: 0o040_755, ..stored("empty/", b"") };
    let archive = zip(&[stored("a", b"one"), deflated("b/c/d.txt", b"two two two"), folder]);
    let summary = place.extract(&archive).unwrap();
    assert_eq!((summary.files, summary.directories, summary.bytes), (2, 1, 14));
    assert_eq!(place.list(), ["target", "target/a", "target/b", "target/b/c", "target/b/c/d.txt", "target/empty"]);
    assert_eq!(fs::read(place.target.join("a")).unwrap(), b"one");
    assert_eq!(fs::read(place.target.join("b/c/d.txt")).unwrap(), b"two two two");
}

#[test]
fn unsafe_names_are_listed_and_read_and_never_extracted() {
    for (name, expected) in [
        ("../evil", NameFault::ParentFolder),
        ("a/../../evil", NameFault::ParentFolder),
        ("..", NameFault::ParentFolder),
        ("/evil", NameFault::Absolute),
        ("C:/evil", NameFault::Drive),
        ("c:evil", NameFault::Drive),
        ("a\0b", NameFault::Nul),
        ("..\\evil", NameFault::Backslash),
        ("a//b", NameFault::EmptyPart),
        ("./a", NameFault::EmptyPart),
        ("", NameFault::Empty),
    ] {
        let archive = zip(&[stored("good", b"good"), stored(name, b"evil")]);
        let mut opened = archive.open().unwrap();
        assert_eq!(opened.entries()[1].name, name);
        assert_eq!(opened.test().unwrap().bytes, 8);
        let place = place();
        match place.extract(&archive) {
            Err(ReadError::BadName { fault, .. }) => assert_eq!(fault, expected, "{name:?}"),
            other => panic!("{name:?}: {other:?}"),
        }
        assert_eq!(place.list(), [""; 0], "{name:?}: nothing is written, not even the good entry");
    }
}

#[test]
fn names_that_are_taken_are_refused_before_anything_is_written() {
    let twice = zip(&[stored("a", b"1"), stored("a", b"2")]);
    let folder_twice = zip(&[stored("a", b"1"), stored("a/", b"")]);
    for archive in [twice, folder_twice] {
        let place = place();
        assert!(matches!(place.extract(&archive), Err(ReadError::DuplicateName { .. })));
        assert_eq!(place.list(), [""; 0]);
    }
    let place = place();
    let result = place.extract(&zip(&[stored("a/b/c", b"2"), stored("a/b", b"1")]));
    assert!(matches!(result, Err(ReadError::NameConflict { name, other }) if name == "a/b" && other == "a/b/c"));
    assert_eq!(place.list(), [""; 0]);
}

#[test]
fn only_files_and_folders_are_extracted() {
    for mode in [0o120_777, 0o060_600, 0o020_600, 0o010_600, 0o140_600] {
        let place = place();
        let archive = zip(&[stored("good", b""), Member { mode, ..stored("special", b"/etc/passwd") }]);
        assert!(matches!(place.extract(&archive), Err(ReadError::NotAFile { .. })), "{mode:o}");
        assert_eq!(place.list(), [""; 0]);
    }
    let place = place();
    assert!(matches!(place.extract(&zip(&[stored("folder/", b"data")])), Err(ReadError::NotAFile { .. })));
}

#[test]
fn existing_files_are_never_replaced() {
    let place = place();
    fs::create_dir_all(place.target.join("folder")).unwrap();
    fs::write(place.target.join("folder/a"), "mine").unwrap();
    let result = place.extract(&zip(&[stored("folder/a", b"theirs")]));
    assert!(matches!(result, Err(ReadError::AlreadyExists { .. })));
    assert_eq!(fs::read(place.target.join("folder/a")).unwrap(), b"mine");
    let result = place.extract(&zip(&[stored("folder/a/b", b"theirs")]));
    assert!(matches!(result, Err(ReadError::NotAFolder { .. })));
    assert_eq!(place.extract(&zip(&[stored("folder/b", b"theirs")])).unwrap().files, 1);
}

#[test]
fn an_entry_that_fails_leaves_nothing_of_itself() {
    let place = place();
    let mut bad = deflated("bad", &vec![7; 300_000]);
    bad.crc32 ^= 1;
    let result = place.extract(&zip(&[stored("good", b"good"), bad, stored("later", b"")]));
    assert!(matches!(result, Err(ReadError::CrcMismatch { .. })));
    assert_eq!(place.list(), ["target", "target/good"]);
}

#[test]
fn a_target_that_is_a_file_is_an_error() {
    let place = place();
    fs::write(&place.target, "").unwrap();
    assert!(matches!(place.extract(&zip(&[stored("a", b"")])), Err(ReadError::Write { .. })));
}

#[cfg(unix)]
#[test]
fn links_in_the_target_folder_are_not_followed() {
    use std::os::unix::fs::symlink;

    let place = place();
    let outside = place.outer.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(&place.target).unwrap();
    symlink(&outside, place.target.join("link")).unwrap();
    symlink(outside.join("nothing"), place.target.join("dangling")).unwrap();
    let before = place.list();
    for name in ["link/a", "link/a/b", "link/", "dangling/a"] {
        let result = place.extract(&zip(&[stored(name, b"")]));
        assert!(matches!(result, Err(ReadError::NotAFolder { .. })), "{name}");
    }
    for name in ["link", "dangling"] {
        let result = place.extract(&zip(&[stored(name, b"")]));
        assert!(matches!(result, Err(ReadError::AlreadyExists { .. })), "{name}");
    }
    assert_eq!(place.list(), before);
}

#[cfg(unix)]
#[test]
fn modes_without_set_user_id_and_times_are_applied() {
    use std::os::unix::fs::PermissionsExt;

    let place = place();
    // 2024-02-29 23:59:58 UTC.
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_709_251_198);
    let (time, date) = (0xbf7d, 0x585d);
    let archive = zip(&[
        Member { mode: 0o040_555, time, date, ..stored("folder/", b"") },
        Member { mode: 0o104_751, time, date, ..stored("folder/tool", b"") },
        Member { mode: 0o100_400, time, date, ..stored("folder/read only", b"x") },
    ]);
    place.extract(&archive).unwrap();
    for (name, mode) in [("folder", 0o555), ("folder/tool", 0o751), ("folder/read only", 0o400)] {
        let found = fs::metadata(place.target.join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o7777, mode, "{name}");
        assert_eq!(found.modified().unwrap(), then, "{name}");
    }
    // So that the folder can be removed by whoever runs this.
    fs::set_permissions(place.target.join("folder"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn extraction_in_a_thousand_folders_stays_in_the_target() {
    let place = place();
    let members: Vec<Member> = (0..1000).map(|index| stored(&format!("{}/{index}", index % 37), b"x")).collect();
    assert_eq!(place.extract(&zip(&members)).unwrap().files, 1000);
    assert_eq!(place.list().len(), 1 + 37 + 1000);
    assert!(place.list().iter().all(|path| path.starts_with("target")));
}
