//! What each program is asked, and what it has to answer.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use s_zip::time::DosDateTime;

use crate::common::archive::Entry;
use crate::programs::{assert_same, find, run};
use crate::{ARCHIVES, Archive};

/// An archive of more entries is one of many empty ones, not worth a file each.
const MOST_FILES: usize = 1000;
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Name, size and CRC of every entry.
fn facts(archive: &Archive) -> Vec<String> {
    archive.parsed.entries.iter().map(entry_facts).collect()
}

fn entry_facts(entry: &Entry) -> String {
    format!("{}\t{}\t{:08x}", hex(&entry.name), entry.data.len(), entry.crc32)
}

/// Everything that Python can tell.
fn all_facts(archive: &Archive) -> Vec<String> {
    let fact = |entry: &Entry| {
        let Entry { mode, time, date, comment, method, descriptor, .. } = entry;
        let day = format!("{:04}-{:02}-{:02}", 1980 + (date >> 9), date >> 5 & 15, date & 31);
        let clock = format!("{:02}:{:02}:{:02}", time >> 11, time >> 5 & 63, (time & 31) * 2);
        let (comment, descriptor) = (hex(comment), u8::from(*descriptor));
        format!("{}\t{mode:o}\t{day} {clock}\t{comment}\t{method}\t{descriptor}", entry_facts(entry))
    };
    let comment = format!("comment\t{}", hex(&archive.parsed.comment));
    [comment].into_iter().chain(archive.parsed.entries.iter().map(fact)).collect()
}

fn all_data(archive: &Archive) -> Vec<u8> {
    archive.parsed.entries.iter().flat_map(|entry| entry.data.iter().copied()).collect()
}

fn has_zstd(archive: &Archive) -> bool {
    archive.parsed.entries.iter().any(|entry| entry.method == 93)
}

/// Archives of methods that every reader knows.
fn common() -> impl Iterator<Item = &'static Archive> {
    ARCHIVES.iter().filter(|archive| !has_zstd(archive))
}

/// `unzip -t`, `unzip -p`, and files as `unzip` leaves them.
#[test]
fn unzip_tests_prints_and_extracts_every_layout() {
    let Some(unzip) = find(&["unzip"], "unzip") else { return };
    for archive in common() {
        let Archive { name, path, parsed, .. } = archive;
        let tested = run(&unzip, &["-tqq", path], b"");
        if parsed.entries.is_empty() {
            // It warns of an archive without entries and has nothing more to say.
            assert!(tested.story.contains("zipfile is empty"), "{name}: {}", tested.story);
            continue;
        }
        assert!(tested.success && tested.stdout.is_empty(), "{name}: {}", tested.story);
        let printed = run(&unzip, &["-p", path], b"");
        assert!(printed.success && printed.stdout == all_data(archive), "{name}: {}", printed.story);
        if parsed.entries.len() <= MOST_FILES {
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let extracted = run(&unzip, &["-qq", path, "-d", folder.path().to_str().unwrap()], b"");
            assert!(extracted.success, "{name}: {}", extracted.story);
            for entry in &parsed.entries {
                assert_extracted(&folder.path().join(&entry.name), entry);
            }
        }
    }
}

/// That a file is what its entry says.
fn assert_extracted(path: &Path, entry: &Entry) {
    let metadata = fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // unzip does not trust a time before 1970 and takes the DOS date.
    let seconds = entry.unix_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    let dos = DosDateTime { time: entry.time, date: entry.date }.to_unix();
    let modified = UNIX_EPOCH + Duration::from_secs(seconds.unwrap_or(dos.try_into().unwrap()));
    assert_eq!(metadata.permissions().mode(), entry.mode, "{}: mode", path.display());
    assert_eq!(metadata.modified().unwrap(), modified, "{}: time", path.display());
    assert!(metadata.is_dir() || fs::read(path).unwrap() == entry.data, "{}: other data", path.display());
}

/// `zip -T`, which runs unzip.
#[test]
fn zip_tests_every_layout() {
    let (Some(zip), Some(_)) = (find(&["zip"], "zip"), find(&["unzip"], "unzip")) else { return };
    // Without entries it has "nothing to do".
    for archive in common().filter(|archive| !archive.parsed.entries.is_empty()) {
        let tested = run(&zip, &["-T", &archive.path], b"");
        assert!(tested.success, "{}: {}", archive.name, tested.story);
    }
}

