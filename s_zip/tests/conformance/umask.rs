//! Which permissions other programs give to what they extract, under several umasks.
#![cfg(feature = "cli")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::forged::{Member, stored, zip};
use crate::programs::find;

/// Extracts an archive under a umask, and gives the permissions of every file and folder.
fn modes(program: &Path, arguments: &str, umask: &str, archive: &Path) -> BTreeMap<PathBuf, u32> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let script = format!("umask {umask}; exec \"$0\" {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(program).arg(archive).current_dir(&folder).env_remove("UNZIP");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.path().to_owned()]);
    while let Some(at) = folders.pop() {
        for item in fs::read_dir(at).unwrap() {
            let (path, metadata) = item.map(|item| (item.path(), item.metadata().unwrap())).unwrap();
            let name = path.strip_prefix(&folder).unwrap().to_owned();
            assert!(found.insert(name, metadata.permissions().mode() & 0o7777).is_none());
            if metadata.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

/// Whatever has no recorded permissions follows the umask in every program. What has them gets them from unzip as they are, and within the
/// umask from bsdtar and 7z. bsdtar never lets others write to what has none, so that no umask at all is not among these.
#[test]
fn other_programs_give_the_same_permissions() {
    let own = assert_cmd::cargo::cargo_bin("s_zip");
    let recorded = [0o600, 0o640, 0o644, 0o664, 0o755, 0o777];
    let with = recorded.map(|mode| Member { mode: 0o100_000 | mode, ..stored(&format!("{mode:o}"), b"x") });
    let without =
        ["file", "folder/", "folder/below", "implied/below"].map(|name| Member { mode: 0, ..stored(name, b"") });
    let members = [&without[..], &with[..]].concat();
    let mut archive = zip(&members);
    for at in archive.central.clone().into_iter().take(without.len()) {
        // Made on DOS.
        archive = archive.with(at + 5, &[0]);
    }
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = place.path().join("a.zip");
    fs::write(&path, &archive.bytes).unwrap();
    for umask in ["002", "022", "027", "077"] {
        let mask = u32::from_str_radix(umask, 8).unwrap();
        let ours = modes(&own, "extract \"$1\"", umask, &path);
        assert_eq!(ours.len(), members.len() + 1);
        let is_recorded = |name: &Path| recorded.iter().any(|mode| name == Path::new(&format!("{mode:o}")));
        let within = ours.iter().map(|(name, mode)| {
            let mode = if is_recorded(name) { mode & !mask } else { *mode };
            (name.clone(), mode)
        });
        let within: BTreeMap<PathBuf, u32> = within.collect();
        for (names, package, arguments, wanted) in [
            (&["unzip"][..], "unzip", "-qq \"$1\"", &ours),
            (&["bsdtar"], "libarchive-tools", "--no-same-permissions -xf \"$1\"", &within),
            (&["7z", "7zz", "7za"], "7zip", "x -bd \"$1\"", &within),
        ] {
            if let Some(program) = find(names, package) {
                assert_eq!(modes(&program, arguments, umask, &path), *wanted, "{} under {umask}", names[0]);
            }
        }
    }
}
