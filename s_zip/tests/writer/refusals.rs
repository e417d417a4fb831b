//! Calls that are refused: a typed error, and an archive as if they had not been made.

use s_zip::name::{MAX_NAME_BYTES, MAX_PART_BYTES, check};
use s_zip::{Compression, EntryOptions, Error, NameFault, StreamingZipWriter};

use crate::common::any::By;
use crate::common::calls::{Call, small_mixture, zstandard};
use crate::common::sinks::{Manner, Sink};

/// What must come back from a refused call.
type Expected = fn(&Error) -> bool;

/// Calls that no state of a writer accepts once the small mixture's first two entries are there.
fn refused() -> Vec<(Call<'static>, Expected)> {
    let plain = EntryOptions::new;
    let start = |name: &str, options: EntryOptions| Call::Start(name.to_owned(), options);
    let directory = |name: &str, options: EntryOptions| Call::Directory(name.to_owned(), options);
    let long_name = "x".repeat(65_536);
    let long_comment = || plain().comment("x".repeat(65_536));
    let deflate = |level| plain().compression(Compression::Deflate(level));
    let mut refused: Vec<(Call, Expected)> = vec![
        (start("/", plain()), |error| is_fault(error, NameFault::Empty)),
        (directory("", plain()), |error| is_fault(error, NameFault::Empty)),
        // With its slash it is too long.
        (directory(&("x/".repeat(2047) + "xx"), plain()), |error| is_fault(error, NameFault::TooLong)),
        (directory("/absolute", plain()), |error| is_fault(error, NameFault::Absolute)),
        (directory("..", plain()), |error| is_fault(error, NameFault::ParentFolder)),
        (start("later/", plain()), |error| matches!(error, Error::DirectoryName { name } if name == "later/")),
        (start("folder", plain()), |error| matches!(error, Error::DuplicateName { .. })),
        (directory("folder", plain()), |error| matches!(error, Error::DuplicateName { .. })),
        (directory("folder/", plain()), |error| matches!(error, Error::DuplicateName { .. })),
        (start("folder/text", plain()), |error| matches!(error, Error::DuplicateName { .. })),
        (directory("folder/text", plain()), |error| matches!(error, Error::DuplicateName { .. })),
        // The mixture has this name later: a refusal must not take it.
        (start("announced", long_comment()), |error| matches!(error, Error::LongComment { bytes: 65_536 })),
        (directory("announced", long_comment()), |error| matches!(error, Error::LongComment { bytes: 65_536 })),
        (start("announced", deflate(10)), |error| matches!(error, Error::BadLevel { level: 10, .. })),
        (start("announced", deflate(u32::MAX)), |error| matches!(error, Error::BadLevel { level: u32::MAX, .. })),
        (start("announced", plain().comment("PK\x05\x06")), |error| matches!(error, Error::EndInText)),
        (start("PK\x05\x06", plain()), |error| matches!(error, Error::EndInText)),
        (Call::Comment("a PK\x05\x06 that ends it"), |error| matches!(error, Error::EndInText)),
        (Call::Comment(Box::leak(long_name.into_boxed_str())), |error| matches!(error, Error::LongComment { .. })),
    ];
    for compression in [0, 23, u32::MAX].into_iter().filter_map(zstandard) {
        let options = plain().compression(compression);
        refused.push((start("announced", options), |error| matches!(error, Error::BadLevel { .. })));
    }
    refused
}

fn is_fault(error: &Error, wanted: NameFault) -> bool {
    matches!(error, Error::BadName { fault, .. } if *fault == wanted)
}

#[test]
fn a_refused_call_changes_nothing() {
    let refused = refused();
    for by in By::every() {
        let sink = Sink::new(Manner::GOOD);
        let mut writer = by.open(&sink, Compression::default());
        let mut calls = small_mixture();
        if by.is_uniform() {
            calls.truncate(8);
        }
        let wanted = by.write(Compression::default(), &calls);
        for (index, call) in calls.iter().enumerate() {
            writer.call(call).unwrap();
            // The first two calls make the names that others repeat; the last ones use up the name that must stay free.
            if (1..8).contains(&index) {
                for (call, expected) in &refused {
                    let error = writer.call(call).unwrap_err();
                    assert!(expected(&error), "{by:?}: {error}");
                }
            }
        }
        writer.end().unwrap();
        assert!(sink.bytes() == wanted, "{by:?}");
    }
}

