//! What each program is asked, and what it has to answer.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use s_zip::time::DosDateTime;

use crate::common::archive::Entry;
use crate::programs::{Faults, find, run};
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

/// Has a program judge archives one by one.
fn each<'a>(
    (names, package): (&[&'static str], &str),
    archives: impl Iterator<Item = &'a Archive>,
    judge: impl Fn(&mut Faults, &Path, &Archive),
) {
    let Some(program) = find(names, package) else { return };
    let mut faults = Faults::of(names[0]);
    archives.for_each(|archive| judge(&mut faults, &program, archive));
    faults.tell();
}

/// `unzip -t`, `unzip -p`, and files as `unzip` leaves them.
#[test]
fn unzip_tests_prints_and_extracts_every_layout() {
    each((&["unzip"], "unzip"), common(), |faults, unzip, archive| {
        let Archive { name, path, parsed, .. } = archive;
        let tested = run(unzip, &["-tqq", path], b"");
        if parsed.entries.is_empty() {
            // It warns of an archive without entries and has nothing more to say.
            faults.check(tested.story.contains("zipfile is empty"), name, &tested.story);
            return;
        }
        faults.check(tested.success && tested.stdout.is_empty(), name, &tested.story);
        let printed = run(unzip, &["-p", path], b"");
        let right = printed.success && printed.stdout == all_data(archive);
        faults.check(right, name, &format!("-p prints something else: {}", printed.story));
        if parsed.entries.len() <= MOST_FILES {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("unzip-{}", std::process::id()));
            let extracted = run(unzip, &["-qq", path, "-d", folder.to_str().unwrap()], b"");
            faults.check(extracted.success, name, &extracted.story);
            for entry in &parsed.entries {
                if let Some(fault) = extracted_fault(&folder.join(&entry.name), entry) {
                    faults.check(false, name, &format!("{}: {fault}", entry.name));
                }
            }
            fs::remove_dir_all(&folder).unwrap();
        }
    });
}

/// What is wrong with the file that an entry became.
fn extracted_fault(path: &Path, entry: &Entry) -> Option<String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return Some(error.to_string()),
    };
    // unzip does not trust a time before 1970 and takes the DOS date.
    let seconds = entry.unix_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    let dos = DosDateTime { time: entry.time, date: entry.date }.to_unix();
    let wanted = UNIX_EPOCH + Duration::from_secs(seconds.unwrap_or(dos.try_into().unwrap()));
    let (modified, mode) = (metadata.modified().unwrap(), metadata.permissions().mode());
    if mode != entry.mode {
        Some(format!("mode {mode:o}, not {:o}", entry.mode))
    } else if modified != wanted {
        Some(format!("modified {modified:?}, not {wanted:?}"))
    } else if metadata.is_file() && fs::read(path).unwrap() != entry.data {
        Some("other data".to_owned())
    } else {
        None
    }
}

/// `zip -T`, which runs unzip.
#[test]
fn zip_tests_every_layout() {
    if find(&["unzip"], "unzip").is_none() {
        return;
    }
    // Without entries it has "nothing to do".
    let archives = common().filter(|archive| !archive.parsed.entries.is_empty());
    each((&["zip"], "zip"), archives, |faults, zip, archive| {
        let tested = run(zip, &["-T", &archive.path], b"");
        faults.check(tested.success, archive.name, &tested.story);
    });
}

/// Python's `zipfile`. A method that it does not know it can still list.
#[test]
fn python_reads_all_that_every_layout_says() {
    let Some(python) = find(&["python3"], "python3") else { return };
    interview(
        ("Python", &python),
        &["-I", &format!("{SOURCES}/check.py")],
        ARCHIVES.iter().collect(),
        &[""],
        all_facts,
    );
}

/// The JDK: `ZipInputStream` and `ZipFile`.
#[test]
fn java_reads_every_layout_as_a_stream_and_as_a_file() {
    let Some(java) = find(&["java"], "default-jdk-headless") else { return };
    interview(("Java", &java), &[&format!("{SOURCES}/Check.java")], common().collect(), &["stream ", "file "], facts);
}

/// Go's `archive/zip`.
#[test]
fn go_reads_every_layout() {
    let Some(go) = find(&["go"], "golang-go") else { return };
    interview(("Go", &go), &["run", &format!("{SOURCES}/check.go")], common().collect(), &[""], facts);
}

/// Has a check program read archives in its ways, each of which is what its heading has before the path, and compares the lines below it.
fn interview(
    (name, program): (&'static str, &Path),
    arguments: &[&str],
    archives: Vec<&Archive>,
    ways: &[&str],
    wanted: impl Fn(&Archive) -> Vec<String>,
) {
    let paths: Vec<&str> = archives.iter().map(|archive| archive.path.as_str()).collect();
    let outcome = run(program, &[arguments, &paths].concat(), b"");
    let mut faults = Faults::of(name);
    faults.check(outcome.success, "all", &outcome.story);
    let mut answers: HashMap<&str, Vec<String>> = HashMap::new();
    let mut heading = "";
    let text = outcome.text();
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(new) => heading = new,
            None => answers.entry(heading).or_default().push(line.to_owned()),
        }
    }
    for archive in archives {
        for way in ways {
            let got = answers.get(&*format!("{way}{}", archive.path)).map_or(&[][..], Vec::as_slice);
            faults.compare(got, &wanted(archive), archive.name, way);
        }
    }
    faults.tell();
}

/// bsdtar with a file, which it reads from the end, and with a pipe, which it reads from the front.
#[test]
fn bsdtar_reads_every_layout_from_a_file_and_from_a_pipe() {
    each((&["bsdtar"], "libarchive-tools"), ARCHIVES.iter(), |faults, bsdtar, archive| {
        let (name, nothing): (_, &[u8]) = (archive.name, b"");
        for (source, input) in [(archive.path.as_str(), nothing), ("-", &archive.bytes)] {
            let listed = run(bsdtar, &["-tf", source], input);
            faults.check(listed.success, name, &listed.story);
            let names: Vec<&str> = archive.parsed.entries.iter().map(|entry| entry.name.as_str()).collect();
            faults.compare(&listed.text().lines().collect::<Vec<_>>(), &names, name, "names");
            let printed = run(bsdtar, &["-xOf", source], input);
            let right = printed.success && printed.stdout == all_data(archive);
            // libarchive may be built without Zstandard, and has it from a stream only where the local header has the size.
            let zstd = ["nsupported", "Truncated zstd file body"].iter().any(|text| printed.story.contains(text));
            faults.check(right || has_zstd(archive) && zstd, name, &format!("{source}: data: {}", printed.story));
        }
    });
}

/// `7z t`, and the list with sizes and CRC.
#[test]
fn seven_zip_tests_and_lists_every_layout() {
    each((&["7z", "7zz", "7za"], "7zip"), ARCHIVES.iter(), |faults, program, archive| {
        let Archive { name, path, .. } = archive;
        let tested = run(program, &["t", "-bd", path], b"");
        let unknown = has_zstd(archive) && tested.story.contains("nsupported Method");
        let right = tested.success && !tested.story.contains("WARNING");
        faults.check(right || unknown, name, &tested.story);
        let listed = run(program, &["l", "-slt", "-ba", "-sccUTF-8", path], b"");
        let wanted: Vec<_> = archive.parsed.entries.iter().map(seven_zip_facts).collect();
        faults.compare(&seven_zip_list(&listed.text()), &wanted, name, "list");
    });
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
