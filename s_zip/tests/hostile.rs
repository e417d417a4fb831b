//! Archives that lie, and archives that only look so: what `list`, `test` and `extract` answer to each, and with `--skip-bad`.
#![cfg(all(feature = "cli", unix))]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use common::forged::{Member, Zip, bomb, deflated, stored, zip, zip_after};
use tempfile::TempDir;

/// Most of these take milliseconds; what took time with the square of a name's length took minutes.
const PATIENCE: Duration = Duration::from_mins(1);
/// Address space of the program, its code and stacks included, for archives of up to 20 MB.
const MOST_KIB: u64 = 64 << 10;
const UTF8: u16 = 1 << 11;

/// The name of an archive, the archive, the exit codes of `list`, `test`, `extract`, and the last two with `--skip-bad`, what stderr has to say
/// where a code is not 0, and a path that extraction makes, with `--skip-bad` if not without.
type Case = (&'static str, Zip, [i32; 5], &'static str, &'static str);

/// Every program takes it.
const WELL: [i32; 5] = [0; 5];
/// An entry is at fault, the rest is well.
const BAD: [i32; 5] = [0, 1, 2, 1, 1];
/// An entry needs what there is not.
const UNREADABLE: [i32; 5] = [0, 2, 2, 1, 1];
/// The whole is beyond the limits.
const LARGE: [i32; 5] = [0, 2, 2, 2, 2];
/// The archive contradicts itself.
const NONE: [i32; 5] = [2, 1, 2, 1, 2];

/// A good entry, and others.
fn with_good(members: impl IntoIterator<Item = Member>) -> Zip {
    zip(&[stored("good", b"good")].into_iter().chain(members).collect::<Vec<_>>())
}

fn typed(mode: u32, data: &[u8]) -> Zip {
    with_good([Member { mode, ..stored("special", data) }])
}

fn raw_name(name: &[u8], flags: u16, local_extra: Vec<u8>, central_extra: Vec<u8>) -> Zip {
    with_good([Member { name: name.to_vec(), flags, local_extra, central_extra, ..stored("", b"data") }])
}

/// The Unicode Path field for a name, standing for another.
fn unicode(name: &str, stands_for: &[u8]) -> Vec<u8> {
    let size = u16::try_from(name.len() + 5).unwrap();
    let crc32 = crc32fast::hash(stands_for).to_le_bytes();
    [&b"up"[..], &size.to_le_bytes(), &[1], &crc32, name.as_bytes()].concat()
}

/// ZIP64 records of another directory in the comment of the last entry, where a reader that takes the locator at its word finds them.
fn other_directory() -> Zip {
    let plain = with_good([]);
    let wide = plain.wide(|_| [0, 0, plain.end as u64]);
    let comment = wide.bytes[plain.end..wide.end].to_vec();
    zip(&[Member { comment, ..stored("good", b"good") }])
}

/// Two entries, the second of which points to the first.
fn overlapping() -> Zip {
    let archive = zip(&[stored("a", b"data"), stored("b", b"data")]);
    archive.with(archive.central[1] + 42, &[0; 4])
}

fn deep_names(count: usize, levels: usize) -> Zip {
    with_good((0..count).map(|index| stored(&format!("{}{index}", "d/".repeat(levels)), b"")))
}

fn cases() -> Vec<Case> {
    let part = |bytes: usize| with_good([stored(&"x".repeat(bytes), b"")]);
    let name = |name: &str| with_good([stored(name, b"")]);
    let pair = |one: &str, other: &str| with_good([stored(one, b""), stored(other, b"")]);
    let dos = |name: &str| with_good([Member { host: 0, mode: 0, ..stored(name, b"") }]);
    let inner = zip(&[stored("other", b"")]).bytes;
    let mut padded = with_good([]);
    padded.bytes.resize(10_240, 0);
    let locator = "PK\x06\x07AAAABBBBBBBB\x01\x01\x01\x01";
    vec![
        // Names that no system can hold, and the deepest that one can.
        ("10 MB of names with 32,000 levels", deep_names(160, 32_000), BAD, "longer than 4,096 bytes", "good"),
        ("40 names with 1,900 levels", deep_names(40, 1900), WELL, "", "d/d/d"),
        ("a part of 256 bytes", part(256), BAD, "longer than 255 bytes", "good"),
        ("a part of 255 bytes", part(255), WELL, "", "good"),
        ("256 bytes of another script", name(&"日".repeat(86)), BAD, "longer than 255 bytes", "good"),
        // Names that lead elsewhere.
        ("the folder above", name("../up"), BAD, "'..'", "good"),
        ("the folder above, later", name("a/b/../../../up"), BAD, "'..'", "good"),
        ("an absolute name", name("/tmp/s_zip-hostile"), BAD, "absolute", "good"),
        ("a drive", name("C:/up"), BAD, "drive", "good"),
        ("backslashes", name("..\\up"), BAD, "backslash", "good"),
        ("a NUL", name("a\0.txt"), BAD, "NUL", "good"),
        ("backslashes of Windows", dos("..\\up"), BAD, "'..'", "good"),
        ("an absolute name of Windows", dos("\\tmp\\s_zip-hostile"), BAD, "absolute", "good"),
        ("a drive of Windows", dos("C:\\up"), BAD, "drive", "good"),
        ("a dot at the end that is a file's", name("a/."), BAD, "or '.'", "good"),
        ("no name", name(""), BAD, "empty", "good"),
        // Names that lead to a place inside on a detour.
        ("this folder", name("./a/b"), WELL, "", "a/b"),
        ("an empty part", name("a//b"), WELL, "", "a/b"),
        ("nothing but a slash", name("/"), WELL, "", "good"),
        ("folders of Windows", dos("a\\b\\c"), WELL, "", "a/b/c"),
        ("a detour to a name that is taken", pair("a/b", "./a//b"), BAD, "two entries", "a/b"),
        ("a detour through a file", pair("a", ".//a/./b"), BAD, "folder that holds", "a"),
        // Names of Windows are names here.
        ("a device of Windows", name("aux.txt"), WELL, "", "aux.txt"),
        ("a stream of Windows", name("12:30.log"), WELL, "", "12:30.log"),
        ("a dot at the end", name("end."), WELL, "", "end."),
        // Names that act on a terminal.
        ("colours", name("red\u{1b}[31m"), WELL, "", "red\u{1b}[31m"),
        ("another order", name("\u{202e}gpj.exe"), WELL, "", "\u{202e}gpj.exe"),
        ("colours, refused", name("../red\u{1b}[31m\n\u{202e}"), BAD, "\\u{1b}", "good"),
        // Two entries of one name.
        ("a folder twice", pair("a/", "a/"), WELL, "", "a"),
        ("a file twice", pair("a", "a"), BAD, "two entries", "a"),
        ("a file and a folder", pair("a", "a/"), BAD, "two entries", "a"),
        ("a folder and a file", pair("a/", "a"), BAD, "two entries", "a"),
        ("a file that is a folder", pair("a/b/c", "a"), BAD, "folder that holds", "a"),
        // What is no file.
        ("what came through a pipe", typed(0o010_600, b"hi\n"), WELL, "", "special"),
        ("what came from a device", typed(0o020_600, b"hi\n"), WELL, "", "special"),
        ("a pipe", typed(0o010_600, b""), BAD, "a pipe", "good"),
        ("a device", typed(0o060_600, b""), BAD, "a device", "good"),
        ("another device", typed(0o020_600, b""), BAD, "a device", "good"),
        ("a socket", typed(0o140_600, b""), BAD, "a socket", "good"),
        ("a link", typed(0o120_777, b"/etc/passwd"), BAD, "a symbolic link", "good"),
        ("a folder by its type", typed(0o040_755, b""), WELL, "", "special"),
        ("a folder by its type, with data", typed(0o040_755, b"data"), BAD, "a folder with data", "good"),
        ("a folder with data", with_good([stored("a/", b"data")]), BAD, "a folder with data", "good"),
        // Names in other encodings.
        ("UTF-8 of a program on Unix", raw_name("ü".as_bytes(), 0, vec![], vec![]), WELL, "", "ü"),
        ("code page 437", raw_name(b"\x81", 0, vec![], vec![]), WELL, "", "ü"),
        ("marked as UTF-8 and is not", raw_name(b"\x81", UTF8, vec![], vec![]), BAD, "is not", "good"),
        ("a Unicode name", raw_name(b"\xfc", 0, unicode("ü", b"\xfc"), unicode("ü", b"\xfc")), WELL, "", "ü"),
        ("a Unicode name of another name", raw_name(b"\x81", 0, vec![], unicode("o", b"o")), WELL, "", "ü"),
        (
            "two Unicode names",
            raw_name(b"a", 0, unicode("b", b"a"), unicode("c", b"a")),
            BAD,
            "described in two ways",
            "good",
        ),
        ("a Unicode name that leads elsewhere", raw_name(b"a", 0, vec![], unicode("../a", b"a")), BAD, "'..'", "good"),
        // Two archives in one.
        ("an end record in the comment", zip_after(b"", &[stored("a", b"")], &inner), NONE, "several end records", ""),
        ("a locator in a name", name(locator), WELL, "", "good"),
        ("ZIP64 records in a comment", other_directory(), NONE, "disagree", ""),
        ("entries that share bytes", overlapping(), NONE, "overlaps", ""),
        ("zeros behind it", padded, WELL, "", "good"),
        ("no archive", Zip { bytes: b"hello".to_vec(), ..zip(&[]) }, NONE, "no end record", ""),
        // Data that lies.
        ("another CRC", with_good([Member { crc32: 7, ..stored("a", b"data") }]), BAD, "CRC-32", "good"),
        ("more data", with_good([Member { uncompressed: 3, ..deflated("a", b"data") }]), BAD, "declares 3", "good"),
        ("a cut extra field", raw_name(b"a", 0, vec![], b"UT\x09\0\x01".to_vec()), BAD, "longer than the area", "good"),
        ("encrypted", with_good([Member { flags: 1, ..stored("a", b"data") }]), UNREADABLE, "encrypted", "good"),
        ("another method", with_good([Member { method: 12, ..stored("a", b"") }]), UNREADABLE, "bzip2", "good"),
        ("a gigabyte of zeros", with_good([bomb()]), LARGE, "--limit-ratio", ""),
    ]
}

/// Runs the program within [`MOST_KIB`]: where that does not do, it aborts.
fn run(folder: &Path, words: &[&str]) -> (Output, Duration) {
    let start = Instant::now();
    let mut command = Command::new("sh");
    let within = format!("ulimit -v {MOST_KIB} 2>&-; exec \"$0\" \"$@\"");
    command.args(["-c", &within]).arg(assert_cmd::cargo::cargo_bin("s_zip")).args(words).current_dir(folder);
    (command.output().unwrap(), start.elapsed())
}

fn check((name, archive, codes, says, makes): &Case) {
    let folder = TempDir::new().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::write(at("a.zip"), &archive.bytes).unwrap();
    let commands: [&[&str]; 5] = [
        &["list", "a.zip"],
        &["test", "a.zip"],
        &["extract", "a.zip", "--into", "out"],
        &["test", "a.zip", "--skip-bad"],
        &["extract", "a.zip", "--into", "rest", "--skip-bad"],
    ];
    for (words, code) in commands.into_iter().zip(*codes) {
        let told = format!("{name}: {words:?}");
        let (output, took) = run(folder.path(), words);
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(output.status.code(), Some(code), "{told}: {err}");
        assert!(took < PATIENCE, "{told} took {took:?}");
        let acts = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!out.contains(acts) && !err.contains(acts), "{told}: {out:?} {err:?}");
        assert!(err.lines().all(|line| line.starts_with("s_zip: ")), "{told}: {err}");
        assert_eq!(code == 0, err.is_empty(), "{told}: {err}");
        assert!(code == 0 || err.contains(says), "{told}: {err}");
    }
    let without = fs::read_dir(at("out")).map_or(0, Iterator::count);
    // All but what stands at the data is found before anything is written.
    let good = usize::from(["another CRC", "more data", "two Unicode names"].contains(name));
    assert!(codes[2] == 0 || without == good, "{name}: {without} extracted");
    assert!(makes.is_empty() || at("rest").join(makes).exists(), "{name}: {makes} is missing");
    let mut beside: Vec<_> = fs::read_dir(&folder).unwrap().map(|item| item.unwrap().file_name()).collect();
    beside.retain(|name| !["a.zip", "out", "rest"].iter().any(|known| name == known));
    assert!(beside.is_empty(), "{name}: {beside:?} outside");
    // Deeper than the standard library removes.
    assert!(Command::new("rm").args(["-rf", "out", "rest"]).current_dir(&folder).status().unwrap().success());
}

