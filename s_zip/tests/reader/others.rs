//! What other programs write and the format does not forbid, or forbids without a reader that minds; and what only looks like it.

use std::io::{self, Read, Seek, SeekFrom};

use s_zip::{Limits, ReadError, StreamingZipReader};

use crate::common::forged::corpus::with_descriptor;
use crate::common::forged::times::{ntfs, old_unix, unix, ut};
use crate::common::forged::{Member, Zip, deflated, stored, zip};

const THEN: i64 = 1_700_000_001;
/// 1980-01-01, the time of [`stored`] members without fields.
const DOS: i64 = 315_532_800;
const FOLDER: u32 = 0x10;

fn with_fields(fields: &[Vec<u8>]) -> i64 {
    let member = Member { central_extra: fields.concat(), ..stored("a", b"") };
    zip(&[member]).open().unwrap().entries()[0].modified_unix
}

#[test]
fn a_time_in_utc_comes_before_the_dos_time() {
    let other = THEN + 1000;
    for (fields, time) in [
        (vec![], DOS),
        (vec![ut(THEN)], THEN),
        (vec![ntfs(THEN)], THEN),
        (vec![old_unix(THEN)], THEN),
        (vec![unix(THEN)], THEN),
        (vec![ntfs(-315_619_200)], -315_619_200),
        (vec![ntfs(7_258_118_400)], 7_258_118_400),
        (vec![old_unix(0)], 0),
        // Which comes first does not depend on their order.
        (vec![ntfs(other), ut(THEN)], THEN),
        (vec![ut(THEN), ntfs(other)], THEN),
        (vec![old_unix(other), ntfs(THEN)], THEN),
        (vec![ntfs(THEN), old_unix(other)], THEN),
        (vec![unix(other), old_unix(THEN)], THEN),
        (vec![old_unix(THEN), unix(other)], THEN),
    ] {
        assert_eq!(with_fields(&fields), time, "{fields:02x?}");
    }
    // The form of the directory: the flags of all three times, and one of them.
    let mut central = ut(THEN);
    central[4] = 7;
    assert_eq!(with_fields(&[central]), THEN);
}