/// Python's `zipfile`. A method that it does not know it can still list.
#[test]
fn python_reads_all_that_every_layout_says() {
    let Some(python) = find(&["python3"], "python3") else { return };
    interview(&python, &["-I", &format!("{SOURCES}/check.py")], ARCHIVES.iter().collect(), &[""], all_facts);
}

/// The JDK: `ZipInputStream` and `ZipFile`.
#[test]
fn java_reads_every_layout_as_a_stream_and_as_a_file() {
    let Some(java) = find(&["java"], "default-jdk-headless") else { return };
    interview(&java, &[&format!("{SOURCES}/Check.java")], common().collect(), &["stream ", "file "], facts);
}

/// Go's `archive/zip`.
#[test]
fn go_reads_every_layout() {
    let Some(go) = find(&["go"], "golang-go") else { return };
    interview(&go, &["run", &format!("{SOURCES}/check.go")], common().collect(), &[""], facts);
}

/// Has a check program read archives in its ways, each of which is what its heading has before the path, and compares all it says.
fn interview(
    program: &Path,
    arguments: &[&str],
    archives: Vec<&Archive>,
    ways: &[&str],
    facts: impl Fn(&Archive) -> Vec<String>,
) {
    let paths: Vec<&str> = archives.iter().map(|archive| archive.path.as_str()).collect();
    let outcome = run(program, &[arguments, &paths].concat(), b"");
    assert!(outcome.success, "{}", outcome.story);
    let text = outcome.text();
    let mut answers = text.split_terminator("# ").skip(1);
    for archive in archives {
        for way in ways {
            let wanted = [vec![format!("{way}{}", archive.path)], facts(archive)].concat();
            let got: Vec<String> = answers.next().unwrap_or_default().lines().map(str::to_owned).collect();
            assert_same(&got, &wanted, archive.name);
        }
    }
}

/// bsdtar with a file, which it reads from the end, and with a pipe, which it reads from the front.
#[test]
fn bsdtar_reads_every_layout_from_a_file_and_from_a_pipe() {
    let Some(bsdtar) = find(&["bsdtar"], "libarchive-tools") else { return };
    for archive in ARCHIVES.iter() {
        let names: Vec<&str> = archive.parsed.entries.iter().map(|entry| entry.name.as_str()).collect();
        for (source, input) in [(archive.path.as_str(), &[][..]), ("-", &archive.bytes)] {
            let what = format!("{} from {source}", archive.name);
            let listed = run(&bsdtar, &["-tf", source], input);
            assert!(listed.success, "{what}: {}", listed.story);
            assert_same(&listed.text().lines().collect::<Vec<_>>(), &names, &what);
            let printed = run(&bsdtar, &["-xOf", source], input);
            let right = printed.success && printed.stdout == all_data(archive);
            // libarchive may be built without Zstandard, and has it from a stream only where the local header has the size.
            let zstd = ["nsupported", "Truncated zstd file body"].iter().any(|text| printed.story.contains(text));
            assert!(right || has_zstd(archive) && zstd, "{what}: {}", printed.story);
        }
    }
}

/// `7z t`, and the list with sizes and CRC.
#[test]
fn seven_zip_tests_and_lists_every_layout() {
    let Some(program) = find(&["7z", "7zz", "7za"], "7zip") else { return };
    for archive in ARCHIVES.iter() {
        let tested = run(&program, &["t", "-bd", &archive.path], b"");
        let unknown = has_zstd(archive) && tested.story.contains("nsupported Method");
        let right = tested.success && !tested.story.contains("WARNING");
        assert!(right || unknown, "{}: {}", archive.name, tested.story);
        let listed = run(&program, &["l", "-slt", "-ba", "-sccUTF-8", &archive.path], b"");
        let wanted: Vec<_> = archive.parsed.entries.iter().map(seven_zip_facts).collect();
        assert_same(&seven_zip_list(&listed.text()), &wanted, archive.name);
    }
}

/// Folders have no slash in its list.
fn seven_zip_facts(entry: &Entry) -> String {
    format!("{}\t{}\t{:08X}", entry.name.trim_end_matches('/'), entry.data.len(), entry.crc32)
}

/// Path, size and CRC from blocks of `Key = value`.
fn seven_zip_list(text: &str) -> Vec<String> {
    let entry = |block: &str| {
        let value =
            |key| block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = ")).unwrap_or_default();
        // It leaves the CRC of a file without data out.
        let crc = if value("CRC").is_empty() { "00000000" } else { value("CRC") };
        format!("{}\t{}\t{crc}", value("Path"), value("Size"))
    };
    text.split("\n\n").filter(|block| block.contains("Path = ")).map(entry).collect()
}
