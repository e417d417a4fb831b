//! What each program is asked, and what it has to answer.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::layouts::{Entry, Layout};
use crate::programs::{Faults, find, run, run_with_pipe};
use crate::{ARCHIVES, Archive};

/// An archive of more entries is one of many empty ones, not worth a file each.
pub const MOST_FILES: usize = 1000;
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Name, size and CRC.
fn facts(entry: &Entry) -> String {
    format!("{}\t{}\t{:08x}", hex(&entry.name), entry.data.len(), crc32fast::hash(&entry.data))
}

fn all_data(layout: &Layout) -> Vec<u8> {
    layout.entries.iter().flat_map(|entry| entry.data.iter().copied()).collect()
}

fn names(layout: &Layout) -> Vec<String> {
    layout.entries.iter().map(|entry| entry.name.clone()).collect()
}

/// Archives of methods that every reader knows.
fn common() -> impl Iterator<Item = &'static Archive> {
    ARCHIVES.iter().filter(|archive| !archive.layout.has_method(93))
}

/// `unzip -t`, `unzip -p`, and files as `unzip` leaves them.
#[test]
fn unzip_tests_prints_and_extracts_every_layout() {
    let Some(unzip) = find(&["unzip"], "unzip") else { return };
    let mut faults = Faults::of("unzip");
    for Archive { layout, path, .. } in common() {
        let path = path.as_os_str();
        let tested = run(&unzip, &["-tqq".as_ref(), path]);
        if layout.entries.is_empty() {
            // It warns of an archive without entries and has nothing more to say.
            faults.check(tested.story.contains("zipfile is empty"), &layout.name, || tested.story.clone());
            continue;
        }
        faults.check(tested.success && tested.stdout.is_empty(), &layout.name, || tested.story.clone());
        let printed = run(&unzip, &["-p".as_ref(), path]);
        let right = printed.success && printed.stdout == all_data(layout);
        faults.check(right, &layout.name, || format!("-p prints something else: {}", printed.story));
        if layout.entries.len() <= MOST_FILES {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("unzip-{}", std::process::id()));
            let extracted = run(&unzip, &["-qq".as_ref(), path, "-d".as_ref(), folder.as_os_str()]);
            faults.check(extracted.success, &layout.name, || extracted.story.clone());
            for entry in &layout.entries {
                let fault = extracted_fault(&folder.join(&entry.name), entry);
                faults
                    .check(fault.is_none(), &layout.name, || format!("{}: {}", entry.name, fault.unwrap_or_default()));
            }
            fs::remove_dir_all(&folder).unwrap();
        }
    }
    faults.tell();
}

/// What is wrong with the file that an entry became.
fn extracted_fault(path: &Path, entry: &Entry) -> Option<String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return Some(error.to_string()),
    };
    let modified = metadata.modified().unwrap();
    let modified = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).unwrap(),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap(),
    };
    let mode = metadata.permissions().mode();
    if mode != entry.mode {
        Some(format!("mode {mode:o}, not {:o}", entry.mode))
    } else if modified != entry.modified {
        Some(format!("modified {modified}, not {}", entry.modified))
    } else if metadata.is_file() && fs::read(path).unwrap() != entry.data {
        Some("other data".to_owned())
    } else {
        None
    }
}

/// `zip -T`.
#[test]
fn zip_tests_every_layout() {
    let (Some(zip), Some(_)) = (find(&["zip"], "zip"), find(&["unzip"], "unzip")) else { return };
    let mut faults = Faults::of("zip");
    // Without entries it has "nothing to do".
    for Archive { layout, path, .. } in common().filter(|archive| !archive.layout.entries.is_empty()) {
        let tested = run(&zip, &["-T".as_ref(), path.as_os_str()]);
        faults.check(tested.success, &layout.name, || tested.story.clone());
    }
    faults.tell();
}

/// Python's `zipfile`: everything that it can tell. A method that it does not know it can still list.
#[test]
fn python_reads_all_that_every_layout_says() {
    let Some(python) = find(&["python3"], "python3") else { return };
    let mut faults = Faults::of("Python");
    let answers = interview(&python, &["-I", &format!("{SOURCES}/check.py")], ARCHIVES.iter(), &mut faults);
    for Archive { layout, path, .. } in ARCHIVES.iter() {
        let mut wanted = vec![format!("comment\t{}", hex(&layout.comment))];
        wanted.extend(layout.entries.iter().map(|entry| {
            let Entry { mode, date, comment, method, descriptor, .. } = entry;
            let (comment, descriptor) = (hex(comment), u8::from(*descriptor));
            format!("{}\t{mode:o}\t{date}\t{comment}\t{method}\t{descriptor}", facts(entry))
        }));
        let got = answers.get(&path.display().to_string()).map_or(&[][..], Vec::as_slice);
        faults.compare(got, &wanted, &layout.name, "zipfile");
    }
    faults.tell();
}

