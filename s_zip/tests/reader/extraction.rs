//! What extraction writes, and where it does not.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use s_zip::reader::Summary;
use s_zip::{ReadError, ReadOptions};
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
        let (mut found, mut folders) = (Vec::new(), vec![self.outer.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for item in fs::read_dir(folder).unwrap() {
                let path = item.unwrap().path();
                found.push(path.strip_prefix(&self.outer).unwrap().to_str().unwrap().to_owned());
                if path.symlink_metadata().unwrap().is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

#[test]
fn files_and_folders_are_extracted_with_their_data() {
    let place = place();
    let files = [
        ("a", "one"),
        ("b/c/d.txt", "two two two"),
        ("b/e", "back to the folder above"),
        ("f/g", "another"),
        ("b/c/h", "back to the first"),
    ];
    let mut members: Vec<Member> = files.iter().map(|(name, data)| deflated(name, data.as_bytes())).collect();
    members.push(Member { mode: 0o040_755, ..stored("empty/", b"") });
    let summary = place.extract(&zip(&members)).unwrap();
    assert_eq!((summary.files, summary.directories, summary.bytes), (5, 1, 62));
    let paths = ["", "/a", "/b", "/b/c", "/b/c/d.txt", "/b/c/h", "/b/e", "/empty", "/f", "/f/g"];
    assert_eq!(place.list(), paths.map(|path| format!("target{path}")));
    for (name, data) in files {
        assert_eq!(fs::read_to_string(place.target.join(name)).unwrap(), data);
    }
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

/// Whoever may write to the folder must not be able to have the extraction write elsewhere, however fast they are.
#[cfg(unix)]
#[test]
fn links_that_are_put_in_place_meanwhile_are_not_followed() {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    let members: Vec<Member> = (0..60).map(|index| stored(&format!("a/{index}/b"), b"x")).collect();
    let archive = zip(&members);
    let place = place();
    let (outside, folder) = (place.outer.path().join("outside"), place.target.join("a"));
    fs::create_dir_all(&outside).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A folder that was written to meanwhile cannot be replaced, so each goes to a place of its own.
            for aside in (0..).take_while(|_| !done.load(Ordering::Relaxed)) {
                if fs::rename(&folder, place.outer.path().join(format!("aside {aside}"))).is_ok() {
                    let _ = symlink(&outside, &folder);
                    std::thread::sleep(Duration::from_micros(50));
                    let _ = fs::remove_file(&folder);
                }
            }
        });
        for _ in 0..60 {
            // Whether it succeeds depends on who is faster.
            let _ = place.extract(&archive);
            let _ = fs::remove_dir_all(&place.target);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn extraction_stops_when_it_is_told_to_and_leaves_nothing_half_done() {
    let place = place();
    let stop = std::sync::atomic::AtomicBool::new(true);
    let archive = zip(&[stored("a", b"data")]);
    let options = ReadOptions { stop_by: Some(&stop), ..ReadOptions::default() };
    assert!(matches!(archive.open().unwrap().extract_with(&place.target, options), Err(ReadError::Stopped)));
    assert_eq!(place.list(), ["target"]);
}

#[test]
fn bad_entries_are_left_out_on_request() {
    let place = place();
    let bad_crc = Member { crc32: 7, ..stored("damaged", b"data") };
    let members =
        [stored("../up", b""), stored("a", b"1"), bad_crc, stored("a", b"2"), stored("a/b", b""), stored("c", b"3")];
    let mut told = Vec::new();
    let mut tell = |error: ReadError| told.push(error.to_string());
    let archive = zip(&members);
    let options = ReadOptions { skip_bad: Some(&mut tell), stop_by: None };
    let summary = archive.open().unwrap().extract_with(&place.target, options).unwrap();
    assert_eq!((summary.files, summary.bytes, told.len()), (2, 2, 4), "{told:?}");
    assert_eq!(place.list(), ["target", "target/a", "target/c"]);
    assert_eq!(fs::read(place.target.join("a")).unwrap(), b"1");
    // What is wrong with the target is no entry's fault.
    let options = ReadOptions { skip_bad: Some(&mut drop), stop_by: None };
    let again = archive.open().unwrap().extract_with(&place.target, options);
    assert!(matches!(again, Err(ReadError::AlreadyExists { .. })));
}

#[test]
fn a_thousand_files_in_turn_over_many_folders_stay_in_the_target() {
    let place = place();
    let members: Vec<Member> = (0..1000).map(|index| stored(&format!("{}/{index}", index % 37), b"x")).collect();
    assert_eq!(place.extract(&zip(&members)).unwrap().files, 1000);
    assert_eq!(place.list().len(), 1 + 37 + 1000);
    assert!(place.list().iter().all(|path| path.starts_with("target")));
}
