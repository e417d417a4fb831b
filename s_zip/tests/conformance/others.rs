//! Archives as other programs write them: this reader makes of each what the named programs make of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use s_zip::StreamingZipReader;

use crate::common::forged::corpus::with_descriptor;
use crate::common::forged::times::{ntfs, old_unix, unix, ut};
use crate::common::forged::{Member, Zip, deflated, stored, zip};
use crate::programs::{find, run};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
const EXTRACT: &str = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
const UTF8: u16 = 1 << 11;
const THEN: i64 = 1_700_000_001;

/// What an archive is, the archive, the programs that make the same of it, and whether they give files its times.
type Case = (&'static str, Zip, &'static str, bool);

fn dos(name: &str, data: &[u8]) -> Member {
    Member { host: 0, mode: 0, ..stored(name, data) }
}

fn cases() -> Vec<Case> {
    let timed =
        |extra: Vec<u8>| zip(&[Member { local_extra: extra.clone(), central_extra: extra, ..stored("f", b"1") }]);
    let flags = |central: u16, local: u16, member: Member| {
        zip(&[Member { flags: central, local_flags: Some(local), ..member }, stored("last", b"2")])
    };
    let text = deflated("name", b"data data data data");
    let typed = Member { mode: 0o040_755, ..stored("d", b"") };
    let marked = Member { attributes: 0x10, ..dos("d", b"") };
    let names = |names: &[&str]| zip(&names.iter().map(|name| stored(name, b"")).collect::<Vec<_>>());
    let mut padded = names(&["a"]);
    padded.bytes.resize(10_240, 0);
    vec![
        ("UT", timed(ut(THEN)), "unzip bsdtar 7z", true),
        ("NTFS", timed(ntfs(THEN)), "7z", true),
        ("Info-ZIP's old field", timed(old_unix(THEN)), "unzip bsdtar 7z", true),
        ("PKWARE's Unix field", timed(unix(THEN)), "unzip 7z", true),
        ("UT before NTFS", timed([ntfs(THEN + 1000), ut(THEN)].concat()), "unzip bsdtar", true),
        ("UT before the old field", timed([ut(THEN), old_unix(THEN + 1000)].concat()), "unzip 7z", true),
        ("NTFS before the old field", timed([old_unix(THEN + 1000), ntfs(THEN)].concat()), "7z", true),
        ("UTF-8 above", flags(UTF8, 0, text.clone()), "unzip bsdtar 7z python go", false),
        ("UTF-8 below", flags(0, UTF8, text.clone()), "unzip bsdtar 7z python go", false),
        ("a descriptor above, which is not there", flags(8, 0, text.clone()), "unzip bsdtar python", false),
        ("a descriptor below, which is there", flags(0, 8, with_descriptor(text)), "unzip bsdtar python go", false),
        ("a folder by its type", zip(std::slice::from_ref(&typed)), "bsdtar 7z", false),
        ("before what it holds", zip(&[typed.clone(), stored("d/f", b"1")]), "bsdtar 7z", false),
        ("behind what it holds", zip(&[stored("d/f", b"1"), typed]), "bsdtar 7z", false),
        ("a folder by its attribute", zip(std::slice::from_ref(&marked)), "bsdtar 7z", false),
        ("before what it has", zip(&[marked.clone(), dos("d/f", b"1")]), "bsdtar 7z", false),
        ("behind what it has", zip(&[dos("d/f", b"1"), marked]), "bsdtar 7z", false),
        (
            "an attribute of no folder",
            zip(&[Member { attributes: 0x10, ..stored("d", b"") }]),
            "unzip bsdtar 7z python",
            false,
        ),
        ("zeros behind it", padded, "unzip bsdtar python", false),
        ("this folder", names(&["./", "./a", "./b/c"]), "unzip bsdtar 7z python", false),
        ("a root", names(&["/", "a"]), "bsdtar 7z python", false),
        ("empty parts", names(&["a//b.txt", ".//c", "d/./e"]), "unzip bsdtar 7z python", false),
        ("backslashes", zip(&[dos("a\\b", b"1"), dos("d\\", b"")]), "unzip bsdtar", false),
    ]
}

/// What is at a path below a folder: of a file its data and the seconds of its time.
type Item = (String, Option<(Vec<u8>, u64)>);

