//! The reader against archives of another writer, and against archives that lie.

/// Asserts which error an expression ends with.
macro_rules! assert_error {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("{other:?}"),
        }
    };
}

mod bombs;
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "extract")]
mod extraction;
mod others;

use std::io::{Cursor, Read, Write};

use s_zip::{Limits, ReadError, StreamingZipReader};

use common::forged::corpus::corpus;
use common::forged::mutation::{Finding, exercise, mutate};
use common::forged::{Member, deflated, stored, wide_field, zip, zip_after};

#[test]
fn archives_of_the_zip_crate_are_read() {
    let mut writer = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = ::zip::write::SimpleFileOptions::default();
    let text = b"some text, some text, some text ".repeat(5000);
    writer.add_directory("folder", options).unwrap();
    let deflated = options.compression_method(::zip::CompressionMethod::Deflated).unix_permissions(0o640);
    writer.start_file("folder/größe.txt", deflated).unwrap();
    writer.write_all(&text).unwrap();
    let stored = options.compression_method(::zip::CompressionMethod::Stored);
    writer.start_file("stored", stored.large_file(true)).unwrap();
    writer.write_all(b"stored data").unwrap();
    writer.set_comment("a comment").unwrap();
    let bytes = writer.finish().unwrap().into_inner();

    let mut archive = StreamingZipReader::new(Cursor::new(bytes)).unwrap();
    assert_eq!(archive.comment(), b"a comment");
    let names: Vec<&str> = archive.entries().iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["folder/", "folder/größe.txt", "stored"]);
    assert!(archive.entries()[0].is_directory());
    assert_eq!(archive.entries()[1].unix_mode, Some(0o100_640));
    for (index, wanted) in [(1, &text[..]), (2, b"stored data")] {
        let mut got = Vec::new();
        archive.read(index).unwrap().read_to_end(&mut got).unwrap();
        assert_eq!(got, wanted);
    }
    let summary = archive.test().unwrap();
    assert_eq!((summary.files, summary.directories, summary.bytes), (2, 1, text.len() as u64 + 11));
}