/// The JDK: `ZipInputStream` and `ZipFile`.
#[test]
fn java_reads_every_layout_as_a_stream_and_as_a_file() {
    let Some(java) = find(&["java"], "default-jdk-headless") else { return };
    compare_facts("Java", &java, &[&format!("{SOURCES}/Check.java")], &["stream ", "file "]);
}

/// Go's `archive/zip`.
#[test]
fn go_reads_every_layout() {
    let Some(go) = find(&["go"], "golang-go") else { return };
    compare_facts("Go", &go, &["run", &format!("{SOURCES}/check.go")], &[""]);
}

/// Has a check program read archives in its ways, each of which is what its heading has before the path.
fn compare_facts(name: &'static str, program: &Path, arguments: &[&str], ways: &[&str]) {
    let mut faults = Faults::of(name);
    let answers = interview(program, arguments, common(), &mut faults);
    for Archive { layout, path, .. } in common() {
        for way in ways {
            let got = answers.get(&format!("{way}{}", path.display())).map_or(&[][..], Vec::as_slice);
            faults.compare(got, &layout.entries.iter().map(facts).collect::<Vec<_>>(), &layout.name, way);
        }
    }
    faults.tell();
}

/// Has one of the check programs read archives, and gives its lines by the heading above them.
fn interview<'a>(
    program: &Path,
    arguments: &[&str],
    archives: impl Iterator<Item = &'a Archive>,
    faults: &mut Faults,
) -> HashMap<String, Vec<String>> {
    let mut all: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    all.extend(archives.map(|archive| archive.path.as_os_str()));
    let outcome = run(program, &all);
    faults.check(outcome.success, "all", || outcome.story.clone());
    let mut answers: HashMap<String, Vec<String>> = HashMap::new();
    let mut heading = String::new();
    for line in outcome.text().lines() {
        match line.strip_prefix("# ") {
            Some(new) => new.clone_into(&mut heading),
            None => answers.entry(heading.clone()).or_default().push(line.to_owned()),
        }
        if heading.is_empty() {
            continue;
        }
        answers.entry(heading.clone()).or_default();
    }
    answers
}

/// bsdtar with a file, which it reads from the end.
#[test]
fn bsdtar_reads_every_layout_from_a_file() {
    bsdtar("bsdtar with a file", |program, flags, archive| run(program, &[flags.as_ref(), archive.path.as_os_str()]));
}

/// bsdtar with a pipe, which it reads from the front.
#[test]
fn bsdtar_reads_every_layout_from_a_pipe() {
    bsdtar("bsdtar with a pipe", |program, flags, archive| run_with_pipe(program, &[flags, "-"], &archive.bytes));
}

fn bsdtar(what: &'static str, read: impl Fn(&Path, &str, &Archive) -> crate::programs::Outcome) {
    let Some(bsdtar) = find(&["bsdtar"], "libarchive-tools") else { return };
    let mut faults = Faults::of(what);
    for archive in ARCHIVES.iter() {
        let layout = &archive.layout;
        let listed = read(&bsdtar, "-tf", archive);
        faults.check(listed.success, &layout.name, || listed.story.clone());
        let lines: Vec<_> = listed.text().lines().map(str::to_owned).collect();
        faults.compare(&lines, &names(layout), &layout.name, "names");
        let printed = read(&bsdtar, "-xOf", archive);
        let right = printed.success && printed.stdout == all_data(layout);
        // libarchive may be built without Zstandard, and has it from a stream only where the local header has the size.
        let zstd = ["nsupported", "Truncated zstd file body"].iter().any(|text| printed.story.contains(text));
        let unknown = layout.has_method(93) && zstd;
        faults.check(right || unknown, &layout.name, || format!("data: {}", printed.story));
    }
    faults.tell();
}

/// `7z t`, and the list with sizes and CRC.
#[test]
fn seven_zip_tests_and_lists_every_layout() {
    let Some(program) = find(&["7z", "7zz", "7za"], "7zip") else { return };
    let mut faults = Faults::of("7z");
    for Archive { layout, path, .. } in ARCHIVES.iter() {
        let tested = run(&program, &["t".as_ref(), "-bd".as_ref(), path.as_os_str()]);
        let unknown = layout.has_method(93) && tested.story.contains("nsupported Method");
        faults.check((tested.success && !tested.story.contains("WARNING")) || unknown, &layout.name, || {
            tested.story.clone()
        });
        let flags = ["l", "-slt", "-ba", "-sccUTF-8"].map(OsStr::new);
        let listed = run(&program, &[&flags[..], &[path.as_os_str()]].concat());
        let wanted: Vec<_> = layout.entries.iter().map(seven_zip_facts).collect();
        faults.compare(&seven_zip_list(&listed.text()), &wanted, &layout.name, "list");
    }
    faults.tell();
}

/// Folders have no slash in its list.
fn seven_zip_facts(entry: &Entry) -> String {
    let crc = crc32fast::hash(&entry.data);
    format!("{}\t{}\t{crc:08X}", entry.name.trim_end_matches('/'), entry.data.len())
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