fn tree(folder: &Path, times: bool) -> Vec<Item> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(here) = folders.pop() {
        for item in fs::read_dir(here).unwrap() {
            let path = item.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let time = metadata.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_secs();
            let content = (!metadata.is_dir()).then(|| (fs::read(&path).unwrap(), if times { time } else { 0 }));
            found.push((path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned(), content));
            folders.extend(metadata.is_dir().then_some(path));
        }
    }
    found.sort();
    found
}

/// Has a program extract every archive for which it is named, by its own arguments from the paths of archive and folder.
fn compare(program: &str, names: &[&str], package: &str, arguments: impl Fn(&str, &str) -> Vec<String>) {
    let Some(path) = find(names, package) else { return };
    let mut asked = 0;
    for (name, archive, programs, times) in cases() {
        if !programs.split(' ').any(|named| named == program) {
            continue;
        }
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (file, [ours, theirs]) = write(place.path(), &archive);
        StreamingZipReader::open(&file).unwrap().extract(&ours).unwrap();
        let arguments = arguments(file.to_str().unwrap(), theirs.to_str().unwrap());
        // unzip warns of what it takes all the same.
        let outcome = run(&path, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), b"");
        assert_eq!(tree(&theirs, times), tree(&ours, times), "{program}, {name}: {}", outcome.story);
        asked += 1;
    }
    assert!(asked > 2, "{program} is named in the list");
}

fn write(place: &Path, archive: &Zip) -> (PathBuf, [PathBuf; 2]) {
    let file = place.join("a.zip");
    fs::write(&file, &archive.bytes).unwrap();
    let folders = ["ours", "theirs"].map(|name| place.join(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
    }
    (file, folders)
}

#[test]
fn unzip_makes_the_same_of_what_others_write() {
    compare("unzip", &["unzip"], "unzip", |file, to| ["-qq", file, "-d", to].map(str::to_owned).to_vec());
}

#[test]
fn bsdtar_makes_the_same_of_what_others_write() {
    compare("bsdtar", &["bsdtar"], "libarchive-tools", |file, to| ["-xf", file, "-C", to].map(str::to_owned).to_vec());
}

#[test]
fn seven_zip_makes_the_same_of_what_others_write() {
    let arguments = |file: &str, to: &str| vec!["x".to_owned(), "-bd".to_owned(), format!("-o{to}"), file.to_owned()];
    compare("7z", &["7z", "7zz", "7za"], "7zip", arguments);
}

#[test]
fn python_makes_the_same_of_what_others_write() {
    compare("python", &["python3"], "python3", |file, to| ["-I", "-c", EXTRACT, file, to].map(str::to_owned).to_vec());
}

/// How a program is found, what it is told before the archive's path, and how many entries it then tells of.
type Program<'a> = (&'a str, &'a [&'a str], &'a str, &'a [&'a str], fn(&str) -> usize);

/// A count that wrapped, and what Go is named for.
#[test]
fn go_and_the_others_read_as_many_entries() {
    let members: Vec<Member> = (0..70_000).map(|index| stored(&format!("{index:x}"), b"")).collect();
    let wrapped = [("a count that wrapped", zip(&members), "go python unzip bsdtar 7z", false)];
    let programs: [Program; 5] = [
        ("go", &["go"], "golang-go", &["run", &format!("{SOURCES}/check.go")], |text| text.lines().count() - 1),
        // The archive's comment has a line.
        ("python", &["python3"], "python3", &["-I", &format!("{SOURCES}/check.py")], |text| text.lines().count() - 2),
        ("unzip", &["unzip"], "unzip", &["-Z1"], |text| text.lines().count()),
        ("bsdtar", &["bsdtar"], "libarchive-tools", &["-tf"], |text| text.lines().count()),
        ("7z", &["7z", "7zz", "7za"], "7zip", &["l", "-slt", "-ba"], |text| text.matches("Path = ").count()),
    ];
    for (program, names, package, arguments, count) in programs {
        let Some(path) = find(names, package) else { continue };
        let named = |case: &Case| case.2.split(' ').any(|named| named == program);
        let of_go = cases().into_iter().filter(|_| program == "go");
        for (name, archive, ..) in of_go.chain(wrapped.clone()).filter(named) {
            let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let (file, _) = write(place.path(), &archive);
            let outcome = run(&path, &[arguments, &[file.to_str().unwrap()]].concat(), b"");
            assert!(outcome.success && !outcome.text().contains("\n! "), "{program}, {name}: {}", outcome.story);
            let entries = archive.open().unwrap().entries().len();
            assert_eq!((count(&outcome.text()), entries), (archive.local.len(), entries), "{program}, {name}");
        }
    }
}