#[test]
fn streamed_archives_of_the_zip_crate_are_read() {
    let mut writer = ::zip::ZipWriter::new_stream(Vec::new());
    let options = ::zip::write::SimpleFileOptions::default();
    for index in 0..300 {
        writer.start_file(format!("{index}"), options).unwrap();
        writer.write_all(&vec![b'a'; index * 7]).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    let summary = StreamingZipReader::new(Cursor::new(bytes)).unwrap().test().unwrap();
    assert_eq!((summary.files, summary.bytes), (300, 299 * 300 / 2 * 7));
}

#[test]
fn something_before_the_archive_is_fine_if_the_offsets_know_of_it() {
    let archive = zip_after(b"#!/bin/sh\n", &[deflated("a", b"data data")], b"");
    assert_eq!(archive.test().unwrap().bytes, 9);
    let unknown = [&b"#!/bin/sh\n"[..], &zip(&[stored("a", b"data")]).bytes].concat();
    assert_error!(StreamingZipReader::new(Cursor::new(unknown)), ReadError::BadDirectory { .. });
}

#[test]
fn what_is_no_archive_is_said_to_be_none() {
    for bytes in [&b""[..], b"P", b"PK\x05\x06", &[0; 100], &vec![b'P'; 70_000]] {
        assert_error!(StreamingZipReader::new(Cursor::new(bytes)), ReadError::NotAZip);
    }
    let trailing = [&zip(&[]).bytes[..], b"x"].concat();
    assert_error!(StreamingZipReader::new(Cursor::new(trailing)), ReadError::NotAZip);
    assert_error!(StreamingZipReader::open("/nonexistent/archive.zip"), ReadError::Open { .. });
}

#[test]
fn zeros_behind_an_archive_are_padding_and_nothing_else_is() {
    let members = [stored("a", b"data")];
    let comments = [&b""[..], b"comment", b"zeros at the end\0\0", &vec![b'x'; 65_535]];
    for archive in comments.map(|comment| zip_after(b"", &members, comment)) {
        let wide = archive.wide(|numbers| numbers);
        let (comment, whole) = (&archive.bytes[archive.end + 22..], [&archive.bytes, &wide.bytes]);
        let open = |whole: &[u8], behind: &[u8]| StreamingZipReader::new(Cursor::new([whole, behind].concat()));
        for whole in whole {
            for zeros in [1, 10_239, 64 * 1024] {
                let mut opened = open(whole, &vec![0; zeros]).unwrap();
                assert_eq!(opened.comment(), comment, "{zeros}");
                assert_eq!(opened.test().unwrap().bytes, 4, "{zeros}");
            }
            for behind in [&vec![0; 64 * 1024 + 1][..], &[0, 0, 1], &[1, 0, 0], &[1]] {
                assert_error!(open(whole, behind), ReadError::NotAZip);
            }
        }
    }
    let twice = zip_after(b"", &members, &zip(&members).bytes);
    for zeros in [0, 1, 10_000] {
        let padded = [&twice.bytes[..], &vec![0; zeros]].concat();
        assert_error!(StreamingZipReader::new(Cursor::new(padded)), ReadError::SeveralEnds);
    }
}

#[test]
fn an_archive_cut_off_anywhere_is_an_error() {
    for (index, bytes) in corpus().iter().enumerate() {
        for length in 0..bytes.len() {
            let result = StreamingZipReader::new(Cursor::new(&bytes[..length])).and_then(|mut archive| archive.test());
            assert!(result.is_err(), "archive {index} cut to {length} bytes");
        }
    }
}

#[test]
fn archives_of_several_disks_are_refused() {
    let archive = zip(&[stored("a", b"data")]);
    for at in [4, 6, 8] {
        assert_error!(archive.with(archive.end + at, &[2, 0]).open(), ReadError::MultiDisk);
    }
    assert_error!(archive.with(archive.central[0] + 34, &[1, 0]).open(), ReadError::MultiDisk);
    let wide = archive.wide(|numbers| numbers);
    for at in [16, 4] {
        assert_error!(wide.with(wide.end - at, &[2, 0, 0, 0]).open(), ReadError::MultiDisk);
    }
}

#[test]
fn a_directory_elsewhere_is_refused() {
    let archive = zip(&[stored("a", b"data")]);
    for (at, bytes) in [(16, [0xfe, 0xff, 0xff, 0xff]), (16, [0; 4]), (12, [0; 4]), (12, [0xfe, 0xff, 0xff, 0xff])] {
        assert_error!(archive.with(archive.end + at, &bytes).open(), ReadError::BadDirectory { .. });
    }
    assert_error!(archive.with(archive.central[0], b"x").open(), ReadError::BadDirectory { .. });
    assert_error!(archive.with(archive.central[0] + 28, &[2, 0]).open(), ReadError::BadDirectory { .. });
    let fewer = archive.with(archive.end + 8, &[0; 4]);
    assert_error!(fewer.open(), ReadError::BadDirectory { .. });
}

#[test]
fn more_entries_than_there_is_room_for_are_not_allocated() {
    let archive = zip(&[stored("a", b"data")]);
    let archive_2 = archive.with(archive.end + 8, &[0xfe, 0xff, 0xfe, 0xff]);
    assert_error!(archive_2.open(), ReadError::ImpossibleCount { claimed: 65_534, room: 1 });
    let wide = archive.wide(|[_, size, offset]| [1 << 40, size, offset]);
    assert_error!(wide.open(), ReadError::ImpossibleCount { claimed, .. } if claimed == 1 << 40);
}

#[test]
fn zip64_records_are_read_and_their_lies_refused() {
    let archive = zip(&[deflated("a", b"data data data")]);
    let wide = archive.wide(|numbers| numbers);
    assert_eq!(wide.test().unwrap().bytes, 14);
    for lie in [[1, 46, u64::MAX], [1, u64::MAX, 0], [1, 0, 0], [1, 1 << 40, 1 << 40]] {
        assert_error!(archive.wide(|_| lie).open(), ReadError::BadDirectory { .. });
    }
    let locator = wide.end - 20;
    for at in [0, 1, u64::from(u32::MAX), u64::MAX, locator as u64] {
        assert_error!(wide.with(locator + 8, &at.to_le_bytes()).open(), ReadError::BadDirectory { .. });
    }
    for size in [0, 43, 45, u64::MAX] {
        assert_error!(wide.with(locator - 52, &u64::to_le_bytes(size)).open(), ReadError::BadDirectory { .. });
    }
    // The short record neither leaves a number out nor agrees.
    assert_error!(wide.with(wide.end + 8, &[7, 0, 7, 0]).open(), ReadError::BadDirectory { .. });
    assert_eq!(wide.with(wide.end + 8, &[1, 0, 1, 0]).test().unwrap().files, 1);
}

/// An entry whose sizes stand in ZIP64 fields.
fn wide_member(local: [u64; 2], central: [u64; 2]) -> common::forged::Zip {
    let (local_extra, central_extra) = (wide_field(local), wide_field(central));
    zip(&[Member { wide: true, local_extra, central_extra, ..stored("a", b"data") }])
}

#[test]
fn zip64_fields_are_read_and_their_lies_refused() {
    assert_eq!(wide_member([4, 4], [4, 4]).test().unwrap().bytes, 4);
    assert_error!(wide_member([5, 4], [4, 4]).test(), ReadError::HeaderMismatch { .. });
    assert_error!(wide_member([4, 5], [4, 4]).test(), ReadError::HeaderMismatch { .. });
    assert_error!(wide_member([5, 4], [5, 4]).test(), ReadError::SizeMismatch { .. });
    for compressed in [1 << 40, u64::MAX, u64::MAX - 30] {
        assert_error!(wide_member([4, 4], [4, compressed]).test(), ReadError::Overlap { .. });
    }
    assert_error!(wide_member([4, 4], [u64::MAX, 4]).test(), ReadError::TooLarge { .. });
    assert_error!(wide_member([4, 4], [1 << 33, 4]).test(), ReadError::RatioExceeded { .. });

    let bare = zip(&[stored("a", b"data")]);
    assert_error!(bare.with(bare.central[0] + 20, &[0xff; 4]).open(), ReadError::BadField { .. });
    assert_error!(bare.with(bare.local[0] + 18, &[0xff; 4]).test(), ReadError::BadField { .. });
    for extra in [&[1, 0, 9, 0][..], &[1], &[1, 0, 0, 0, 1, 0, 0, 0]] {
        let member = Member { central_extra: extra.to_vec(), ..stored("a", b"data") };
        let archive = zip(&[member]);
        assert_error!(archive.test(), ReadError::BadField { .. });
        assert_error!(archive.open().unwrap().read(0).map(drop), ReadError::BadField { .. });
        assert_error!(archive.with(archive.central[0] + 20, &[0xff; 4]).open(), ReadError::BadField { .. });
        let member = Member { local_extra: extra.to_vec(), ..stored("a", b"data") };
        assert_error!(zip(&[member]).test(), ReadError::BadField { .. });
    }
    let padded = Member { local_extra: vec![0; 3], central_extra: vec![0; 7], ..stored("a", b"data") };
    zip(&[padded]).test().unwrap();
}

#[test]
fn headers_that_disagree_are_refused() {
    let archive = zip(&[deflated("name", b"data data data data"), stored("b", b"")]);
    for (at, bytes) in [
        (0, &b"PK\x01\x02"[..]),
        (6, &[1, 0]),
        (8, &[0, 0]),
        (14, &[1, 2, 3, 4]),
        (14, &[0; 4]),
        (18, &[1, 0, 0, 0]),
        (22, &[1, 0, 0, 0]),
        (26, &[3, 0]),
        (26, &[5, 0]),
        (30, b"m"),
    ] {
        assert_error!(archive.with(at, bytes).test(), ReadError::HeaderMismatch { .. });
    }
    assert_error!(archive.with(28, &[9, 0]).test(), ReadError::Overlap { .. });
    assert_error!(archive.with(archive.central[0] + 46, b"\xff").test(), ReadError::HeaderMismatch { .. });
    assert_error!(archive.with(archive.central[1] + 42, &[1]).open(), ReadError::Overlap { .. });
}

#[test]
fn descriptors_of_every_form_are_checked() {
    let data = b"data data data";
    let plain = deflated("a", data);
    let (crc, packed, size) = (plain.crc32.to_le_bytes(), plain.data.len() as u64, data.len() as u64);
    let [packed_4, size_4] = [packed, size].map(|number| u32::try_from(number).unwrap().to_le_bytes());
    let narrow = [&crc[..], &packed_4, &size_4].concat();
    let wide = [&crc[..], &packed.to_le_bytes(), &size.to_le_bytes()].concat();
    let signature = b"PK\x07\x08";
    for tail in [[&signature[..], &narrow].concat(), [&signature[..], &wide].concat(), narrow.clone(), wide.clone()] {
        let member = Member { flags: 8, tail: tail.clone(), ..plain.clone() };
        let second = Member { name: b"b".to_vec(), ..member.clone() };
        assert_eq!(zip(&[member, second]).test().unwrap().bytes, 2 * size);
        for at in 0..tail.len() {
            let mut wrong = tail.clone();
            wrong[at] ^= 0x40;
            let archive = zip(&[Member { flags: 8, tail: wrong, ..plain.clone() }]);
            assert_error!(archive.test(), ReadError::HeaderMismatch { what: "data descriptor", .. });
        }
    }
    let missing = zip(&[Member { flags: 8, ..plain.clone() }]);
    assert_error!(missing.test(), ReadError::Overlap { .. });
    let short = zip(&[Member { flags: 8, tail: [&signature[..], &crc, &packed_4].concat(), ..plain }]);
    assert_error!(short.test(), ReadError::HeaderMismatch { .. });
}

#[test]
fn sizes_that_lie_are_refused() {
    for (declared, name) in [(13, "smaller"), (15, "larger"), (0, "none")] {
        let packed = Member { uncompressed: declared, ..deflated(name, b"data data data") };
        assert_error!(zip(&[packed]).test(), ReadError::SizeMismatch { .. });
        let plain = Member { uncompressed: declared, ..stored(name, b"data data data") };
        assert_error!(zip(&[plain]).test(), ReadError::SizeMismatch { .. });
    }
}

#[test]
fn damaged_data_is_refused() {
    let wrong = Member { crc32: 7, ..stored("a", b"data") };
    assert_error!(zip(&[wrong]).test(), ReadError::CrcMismatch { declared: 7, .. });
    let good = deflated("a", b"data data data data data");
    let cut = Member { data: good.data[..good.data.len() - 2].to_vec(), ..good.clone() };
    assert_error!(zip(&[cut]).test(), ReadError::BadData { .. });
    let more = Member { data: [&good.data[..], b"xyz"].concat(), ..good.clone() };
    assert_error!(zip(&[more]).test(), ReadError::BadData { .. });
    let invalid = zip(&[Member { data: vec![0xff; 20], ..good.clone() }]);
    assert_error!(invalid.test(), ReadError::BadData { .. });
    let error = invalid.test().unwrap_err();
    assert!(std::error::Error::source(&error).is_some(), "the decoder's own error is the source: {error:?}");
    let nothing = Member { data: Vec::new(), ..good };
    assert_error!(zip(&[nothing]).test(), ReadError::BadData { .. });
}

#[test]
fn an_error_is_final_and_wrapped() {
    let archive = zip(&[Member { crc32: 7, ..stored("a", &vec![1; 100_000]) }]);
    let mut opened = archive.open().unwrap();
    let mut entry = opened.read(0).unwrap();
    let mut got = Vec::new();
    let error = entry.read_to_end(&mut got).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    assert!(matches!(ReadError::from(error), ReadError::CrcMismatch { .. }));
    assert!(entry.read(&mut [0; 10]).is_err());
    // The archive itself can go on.
    assert_error!(opened.test(), ReadError::CrcMismatch { .. });
}

#[test]
fn the_last_byte_comes_only_with_all_checks() {
    let archive = zip(&[Member { crc32: 7, ..deflated("a", b"data") }]);
    let mut opened = archive.open().unwrap();
    let mut entry = opened.read(0).unwrap();
    entry.read_exact(&mut [0; 3]).unwrap();
    assert!(entry.read_exact(&mut [0; 1]).is_err());
}

#[test]
fn encrypted_and_unknown_entries_are_listed_and_not_read() {
    for flags in [1, 1 << 6, 1 << 13] {
        assert_error!(zip(&[Member { flags, ..stored("a", b"data") }]).test(), ReadError::Encrypted { .. });
    }
    let archive = zip(&[Member { method: 12, ..stored("a", b"data") }]);
    assert_error!(archive.test(), ReadError::UnsupportedMethod { method: 12, .. });
    assert_error!(archive.open().unwrap().read(1).map(|_| ()), ReadError::NoSuchEntry { index: 1, entries: 1 });
}

#[test]
fn limits_are_kept() {
    let archive = zip(&[stored("a", &[0; 60]), stored("b", &[0; 60])]);
    let limits = Limits::default();
    assert_error!(archive.test_within(Limits { entries: 1, ..limits }), ReadError::TooManyEntries { claimed: 2, .. });
    assert_error!(archive.test_within(Limits { directory_bytes: 93, ..limits }), ReadError::DirectoryTooLarge { .. });
    assert_error!(archive.test_within(Limits { bytes: 119, ..limits }), ReadError::TooLarge { name: None, .. });
    archive.test_within(Limits { entries: 2, directory_bytes: 94, bytes: 120, ..limits }).unwrap();
}

#[test]
fn every_archive_of_the_corpus_is_small_and_read_in_full() {
    for (index, archive) in corpus().iter().enumerate() {
        let finding = exercise(archive, Limits::default());
        assert_eq!(finding, Finding::Read, "{index}");
        assert!(archive.len() <= 1200, "{index}: {} bytes", archive.len());
    }
}

#[test]
fn twenty_thousand_mutated_archives_do_not_panic() {
    let corpus = corpus();
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    let (mut refused, mut damaged, mut read) = (0, 0, 0);
    for seed in 0..20_000 {
        let bytes = mutate(seed, &corpus);
        assert_eq!(bytes, mutate(seed, &corpus));
        match exercise(&bytes, limits) {
            Finding::Refused => refused += 1,
            Finding::Damaged => damaged += 1,
            Finding::Read => read += 1,
        }
    }
    assert!(refused > 1000 && damaged > 1000 && read > 1000, "{refused} refused, {damaged} damaged, {read} read");
}