#[test]
fn every_archive_of_the_list_gets_its_answer() {
    let cases = cases();
    cases.iter().for_each(check);
    let with = |codes: [i32; 5]| cases.iter().filter(|(_, _, of_case, ..)| *of_case == codes).count();
    let counts = [WELL, BAD, UNREADABLE, LARGE, NONE].map(with);
    assert_eq!((cases.len(), counts), (62, [21, 34, 2, 1, 4]), "the list was cut or grew: change the counts with it");
    assert!(!Path::new("/tmp/s_zip-hostile").exists());
}

#[test]
fn a_directory_for_which_there_is_no_memory_is_refused_in_a_line() {
    let folder = TempDir::new().unwrap();
    // By what the parser needs the first fits into the address space, the second hardly, and the last in no way.
    for entries in [100_000, 260_000, 400_000] {
        let mut writer = s_zip::StreamingZipWriter::new(folder.path().join("a.zip")).unwrap();
        (0..entries).for_each(|index| writer.add_entry(&format!("{index:x}"), b"").unwrap());
        writer.finish().unwrap();
        for command in ["list", "test"] {
            let (output, _) = run(folder.path(), &[command, "a.zip"]);
            let err = String::from_utf8(output.stderr).unwrap();
            let refused = output.status.code() == Some(2) && err.lines().count() == 1 && err.contains("of memory");
            assert!(
                refused || (output.status.success() && err.is_empty()),
                "{command} {entries}: {:?}, {err}",
                output.status
            );
            assert_eq!(refused, entries > 200_000, "{command} {entries}: {err}");
        }
    }
}