#[test]
fn every_fault_of_a_name_is_told_by_the_check_and_by_every_writer() {
    let long = "x/".repeat(MAX_NAME_BYTES / 2) + "x";
    let long_part = format!("a/{}/b", "x".repeat(MAX_PART_BYTES + 1));
    let bad = [
        ("", NameFault::Empty),
        ("/", NameFault::Empty),
        ("//", NameFault::Absolute),
        (long.as_str(), NameFault::TooLong),
        (long_part.as_str(), NameFault::LongPart),
        ("/etc/passwd", NameFault::Absolute),
        ("C:/x", NameFault::Drive),
        ("c:", NameFault::Drive),
        ("..", NameFault::ParentFolder),
        ("a/../b", NameFault::ParentFolder),
        ("a/..", NameFault::ParentFolder),
        ("../", NameFault::ParentFolder),
        ("a//b", NameFault::EmptyPart),
        ("./a", NameFault::EmptyPart),
        ("a\0b", NameFault::Nul),
        ("a\\..\\b", NameFault::Backslash),
    ];
    for by in By::every() {
        let sink = Sink::new(Manner::GOOD);
        let mut writer = by.open(&sink, Compression::default());
        for (name, fault) in bad {
            assert_eq!(check(name), Err(fault), "{name:?}");
            let options = EntryOptions::new;
            let calls = if name.ends_with('/') {
                vec![Call::Directory(name.to_owned(), options())]
            } else {
                vec![Call::Start(name.to_owned(), options()), Call::Add(name.to_owned(), b"", options())]
            };
            for call in calls {
                assert!(is_fault(&writer.call(&call).unwrap_err(), fault), "{by:?}: {name:?}");
            }
        }
        writer.end().unwrap();
        assert!(sink.bytes() == By::Sync.write(Compression::default(), &[]), "{by:?}");
    }
}

#[test]
fn data_needs_an_entry_that_takes_it() {
    let directory = Call::Directory("a".to_owned(), EntryOptions::new());
    let wanted = By::Sync.write(Compression::default(), std::slice::from_ref(&directory));
    for by in By::every() {
        let sink = Sink::new(Manner::GOOD);
        let mut writer = by.open(&sink, Compression::default());
        for call in [&Call::Flush, &directory, &Call::Flush] {
            for data in [b"".as_slice(), b"x"] {
                assert!(matches!(writer.call(&Call::Data(data)), Err(Error::NoEntry)), "{by:?}");
            }
            writer.call(call).unwrap();
        }
        assert!(matches!(writer.call(&Call::Data(b"x")), Err(Error::NoEntry)), "{by:?}");
        writer.end().unwrap();
        assert!(sink.bytes() == wanted, "{by:?}");
    }
}

#[test]
fn the_longest_name_and_comments_are_accepted() {
    let most = "x".repeat(65_535);
    let longest = format!("{}{}", format!("{}/", "x".repeat(255)).repeat(15), "x".repeat(256 - 1));
    let mut writer = StreamingZipWriter::from_writer(Vec::new());
    writer.start_entry_with_options(&longest, EntryOptions::new().comment(&*most)).unwrap();
    writer.add_directory(&"y".repeat(255)).unwrap();
    writer.set_comment(&*most).unwrap();
    let bytes = writer.finish().unwrap();
    let archive = crate::common::archive::parse(&bytes);
    assert!(archive.comment == most && archive.entries[0].name == longest && archive.entries[0].comment == most);
}

#[test]
fn a_level_out_of_range_makes_no_writer() {
    let refused = StreamingZipWriter::from_writer_with_compression(Vec::new(), 10).map(drop);
    assert!(matches!(refused, Err(Error::BadLevel { level: 10, .. })));
    let path = std::env::temp_dir().join(format!("s_zip-refusals-{}.zip", std::process::id()));
    assert!(matches!(StreamingZipWriter::with_compression(&path, 10).map(drop), Err(Error::BadLevel { .. })));
    assert!(!path.exists(), "a refusal does not empty a file");
    assert!(matches!(StreamingZipWriter::new(path.join("no/such/folder")).map(drop), Err(Error::Create { .. })));
}