#[test]
fn a_field_without_a_time_is_passed_over() {
    let field = |id: u16, data: &[u8]| {
        let length = u16::try_from(data.len()).unwrap();
        [&id.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
    };
    let none = ntfs(-11_644_473_600);
    let beyond = [&none[..12], &[0xff; 24]].concat();
    let mut long_attribute = ntfs(THEN);
    long_attribute[10] = 200;
    let mut other_attribute = ntfs(THEN);
    other_attribute[8] = 2;
    let mut accessed = ut(THEN);
    accessed[4] = 2;
    for bad in [
        field(0x000a, &[]),
        field(0x000a, &[0; 6]),
        field(0x000a, &ntfs(THEN)[4..30]),
        field(0x5855, &[]),
        field(0x5855, &[1; 7]),
        field(0x000d, &[1; 4]),
        field(0x5455, &[]),
        field(0x5455, &[1, 2, 3]),
        none,
        beyond,
        long_attribute,
        other_attribute,
        accessed,
    ] {
        assert_eq!(with_fields(std::slice::from_ref(&bad)), DOS, "{bad:02x?}");
        assert_eq!(with_fields(&[bad.clone(), unix(THEN)]), THEN, "{bad:02x?}");
        let member = Member { local_extra: bad.clone(), ..stored("a", b"") };
        assert_eq!(zip(&[member]).test().unwrap().files, 1, "{bad:02x?}");
    }
}

/// Fields of 32 bits wrap in 2038. The DOS time says whether one has.
#[test]
fn a_time_after_2038_is_not_taken_for_one_before_1970() {
    let at = |date: u16, seconds: u32| {
        let extra = [&[0x55, 0x54, 5, 0, 1][..], &seconds.to_le_bytes()].concat();
        let member = Member { central_extra: extra.clone(), local_extra: extra, date, ..stored("a", b"") };
        zip(&[member]).open().unwrap().entries()[0].modified_unix
    };
    let date = |year: u16| (year - 1980) << 9 | 5 << 5 | 5;
    // 2040-05-05 and 1969-12-31.
    assert_eq!(at(date(2040), 2_219_788_800), 2_219_788_800);
    assert_eq!(at(date(1980), u32::MAX), -1);
    assert_eq!(at(date(2037), 2_125_180_800), 2_125_180_800);
}

/// So many entries without ZIP64 records.
fn many(count: usize) -> Zip {
    zip(&(0..count).map(|index| stored(&format!("{index:x}"), b"")).collect::<Vec<_>>())
}

#[test]
fn a_count_that_wrapped_is_what_the_directory_holds() {
    for count in [65_535, 65_536, 70_000, 131_072] {
        let archive = many(count);
        assert_eq!(archive.open().unwrap().entries().len(), count);
        let within = |entries: u64| archive.test_within(Limits { entries, ..Limits::default() });
        let limit = count as u64 - 1;
        assert_error!(within(limit), ReadError::TooManyEntries { claimed, .. } if claimed == limit + 1);
    }
    let archive = many(70_000);
    for wrong in [4463, 4465, 0, 65_535_u16] {
        let count = wrong.to_le_bytes();
        let archive = archive.with(archive.end + 8, &[count, count].concat());
        assert_error!(archive.open(), ReadError::BadDirectory { .. });
    }
    // ZIP64 records have room for it.
    assert_eq!(archive.wide(|numbers| numbers).open().unwrap().entries().len(), 70_000);
    assert_error!(archive.wide(|[_, size, at]| [4464, size, at]).open(), ReadError::BadDirectory { .. });
    let three = many(3);
    assert_error!(three.with(three.end + 8, &[2, 0, 2, 0]).open(), ReadError::BadDirectory { .. });
}

/// A file with a hole of zeros in it.
struct Holed {
    bytes: Vec<u8>,
    /// Where the hole starts, and how long it is.
    hole: (u64, u64),
    at: u64,
}

impl Read for Holed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (start, length) = self.hole;
        let end = start + length;
        let (from, until) = match self.at {
            at if at < start => (Some(at), start - at),
            at if at < end => (None, end - at),
            at => (Some(at - length), (self.bytes.len() as u64 + length).saturating_sub(at)),
        };
        let count = buffer.len().min(usize::try_from(until).unwrap());
        match from.map(|from| usize::try_from(from).unwrap()) {
            Some(from) => buffer[..count].copy_from_slice(&self.bytes[from..from + count]),
            None => buffer[..count].fill(0),
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Holed {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let length = self.bytes.len() as u64 + self.hole.1;
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(by) => length.checked_add_signed(by).unwrap(),
            SeekFrom::Current(by) => self.at.checked_add_signed(by).unwrap(),
        };
        Ok(self.at)
    }
}

/// The archive with a hole before the entry of this index, or before the directory, and the offsets behind it as 32 bits of what they are now.
fn holed(archive: &Zip, index: usize, length: u64) -> Holed {
    let mut archive = archive.clone();
    let start = archive.local.get(index).copied().unwrap_or(archive.central[0]);
    let offset = |at: usize| (at as u64 + if at >= start { length } else { 0 }).to_le_bytes();
    for (central, local) in archive.central.clone().into_iter().zip(archive.local.clone()) {
        archive = archive.with(central + 42, &offset(local)[..4]);
    }
    let archive = archive.with(archive.end + 16, &offset(archive.central[0])[..4]);
    Holed { bytes: archive.bytes, hole: (start as u64, length), at: 0 }
}

#[test]
fn offsets_that_wrapped_are_restored() {
    const WRAP: u64 = 1 << 32;
    let archive = zip(&[stored("a", b"first"), deflated("b", b"second"), stored("c", b"third")]);
    // A hole as long as that, and every offset behind it is what it was.
    for (index, hole) in [(1, WRAP - 20), (2, WRAP - 60), (2, WRAP - 1), (3, WRAP - 80), (3, WRAP - 1)] {
        let mut opened = StreamingZipReader::new(holed(&archive, index, hole)).unwrap();
        assert_eq!(opened.test().unwrap().bytes, 16, "{index} {hole}");
        let offsets: Vec<u64> = opened.entries().iter().map(|entry| entry.offset).collect();
        let wanted: Vec<u64> = (0..3).map(|at| archive.local[at] as u64 + if at >= index { hole } else { 0 }).collect();
        assert_eq!(offsets, wanted, "{index} {hole}");
    }
    // What was cut off of a size leaves a gap as well, and then every place is a guess.
    for (index, hole) in [(0, WRAP), (1, WRAP), (2, WRAP), (3, WRAP), (3, 2 * WRAP)] {
        let opened = StreamingZipReader::new(holed(&archive, index, hole));
        assert_error!(opened, ReadError::BadDirectory { .. });
    }
}