#[test]
fn what_zip_packs_from_a_pipe_is_a_file() {
    let folder = TempDir::new().unwrap();
    let zipped = Command::new("sh").args(["-c", "echo hi | zip -q p.zip -"]).current_dir(&folder).status().unwrap();
    if zipped.code() == Some(127) {
        assert!(std::env::var("CI").is_err(), "zip is missing: apt-get install zip");
        return;
    }
    assert_eq!(run(folder.path(), &["extract", "p.zip"]).0.status.code(), Some(0));
    assert_eq!(fs::read(folder.path().join("-")).unwrap(), b"hi\n");
}

#[test]
fn no_share_of_bytes_is_beyond_100_percent() {
    let folder = TempDir::new().unwrap();
    let members = [deflated("larger than before", b"a"), deflated("zeros", &[0; 10_000]), stored("as it was", b"a")];
    fs::write(folder.path().join("a.zip"), zip(&members).bytes).unwrap();
    let list = String::from_utf8(run(folder.path(), &["list", "a.zip"]).0.stdout).unwrap();
    let shares: Vec<&str> = list.split_whitespace().filter(|word| word.ends_with('%')).collect();
    assert_eq!((shares.len(), shares[0], shares[2]), (4, "0.0%", "0.0%"), "{list}");
    assert!(shares[1].starts_with("99."), "{list}");
}
