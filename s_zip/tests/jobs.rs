//! How many threads extract an archive changes nothing: what is extracted and told is the same, whatever the archive is
//! and wherever it goes.
#![cfg(all(feature = "cli", unix))]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::forged::corpus::corpus;
use common::forged::mutation::mutate;
use common::forged::numbers::Numbers;
use common::forged::{Member, deflated, stored, zip};
use tempfile::TempDir;

/// 2001-09-09; what is older was recorded, what is younger depends on when the test runs.
const YOUNG: i64 = 1_000_000_000;
const FOLDERS: [&str; 9] = ["", "", "a/", "a/b/", "a/b/c/d/", "e/f/", "g/", "./a//b/", "taken/"];

/// One entry, well or not.
fn member(random: &mut Numbers, index: usize) -> Member {
    let folder = random.pick(&FOLDERS).copied().unwrap_or_default();
    // Now and then a name is there twice, or a folder's.
    let number = if random.below(60) == 0 { random.below(index + 1) } else { index };
    let name = format!("{folder}{number}{}", ["", "", "", "", "/x"][random.below(5)]);
    let bytes = if random.below(30) == 0 { 1_200_000 } else { random.below(3000) };
    let data: Vec<u8> = (0..bytes).map(|at| (at * number / 7).to_le_bytes()[0]).collect();
    let good = if random.below(2) == 0 { stored(&name, &data) } else { deflated(&name, &data) };
    let mode = 0o100_000 | random.pick(&[0o644, 0o600, 0o755, 0o400]).copied().unwrap_or_default();
    let good = Member { mode, ..good };
    match random.below(60) {
        0 => Member { crc32: 7, ..good },
        1 => Member { uncompressed: good.uncompressed + 1, ..good },
        2 => Member { data: good.data[..good.data.len() / 2].to_vec(), ..good },
        3 => Member { local_flags: Some(1), ..good },
        4 => Member { flags: 1, ..good },
        5 => Member { mode: 0o120_777, ..good },
        6 => stored(&format!("../{name}"), b"up"),
        7..=12 => Member { mode: 0o040_750, ..stored(&format!("{folder}{number}/"), b"") },
        13..=15 => Member { mode: 0o040_555, ..stored(random.pick(&FOLDERS[2..]).copied().unwrap_or_default(), b"") },
        _ => good,
    }
}

fn archive(seed: u64) -> Vec<u8> {
    let mut random = Numbers::new(seed);
    let count = random.below(120);
    let members: Vec<Member> = (0..count).map(|index| member(&mut random, index)).collect();
    let mut bytes = zip(&members).bytes;
    if random.below(8) == 0 && !bytes.is_empty() {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
    bytes
}

/// What stands in a folder: kinds, modes, times that were recorded, and data.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(inner) = folders.pop() {
        for item in fs::read_dir(inner).into_iter().flatten() {
            let path = item.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let time = Some(metadata.mtime()).filter(|time| *time < YOUNG);
            let data = if metadata.is_file() { crc32fast::hash(&fs::read(&path).unwrap()) } else { 0 };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            found.insert(
                path.strip_prefix(folder).unwrap().to_owned(),
                format!("{:o} {time:?} {data}", metadata.mode()),
            );
        }
    }
    found
}

type Outcome = (Option<i32>, String, String, BTreeMap<PathBuf, String>);

/// What comes of the words where something may stand in the way, within 64 MiB of address space.
fn outcome(archive: &[u8], words: &str, in_the_way: usize) -> Outcome {
    let folder = TempDir::new().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::write(at("a.zip"), archive).unwrap();
    fs::create_dir_all(at("out/e")).unwrap();
    match in_the_way {
        0 => fs::write(at("out/taken"), "mine").unwrap(),
        1 => symlink("/tmp", at("out/taken")).unwrap(),
        2 => fs::write(at("out/17"), "mine").unwrap(),
        3 => symlink("elsewhere", at("out/e/f")).unwrap(),
        _ => {}
    }
    let script = format!("ulimit -v 65536 2>&-; exec \"$0\" {words}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin("s_zip")).current_dir(&folder);
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err, tree(folder.path()))
}

/// The exit code, after a comparison.
fn compare(archive: &[u8], in_the_way: usize, seed: u64) -> Vec<Option<i32>> {
    let compared = ["extract a.zip --into out", "extract a.zip --into out --skip-bad"].map(|words| {
        let [one, four] = [1, 4].map(|jobs| outcome(archive, &format!("{words} --jobs {jobs}"), in_the_way));
        assert_eq!(one, four, "seed {seed}: {words}");
        one.0
    });
    compared.to_vec()
}

#[test]
fn archives_of_many_entries_come_out_the_same() {
    let mut codes = BTreeMap::new();
    for seed in 0..60 {
        let found = compare(&archive(seed), usize::try_from(seed % 8).unwrap(), seed);
        *codes.entry(found[0]).or_insert(0) += 1;
        *codes.entry(found[1].map(|code| code + 10)).or_insert(0) += 1;
    }
    // Extracted, refused, extracted but for bad entries: the comparison has seen them all.
    for code in [0, 2, 11, 12] {
        assert!(codes.get(&Some(code)).is_some_and(|times| *times > 3), "{code}: {codes:?}");
    }
}

#[test]
fn mutated_archives_come_out_the_same() {
    let members: Vec<Member> =
        (0..24).map(|index| deflated(&format!("{}/{index}", index % 5), b"data data data")).collect();
    let corpus = [corpus(), vec![zip(&members).bytes; 10]].concat();
    for seed in 0..60 {
        compare(&mutate(seed, &corpus), 8, seed);
    }
}

#[test]
fn a_failure_leaves_nothing_of_what_comes_after_it() {
    let folders = ["new/deep/".to_owned(), "x/".repeat(200)];
    for folder in folders {
        // The bad one takes long, and meanwhile the others are written.
        let mut bad = stored(&format!("{folder}bad"), &vec![7; 40_000_000]);
        bad.crc32 ^= 1;
        let after = (0..500)
            .map(|index| stored(&format!("{folder}later {}/{}{index}", index % 3, "y/".repeat(index % 100)), b"x"));
        let members: Vec<Member> = [stored("first", b"1"), bad].into_iter().chain(after).collect();
        let archive = zip(&members).bytes;
        let (code, _, err, left) = outcome(&archive, "extract a.zip --into out --jobs 4", 8);
        assert!(code == Some(2) && err.contains("CRC-32"), "{err}");
        let mut wanted = vec![PathBuf::from("a.zip"), "out".into(), "out/e".into(), "out/first".into()];
        let mut path = PathBuf::from("out");
        wanted.extend(folder.split_terminator('/').map(|name| {
            path.push(name);
            path.clone()
        }));
        wanted.sort();
        assert_eq!(left.into_keys().collect::<Vec<_>>(), wanted);
    }
}