#[test]
fn offsets_that_can_mean_two_places_are_refused() {
    let archive = zip(&[stored("a", b"first"), stored("b", b"second")]);
    let second_at = |at: u64| StreamingZipReader::new(holed(&archive, 1, at - archive.local[1] as u64));
    assert_eq!(second_at((1 << 32) + 1).unwrap().test().unwrap().bytes, 11);
    // Readers that take the hole for something before the archive find a header where they look for the first entry.
    assert_error!(second_at(1 << 32), ReadError::BadDirectory { what } if what.contains("several places"));
}

#[test]
fn flags_of_one_header_that_change_nothing_are_no_disagreement() {
    const UTF8: u16 = 1 << 11;
    let plain = deflated("name", b"data data data data");
    let one_sided = |flag: u16, member: &Member| {
        [(flag, 0), (0, flag)].map(|(central, local)| {
            let member = Member { flags: central, local_flags: Some(local), ..member.clone() };
            zip(&[member, stored("b", b"")]).test()
        })
    };
    // The name in plain ASCII, the level of compression, what nobody uses.
    for flag in [UTF8, 1 << 1, 1 << 2, 1 << 12] {
        assert!(one_sided(flag, &plain).iter().all(Result::is_ok), "{flag:x}");
    }
    let named = |name: &[u8], host| Member { name: name.to_vec(), host, ..plain.clone() };
    assert!(one_sided(UTF8, &named("ü".as_bytes(), 3)).iter().all(Result::is_ok));
    for (name, host) in [("ü".as_bytes(), 0), (b"\x81", 3), (b"\x81", 0)] {
        assert!(one_sided(UTF8, &named(name, host)).iter().all(Result::is_err), "{name:02x?} {host}");
    }
    // Encryption changes the data.
    for flag in [1, 1 << 6, 1 << 13] {
        let [central, local] = one_sided(flag, &plain);
        assert_error!(central, ReadError::Encrypted { .. });
        assert_error!(local, ReadError::HeaderMismatch { what: "encryption", .. });
    }
}

#[test]
fn a_descriptor_that_one_header_announces_is_there_if_it_is_needed() {
    let plain = deflated("name", b"data data data data");
    let streamed = with_descriptor(plain.clone());
    let wrong = Member { tail: vec![7; 16], ..streamed.clone() };
    let archive = |central: u16, local: u16, member: &Member| {
        zip(&[Member { flags: central, local_flags: Some(local), ..member.clone() }, stored("b", b"")])
    };
    // The numbers of the first archive's local header are right, whatever its flag says.
    let numbered = |central, local, member: &Member| {
        let archive = archive(central, local, member);
        let numbers = [plain.crc32, u32::try_from(plain.data.len()).unwrap(), plain.uncompressed].map(u32::to_le_bytes);
        archive.with(14, &numbers.concat())
    };
    for member in [&plain, &streamed, &wrong] {
        assert_eq!(numbered(8, 0, member).test().unwrap().files, 2);
        assert_eq!(numbered(0, 8, member).test().unwrap().files, 2);
    }
    // The local header leaves the numbers out and says why.
    assert_eq!(archive(0, 8, &streamed).test().unwrap().files, 2);
    assert_error!(archive(0, 8, &wrong).test(), ReadError::HeaderMismatch { what: "data descriptor", .. });
    assert_error!(archive(0, 8, &plain).test(), ReadError::Overlap { .. });
    // It leaves them out and does not say why.
    let silent = archive(8, 8, &streamed).with(6, &[0, 0]);
    assert_error!(silent.test(), ReadError::HeaderMismatch { .. });
    // Both announce it.
    assert_eq!(numbered(8, 8, &streamed).test().unwrap().files, 2);
    assert_error!(numbered(8, 8, &wrong).test(), ReadError::HeaderMismatch { what: "data descriptor", .. });
    assert_error!(numbered(8, 8, &plain).test(), ReadError::Overlap { .. });
}

/// A folder whose name does not say so.
fn folder(host: u8, mode: u32, attributes: u32) -> Member {
    Member { mode, host, attributes, ..stored("d", b"") }
}

#[test]
fn a_folder_is_one_by_its_type_or_attribute_and_not_only_by_its_slash() {
    let folders =
        [(3, 0o040_755, 0), (19, 0o040_700, 0), (0, 0, FOLDER), (10, 0, FOLDER), (11, 0, FOLDER), (14, 0, FOLDER)];
    let both = [(3, 0o040_755, FOLDER), (0, 0o100_644, FOLDER)];
    for (host, mode, attributes) in folders.into_iter().chain(both) {
        let (member, content) = (folder(host, mode, attributes), stored("d/f", b"1"));
        for members in [vec![member.clone()], vec![member.clone(), content.clone()], vec![content, member.clone()]] {
            let archive = zip(&members);
            let summary = archive.test().unwrap();
            assert_eq!((summary.directories, summary.files), (1, members.len() as u64 - 1), "{host}");
            let mut opened = archive.open().unwrap();
            assert!(opened.entries().iter().any(|entry| entry.name == "d/" && entry.is_directory()), "{host}");
            opened.read(0).unwrap();
        }
        let twice = zip(&[member.clone(), stored("d/", b""), member.clone()]);
        assert_eq!(twice.test().unwrap().directories, 3);
        assert_error!(zip(&[member.clone(), stored("d", b"")]).test(), ReadError::DuplicateName { .. });
        let full = Member { name: b"d".to_vec(), host, mode, attributes, ..stored("", b"data") };
        assert_error!(zip(&[full]).test(), ReadError::NotAFile { kind: "a folder with data", .. });
    }
    // The attribute of MS-DOS says nothing elsewhere, nor does a mode there.
    for (host, mode, attributes) in
        [(3, 0, FOLDER), (3, 0o100_644, FOLDER), (19, 0, FOLDER), (7, 0, FOLDER), (0, 0o040_755, 0)]
    {
        let archive = zip(&[folder(host, mode, attributes)]);
        assert_eq!(archive.test().unwrap().files, 1, "{host}");
        assert_eq!(archive.open().unwrap().entries()[0].name, "d");
    }
}

fn name_of(name: &str, host: u8) -> String {
    let member = Member { host, mode: 0, ..stored(name, b"") };
    zip(&[member]).open().unwrap().entries()[0].name.clone()
}

#[test]
fn names_are_brought_to_their_shortest_form() {
    for (name, short) in [
        ("./a", "a"),
        ("././a/./b", "a/b"),
        ("dir//b.txt", "dir/b.txt"),
        (".//a", "a"),
        ("a/./", "a/"),
        ("a//", "a/"),
        ("...", "..."),
        ("a./.b", "a./.b"),
        ("/", "./"),
        ("//", "./"),
        ("./", "./"),
        ("/./", "./"),
        // Refused, and shown as they are.
        ("", ""),
        (".", "."),
        ("a/.", "a/."),
        ("/a", "/a"),
        ("//a//b", "/a/b"),
        ("./../a", "../a"),
    ] {
        assert_eq!(name_of(name, 3), short, "{name:?}");
    }
    for host in [0, 10, 11, 14] {
        for (name, short) in [
            ("a\\b", "a/b"),
            ("a\\b/c", "a/b/c"),
            ("d\\", "d/"),
            (".\\a", "a"),
            ("\\", "./"),
            ("..\\up", "../up"),
            ("\\up", "/up"),
            ("\\\\host\\up", "/host/up"),
            ("C:\\up", "C:/up"),
        ] {
            assert_eq!(name_of(name, host), short, "{name:?}");
        }
    }
    for host in [3, 6, 19] {
        assert_eq!(name_of("a\\b", host), "a\\b");
    }
}

#[test]
fn names_that_lead_elsewhere_are_refused_in_every_form() {
    for (name, host) in [
        ("..\\up", 0),
        ("a\\..\\..\\up", 0),
        (".\\..\\up", 0),
        ("a/..\\..\\up", 11),
        ("\\up", 0),
        ("\\\\host\\up", 0),
        ("C:\\up", 0),
        (".\\C:\\up", 0),
        ("./../up", 3),
        (".//..//up", 3),
        ("./C:/up", 3),
        ("//up", 3),
        ("/./up", 3),
        ("/../", 3),
        ("..", 3),
        (".", 3),
        ("a/.", 3),
        ("./.", 3),
        ("", 3),
        ("a\\b", 3),
        ("./a\\b", 3),
        ("./a\0", 3),
    ] {
        let archive = zip(&[Member { host, ..stored(name, b"") }]);
        assert_error!(archive.test(), ReadError::BadName { .. });
        // The rest of the archive is well.
        let archive = zip(&[Member { host, ..stored(name, b"") }, stored("good", b"good")]);
        let mut told = 0;
        let mut tell = |_| told += 1;
        let options = s_zip::ReadOptions { skip_bad: Some(&mut tell), stop_by: None };
        let summary = archive.open().unwrap().test_with(options);
        assert_eq!((summary.unwrap().files, told), (1, 1), "{name:?}");
    }
}

#[test]
fn what_has_one_place_under_two_names_is_found() {
    let dos = |name: &str| Member { host: 0, mode: 0, ..stored(name, b"") };
    for (one, other) in [("a/b", "./a//b"), ("./a", "a"), ("a/b", "a\\b"), ("a\\.\\b", ".\\a/b")] {
        assert_error!(zip(&[dos(one), dos(other)]).test(), ReadError::DuplicateName { .. });
    }
    for (one, other) in [("a", "./a//b"), ("./a", "a\\b"), (".\\a/b", "a"), ("./a//", "a")] {
        let result = zip(&[dos(one), dos(other)]).test();
        assert!(
            matches!(result, Err(ReadError::NameConflict { .. } | ReadError::DuplicateName { .. })),
            "{one:?} {other:?}"
        );
    }
    let roots = [stored("/", b""), stored("./", b""), folder(3, 0o040_755, 0), stored("./d/a", b"1")];
    let summary = zip(&roots).test().unwrap();
    assert_eq!((summary.directories, summary.files), (3, 1));
    assert_error!(zip(&[stored("./", b"data")]).test(), ReadError::NotAFile { kind: "a folder with data", .. });
}

#[cfg(all(feature = "extract", unix))]
#[test]
fn an_entry_for_the_folder_itself_leaves_it_as_it_is() {
    use std::os::unix::fs::PermissionsExt;

    let into = tempfile::tempdir().unwrap();
    let before = std::fs::metadata(&into).unwrap().permissions().mode();
    let root = Member { mode: 0o040_777, ..stored("./", b"") };
    let folder = Member { mode: 0o040_750, central_extra: ntfs(THEN), ..stored("./d", b"") };
    let file = Member { host: 0, mode: 0, central_extra: ntfs(THEN), ..stored("d\\f", b"1") };
    zip(&[root, file, folder]).open().unwrap().extract(into.path()).unwrap();
    assert_eq!(std::fs::metadata(&into).unwrap().permissions().mode(), before);
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(THEN.unsigned_abs());
    for path in ["d", "d/f"] {
        assert_eq!(std::fs::metadata(into.path().join(path)).unwrap().modified().unwrap(), then, "{path}");
    }
    assert_eq!(std::fs::metadata(into.path().join("d")).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn names_of_the_two_headers_are_compared_as_they_stand() {
    let archive = zip(&[stored("./a", b""), stored("b//c", b"")]);
    archive.test().unwrap();
    for (at, other) in [(archive.local[0] + 30, &b"/.a"[..]), (archive.local[1] + 30, b"b/.c")] {
        assert_error!(archive.with(at, other).test(), ReadError::HeaderMismatch { what: "name", .. });
    }
    let root = zip(&[stored("./", b"")]);
    assert_error!(root.with(root.local[0] + 30, b"//").test(), ReadError::HeaderMismatch { what: "name", .. });
}
